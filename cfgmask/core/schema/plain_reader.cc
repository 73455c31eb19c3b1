#include "schema/plain_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "schema/plain_algebra.h"
#include "util/limits.h"

namespace cfgmask {

namespace {

enum Keyword : uint8_t {
  kOther,  // not for a plain schema
  kType,
  kEnum,
  kConst,
  kReference,
  kAnyOf,
  kOneOf,
  kAllOf,
  kNot,
  kIf,
  kThen,
  kElse,
  kDependentRequired,
  kDependentSchemas,
  kDependencies,
  kProperties,
  kPatternProperties,
  kRequired,
  kAdditionalProperties,
  kMinProperties,
  kMaxProperties,
  kPropertyNames,
  kItems,
  kPrefixItems,
  kAdditionalItems,
  kMinItems,
  kMaxItems,
  kContains,
  kMinContains,
  kMaxContains,
  kUniqueItems,
  kMinimum,
  kMaximum,
  kExclusiveMinimum,
  kExclusiveMaximum,
  kMultipleOf,
  kMinLength,
  kMaxLength,
  kPattern,
  kFormat,
  kIdentifier,
  kNumKeywords,
};
constexpr std::array<std::string_view, kIdentifier> kNames = {
    "",
    "type",
    "enum",
    "const",
    "$ref",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "properties",
    "patternProperties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "propertyNames",
    "items",
    "prefixItems",
    "additionalItems",
    "minItems",
    "maxItems",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
};

// Keywords whose schemas apply to the same value as the schema they stand in.
constexpr std::array kApplicators = {
    kReference, kAnyOf, kOneOf, kAllOf, kNot, kIf, kThen, kElse, kDependentRequired, kDependentSchemas, kDependencies};

uint8_t code_of(std::string_view keyword) {
  const auto at = std::find(kNames.begin() + 1, kNames.end(), keyword);
  return at == kNames.end() ? uint8_t{kOther} : static_cast<uint8_t>(at - kNames.begin());
}

}  // namespace

class PlainReading {
 public:
  using NotPlain = PlainAlgebra::NotPlain;

  PlainReading(const PlainReader& reader, const JsonDocument& document, const PlainQuestions& questions,
               uint64_t max_nesting, uint64_t max_rules)
      : reader_(reader),
        document_(document),
        questions_(questions),
        max_nesting_(max_nesting),
        max_depth_(std::min(max_nesting, PlainReader::kMaxDepth)),
        max_rules_(max_rules),
        algebra_(
            schema_, [this](const std::string& asked, PlainSchema::Kind kind) { return ask_scalars(asked, kind); },
            [this](const Value& made) { check_made(made); }),
        known_(document.n_values()) {
    for (size_t key = 0; key < document.n_keys(); ++key) {
      const auto code = reader.codes_.find(std::string(document.key_text(static_cast<uint32_t>(key))));
      codes_.push_back(code == reader.codes_.end() ? std::nullopt : std::optional(code->second));
    }
  }

  // Throws NotPlain, LimitExceeded.
  PlainReader::Found read() {
    const JsonId root = document_.root();
    require(is_object(root) && !document_.member(root, "x-guidance"));
    schema_.set_root(value(root, "#", 0));
    algebra_.finish();
    require(schema_.find_live() && schema_.is_live(schema_.root()));
    return {std::move(schema_), n_regexes_};
  }

 private:
  using Json = JsonDocument::Kind;
  using Held = std::optional<JsonId>;
  using Said = std::array<Held, kNumKeywords>;
  using Value = PlainSchema::Value;
  using Source = PlainSchema::Keys::Source;

  // Some key of these mostly does not match a pattern.
  static constexpr std::array<std::string_view, 6> kSomeKeys = {"", " ", "-", "0", "a", "~!"};
  static constexpr size_t kMaxPointer = 200;
  static constexpr uint64_t kMaxCount = INT32_MAX - 1;
  static constexpr uint64_t kStepsPerRule = 10;
  static constexpr uint32_t kMaxCountedItems = 1'000;
  // Objects with more members are looked up in a table.
  static constexpr size_t kFewMembers = 16;

  enum class Progress : uint8_t { kNew, kReading, kDone };
  struct Known {
    Progress progress = Progress::kNew;
    std::optional<PlainValueId> id;  // known when done, or where the schema refers to itself
  };

  static void require(bool holds) {
    if (!holds) throw NotPlain();
  }

  // ---- JSON

  bool is(JsonId value, Json kind) const { return document_.kind(value) == kind; }
  bool is_object(JsonId value) const { return is(value, Json::kObject); }
  bool is_array(JsonId value) const { return is(value, Json::kArray); }
  bool is_text(JsonId value) const { return is(value, Json::kString); }
  bool is_number(JsonId value) const { return is(value, Json::kNumber); }
  bool is_false(JsonId value) const { return is(value, Json::kFalse); }
  bool is_boolean(JsonId value) const { return is(value, Json::kTrue) || is_false(value); }

  std::string_view text(JsonId value) const {
    require(is_text(value));
    return document_.text(value);
  }

  std::span<const JsonId> items(JsonId value) const {
    require(is_array(value));
    return document_.items(value);
  }

  std::span<const JsonDocument::Member> members(JsonId value) const {
    require(is_object(value));
    return document_.members(value);
  }

  uint32_t count(JsonId value) const {
    require(is_number(value));
    const std::string_view spelled = document_.text(value);
    uint64_t found = 0;
    const auto [end, error] = std::from_chars(spelled.data(), spelled.data() + spelled.size(), found);
    require(error == std::errc() && end == spelled.data() + spelled.size() && found <= kMaxCount);
    return static_cast<uint32_t>(found);
  }

  uint32_t count_or(Held held, uint32_t otherwise) const { return held ? count(*held) : otherwise; }

  // ---- schemas

  std::optional<Keyword> keyword(uint32_t key) const {
    const auto code = codes_[key];
    return code ? std::optional(static_cast<Keyword>(*code)) : std::nullopt;
  }

  Said keywords(JsonId schema) const {
    Said said{};
    for (const auto& member : document_.members(schema)) {
      if (const auto found = keyword(member.key)) said[*found] = member.value;
    }
    return said;
  }

  // Whether a schema says something beside these keywords.
  static bool says_more(Said said, std::initializer_list<Keyword> known) {
    for (Keyword keyword : known) said[keyword] = std::nullopt;
    said[kIdentifier] = std::nullopt;
    return std::any_of(said.begin(), said.end(), [](Held held) { return held.has_value(); });
  }

  // The values that a schema allows. Those of equal schemas are one.
  PlainValueId value(JsonId schema, const std::string& pointer, uint64_t depth) {
    if (is(schema, Json::kTrue)) return PlainSchema::any();
    if (is_false(schema)) return schema_.never();
    require(is_object(schema) && depth <= max_depth_);
    // A schema that leads to itself without going into a value.
    require(std::find(level_.begin(), level_.end(), schema) == level_.end());
    Known& known = known_[schema.value];
    if (known.progress == Progress::kReading && !known.id) known.id = schema_.reserve();
    if (known.progress != Progress::kNew) return *known.id;
    known.progress = Progress::kReading;
    level_.push_back(schema);
    const Said said = keywords(schema);
    const bool inside = inside_identified_;
    if (has_own_uri(said)) {
      // What `$schema` says there would count from there on.
      require(is_root() || !document_.member(schema, "$schema"));
      inside_identified_ = !is_root();
    }
    PlainValueId id = is_reference(said) ? referred(said, depth) : described(schema, said, pointer, depth);
    inside_identified_ = inside;
    level_.pop_back();
    if (known.id) {
      Value same;
      same.name = pointer;
      same.alternatives.push_back(id);
      schema_.define(*known.id, std::move(same));
      id = *known.id;
    }
    known = {Progress::kDone, id};
    return id;
  }

  // The values of a member or an item.
  PlainValueId inner(JsonId schema, const std::string& pointer, uint64_t depth) {
    std::vector<JsonId> outer;
    outer.swap(level_);
    const PlainValueId found = value(schema, pointer, depth + 1);
    level_.swap(outer);
    return found;
  }

  static std::string below(const std::string& pointer, std::string_view keyword, std::string_view key = {}) {
    if (pointer.size() > kMaxPointer) return pointer;
    std::string out = pointer;
    out += '/';
    out += keyword;
    if (key.data() != nullptr) {
      out += '/';
      for (char c : key.substr(0, kMaxPointer)) {
        if (c == '~' || c == '/') {
          out += c == '~' ? "~0" : "~1";
        } else {
          out += c;
        }
      }
    }
    return out;
  }

  // Whether a schema is nothing but a reference.
  bool is_reference(const Said& said) const {
    return said[kReference] && (reader_.hides_siblings_ || !says_more(said, {kReference}));
  }

  // Whether references inside a schema are relative to a URI of its own.
  bool has_own_uri(const Said& said) const {
    const Held identifier = said[kIdentifier];
    if (!identifier || !is_text(*identifier)) return false;
    if (reader_.hides_siblings_ && said[kReference]) return false;
    return !text(*identifier).starts_with('#');
  }

  PlainValueId referred(const Said& said, uint64_t depth) {
    require(!inside_identified_);
    const std::string_view reference = text(*said[kReference]);
    require(!reference.empty() && reference[0] == '#' && reference.find('%') == std::string_view::npos);
    const JsonId found = target(reference.substr(1));
    const PlainValueId id = value(found, std::string(reference), depth + 1);
    inside_identified_ = false;
    return id;
  }

  bool is_root() const { return level_.size() == 1 && level_[0] == document_.root(); }

  // What a JSON Pointer leads to, and whether that stands inside of a schema with a URI of its own.
  JsonId target(std::string_view pointer) {
    const JsonId root = document_.root();
    JsonId at = root;
    require(pointer.empty() || pointer[0] == '/');
    while (!pointer.empty()) {
      const size_t end = std::min(pointer.find('/', 1), pointer.size());
      require(is_object(at));
      if (at != root && has_own_uri(keywords(at))) inside_identified_ = true;
      const auto key = document_.find_key(unescaped(pointer.substr(1, end - 1)));
      require(key.has_value());
      at = step(at, *key);
      pointer.remove_prefix(end);
    }
    return at;
  }

  static std::string unescaped(std::string_view token) {
    std::string out;
    for (size_t i = 0; i < token.size(); ++i) {
      if (token[i] != '~') {
        out += token[i];
        continue;
      }
      require(i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1'));
      out += token[++i] == '0' ? '~' : '/';
    }
    return out;
  }

  JsonId step(JsonId object, uint32_t key) {
    const auto members = document_.members(object);
    if (members.size() <= kFewMembers) {
      const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.key == key; });
      require(found != members.end());
      return found->value;
    }
    auto& table = member_tables_[object.value];
    if (table.empty()) {
      for (const auto& member : members) table.emplace(member.key, member.value);
    }
    const auto found = table.find(key);
    require(found != table.end());
    return found->second;
  }

  PlainValueId described(JsonId schema, const Said& said, const std::string& pointer, uint64_t depth) {
    require(!said[kOther]);
    const PlainValueId own = described_here(said, pointer, depth);
    const bool stands_alone = std::none_of(kApplicators.begin(), kApplicators.end(),
                                           [&](Keyword keyword) { return said[keyword].has_value(); });
    return stands_alone ? own : combined(schema, said, own, pointer, depth);
  }

  // What the keywords say that look at the value without further schemas for the same value.
  PlainValueId described_here(const Said& said, const std::string& pointer, uint64_t depth) {
    const Types types = allowed_types(said[kType]);
    Value value;
    value.name = pointer;
    auto array = array_shape(said, pointer, depth);
    auto object = object_shape(said, pointer, depth);
    check_scalar_keywords(said);
    if ((types.kinds & PlainSchema::kArray) != 0) value.array = std::move(array);
    if ((types.kinds & PlainSchema::kObject) != 0) value.object = std::move(object);
    if (value.array) require(!said[kUniqueItems] || is_false(*said[kUniqueItems]) || value.array->maximum <= 1);
    const PlainValueId contained = containing(said, pointer, depth);
    if (said[kEnum] || said[kConst]) return both(listed(said, types, value), contained, pointer);
    add_scalars(said, types, value);
    return both(added(std::move(value)), contained, pointer);
  }

  PlainValueId added(Value value) {
    check_made(value);
    return schema_.add(std::move(value));
  }

  void check_made(const Value& value) {
    // Whether there are keys enough of a few classes takes more than a look.
    if (value.object) require(!value.object->has_classes() || !value.object->counts_others());
    if (value.array && !value.array->witnesses.empty()) require(counted_items(*value.array) <= kMaxCountedItems);
    count_rules(value);
  }

  // The greatest number that has to be counted where an array has witnesses.
  static uint32_t counted_items(const PlainSchema::Array& array) {
    uint32_t most = std::max(array.minimum, array.maximum == kUnbounded ? 0 : array.maximum);
    for (const auto& witness : array.witnesses)
      most = std::max({most, witness.start, witness.least, witness.most == kUnbounded ? 0 : witness.most});
    return most;
  }

  PlainValueId both(PlainValueId a, PlainValueId b, const std::string& pointer) {
    return algebra_.all({{a}, {b}}, pointer);
  }

  // What a value costs of max_rules; as cfgmask/json_schema/rules.py and object_algebra.py count.
  void count_rules(const Value& value) {
    n_steps_ += kStepsPerRule *
                (1 + (value.array ? 2 + value.array->prefix.size() : 0) + (value.object ? n_states(*value.object) : 0));
    // Names begin with the mark of a fragment.
    if (n_steps_ > max_rules_)
      throw SchemaLimitExceeded("max_rules", max_rules_, value.name.substr(std::min<size_t>(1, value.name.size())));
  }

  // How many rules an object takes at most.
  static uint64_t n_states(PlainSchema::Object object) {
    object.drop_idle_bounds();
    const uint64_t most = object.maximum == kUnbounded ? 0 : object.maximum;
    const uint64_t counts = std::max({uint64_t{1}, uint64_t{object.minimum}, most});
    return (object.members.size() + 1) * (1 + std::min<uint64_t>(counts, object.members.size() + 1));
  }

  struct Types {
    uint32_t kinds = PlainSchema::kAnyKind;
    bool integers = false;  // of the numbers, only these
  };

  Types allowed_types(Held type) const {
    if (!type) return {};
    Types types{0, true};
    const auto add = [&](JsonId name) {
      const std::string_view called = text(name);
      const uint32_t kind = kind_of(called);
      require(kind != 0);
      types.kinds |= kind;
      if (called == "number") types.integers = false;
    };
    if (is_array(*type)) {
      for (JsonId name : items(*type)) add(name);
    } else {
      add(*type);
    }
    require(types.kinds != 0);
    if ((types.kinds & PlainSchema::kNumber) == 0) types.integers = false;
    return types;
  }

  static uint32_t kind_of(std::string_view type) {
    if (type == "string") return PlainSchema::kString;
    if (type == "object") return PlainSchema::kObject;
    if (type == "integer" || type == "number") return PlainSchema::kNumber;
    if (type == "array") return PlainSchema::kArray;
    if (type == "boolean") return PlainSchema::kBoolean;
    if (type == "null") return PlainSchema::kNull;
    return 0;
  }

  // With the schemas that apply to the same value. Keys are written in the order in which the schema names them, so
  // keywords that name keys are taken in the order in which they stand.
  PlainValueId combined(JsonId schema, const Said& said, PlainValueId own, const std::string& pointer, uint64_t depth) {
    own = with_dependents(said, own, pointer, depth);
    PlainAlgebra::Terms terms;
    bool own_place_taken = false;
    for (const auto& [key, held] : document_.members(schema)) {
      const auto keyword = this->keyword(key);
      if (keyword == kProperties) {
        terms.push_back({own});
        own_place_taken = true;
      } else if (keyword == kReference) {
        terms.push_back({referred(said, depth)});
      } else if (keyword == kAllOf) {
        for (PlainValueId part : branches(held, "allOf", pointer, depth)) terms.push_back({part});
      } else if (keyword == kAnyOf) {
        terms.push_back({either(branches(held, "anyOf", pointer, depth), pointer)});
      } else if (keyword == kOneOf) {
        terms.push_back({algebra_.exactly_one(branches(held, "oneOf", pointer, depth), own, own_place_taken, pointer)});
      } else if (keyword == kIf) {
        terms.push_back({conditional(said, pointer, depth)});
      } else if ((keyword == kThen || keyword == kElse) && !said[kIf]) {
        // It says nothing there, but has to be a schema.
        value(held, below(pointer, kNames[*keyword]), depth + 1);
      }
    }
    if (!own_place_taken) terms.push_back({own});
    if (said[kNot]) terms.push_back({value(*said[kNot], below(pointer, "not"), depth + 1), true});
    return algebra_.all(terms, pointer);
  }

  // `if`, `then` and `else`.
  PlainValueId conditional(const Said& said, const std::string& pointer, uint64_t depth) {
    const auto part = [&](Keyword keyword) {
      const Held held = said[keyword];
      return held ? value(*held, below(pointer, kNames[keyword]), depth + 1) : PlainSchema::any();
    };
    const PlainValueId condition = part(kIf);
    const PlainValueId consequence = part(kThen);
    const PlainValueId alternative = part(kElse);
    return either({algebra_.all({{condition}, {consequence}}, pointer),
                   algebra_.all({{alternative}, {condition, true}}, pointer)},
                  pointer);
  }

  // What depends on the presence of a key.
  PlainValueId with_dependents(const Said& said, PlainValueId own, const std::string& pointer, uint64_t depth) {
    PlainAlgebra::Terms terms{{own}};
    PlainAlgebra::Terms schemas;
    for (Keyword keyword : {kDependentRequired, kDependentSchemas, kDependencies}) {
      if (!said[keyword]) continue;
      for (const auto& [key, held] : members(*said[keyword])) {
        const uint32_t name = schema_.name(document_.key_text(key));
        if (keyword == kDependentRequired || (keyword == kDependencies && is_array(held))) {
          std::vector<uint32_t> needed{name};
          for (JsonId other : items(held)) needed.push_back(schema_.name(text(other)));
          if (needed.size() > 1) terms.push_back({either({lacking(name, pointer), having(needed, pointer)}, pointer)});
        } else {
          const PlainValueId then = value(held, below(pointer, kNames[keyword], document_.key_text(key)), depth + 1);
          const PlainValueId present = both(having({name}, pointer), then, pointer);
          schemas.push_back({either({lacking(name, pointer), present}, pointer)});
        }
      }
    }
    terms.insert(terms.end(), schemas.begin(), schemas.end());
    return algebra_.all(terms, pointer);
  }

  // All values but objects with a key.
  PlainValueId lacking(uint32_t name, const std::string& pointer) {
    Value value = schema_.at(PlainSchema::any());
    value.name = pointer;
    value.object->members.push_back({name, schema_.never(), false, false});
    return added(std::move(value));
  }

  // The objects with some keys.
  PlainValueId having(const std::vector<uint32_t>& names, const std::string& pointer) {
    Value value;
    value.name = pointer;
    value.object.emplace();
    value.object->others = PlainSchema::any();
    std::unordered_set<uint32_t> seen;
    for (uint32_t name : names) {
      if (seen.insert(name).second) value.object->members.push_back({name, PlainSchema::any(), true, false});
    }
    return added(std::move(value));
  }

  std::vector<PlainValueId> branches(JsonId held, const char* keyword, const std::string& pointer, uint64_t depth) {
    const auto schemas = items(held);
    require(!schemas.empty());
    std::vector<PlainValueId> found;
    for (size_t i = 0; i < schemas.size(); ++i)
      found.push_back(value(schemas[i], below(pointer, keyword, std::to_string(i)), depth + 1));
    return found;
  }

  PlainValueId either(std::vector<PlainValueId> parts, const std::string& pointer) {
    Value union_of;
    union_of.name = pointer;
    for (PlainValueId part : parts) {
      auto& known = union_of.alternatives;
      if (part == schema_.never()) continue;
      if (std::find(known.begin(), known.end(), part) == known.end()) known.push_back(part);
    }
    return union_of.alternatives.size() == 1 ? union_of.alternatives[0] : added(std::move(union_of));
  }

  // ---- arrays and objects

  // None: there is no such array.
  std::optional<PlainSchema::Array> array_shape(const Said& said, const std::string& pointer, uint64_t depth) {
    PlainSchema::Array array;
    array.rest = PlainSchema::any();
    Held prefix = said[kPrefixItems];
    Held further = said[kItems];
    const char* first_keyword = "prefixItems";
    const char* further_keyword = "items";
    const Held additional = said[kAdditionalItems];
    if (further && is_array(*further)) {
      require(!prefix);
      // Only where a draft that writes it so is declared is that beyond doubt.
      require(!reader_.codes_.contains("prefixItems"));
      prefix = further;
      further = additional;
      first_keyword = "items";
      further_keyword = "additionalItems";
    } else if (additional) {
      // It says nothing there, but has to be a schema.
      inner(*additional, below(pointer, "additionalItems"), depth);
    }
    if (prefix) {
      const auto schemas = items(*prefix);
      require(!schemas.empty());
      for (size_t i = 0; i < schemas.size(); ++i)
        array.prefix.push_back(inner(schemas[i], below(pointer, first_keyword, std::to_string(i)), depth));
    }
    array.minimum = count_or(said[kMinItems], 0);
    array.maximum = count_or(said[kMaxItems], kUnbounded);
    if (said[kUniqueItems]) require(is_boolean(*said[kUniqueItems]));
    if (further) {
      if (is_false(*further)) {
        array.rest = std::nullopt;
        array.maximum = std::min(array.maximum, static_cast<uint32_t>(array.prefix.size()));
      } else {
        array.rest = inner(*further, below(pointer, further_keyword), depth);
      }
    }
    if (array.minimum > array.maximum) return std::nullopt;
    if (array.prefix.size() > array.maximum) array.prefix.resize(array.maximum);
    if (array.maximum == array.prefix.size()) array.rest = std::nullopt;
    return array;
  }

  // All values but arrays that do not meet `contains`.
  PlainValueId containing(const Said& said, const std::string& pointer, uint64_t depth) {
    const uint32_t least = count_or(said[kMinContains], 1);
    const uint32_t most = count_or(said[kMaxContains], kUnbounded);
    if (!said[kContains]) return PlainSchema::any();
    const PlainValueId item = inner(*said[kContains], below(pointer, "contains"), depth);
    Value value = schema_.at(PlainSchema::any());
    value.name = pointer;
    value.array = algebra_.containing(0, item, least, most);
    if (least > most) value.array = std::nullopt;
    return added(std::move(value));
  }

  // None: there is no such object.
  std::optional<PlainSchema::Object> object_shape(const Said& said, const std::string& pointer, uint64_t depth) {
    PlainSchema::Object object;
    object.others = PlainSchema::any();
    if (const Held additional = said[kAdditionalProperties]) {
      object.others = std::nullopt;
      if (!is_false(*additional)) object.others = inner(*additional, below(pointer, "additionalProperties"), depth);
    }
    std::unordered_map<uint32_t, bool> needed;
    std::vector<uint32_t> order;
    if (said[kRequired]) {
      for (JsonId required : items(*said[kRequired])) {
        const uint32_t name = schema_.name(text(required));
        if (needed.emplace(name, true).second) order.push_back(name);
      }
    }
    if (said[kProperties]) {
      for (const auto& [key, held] : members(*said[kProperties])) {
        const std::string_view called = document_.key_text(key);
        const uint32_t name = schema_.name(called);
        const PlainValueId member = inner(held, below(pointer, "properties", called), depth);
        const auto found = needed.find(name);
        object.members.push_back({name, member, found != needed.end(), true});
        if (found != needed.end()) found->second = false;
      }
    }
    for (uint32_t name : order) {
      if (!needed[name]) continue;
      object.members.push_back({name, object.others.value_or(schema_.never()), true, false});
    }
    if (said[kPatternProperties]) add_classes(*said[kPatternProperties], object, pointer, depth);
    if (said[kPropertyNames]) restrict_names(*said[kPropertyNames], object, pointer, depth);
    object.minimum = count_or(said[kMinProperties], 0);
    object.maximum = count_or(said[kMaxProperties], kUnbounded);
    if (std::max<size_t>(object.minimum, object.n_required()) > object.maximum) return std::nullopt;
    const bool closed = !object.others && object.classes.empty();
    if (closed && object.members.size() < object.minimum) return std::nullopt;
    return object;
  }

  void add_classes(JsonId patterns, PlainSchema::Object& object, const std::string& pointer, uint64_t depth) {
    std::vector<std::string> asked;
    for (const auto& [key, held] : members(patterns)) {
      asked.emplace_back(document_.key_text(key));
      object.classes.push_back({{}, inner(held, below(pointer, "patternProperties", asked.back()), depth)});
    }
    if (object.classes.empty()) return;
    if (object.classes.size() == 1 && add_one_class(asked[0], object)) return;
    for (std::string& pattern : asked) {
      std::string condition = "{\"type\":\"string\",\"pattern\":";
      JsonDocument::write_string(pattern, condition);
      pattern = condition + '}';
    }
    ask_for_classes(asked, object, pointer);
  }

  void restrict_names(JsonId schema, PlainSchema::Object& object, const std::string& pointer, uint64_t depth) {
    const PlainValueId names = inner(schema, below(pointer, "propertyNames"), depth);
    const std::vector<uint32_t> strings = algebra_.strings(names);
    if (strings == std::vector{PlainSchema::any_string()}) return;
    require(!object.has_classes() && strings.size() <= 1);
    std::vector<PlainQuestions::Kind> found;
    if (!strings.empty()) found = kinds_of_keys({schema_.definition(strings[0])}, object);
    std::vector<bool> may_come(object.members.size(), false);
    if (!found.empty()) {
      for (size_t at : found[0].names) may_come[at] = true;
      if (object.others && found[0].regex >= 0)
        object.classes.push_back({{Source::kOutside, outside_regex(found[0].regex)}, *object.others});
    }
    object.others = std::nullopt;
    for (size_t at = 0; at < may_come.size(); ++at) {
      if (!may_come[at]) object.members[at].value = schema_.never();
    }
  }

  // The keys that meet each of the conditions, schemas of strings; then all others.
  std::vector<PlainQuestions::Kind> kinds_of_keys(const std::vector<std::string>& conditions,
                                                  const PlainSchema::Object& object) {
    std::vector<std::string> names;
    for (const auto& member : object.members) names.push_back(schema_.name_at(member.name));
    auto answer = questions_.keys(conditions, names);
    require(answer.has_value());
    return std::move(*answer);
  }

  // Whether it is plain that no member matches the pattern, and that there are keys that do and others that do not.
  bool add_one_class(std::string_view text, PlainSchema::Object& object) {
    const auto pattern = schema_.pattern(text, max_nesting_);
    if (!pattern) return false;
    const PlainPattern& keys = schema_.pattern_at(*pattern);
    const auto is_other = [&](std::string_view key) { return keys.found_in(key) == false; };
    std::unordered_map<std::string_view, bool> names;
    for (const auto& member : object.members) {
      const std::string& name = schema_.name_at(member.name);
      if (!is_other(name)) return false;
      names.emplace(name, true);
    }
    const auto is_new = [&](std::string_view key) { return !names.contains(key) && is_other(key); };
    if (std::none_of(kSomeKeys.begin(), kSomeKeys.end(), is_new)) return false;
    object.classes[0].keys = {Source::kMatching, *pattern};
    object.others_keys = {Source::kOther, *pattern};
    return true;
  }

  void ask_for_classes(const std::vector<std::string>& conditions, PlainSchema::Object& object,
                       const std::string& pointer) {
    const auto found = kinds_of_keys(conditions, object);
    std::vector<PlainSchema::KeyClass> classes;
    std::vector<bool> described;
    for (const auto& member : object.members) described.push_back(member.listed);
    for (size_t i = 0; i < object.classes.size(); ++i) {
      const PlainValueId held = object.classes[i].value;
      for (size_t at : found[i].names) {
        // What other keys hold says nothing about a key that matches a pattern.
        auto& member = object.members[at];
        member.value = described[at] ? both(member.value, held, pointer) : held;
        described[at] = true;
      }
      if (found[i].regex >= 0) classes.push_back({{Source::kOutside, outside_regex(found[i].regex)}, held});
    }
    object.classes = std::move(classes);
    if (found.back().regex < 0) {
      object.others = std::nullopt;
    } else {
      object.others_keys = PlainSchema::Keys{Source::kOutside, outside_regex(found.back().regex)};
    }
  }

  uint32_t outside_regex(int64_t regex) {
    n_regexes_ = std::max(n_regexes_, static_cast<size_t>(regex) + 1);
    return static_cast<uint32_t>(regex);
  }

  // ---- scalars

  static constexpr std::array kOfNumbers = {kMinimum, kMaximum, kExclusiveMinimum, kExclusiveMaximum, kMultipleOf};
  static constexpr std::array kOfStrings = {kMinLength, kMaxLength, kPattern, kFormat};

  void check_scalar_keywords(const Said& said) const {
    for (Keyword keyword : kOfNumbers) {
      if (!said[keyword]) continue;
      const bool exclusive = keyword == kExclusiveMinimum || keyword == kExclusiveMaximum;
      const bool is_bound = !exclusive || reader_.exclusive_ != PlainReader::Exclusive::kBoolean;
      const bool is_mark = exclusive && reader_.exclusive_ != PlainReader::Exclusive::kNumber;
      require((is_bound && is_number(*said[keyword])) || (is_mark && is_boolean(*said[keyword])));
    }
    for (Keyword keyword : {kMinLength, kMaxLength}) {
      if (said[keyword]) count(*said[keyword]);
    }
    for (Keyword keyword : {kPattern, kFormat}) {
      if (said[keyword]) require(is_text(*said[keyword]));
    }
  }

  void add_scalars(const Said& said, Types types, Value& value) {
    if ((types.kinds & PlainSchema::kNull) != 0) value.terminals.push_back(PlainSchema::null());
    if ((types.kinds & PlainSchema::kBoolean) != 0) {
      value.terminals.push_back(PlainSchema::true_());
      value.terminals.push_back(PlainSchema::false_());
    }
    if ((types.kinds & PlainSchema::kNumber) != 0) {
      add_terminal(numbers(types, said), value);
    } else {
      require(!said[kMultipleOf]);
    }
    if ((types.kinds & PlainSchema::kString) != 0) {
      add_terminal(string(said), value);
    }
  }

  // The strings under the conditions; none: there are no such strings.
  std::optional<uint32_t> string(const Said& said) {
    if (!says(said, kOfStrings)) return PlainSchema::any_string();
    PlainSchema::Text text_of;
    text_of.minimum = count_or(said[kMinLength], 0);
    text_of.maximum = count_or(said[kMaxLength], kUnbounded);
    if (text_of.minimum > text_of.maximum) return std::nullopt;
    bool is_plain = !said[kFormat] || !reader_.formats_.contains(std::string(text(*said[kFormat])));
    if (said[kPattern]) {
      text_of.pattern = schema_.pattern(text(*said[kPattern]), max_nesting_);
      is_plain = is_plain && text_of.pattern.has_value();
    }
    const auto found = is_plain ? schema_.text(text_of) : std::nullopt;
    return found ? found : scalar("string", said, kOfStrings);
  }

  // The numbers under the conditions, of those that are listed if some are; none: there are no such numbers.
  std::optional<uint32_t> numbers(Types types, const Said& said, const std::vector<JsonId>& listed = {}) {
    const std::string_view type = types.integers ? "integer" : "number";
    if (said[kMultipleOf]) return scalar(type, said, kOfNumbers, listed);
    using Integers = NumberSet::Integers;
    const bool draft_4 = reader_.exclusive_ == PlainReader::Exclusive::kBoolean;
    NumberSet set(!types.integers ? Integers::kNo : draft_4 ? Integers::kUnfractioned : Integers::kYes);
    for (const auto& [keyword, mark] :
         {std::pair(kMinimum, kExclusiveMinimum), std::pair(kMaximum, kExclusiveMaximum)}) {
      const auto side = keyword == kMinimum ? NumberSet::from : NumberSet::to;
      const bool is_marked = said[mark] && is(*said[mark], Json::kTrue);
      if (said[keyword]) set = set & side({decimal(*said[keyword]), is_marked});
      if (said[mark] && is_number(*said[mark])) set = set & side({decimal(*said[mark]), true});
    }
    if (!listed.empty()) {
      std::vector<Decimal> values;
      for (JsonId value : listed) values.push_back(decimal(value));
      set = set & NumberSet::of(std::move(values));
    }
    return schema_.numbers(std::move(set), question(type, said, kOfNumbers, listed));
  }

  Decimal decimal(JsonId number) const {
    auto found = Decimal::parse(document_.text(number));
    require(found.has_value());
    return *std::move(found);
  }

  static void add_terminal(std::optional<uint32_t> terminal, Value& value) {
    if (terminal) value.terminals.push_back(*terminal);
  }

  // `enum` and `const`, of the arrays and objects that are of a shape.
  PlainValueId listed(const Said& said, Types types, const Value& shape) {
    if (said[kEnum] && said[kConst]) {
      Said without_constant = said;
      without_constant[kConst] = std::nullopt;
      return both(listed(without_constant, types, shape), constant(*said[kConst], shape.name), shape.name);
    }
    Value value;
    value.name = shape.name;
    std::vector<JsonId> composites;
    std::vector<std::string> texts;
    std::unordered_set<std::string_view> seen;
    std::vector<JsonId> strings;
    std::vector<JsonId> listed_numbers;
    std::array<bool, 3> words{};
    const auto add = [&](JsonId item) {
      if (is_text(item)) {
        const std::string_view found = text(item);
        if ((types.kinds & PlainSchema::kString) == 0 || !seen.insert(found).second) return;
        texts.emplace_back(found);
        strings.push_back(item);
      } else if (is_number(item)) {
        if ((types.kinds & PlainSchema::kNumber) != 0) listed_numbers.push_back(item);
      } else if (is_boolean(item)) {
        if ((types.kinds & PlainSchema::kBoolean) != 0)
          words[is_false(item) ? PlainSchema::false_() : PlainSchema::true_()] = true;
      } else if (is(item, Json::kNull)) {
        if ((types.kinds & PlainSchema::kNull) != 0) words[PlainSchema::null()] = true;
      } else {
        composites.push_back(item);
      }
    };
    if (said[kEnum]) {
      require(!items(*said[kEnum]).empty());
      for (JsonId item : items(*said[kEnum])) add(item);
    } else {
      add(*said[kConst]);
    }
    for (uint32_t word = 0; word < words.size(); ++word) {
      if (words[word]) value.terminals.push_back(word);
    }
    if (!listed_numbers.empty()) add_terminal(numbers(types, said, listed_numbers), value);
    if (says(said, kOfStrings) && !texts.empty()) {
      add_terminal(scalar("string", said, kOfStrings, strings), value);
    } else if (!texts.empty()) {
      value.terminals.push_back(schema_.listed(std::move(texts)));
    }
    std::vector<PlainValueId> parts{added(std::move(value))};
    const PlainValueId shapes = composites.empty() ? schema_.never() : added(shape);
    for (JsonId composite : composites) parts.push_back(both(constant(composite, shape.name), shapes, shape.name));
    return either(std::move(parts), shape.name);
  }

  // Exactly this value.
  PlainValueId constant(JsonId json, const std::string& pointer) {
    Value value;
    value.name = pointer;
    if (is_array(json)) {
      value.array.emplace();
      for (JsonId item : items(json)) value.array->prefix.push_back(constant(item, pointer));
      value.array->minimum = value.array->maximum = static_cast<uint32_t>(value.array->prefix.size());
    } else if (is_object(json)) {
      value.object.emplace();
      for (const auto& [key, held] : members(json))
        value.object->members.push_back({schema_.name(document_.key_text(key)), constant(held, pointer), true, true});
    } else if (is_text(json)) {
      value.terminals.push_back(schema_.listed({std::string(text(json))}));
    } else if (is_number(json)) {
      add_terminal(numbers({}, Said{}, {json}), value);
    } else {
      value.terminals.push_back(is(json, Json::kNull) ? PlainSchema::null()
                                : is_false(json)      ? PlainSchema::false_()
                                                      : PlainSchema::true_());
    }
    return added(std::move(value));
  }

  template <size_t N>
  static bool says(const Said& said, const std::array<Keyword, N>& keywords) {
    return std::any_of(keywords.begin(), keywords.end(), [&](Keyword k) { return said[k].has_value(); });
  }

  // The terminal of the scalars of a type under conditions, of those that are listed if some are. None: there is no
  // such scalar.
  template <size_t N>
  std::optional<uint32_t> scalar(std::string_view type, const Said& said, const std::array<Keyword, N>& keywords,
                                 const std::vector<JsonId>& listed = {}) {
    return ask_scalars(question(type, said, keywords, listed),
                       type == "string" ? PlainSchema::kString : PlainSchema::kNumber);
  }

  // Those scalars as a schema.
  template <size_t N>
  std::string question(std::string_view type, const Said& said, const std::array<Keyword, N>& keywords,
                       const std::vector<JsonId>& listed) const {
    std::string asked = "{\"type\":\"" + std::string(type) + '"';
    const auto begin = [&](std::string_view keyword) { (asked += ",\"").append(keyword) += "\":"; };
    for (Keyword keyword : keywords) {
      if (!said[keyword]) continue;
      begin(kNames[keyword]);
      document_.write(*said[keyword], asked);
    }
    for (size_t i = 0; i < listed.size(); ++i) {
      if (i == 0) begin("enum");
      asked += i == 0 ? '[' : ',';
      document_.write(listed[i], asked);
    }
    if (!listed.empty()) asked += ']';
    return asked + '}';
  }

  // The same terminal for the same question.
  std::optional<uint32_t> ask_scalars(const std::string& schema, PlainSchema::Kind kind) {
    const auto [at, is_new] = answers_.try_emplace(schema, std::nullopt);
    if (!is_new) return at->second;
    const auto regex = questions_.scalars(schema);
    require(regex.has_value());
    if (*regex >= 0) at->second = schema_.outside(kind, outside_regex(*regex), schema);
    return at->second;
  }

  const PlainReader& reader_;
  const JsonDocument& document_;
  const PlainQuestions& questions_;
  uint64_t max_nesting_;
  uint64_t max_depth_;
  uint64_t max_rules_;
  uint64_t n_steps_ = 0;
  PlainSchema schema_;
  PlainAlgebra algebra_;
  size_t n_regexes_ = 0;
  bool inside_identified_ = false;             // not in the root's own document any more
  std::vector<std::optional<uint8_t>> codes_;  // by key: which keyword it is, if it is one
  std::vector<Known> known_;                   // by value
  std::vector<JsonId> level_;                  // the schemas being read that say something about the same value
  std::unordered_map<std::string, std::optional<uint32_t>> answers_;
  std::unordered_map<uint32_t, std::unordered_map<uint32_t, JsonId>> member_tables_;  // of objects with many members
};

PlainReader::PlainReader(const std::vector<std::string>& asserted, const std::vector<std::string>& formats,
                         const std::string& identifier, bool reference_hides_siblings, Exclusive exclusive)
    : formats_(formats.begin(), formats.end()), hides_siblings_(reference_hides_siblings), exclusive_(exclusive) {
  for (const std::string& keyword : asserted) codes_[keyword] = code_of(keyword);
  codes_[identifier] = kIdentifier;
}

std::optional<PlainReader::Found> PlainReader::read(const JsonDocument& document, const PlainQuestions& questions,
                                                    uint64_t max_nesting, uint64_t max_rules) const {
  try {
    return PlainReading(*this, document, questions, max_nesting, max_rules).read();
  } catch (const PlainReading::NotPlain&) {
    return std::nullopt;
  }
}

}  // namespace cfgmask
