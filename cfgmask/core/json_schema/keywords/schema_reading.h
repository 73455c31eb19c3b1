// One reading of a JSON Schema (json_schema/keywords/schema_reader.h): its state, and what its files share.
//
// read_references.cc has what refers to schemas and names them, read_combinations.cc
// the keywords that apply schemas to the same value, read_shapes.cc those of arrays and
// objects, read_scalars.cc those of scalars and `enum` and `const`; schema_reader.cc the rest.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "json_schema/document/decimal.h"
#include "json_schema/document/json_document.h"
#include "json_schema/keywords/keywords.h"
#include "json_schema/keywords/schema_reader.h"
#include "json_schema/references/dynamic_scopes.h"
#include "json_schema/sets/distinct_items.h"
#include "json_schema/sets/schema_algebra.h"
#include "json_schema/sets/schema_ir.h"
#include "json_schema/spelling/number_set.h"
#include "json_schema/spelling/string_conditions.h"
#include "util/text_hash.h"

namespace cfgmask {

class SchemaReading {
 public:
  using Unsupported = SchemaAlgebra::Unsupported;

  // All of these outlive the reading.
  SchemaReading(const SchemaReader& reader, JsonDocument& document, const ReaderQuestions& questions,
                const ReadingLimits& limits, std::vector<SchemaRefusal>* refusals, const Writable* writable);

  // Thrown where a document that was retrieved asks for what others evaluated, which was not kept.
  struct NotAnnotated {};

  // Throws Unsupported, NotAnnotated, LimitExceeded.
  std::shared_ptr<SchemaIR> read();
  // Where it was when it threw: a JSON Pointer.
  std::string place() const;

 private:
  using Json = JsonDocument::Kind;
  using Held = std::optional<JsonId>;
  // What a schema's keywords hold.
  class Said {
   public:
    Held operator[](Keyword keyword) const { return has(keyword) ? Held(held_[keyword]) : std::nullopt; }
    bool has(Keyword keyword) const { return (present_ & bit(keyword)) != 0; }
    bool has_any(std::span<const Keyword> keywords) const { return (present_ & bits(keywords)) != 0; }
    // Whether it has others than these.
    bool has_beside(std::span<const Keyword> keywords) const { return (present_ & ~bits(keywords)) != 0; }
    void set(Keyword keyword, JsonId value) {
      present_ |= bit(keyword);
      held_[keyword] = value;
    }
    void remove(Keyword keyword) { present_ &= ~bit(keyword); }

   private:
    static_assert(kNumKeywords <= 64);
    static uint64_t bit(Keyword keyword) { return uint64_t{1} << keyword; }
    static uint64_t bits(std::span<const Keyword> keywords) {
      uint64_t all = 0;
      for (Keyword keyword : keywords) all |= bit(keyword);
      return all;
    }

    uint64_t present_ = 0;
    std::array<JsonId, kNumKeywords> held_;
  };
  using Value = SchemaIR::Value;

  static constexpr size_t kMaxPointer = 200;
  static constexpr uint64_t kMaxCount = INT32_MAX - 1;
  // What a set of values takes beside its rules, which are made when a text first comes to them.
  static constexpr uint64_t kStepsPerValue = 10;
  // How many members may be combined with others for each rule that is allowed.
  static constexpr uint64_t kWorkPerRule = 4;
  // What a condition on scalars takes that has to be worked out.
  static constexpr uint64_t kStepsPerQuestion = 128;
  static constexpr uint64_t kCharactersPerStep = 2;
  // Members and items deeper than this, and what references there lead to, are read later, so that neither nesting nor
  // chains of references end at a bound on depth.
  static constexpr uint64_t kDeep = 20;
  // What is deeper than this within what is read at once, schemas for one value in each other, is refused: a level
  // takes up to 1.6 KB of the stack, which may have 256.
  static constexpr uint64_t kMostAtOnce = 60;
  // Objects with more members are looked up in a table.
  static constexpr size_t kFewMembers = 16;

  enum class Progress : uint8_t { kNew, kReading, kDone };
  struct Known {
    Progress progress = Progress::kNew;
    std::optional<ValueId> id;  // known when done, or where the schema refers to itself
  };
  // Which keyword a key is, if it is one, by key.
  struct Codes {
    const SchemaReader* reader;
    std::vector<std::optional<uint8_t>> known = {};
  };
  // What the schemas around a place say of what stands there, and how it is reached. One part of a document may stand
  // in several places.
  struct Context {
    uint32_t number;
    const SchemaReader* reader;
    uint32_t base;                        // which URI references are relative to
    uint32_t scope;                       // of DynamicScopes
    std::optional<std::string_view> uri;  // a `$schema` that names its dialect; none where the root has none
    Codes* codes;
    std::vector<Known> known = {};  // by value of the document as it was given; of the root alone, which has most
    std::unordered_map<uint32_t, Known> known_elsewhere = {};    // by value
    std::unordered_map<uint32_t, Context*> inside = {};          // of objects that references passed
    TextMap<std::string_view, const SchemaReader*> drafts = {};  // that schemas here say to be in

    Known& operator[](JsonId schema) {
      return schema.value < known.size() ? known[schema.value] : known_elsewhere[schema.value];
    }
  };
  // A schema in a context, by the numbers of both.
  using Reached = uint64_t;
  static Reached reached(JsonId schema, const Context& around) { return uint64_t{around.number} << 32 | schema.value; }
  // What a URI or an anchor names. The context around it has no dynamic scope.
  struct Place {
    JsonId schema;
    Context* around;
    std::string pointer;
  };
  // What a reference leads to, and the name of its rule.
  struct Target {
    JsonId schema;
    Context* around;
    std::string name;
  };
  // A schema that some reference leads to.
  struct Later {
    JsonId schema;
    std::string pointer;
    Context* around;
  };
  struct Types {
    uint32_t kinds = SchemaIR::kAnyKind;
    bool integers = false;  // of the numbers, only these
  };

  static constexpr std::array<Keyword, 5> kOfReferences = {kReference, kDynamicReference, kRecursiveReference,
                                                           kIdentifier, kDialect};
  static constexpr std::array<Keyword, 7> kOfArrays = {kItems,    kPrefixItems, kAdditionalItems, kUnevaluatedItems,
                                                       kMinItems, kMaxItems,    kUniqueItems};
  static constexpr std::array<Keyword, 3> kOfContained = {kContains, kMinContains, kMaxContains};
  static constexpr std::array<Keyword, 8> kOfObjects = {
      kProperties,           kPatternProperties, kRequired,      kUnevaluatedProperties,
      kAdditionalProperties, kMinProperties,     kMaxProperties, kPropertyNames};
  static constexpr std::array<Keyword, 5> kOfNumbers = {kMinimum, kMaximum, kExclusiveMinimum, kExclusiveMaximum,
                                                        kMultipleOf};
  static constexpr std::array<Keyword, 4> kOfStrings = {kMinLength, kMaxLength, kPattern, kFormat};

  // ---- JSON

  static void require(bool holds) {
    if (!holds) throw Unsupported();
  }
  bool is(JsonId value, Json kind) const { return document_.kind(value) == kind; }
  bool is_object(JsonId value) const { return is(value, Json::kObject); }
  bool is_array(JsonId value) const { return is(value, Json::kArray); }
  bool is_text(JsonId value) const { return is(value, Json::kString); }
  bool is_number(JsonId value) const { return is(value, Json::kNumber); }
  bool is_false(JsonId value) const { return is(value, Json::kFalse); }
  bool is_boolean(JsonId value) const { return is(value, Json::kTrue) || is_false(value); }
  std::string_view text(JsonId value) const;
  std::span<const JsonId> items(JsonId value) const;
  std::span<const JsonDocument::Member> members(JsonId value) const;
  // As Decimal::count; a count that can be enforced.
  std::optional<uint64_t> digits(JsonId value) const;
  uint32_t count(JsonId value) const;
  uint32_t count_or(Held held, uint32_t otherwise) const { return held ? count(*held) : otherwise; }

  // ---- schemas

  const SchemaReader& reader() const { return *around_->reader; }
  std::optional<Keyword> keyword(uint32_t key) const;
  // Those that restrict something.
  Said keywords(JsonId schema) const;
  bool is_idle(Keyword keyword, JsonId value) const;
  // The values that a schema allows. Those of equal schemas are one.
  ValueId value(JsonId schema, const std::string& pointer, uint64_t depth);
  // All that is being read for the same value leads to this schema, which was read before or is being read. Throws
  // Unsupported where that leads back.
  void leads_to(Reached schema, const Known& known);
  void add_lead(Reached from, Reached to);
  // Whether a schema leads to one that was being read when it was.
  bool is_open(Reached schema, const Known& known) const;
  bool is_read_for_this_value(Reached schema) const;
  // The values of a member or an item. Deep ones have no more than an id yet.
  ValueId inner(JsonId schema, const std::string& pointer, uint64_t depth);
  // The same, read in any case.
  ValueId inner_now(JsonId schema, const std::string& pointer, uint64_t depth);
  static std::string below(const std::string& pointer, std::string_view keyword, std::string_view key = {});
  ValueId described(JsonId schema, const Said& said, const std::string& pointer, uint64_t depth);
  // What the keywords say that look at the value without further schemas for the same value.
  ValueId described_here(const Said& said, const std::string& pointer, uint64_t depth);
  ValueId added(Value value);
  // One whose name is that of the value around.
  ValueId added(Value value, const std::string& pointer);
  // Whether what is begun of an object can always be completed: which refusal it is if not.
  std::optional<SchemaRefusal::Kind> may_run_out(const SchemaIR::Object& object);
  // Throws Unsupported unless refusals are gathered.
  void refuse(SchemaRefusal::Kind kind, const std::string& name);
  void find_live();
  // Refuses what cannot be enforced of live values. True if some allow equal items from then on.
  bool relax();
  // Tells of the innermost part that is needed and allows nothing.
  void refuse_root();
  bool has_common(ValueId a, ValueId b) const;
  std::optional<uint32_t> most_depth() const;
  bool has_writable_keys();
  DistinctItems distinct_items();
  std::pair<DistinctItems, std::vector<ValueId>> look_at_items();
  bool let_repeat(const std::vector<ValueId>& arrays, const std::vector<bool>& written);
  std::vector<ValueId> told_apart();
  ValueId both(ValueId a, ValueId b, const std::string& pointer) { return algebra_.all({{a}, {b}}, pointer); }
  // What a value costs of max_rules.
  void count_rules(const Value& value, const std::string& pointer);
  // How many rules an object takes at most.
  static uint64_t n_states(const SchemaIR::Object& object);

  // ---- what refers to schemas and names them (read_references.cc)

  // Makes the context of the root, and enters it.
  void enter_root();
  // Goes into a schema: what it says is read as it says itself.
  Said entered(JsonId schema);
  // The same on the way of a reference, which leaves the dynamic scope as it is.
  Said passed_into(JsonId schema);
  // How a schema is read that says this.
  const SchemaReader& reader_of(const Said& said);
  // The context of this kind, made if it is new.
  Context* context(const SchemaReader& reader, std::optional<std::string_view> uri, uint32_t base, uint32_t scope);
  Context* in_scope(const Context& around, uint32_t scope);
  // The scope inside of a resource that is entered from a scope.
  uint32_t scope_inside(uint32_t scope, uint32_t base);
  Codes* codes_of(const SchemaReader& reader);
  // The number of a URI.
  uint32_t base(std::string uri);
  bool is_document_root(JsonId schema) const {
    return std::binary_search(document_roots_.begin(), document_roots_.end(), schema);
  }
  // The keyword that a schema is nothing but, if that is a reference.
  std::optional<Keyword> only_reference(const Said& said) const;
  // Whether references inside a schema are relative to a URI of its own.
  bool has_own_uri(const Said& said) const;
  // Goes into an object on the way of a reference. Linear in its members once.
  void pass(JsonId object);
  ValueId referred(const Said& said, Keyword keyword, uint64_t depth);
  // What a schema refers to that is not read yet and says nothing else. Chains of such are followed in a loop.
  std::optional<Target> next_in_chain(const Target& reached);
  // The id of what a member or an item refers to, if that is read later.
  std::optional<ValueId> referred_later(const Said& said, uint64_t depth);
  void read_later_ones();
  // What a reference leads to that stands here; `around_` stays.
  Target target(const Said& said, Keyword keyword);
  // What a `$ref` would lead to.
  Place target_of_text(std::string_view reference);
  // Where a dynamic reference leads instead, of a scope that has entered the resource of that place.
  const Place* dynamic_target(const Place& place, std::string_view reference, Keyword keyword, uint32_t scope) const;
  // The schema with a URI, or with an anchor in one with a URI.
  const Place& named(const std::string& uri);
  const Place& retrieved(const std::string& uri);
  // Registers what URIs and anchors name in a document. Linear.
  void register_names(const Place& root);
  void register_schema(JsonId schema, Context* inside, const Place& place);
  // The schema with a name of the document; the first one with a name stays.
  void add_name(std::string name, const Place& place) { named_.try_emplace(std::move(name), place); }
  void add_dynamic(const std::string& anchor, uint32_t base, const Place& place);
  // What a JSON Pointer leads to.
  Place step_along(Place place, std::string_view pointer);
  static std::string unescaped(std::string_view token);
  JsonId element(JsonId array, std::string_view token) const;
  JsonId step(JsonId object, uint32_t key);

  // ---- schemas for the same value (read_combinations.cc)

  // With the schemas that apply to the same value. Keys are written in the order in which the schema names them, so
  // keywords that name keys are taken in the order in which they stand.
  ValueId combined(JsonId schema, const Said& said, ValueId own, const std::string& pointer, uint64_t depth);
  // `if`, `then` and `else`.
  ValueId conditional(const Said& said, const std::string& pointer, uint64_t depth);
  // What depends on the presence of a key.
  ValueId with_dependents(const Said& said, ValueId own, const std::string& pointer, uint64_t depth);
  // All values but objects with a key.
  ValueId lacking(uint32_t name, const std::string& pointer);
  // The objects with some keys.
  ValueId having(const std::vector<uint32_t>& names, const std::string& pointer);
  std::vector<ValueId> branches(JsonId held, const char* keyword, const std::string& pointer, uint64_t depth);
  ValueId either(std::vector<ValueId> parts, const std::string& pointer);

  // ---- arrays and objects (read_shapes.cc)

  // None: there is no such array.
  std::optional<SchemaIR::Array> array_shape(const Said& said, const std::string& pointer, uint64_t depth);
  // All values but arrays that do not meet `contains`.
  ValueId containing(const Said& said, const std::string& pointer, uint64_t depth);
  // None: there is no such object.
  std::optional<SchemaIR::Object> object_shape(const Said& said, const std::string& pointer, uint64_t depth);
  class KeyKinds;
  void add_classes(JsonId patterns, SchemaIR::Object& object, const std::string& pointer, uint64_t depth);
  // Whether some schema of a document may ask for what others did not evaluate.
  static bool asks_for_the_rest(const JsonDocument& document);
  // Whether what a schema evaluates also depends on schemas for the same value, or on `contains`.
  static bool looks_around(const Said& said) { return said.has_any(kApplicators) || said.has(kContains); }
  // What the members or items hold that no other keyword looks at; it says nothing where another one looks at all.
  Held unevaluated(const Said& said, Keyword keyword) const {
    return looks_around(said) ? std::nullopt : said[keyword];
  }
  void restrict_names(JsonId schema, SchemaIR::Object& object, const std::string& pointer, uint64_t depth);
  // The number of a pattern; nullopt for one that is not read.
  std::optional<uint32_t> simple_pattern(std::string_view pattern);
  // The conditions that a pattern is found in a key, and that a key is one of a terminal's strings.
  uint32_t pattern_condition(std::string_view pattern);
  uint32_t string_condition(uint32_t terminal);
  uint32_t any_string_of(const std::vector<uint32_t>& terminals);

  // ---- scalars and listed values (read_scalars.cc)

  Types allowed_types(Held type) const;
  static uint32_t kind_of(std::string_view type);
  void check_scalar_keywords(const Said& said) const;
  void add_scalars(const Said& said, Types types, Value& value);
  // The conditions on strings; nullopt where they are not read.
  std::optional<SchemaIR::Text> text_conditions(const Said& said);
  // The strings under the conditions; none: there are no such strings.
  std::optional<uint32_t> string(const Said& said);
  // The numbers under the conditions, of those that are listed if some are; none: there are no such numbers.
  std::optional<uint32_t> numbers(Types types, const Said& said, const std::vector<JsonId>& listed = {});
  Decimal decimal(JsonId number) const;
  static void add_terminal(std::optional<uint32_t> terminal, Value& value) {
    if (terminal) value.terminals.push_back(*terminal);
  }
  // `enum` and `const`, of the arrays and objects that are of a shape.
  ValueId listed(const Said& said, Types types, const Value& shape);
  // Exactly this value.
  ValueId constant(JsonId json, const std::string& pointer);
  // The numbers that the algebra makes of others.
  std::optional<uint32_t> added_numbers(const SchemaAlgebra::MakeNumbers& make);
  // The terminal of the strings under conditions, of those that are listed if some are. None: there are no such
  // strings.
  std::optional<uint32_t> strings(const Said& said, const std::vector<JsonId>& listed = {});
  template <class Ask, class... Question>
  auto placed(const Ask& ask, const Question&... question) const;
  // The terminal of the strings of a schema, as JSON text, the same for the same schema.
  std::optional<uint32_t> ask_strings(const std::string& schema);

  JsonDocument& document_;
  std::vector<SchemaRefusal>* refusals_;
  // Whether it has to be known what schemas evaluate: some schema may ask for the rest.
  const bool annotates_;
  ReaderQuestions questions_;
  const SchemaReader& root_reader_;
  uint64_t max_nesting_;
  uint64_t max_depth_;
  uint64_t max_rules_;
  uint64_t max_search_steps_;
  uint64_t n_steps_ = 0;
  std::shared_ptr<SchemaIR> made_ = std::make_shared<SchemaIR>();
  SchemaIR& schema_ = *made_;
  CharacterProperties properties_;
  StringConditions strings_;
  KeyConditions keys_;
  std::unique_ptr<RegexStore> number_regexes_ = {};  // made when sets of numbers need a search
  SchemaAlgebra algebra_;
  std::deque<Codes> codes_;
  std::deque<Context> contexts_;  // that of the root first
  std::map<std::tuple<const SchemaReader*, uint32_t, uint32_t>, Context*> context_of_;
  Context* around_ = nullptr;           // of what is read
  std::vector<JsonId> document_roots_;  // in ascending order
  bool are_names_known_ = false;        // of the document that was given
  TextMap<std::string, Place> named_;   // by URI, or URI and anchor
  std::vector<std::string> bases_;      // URIs; that of the root first
  TextMap<std::string, uint32_t> base_numbers_;
  DynamicScopes scopes_;
  std::vector<Place> dynamic_places_;
  std::vector<Later> later_;
  std::vector<Reached> level_;  // the schemas being read
  ptrdiff_t level_begin_ = 0;   // from there on they say something about the same value
  // Which schemas the open ones apply to the same value, of those that were being read.
  std::unordered_map<Reached, std::vector<Reached>> leads_;
  uint64_t n_looked_at_ = 0;  // of these
  TextMap<std::string, std::optional<uint32_t>> answers_;
  std::unordered_map<uint32_t, std::unordered_map<uint32_t, JsonId>> member_tables_;  // of objects with many members
};

}  // namespace cfgmask
