#include "schema/plain_reader.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "schema/plain_reading.h"
#include "util/limits.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// Names of sets begin with the mark of a fragment.
std::string pointer_of(const std::string& name) { return name.substr(std::min<size_t>(1, name.size())); }

}  // namespace

// A limit that the answers cross is met where they are asked for.
template <class Ask, class... Question>
auto PlainReading::placed(const Ask& ask, const Question&... question) const {
  try {
    return ask(question...);
  } catch (const LimitExceeded& crossed) {
    throw SchemaLimitExceeded(crossed.limit().c_str(), crossed.value(), pointer_of(algebra_.place()));
  }
}

PlainReading::PlainReading(const PlainReader& reader, const JsonDocument& document, const PlainQuestions& questions,
                           uint64_t max_nesting, uint64_t max_rules)
    : document_(document),
      // Most schemas ask nothing: what is small enough to be copied without memory of its own is handed on.
      questions_{[&](const auto& schema) { return placed(questions.numbers, schema); },
                 [&](auto folding, bool only_ascii) { return placed(questions.alike, folding, only_ascii); },
                 [&](const auto& name) { return questions.format(name); },
                 [&](const auto& name) { return placed(questions.properties, name); },
                 [&](const auto& uri, const auto& around) { return questions.drafts(uri, around); }},
      max_nesting_(max_nesting),
      max_depth_(std::min(max_nesting, PlainReader::kMaxDepth)),
      max_rules_(max_rules),
      properties_(questions_.properties),
      strings_(reader.strings_, questions_.alike, questions_.format, properties_, max_nesting),
      keys_(schema_, max_nesting),
      algebra_(
          schema_, keys_, [this](const std::string& asked, PlainSchema::Kind kind) { return ask_scalars(asked, kind); },
          [this](const Value& made) { check_made(made, made.name); }, kWorkPerRule * max_rules) {
  const JsonId root = document.root();
  const Held declared = is_object(root) ? document.member(root, "$schema") : std::nullopt;
  around_ = context(reader, declared ? std::optional(text(*declared)) : std::nullopt, false);
}

std::shared_ptr<PlainSchema> PlainReading::read() {
  const JsonId root = document_.root();
  require(!is_object(root) || !document_.member(root, "x-guidance"));
  schema_.set_root(value(root, "#", 0));
  read_later_ones();
  algebra_.finish();
  require(schema_.find_live() && schema_.is_live(schema_.root()));
  if (const auto depth = reader().nested_at_most_)
    require(schema_.find_live_to(*depth) && schema_.is_live(schema_.root(), *depth));
  for (uint32_t i = 0; i < schema_.n_values(); ++i) {
    const Value& value = schema_.at(PlainValueId(i));
    if (value.object && schema_.is_live(PlainValueId(i))) require(has_keys_enough(*value.object));
  }
  schema_.finish_adding();
  return made_;
}

// Whether what is begun of an object can always be completed: keys without names that it needs do not run out.
bool PlainReading::has_keys_enough(const PlainSchema::Object& object) {
  if (object.witnesses.empty()) return true;
  const auto kinds = object.kinds();
  const bool is_counted = !kinds.empty() && object.minimum > object.n_required() + 1;
  const auto is_plenty = [&](const PlainSchema::KeyClass& kind) {
    return kind.count == kUnbounded && schema_.is_live(kind.value);
  };
  if (is_counted && std::ranges::none_of(kinds, is_plenty)) return false;
  std::vector<uint32_t> names;
  for (const auto& member : object.members) names.push_back(member.name);
  for (size_t i = 0; i < object.witnesses.size(); ++i) {
    const PlainValueId wanted = object.witnesses[i].value;
    const auto meets = [&](const PlainSchema::KeyClass& kind) { return (kind.meets & (1U << i)) != 0; };
    if (wanted == PlainSchema::any()) continue;
    if (!reader().has_any_order_ && std::ranges::none_of(kinds, meets)) continue;
    const auto never_runs_out = [&](const PlainSchema::KeyClass& kind) {
      return meets(kind) && keys_.surely_has(kEndlesslyMany, kind.keys, names) && has_common(kind.value, wanted);
    };
    if (std::ranges::none_of(kinds, never_runs_out)) return false;
  }
  return !reader().has_any_order_ || object.maximum == kUnbounded;
}

bool PlainReading::has_common(PlainValueId a, PlainValueId b) const {
  if (a == PlainSchema::any() || a == b) return schema_.is_live(b);
  const auto both = schema_.known_common(a, b);
  return both && schema_.is_live(*both);
}

std::string_view PlainReading::text(JsonId value) const {
  require(is_text(value));
  return document_.text(value);
}

std::span<const JsonId> PlainReading::items(JsonId value) const {
  require(is_array(value));
  return document_.items(value);
}

std::span<const JsonDocument::Member> PlainReading::members(JsonId value) const {
  require(is_object(value));
  return document_.members(value);
}

std::optional<uint64_t> PlainReading::digits(JsonId value) const {
  return is_number(value) ? Decimal::count(document_.text(value)) : std::nullopt;
}

uint32_t PlainReading::count(JsonId value) const {
  const std::optional<uint64_t> found = digits(value);
  require(found && *found <= kMaxCount);
  return static_cast<uint32_t>(*found);
}

// No text is so long that it breaks a maximum of two thousand million, which Java's schemas say where they mean none.
bool PlainReading::is_idle(Keyword keyword, JsonId value) const {
  const bool is_maximum =
      keyword == kMaxLength || keyword == kMaxItems || keyword == kMaxProperties || keyword == kMaxContains;
  return is_maximum && digits(value).value_or(0) > kMaxCount;
}

std::optional<Keyword> PlainReading::keyword(uint32_t key) const {
  const auto code = around_->codes[key];
  return code ? std::optional(static_cast<Keyword>(*code)) : std::nullopt;
}

PlainReading::Said PlainReading::keywords(JsonId schema) const {
  Said said;
  for (const auto& member : document_.members(schema)) {
    Pause::tick();
    const auto found = keyword(member.key);
    if (found && !is_idle(*found, member.value)) said.set(*found, member.value);
  }
  return said;
}

PlainReading::Said PlainReading::entered(JsonId schema) {
  Said said = keywords(schema);
  // What is no identifier in the draft around it was not meant to change what references are relative to.
  const bool may_be_identified = schema != document_.root() && said.has(kIdentifier);
  if (const PlainReader& own = reader_of(said); &own != &reader()) {
    around_ = context(own, text(*said[kDialect]), around_->identified);
    said = keywords(schema);
  }
  if (may_be_identified && has_own_uri(said)) around_ = context(reader(), around_->uri, true);
  return said;
}

const PlainReader& PlainReading::reader_of(const Said& said) {
  const Held named = said[kDialect];
  if (!named || !is_text(*named) || text(*named) == around_->uri) return reader();
  const PlainReader*& own = around_->drafts[text(*named)];
  if (own == nullptr) own = questions_.drafts(std::string(text(*named)), reader());
  require(own != nullptr);
  return *own;
}

PlainReading::Context* PlainReading::context(const PlainReader& reader, std::optional<std::string_view> uri,
                                             bool identified) {
  const auto found = std::find_if(contexts_.begin(), contexts_.end(), [&](const Context& context) {
    return context.reader == &reader && context.identified == identified;
  });
  if (found != contexts_.end()) return &*found;
  contexts_.push_back({&reader, uri, identified});
  Context& made = contexts_.back();
  made.known.resize(document_.n_values());
  made.codes.reserve(document_.n_keys());
  for (size_t key = 0; key < document_.n_keys(); ++key) {
    const auto code = reader.codes_.find(std::string(document_.key_text(static_cast<uint32_t>(key))));
    made.codes.push_back(code == reader.codes_.end() ? std::nullopt : std::optional(code->second));
  }
  return &made;
}

PlainValueId PlainReading::value(JsonId schema, const std::string& pointer, uint64_t depth) {
  if (is(schema, Json::kTrue)) return PlainSchema::any();
  if (is_false(schema)) return PlainSchema::never();
  require(is_object(schema) && depth <= max_depth_ && depth <= kMostAtOnce);
  // A schema that leads to itself without going into a value.
  require(!is_read_for_this_value(schema));
  Known& known = around_->known[schema.value];
  if (known.progress == Progress::kReading && !known.id) known.id = schema_.reserve();
  if (known.progress != Progress::kNew) {
    leads_to(schema, known);
    return *known.id;
  }
  known.progress = Progress::kReading;
  level_.push_back(schema);
  Context* const outside = around_;
  const Said said = entered(schema);
  if (const auto later = referred_later(said, depth)) {
    // Where this applies to the same value as another schema, it is read after all.
    known.progress = Progress::kNew;
    around_ = outside;
    level_.pop_back();
    return *later;
  }
  const std::string* const around = algebra_.enter(&pointer);
  PlainValueId id = is_reference(said) ? referred(said, depth) : described(schema, said, pointer, depth);
  algebra_.enter(around);
  around_ = outside;
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

// What was read inside of an item is known where it applies to the same value again, and may be there because of what
// is being read.
void PlainReading::leads_to(JsonId schema, const Known& known) {
  if (!is_open(schema, known)) return;
  std::unordered_set<uint32_t> seen{schema.value};
  std::vector<JsonId> todo{schema};
  while (!todo.empty()) {
    const JsonId next = todo.back();
    todo.pop_back();
    require(++n_looked_at_ <= kWorkPerRule * max_rules_ && !is_read_for_this_value(next));
    const auto further = leads_.find(next.value);
    if (further == leads_.end()) continue;
    for (JsonId other : further->second) {
      if (seen.insert(other.value).second) todo.push_back(other);
    }
  }
  for (auto at = level_.begin() + level_begin_; at != level_.end(); ++at) add_lead(*at, schema);
}

void PlainReading::add_lead(JsonId from, JsonId to) {
  auto& leads = leads_[from.value];
  if (leads.empty() || leads.back() != to) leads.push_back(to);
}

bool PlainReading::is_open(JsonId schema, const Known& known) const {
  return known.progress == Progress::kReading || leads_.contains(schema.value);
}

bool PlainReading::is_read_for_this_value(JsonId schema) const {
  return std::find(level_.begin() + level_begin_, level_.end(), schema) != level_.end();
}

PlainValueId PlainReading::inner(JsonId schema, const std::string& pointer, uint64_t depth) {
  if (depth > kDeep && is_object(schema)) {
    Known& known = around_->known[schema.value];
    if (known.progress == Progress::kNew) {
      if (!known.id) {
        known.id = schema_.reserve();
        later_.push_back({schema, pointer, around_});
      }
      return *known.id;
    }
  }
  return inner_now(schema, pointer, depth);
}

PlainValueId PlainReading::inner_now(JsonId schema, const std::string& pointer, uint64_t depth) {
  const ptrdiff_t outer = std::exchange(level_begin_, std::ssize(level_));
  const PlainValueId found = value(schema, pointer, depth + 1);
  level_begin_ = outer;
  return found;
}

std::string PlainReading::below(const std::string& pointer, std::string_view keyword, std::string_view key) {
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

bool PlainReading::is_reference(const Said& said) const {
  return said[kReference] && (reader().hides_siblings_ || !said.has_beside(kOfReferences));
}

bool PlainReading::has_own_uri(const Said& said) const {
  const Held identifier = said[kIdentifier];
  if (!identifier || !is_text(*identifier)) return false;
  if (reader().hides_siblings_ && said[kReference]) return false;
  return !text(*identifier).starts_with('#');
}

void PlainReading::pass(JsonId object) {
  Context*& inside = around_->inside[object.value];
  if (inside == nullptr) {
    entered(object);
    inside = around_;
  }
  around_ = inside;
}

PlainValueId PlainReading::referred(const Said& said, uint64_t depth) {
  Context* const here = around_;
  std::string_view reference = text(*said[kReference]);
  std::vector<std::pair<JsonId, Known*>> passed;
  JsonId found = followed(reference);
  while (const auto next = only_reference(found)) {
    // A reference that leads back to itself says nothing.
    require(passed.size() < document_.n_values());
    passed.push_back({found, &around_->known[found.value]});
    found = followed(reference = *next);
  }
  const PlainValueId id = value(found, decoded(reference), depth + 1);
  for (const auto& [reference_to_it, known] : passed) {
    *known = {Progress::kDone, id};
    if (is_open(found, around_->known[found.value])) add_lead(reference_to_it, found);
  }
  around_ = here;
  return id;
}

JsonId PlainReading::followed(std::string_view reference) {
  require(!around_->identified);
  return referred_schema(reference);
}

std::optional<std::string_view> PlainReading::only_reference(JsonId schema) const {
  if (!is_object(schema)) return std::nullopt;
  const Known& known = around_->known[schema.value];
  if (known.progress != Progress::kNew || known.id) return std::nullopt;
  const Said said = keywords(schema);
  if (!said[kReference] || said.has(kIdentifier) || said.has(kDialect) || !is_reference(said)) return std::nullopt;
  return text(*said[kReference]);
}

std::optional<PlainValueId> PlainReading::referred_later(const Said& said, uint64_t depth) {
  // What applies to the same value is read at once: only so does it show where that leads in a circle.
  if (depth <= kDeep || std::ssize(level_) != level_begin_ + 1 || !is_reference(said) || around_->identified)
    return std::nullopt;
  const std::string_view reference = text(*said[kReference]);
  Context* const here = around_;
  const JsonId found = referred_schema(reference);
  Context* const there = std::exchange(around_, here);
  Known& known = there->known[found.value];
  if (!is_object(found) || known.progress == Progress::kReading) return std::nullopt;
  if (!known.id) {
    known.id = schema_.reserve();
    later_.push_back({found, decoded(reference), there});
  }
  return *known.id;
}

void PlainReading::read_later_ones() {
  while (!later_.empty()) {
    const Later next = std::move(later_.back());
    later_.pop_back();
    around_ = next.around;
    value(next.schema, next.pointer, 0);
  }
}

JsonId PlainReading::referred_schema(std::string_view reference) {
  require(!reference.empty() && reference[0] == '#');
  return target(std::string_view(decoded(reference)).substr(1));
}

std::string PlainReading::decoded(std::string_view reference) {
  std::string out;
  while (true) {
    const size_t mark = std::min(reference.find('%'), reference.size());
    out += reference.substr(0, mark);
    reference.remove_prefix(mark);
    if (reference.empty()) break;
    uint8_t byte = 0;
    const char* const digits = reference.data() + 1;
    if (reference.size() > 2 && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      out += static_cast<char>(byte);
      reference.remove_prefix(3);
    } else {
      // No escape: resolve.py takes it as it is, too.
      out += '%';
      reference.remove_prefix(1);
    }
  }
  return out;
}

JsonId PlainReading::target(std::string_view pointer) {
  const JsonId root = document_.root();
  JsonId at = root;
  bool is_map = false;  // of schemas, which says nothing itself
  around_ = &contexts_.front();
  require(pointer.empty() || pointer[0] == '/');
  while (!pointer.empty()) {
    const size_t end = std::min(pointer.find('/', 1), pointer.size());
    const std::string token = unescaped(pointer.substr(1, end - 1));
    if (is_array(at)) {
      at = element(at, token);
    } else {
      require(is_object(at));
      if (at != root && !is_map) pass(at);
      const auto key = document_.find_key(token);
      require(key.has_value());
      at = step(at, *key);
    }
    is_map = !is_map && std::find(kSchemaMaps.begin(), kSchemaMaps.end(), token) != kSchemaMaps.end();
    pointer.remove_prefix(end);
  }
  return at;
}

std::string PlainReading::unescaped(std::string_view token) {
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

JsonId PlainReading::element(JsonId array, std::string_view token) const {
  uint32_t index = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  require(error == std::errc() && end == token.data() + token.size() && (token == "0" || token[0] != '0'));
  require(index < items(array).size());
  return items(array)[index];
}

JsonId PlainReading::step(JsonId object, uint32_t key) {
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

PlainValueId PlainReading::described(JsonId schema, const Said& said, const std::string& pointer, uint64_t depth) {
  require(!said[kOther]);
  const PlainValueId own = described_here(said, pointer, depth);
  return said.has_any(kApplicators) ? combined(schema, said, own, pointer, depth) : own;
}

PlainValueId PlainReading::described_here(const Said& said, const std::string& pointer, uint64_t depth) {
  const Types types = allowed_types(said[kType]);
  Value value;
  value.name = pointer;
  // Most values are of a type that most of the keywords say nothing about.
  auto array = schema_.at(PlainSchema::any()).array;
  auto object = schema_.at(PlainSchema::any()).object;
  if (said.has_any(kOfArrays)) array = PlainSchema::shared(array_shape(said, pointer, depth));
  if (said.has_any(kOfObjects)) object = PlainSchema::shared(object_shape(said, pointer, depth));
  check_scalar_keywords(said);
  if ((types.kinds & PlainSchema::kArray) != 0) value.array = std::move(array);
  if ((types.kinds & PlainSchema::kObject) != 0) value.object = std::move(object);
  const PlainValueId contained = said.has_any(kOfContained) ? containing(said, pointer, depth) : PlainSchema::any();
  PlainValueId found;
  if (said[kEnum] || said[kConst]) {
    found = listed(said, types, value);
  } else {
    add_scalars(said, types, value);
    found = added(std::move(value));
  }
  return contained == PlainSchema::any() ? found : both(found, contained, pointer);
}

PlainValueId PlainReading::added(Value value) {
  check_made(value, value.name);
  return schema_.add(std::move(value));
}

PlainValueId PlainReading::added(Value value, const std::string& pointer) {
  check_made(value, pointer);
  return schema_.add(std::move(value));
}

void PlainReading::check_made(const Value& value, const std::string& pointer) {
  if (value.array && !value.array->witnesses.empty()) require(counted_items(*value.array) <= kMaxCountedItems);
  count_rules(value, pointer);
}

uint32_t PlainReading::counted_items(const PlainSchema::Array& array) {
  uint32_t most = std::max(array.minimum, array.maximum == kUnbounded ? 0 : array.maximum);
  for (const auto& witness : array.witnesses)
    most = std::max({most, witness.start, witness.least, witness.most == kUnbounded ? 0 : witness.most});
  return most;
}

void PlainReading::count_rules(const Value& value, const std::string& pointer) {
  n_steps_ += kStepsPerValue;
  if (value.array) n_steps_ += 2 + value.array->prefix.size();
  if (value.object) n_steps_ += n_states(*value.object);
  if (n_steps_ > max_rules_) throw SchemaLimitExceeded("max_rules", max_rules_, pointer_of(pointer));
}

uint64_t PlainReading::n_states(const PlainSchema::Object& object) {
  const auto [minimum, maximum] = object.bounds();
  const uint64_t most = maximum == kUnbounded ? 0 : maximum;
  const uint64_t counts = std::max({uint64_t{1}, uint64_t{minimum}, most});
  // Other keys are counted where some of them must have a certain value.
  const size_t n_kinds = object.classes.size() + (object.others ? 1 : 0);
  const uint64_t n_others = object.has_particular_witnesses() ? n_kinds * (counts << object.witnesses.size()) : 0;
  return n_others + (object.members.size() + 1) * (1 + std::min<uint64_t>(counts, object.members.size() + 1));
}

PlainReader::PlainReader(const std::vector<std::string>& asserted, std::shared_ptr<KnownStrings> strings,
                         const std::string& identifier, bool reference_hides_siblings, Exclusive exclusive,
                         NumberStyle::Spelling numbers, std::optional<uint32_t> nested_at_most, bool has_any_order)
    : strings_(std::move(strings)),
      hides_siblings_(reference_hides_siblings),
      exclusive_(exclusive),
      numbers_(numbers),
      nested_at_most_(nested_at_most),
      has_any_order_(has_any_order) {
  for (const std::string& keyword : asserted) codes_[keyword] = code_of(keyword);
  codes_[identifier] = kIdentifier;
  codes_["$schema"] = kDialect;
}

std::shared_ptr<PlainSchema> PlainReader::read(const JsonDocument& document, const PlainQuestions& questions,
                                               uint64_t max_nesting, uint64_t max_rules) const {
  try {
    return PlainReading(*this, document, questions, max_nesting, max_rules).read();
  } catch (const PlainReading::NotPlain&) {
    return nullptr;
  } catch (const PlainAlgebra::TooMuchWork& much) {
    throw SchemaLimitExceeded("max_rules", max_rules, pointer_of(much.name));
  }
}

}  // namespace cfgmask
