#include "json_schema/sets/schema_ir.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "json_schema/document/json_document.h"
#include "json_schema/sets/indexed_lists.h"
#include "json_schema/sets/indexed_unions.h"
#include "json_schema/sets/kind_states.h"
#include "json_schema/sets/scalars_together.h"
#include "json_schema/sets/value_counts.h"
#include "json_schema/sets/witnesses.h"
#include "util/components.h"
#include "util/lists.h"
#include "util/text_hash.h"

namespace cfgmask {

namespace {

// The levels of brackets left inside an array or object that may have `depth` levels.

// Alternatives of alternatives that are looked through when two sets are compared.
constexpr size_t kMostParts = 256;
// Schemas may need each other in so many circles.
constexpr size_t kMaxRounds = 40;
constexpr size_t kMaxLiveLooks = 4'000'000;
// Values inside of values that are looked at to tell two sets apart.
constexpr int kMaxApartDepth = 3;
constexpr uint64_t kMaxLooks = 100'000;
// What a name or a listed string takes, about.
constexpr size_t kNameBytes = 64;
// There are more texts of so many characters than anyone counts.
constexpr uint32_t kLong = 2;
constexpr auto kAtOnce = SimplePattern::Sequences::kAtOnce;

// Content as words that two values share exactly if they are alike.
class Content {
 public:
  explicit Content(std::vector<uint32_t>& out) : out_(out) { out_.clear(); }
  void word(uint32_t w) { out_.push_back(w); }
  void list(const auto& ids, auto word_of) {
    word(static_cast<uint32_t>(ids.size()));
    for (const auto& id : ids) word(word_of(id));
  }
  void optional(const std::optional<ValueId>& id) { word(id ? id->value + 1 : 0); }

 private:
  std::vector<uint32_t>& out_;
};

void keys_words(const SchemaIR::Keys& keys, Content& content) {
  content.list(keys.met, [](uint32_t condition) { return condition; });
  content.list(keys.broken, [](uint32_t condition) { return condition; });
}

void write_content(const SchemaIR::Value& value, std::vector<uint32_t>& words) {
  const auto id_of = [](ValueId id) { return id.value; };
  Content content(words);
  content.list(value.terminals, [](uint32_t t) { return t; });
  content.list(value.alternatives, id_of);
  content.word(value.array ? 1 : 0);
  if (value.array) {
    content.list(value.array->prefix, id_of);
    content.optional(value.array->rest);
    content.word(value.array->minimum);
    content.word(value.array->maximum);
    content.word((value.array->distinct ? 1U : 0U) | (value.array->repeats ? 2U : 0U));
    content.word(value.array->evaluated.first);
    content.list(value.array->evaluated.containing, id_of);
    content.word(static_cast<uint32_t>(value.array->witnesses.size()));
    for (const auto& witness : value.array->witnesses) {
      for (uint32_t word : {witness.start, witness.value.value, witness.least, witness.most}) content.word(word);
    }
  }
  content.word(value.object ? 1 : 0);
  if (value.object) {
    content.word((value.object->is_overapproximate ? 1U : 0U) | (value.object->evaluated.all ? 2U : 0U));
    content.list(value.object->evaluated.names, [](uint32_t name) { return name; });
    content.list(value.object->evaluated.conditions, [](uint32_t condition) { return condition; });
    content.optional(value.object->others);
    keys_words(value.object->others_keys, content);
    content.word(value.object->minimum);
    content.word(value.object->maximum);
    content.list(value.object->classes, [](const auto& c) { return c.value.value; });
    for (const auto& c : value.object->classes) keys_words(c.keys, content);
    content.word(static_cast<uint32_t>(value.object->witnesses.size()));
    for (const auto& witness : value.object->witnesses) {
      content.list(witness.besides, [](uint32_t name) { return name; });
      content.word(witness.value.value);
      keys_words(witness.keys, content);
    }
    for (const auto& member : value.object->members) {
      content.word(member.name);
      content.word(member.value.value);
      content.word((member.required ? 1U : 0U) | (member.listed ? 2U : 0U));
    }
  }
}

bool share_none(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) return false;
    ++(*x < *y ? x : y);
  }
  return true;
}

}  // namespace

SchemaIR::SchemaIR() {
  set_counts({});
  for (const char* word : {"null", "true", "false"})
    terminals_.push_back({word, word[0] == 'n' ? kNull : kBoolean, Spelling::kWord});
  terminals_.push_back({"STRING", kString, Spelling::kAnyString});
  numbers(NumberSet());
  Value any;
  any.name = "any";
  any.terminals = {null(), true_(), false_(), any_number(), any_string()};
  any.array = std::make_shared<Array>(Array{{}, SchemaIR::any()});
  Object object;
  object.others = SchemaIR::any();
  any.object = std::make_shared<Object>(std::move(object));
  add(std::move(any));
  add({});
}

ValueId SchemaIR::add(Value value) {
  write_content(value, content_);
  const auto [number, is_new] = contents_.intern(content_);
  if (is_new) {
    by_content_.push_back(ValueId(values_.size()));
    values_.push_back(std::move(value));
    defined_.push_back(true);
  }
  return by_content_[number];
}

ValueId SchemaIR::reserve() {
  values_.emplace_back();
  defined_.push_back(false);
  return ValueId(values_.size() - 1);
}

void SchemaIR::define(ValueId id, Value value) {
  values_[id.value] = std::move(value);
  defined_[id.value] = true;
}

uint32_t SchemaIR::name(std::string_view text) {
  const auto hash = static_cast<uint32_t>(text_hash(text));
  if (const auto known = name_ids_.find(hash, [&](uint32_t id) { return names_[id] == text; })) return *known;
  const auto made = static_cast<uint32_t>(names_.size());
  names_.push_back(std::string(text));
  name_ids_.insert(hash, made);
  return made;
}

template <class Same>
uint32_t SchemaIR::found_or_made(HashIndex& known, size_t hash, Same same, Terminal made) {
  const auto key = static_cast<uint32_t>(hash);
  if (const auto found = known.find(key, [&](uint32_t id) { return same(terminals_[id], made); })) return *found;
  const auto id = static_cast<uint32_t>(terminals_.size());
  terminals_.push_back(std::move(made));
  known.insert(key, id);
  return id;
}

uint32_t SchemaIR::listed(std::vector<std::string> texts) {
  size_t hash = texts.size();
  for (const std::string& text : texts) hash = mix(hash ^ text_hash(text));
  const auto same = [](const Terminal& a, const Terminal& b) { return a.listed == b.listed; };
  return found_or_made(lists_, hash, same, {{}, kString, Spelling::kListed, std::move(texts)});
}

std::optional<uint32_t> SchemaIR::pattern(std::string_view text, uint64_t max_nesting,
                                          CharacterProperties& properties) {
  const auto [at, is_new] = pattern_ids_.try_emplace(std::string(text), std::nullopt);
  if (!is_new) return at->second;
  if (auto found = SimplePattern::parse(text, max_nesting, &properties)) {
    at->second = static_cast<uint32_t>(patterns_.size());
    patterns_.push_back(std::move(*found));
    pattern_texts_.push_back(&at->first);
  }
  return at->second;
}

std::optional<uint32_t> SchemaIR::text(const Text& text) {
  if (!text.pattern && text.minimum == 0 && text.maximum == kUnbounded) return any_string();
  if (text.minimum > text.maximum) return std::nullopt;
  if (text.pattern && !patterns_[*text.pattern].has_text(text.minimum, text.maximum)) return std::nullopt;
  const std::tuple key(text.pattern ? *text.pattern + 1 : 0, text.minimum, text.maximum);
  const auto [at, is_new] = texts_.try_emplace(key, static_cast<uint32_t>(terminals_.size()));
  if (is_new) terminals_.push_back({"STRING", kString, Spelling::kText, {}, text});
  return at->second;
}

std::optional<uint32_t> SchemaIR::strings_of_any(const std::vector<uint32_t>& terminals, uint64_t max_nesting,
                                                 CharacterProperties& properties) {
  std::string either;
  for (uint32_t index : terminals) {
    const Terminal& terminal = terminals_[index];
    if (only_pattern(terminal) == nullptr) return std::nullopt;
    if (index != terminals[0]) either += '|';
    either += *pattern_texts_[*terminal.text.pattern];
  }
  const auto read = pattern(either, max_nesting, properties);
  return read ? text({read}) : std::nullopt;
}

std::optional<bool> SchemaIR::admits(const Text& condition, std::string_view text) const {
  if (condition.minimum > 0 || condition.maximum != kUnbounded) {
    const size_t length = code_points(text).size();
    if (length < condition.minimum || length > condition.maximum) return false;
  }
  return condition.pattern ? patterns_[*condition.pattern].found_in(text) : std::optional(true);
}

std::optional<bool> SchemaIR::admits(const Terminal& terminal, std::string_view text) const {
  switch (terminal.spelling) {
    case Spelling::kAnyString:
      return true;
    case Spelling::kListed:
      return std::find(terminal.listed.begin(), terminal.listed.end(), text) != terminal.listed.end();
    case Spelling::kText:
      return admits(terminal.text, text);
    default:
      return std::nullopt;
  }
}

std::string_view SchemaIR::start(const Terminal& terminal) const {
  if (terminal.listed.size() == 1) return terminal.listed[0];
  return terminal.text.pattern ? patterns_[*terminal.text.pattern].start() : std::string_view();
}

std::optional<uint32_t> SchemaIR::some_listed(std::vector<std::string> texts) {
  return texts.empty() ? std::nullopt : std::optional(listed(std::move(texts)));
}

uint32_t SchemaIR::add_key_condition(KeyCondition condition) {
  const auto [at, is_new] =
      key_condition_ids_.try_emplace(condition.definition, static_cast<uint32_t>(key_conditions_.size()));
  if (is_new) key_conditions_.push_back(std::move(condition));
  return at->second;
}

RegexId SchemaIR::keys_regex(const Keys& keys, RegexStore& store) const {
  const auto regex_of = [&](uint32_t number) {
    const KeyCondition& condition = key_conditions_[number];
    if (condition.large) return store.key_set(condition.large);
    return text_regex(terminals_[condition.terminal], store, kAtOnce);
  };
  std::vector<RegexId> conditions;
  for (uint32_t number : keys.met) conditions.push_back(regex_of(number));
  if (conditions.empty()) conditions.push_back(text_regex(terminals_[any_string()], store));
  std::vector<RegexId> broken;
  for (uint32_t number : keys.broken) broken.push_back(regex_of(number));
  // A byte leads few of many to anything, but each of as many complements to another one.
  if (broken.size() >= kManyTexts) broken = {store.alternation(std::move(broken))};
  for (RegexId one : broken) conditions.push_back(store.complement(one));
  return conditions.size() == 1 ? conditions[0] : store.intersection(std::move(conditions));
}

RegexId SchemaIR::text_regex(const Terminal& terminal, RegexStore& store, SimplePattern::Sequences how) const {
  if (terminal.spelling == Spelling::kListed) return store.key_set(terminal.listed);
  if (terminal.spelling == Spelling::kOutside) return store.json_body(outside(terminal).in(store));
  const Text& text = terminal.text;
  std::vector<RegexId> conditions;
  const bool is_bounded = text.minimum > 0 || text.maximum != kUnbounded;
  if (text.pattern) conditions.push_back(patterns_[*text.pattern].regex(store, is_bounded ? kAtOnce : how));
  if (!text.pattern || is_bounded) conditions.push_back(store.any_text(text.minimum, text.maximum));
  return conditions.size() == 1 ? conditions[0] : store.intersection(std::move(conditions));
}

std::string SchemaIR::definition(uint32_t terminal) const {
  const Terminal& t = terminals_[terminal];
  if (t.spelling == Spelling::kOutside) return t.definition;
  std::string out = "{\"type\":\"string\"";
  for (size_t i = 0; i < t.listed.size(); ++i) {
    out += i == 0 ? ",\"enum\":[" : ",";
    JsonDocument::write_string(t.listed[i], out);
  }
  if (!t.listed.empty()) out += ']';
  if (t.text.pattern) JsonDocument::write_string(*pattern_texts_[*t.text.pattern], out += ",\"pattern\":");
  if (t.text.minimum > 0) out += ",\"minLength\":" + std::to_string(t.text.minimum);
  if (t.text.maximum != kUnbounded) out += ",\"maxLength\":" + std::to_string(t.text.maximum);
  return out + '}';
}

std::optional<uint32_t> SchemaIR::numbers(NumberSet set) {
  if (set.is_empty()) return std::nullopt;
  const char* name = set.is_of_integers() ? "INTEGER" : "NUMBER";
  const size_t hash = set.hash();
  const auto same = [](const Terminal& a, const Terminal& b) { return *a.numbers == *b.numbers; };
  auto shared = std::make_shared<const NumberSet>(std::move(set));
  return found_or_made(number_sets_, hash, same, {name, kNumber, Spelling::kNumbers, {}, {}, std::move(shared)});
}

std::optional<uint32_t> SchemaIR::numbers(NumberUnion sets) {
  if (sets.shapes().empty()) return std::nullopt;
  if (const NumberSet* only = sets.only_set()) return numbers(*only);
  const char* name = sets.is_of_integers() ? "INTEGER" : "NUMBER";
  const size_t hash = sets.hash();
  const auto same = [](const Terminal& a, const Terminal& b) { return *a.number_union == *b.number_union; };
  auto shared = std::make_shared<const NumberUnion>(std::move(sets));
  return found_or_made(number_unions_, hash, same,
                       {name, kNumber, Spelling::kNumberUnion, {}, {}, {}, std::move(shared)});
}

uint32_t SchemaIR::outside(std::shared_ptr<const PortableRegex> regex, std::string definition) {
  const auto number = static_cast<uint32_t>(outside_.size());
  outside_.push_back(std::move(regex));
  Terminal made{"STRING", kString, Spelling::kOutside};
  made.outside = number;
  made.definition = std::move(definition);
  terminals_.push_back(std::move(made));
  return static_cast<uint32_t>(terminals_.size() - 1);
}

std::optional<ValueId> SchemaIR::known_common(ValueId a, ValueId b) const {
  const auto found = common_.find({a.value, b.value});
  return found == common_.end() ? std::nullopt : std::optional(found->second);
}

ValueId SchemaIR::common(ValueId a, ValueId b) const {
  if (a == b || b == any()) return a;
  return a == any() ? b : common_.at({a.value, b.value});
}

void SchemaIR::flatten(ValueId id, std::vector<ValueId>& out) const {
  std::vector<ValueId> todo{id};
  while (!todo.empty() && out.size() <= kMostParts) {
    const ValueId next = todo.back();
    todo.pop_back();
    out.push_back(next);
    const auto& alternatives = at(next).alternatives;
    todo.insert(todo.end(), alternatives.begin(), alternatives.end());
  }
}

bool SchemaIR::disjoint(ValueId a, ValueId b, uint64_t& looks) const {
  uint64_t left = kMaxLooks;
  const bool found = disjoint(a, b, {0, left});
  looks += kMaxLooks - left;
  return found;
}

bool SchemaIR::disjoint(ValueId a, ValueId b, Look look) const {
  if (defined_[a.value] && at(a).is_empty()) return true;
  if (sets_apart_.contains(std::minmax(a.value, b.value))) return true;
  if (a == b || look.depth > kMaxApartDepth) return false;
  std::vector<ValueId> parts_of_a;
  std::vector<ValueId> parts_of_b;
  flatten(a, parts_of_a);
  flatten(b, parts_of_b);
  if (parts_of_a.size() * parts_of_b.size() > kMostParts) return false;
  for (ValueId x : parts_of_a) {
    for (ValueId y : parts_of_b) {
      if (!defined_[x.value] || !defined_[y.value] || !disjoint_parts(at(x), at(y), look)) return false;
    }
  }
  return true;
}

bool SchemaIR::disjoint_parts(const Value& a, const Value& b, Look look) const {
  if (a.array && b.array && !told_apart(*a.array, *b.array, look)) return false;
  if (a.object && b.object && !told_apart(*a.object, *b.object, look) && !told_apart(*b.object, *a.object, look))
    return false;
  return std::all_of(a.terminals.begin(), a.terminals.end(), [&](uint32_t x) {
    return std::all_of(b.terminals.begin(), b.terminals.end(), [&](uint32_t y) { return x != y && are_apart(x, y); });
  });
}

uint64_t SchemaIR::count(const Terminal& terminal) const {
  switch (terminal.spelling) {
    case Spelling::kAnyString:
      return NumberSet::kVeryMany;
    case Spelling::kListed:
      return terminal.listed.size();
    case Spelling::kText:
      return !terminal.text.pattern && terminal.text.maximum >= kLong ? NumberSet::kVeryMany : 1;
    case Spelling::kNumbers:
      return terminal.numbers->count();
    case Spelling::kWord:
    case Spelling::kNumberUnion:
    case Spelling::kOutside:
      break;
  }
  return 1;
}

bool SchemaIR::plainly_apart(const Terminal& a, const Terminal& b) const {
  if (a.kind != b.kind) return true;
  if (a.spelling == Spelling::kWord && b.spelling == Spelling::kWord) return a.name != b.name;
  if (a.spelling == Spelling::kListed && b.spelling == Spelling::kListed) return share_none(a.listed, b.listed);
  if (a.spelling == Spelling::kNumbers && b.spelling == Spelling::kNumbers)
    return NumberSet::can_meet(*a.numbers, *b.numbers) && (*a.numbers & *b.numbers).is_empty();
  const auto has_none_of = [&](const Terminal& few, const Terminal& condition) {
    const auto texts = few_texts(few);
    return condition.spelling == Spelling::kText && !texts.empty() &&
           std::none_of(texts.begin(), texts.end(),
                        [&](const std::string& text) { return admits(condition.text, text).value_or(true); });
  };
  return has_none_of(a, b) || has_none_of(b, a);
}

// All texts of a terminal, if they are plain and few; otherwise none.
std::vector<std::string> SchemaIR::few_texts(const Terminal& terminal) const {
  if (terminal.spelling == Spelling::kListed) return terminal.listed;
  if (terminal.spelling != Spelling::kText || !terminal.text.pattern) return {};
  const auto text = patterns_[*terminal.text.pattern].only_text();
  return text ? std::vector{*text} : std::vector<std::string>{};
}

// Whether a key that `a` needs has another value in `b`, or none: a discriminator.
bool SchemaIR::told_apart(const Object& a, const Object& b, Look look) const {
  const bool has_names_only = !b.others && b.classes.empty();
  if (a.minimum > b.maximum || (has_names_only && a.minimum > b.members.size())) return true;
  for (const Member& member : a.members) {
    if (!member.required) continue;
    look.left -= std::min<uint64_t>(look.left, b.members.size() + 1);
    if (look.left == 0) return false;
    const Held other = held(b, member.name);
    if (!other.known) continue;
    if (!other.value || disjoint(member.value, *other.value, {look.depth + 1, look.left})) return true;
  }
  return std::ranges::any_of(a.witnesses, [&](const KeyWitness& witness) { return has_none_like(b, witness, look); });
}

// Whether no key of the object can meet a witness.
bool SchemaIR::has_none_like(const Object& object, const KeyWitness& witness, Look look) const {
  look.left -= std::min<uint64_t>(look.left, object.members.size() + object.classes.size() + 1);
  if (look.left == 0) return false;
  const auto is_none = [&](ValueId value) { return disjoint(value, witness.value, {look.depth + 1, look.left}); };
  return (!object.others || is_none(*object.others)) &&
         std::ranges::all_of(object.classes, [&](const KeyClass& keys) { return is_none(keys.value); }) &&
         std::ranges::all_of(object.members, [&](const Member& member) {
           return !witness.admits(member.name) || is_none(member.value);
         });
}

// Whether no item of the array can meet a witness.
bool SchemaIR::has_none_like(const Array& array, const ItemWitness& witness, Look look) const {
  look.left -= std::min<uint64_t>(look.left, array.prefix.size() + 1);
  if (look.left == 0 || witness.least == 0) return false;
  const auto is_none = [&](ValueId value) { return disjoint(value, witness.value, {look.depth + 1, look.left}); };
  return (!array.rest || is_none(*array.rest)) && std::ranges::all_of(array.prefix, is_none);
}

// Whether one of them needs an item that the other cannot have.
bool SchemaIR::told_apart(const Array& a, const Array& b, Look look) const {
  if (a.maximum < b.minimum || b.maximum < a.minimum) return true;
  const auto has_no_witness = [&](const Array& witnesses, const Array& other) {
    return std::ranges::any_of(witnesses.witnesses,
                               [&](const ItemWitness& witness) { return has_none_like(other, witness, look); });
  };
  if (has_no_witness(a, b) || has_no_witness(b, a)) return true;
  const size_t positions = std::max(a.prefix.size(), b.prefix.size()) + 1;
  // An item at a position that only one of them needs: the other is shorter, or has another value there.
  for (uint32_t i = 0; i < std::min<size_t>(positions, std::max(a.minimum, b.minimum)); ++i) {
    const auto x = a.item(i);
    const auto y = b.item(i);
    if (look.left == 0) return false;
    --look.left;
    if (!x || !y || disjoint(*x, *y, {look.depth + 1, look.left})) return true;
  }
  return false;
}

SchemaIR::Held SchemaIR::held(const Object& object, uint32_t name) const {
  for (const Member& member : object.members) {
    if (member.name != name) continue;
    const bool never = defined_[member.value.value] && at(member.value).is_empty();
    return {true, never ? std::nullopt : std::optional(member.value)};
  }
  return {!object.has_classes(), object.others};
}

bool SchemaIR::can_be(const Object& object, uint32_t room) const {
  const auto inside = nesting_.in_object(room);
  if (!inside) return false;
  const auto is_live = [&](ValueId id) { return this->is_live(id, *inside); };
  size_t n_possible = 0;
  for (const Member& member : object.members) {
    if (is_live(member.value)) {
      ++n_possible;
    } else if (member.required) {
      return false;
    }
  }
  const uint64_t more = n_others(object, *inside);
  if (n_possible + more < object.minimum) return false;
  if (object.witnesses.empty()) return true;
  if (object.has_particular_witnesses()) return can_be_met(object, *inside);
  return more > 0 || std::all_of(object.witnesses.begin(), object.witnesses.end(), [&](const KeyWitness& witness) {
           return std::any_of(object.members.begin(), object.members.end(), [&](const Member& member) {
             return is_live(member.value) && witness.admits(member.name);
           });
         });
}

uint64_t SchemaIR::n_others(const Object& object, uint32_t inside) const {
  uint64_t found = 0;
  const auto add = [&](ValueId value, uint32_t count) {
    if (is_live(value, inside)) found += count;
  };
  for (const KeyClass& c : object.classes) add(c.value, c.count);
  if (object.others) add(*object.others, object.n_others);
  return found;
}

template <class Shape>
bool SchemaIR::can_be_met(const Shape& shape, uint32_t inside) const {
  const CommonValue both = [this](ValueId a, ValueId b) { return common(a, b); };
  return cfgmask::can_be_met(shape, both, [&](ValueId id) { return is_live(id, inside); });
}

bool SchemaIR::has_scalar(const Value& value, uint32_t room) const {
  return !value.terminals.empty() ||
         std::ranges::any_of(value.alternatives, [&](ValueId id) { return is_live(id, room); });
}

bool SchemaIR::has_composite(const Value& value, uint32_t room) const {
  return (value.object && can_be(*value.object, room)) || (value.array && can_be(*value.array, room)) ||
         std::ranges::any_of(value.alternatives, [&](ValueId id) { return has_live_composites(id, room); });
}

bool SchemaIR::can_be(const Array& array, uint32_t room) const {
  const auto inside = nesting_.in_array(room);
  if (!inside) return false;
  if (array.repeats && array.kinds) {
    const auto found = equal_item_states(array, [&](ValueId id) { return is_live(id, *inside); });
    return !found || !found->states.empty();
  }
  if (!array.witnesses.empty()) return can_be_met(array, *inside);
  for (uint32_t i = 0; i < std::min<size_t>(array.minimum, array.prefix.size() + 1); ++i) {
    const auto item = array.item(i);
    if (!item || !is_live(*item, *inside)) return false;
    if (!array.forbids_equal_items() || i < array.prefix.size() || has_live_composites(*item, *inside)) continue;
    // Where scalars run out there must be something else, which may lead back here.
    const uint32_t least = array.minimum - i;
    if (least > 1 && most_scalars(*item) < least) return false;
  }
  return true;
}

uint64_t SchemaIR::most_scalars(ValueId id) const {
  std::set<uint32_t> found;
  for (ValueId part : alternatives_of({id})) found.insert(at(part).terminals.begin(), at(part).terminals.end());
  uint64_t n = 0;
  for (uint32_t t : found) {
    const Terminal& terminal = terminals_[t];
    const bool is_exact = terminal.spelling == Spelling::kWord || terminal.spelling == Spelling::kListed ||
                          (terminal.spelling == Spelling::kNumbers && terminal.numbers->counts_exactly()) ||
                          (terminal.spelling == Spelling::kText && terminal.text.maximum == 0);
    n += is_exact ? count(terminal) : NumberSet::kVeryMany;
  }
  return n;
}

std::vector<ValueId> SchemaIR::reached() const {
  enum class Progress : uint8_t { kNew, kOpen, kDone };
  std::vector<Progress> progress(values_.size(), Progress::kNew);
  std::vector<ValueId> found;
  std::vector<ValueId> todo{root_};
  for (const auto& [parts, both] : common_) todo.push_back(both);
  const auto add = [&](ValueId id) {
    if (progress[id.value] == Progress::kNew) todo.push_back(id);
  };
  while (!todo.empty()) {
    const ValueId next = todo.back();
    if (progress[next.value] == Progress::kNew) {
      progress[next.value] = Progress::kOpen;
      for_each_inside(at(next), add);
      continue;
    }
    todo.pop_back();
    if (progress[next.value] == Progress::kDone) continue;
    progress[next.value] = Progress::kDone;
    found.push_back(next);
  }
  return found;
}

std::vector<bool> SchemaIR::written() const {
  std::vector<bool> found(values_.size(), false);
  std::vector<ValueId> todo;
  const auto add = [&](ValueId id) {
    if (!is_live(id) || found[id.value]) return;
    found[id.value] = true;
    todo.push_back(id);
  };
  add(root_);
  for (const auto& [parts, both] : common_) add(both);
  while (!todo.empty()) {
    Value value = at(todo.back());
    todo.pop_back();
    if (value.array && !can_be(*value.array)) value.array = nullptr;
    if (value.object && !can_be(*value.object)) value.object = nullptr;
    for_each_inside(value, add);
  }
  return found;
}

bool SchemaIR::find_live() { return find_live(live_, kUnbounded); }

bool SchemaIR::find_live_within(const Nesting& nesting) {
  nesting_ = nesting;
  flat_.clear();
  for (uint32_t room = 0; room <= nesting.room(0); ++room) {
    flat_.emplace_back();
    if (!find_live(flat_.back(), room)) return false;
    if (!nesting.is_least(room) || flat_.back() != live_) continue;
    flat_.pop_back();
    break;
  }
  return true;
}

bool SchemaIR::find_live(std::vector<bool>& live, uint32_t room) {
  const size_t n = values_.size();
  live.assign(2 * n, false);
  const std::vector<ValueId> all = reached();
  // Each round but the last finds one at least; mostly the first finds all.
  const size_t most = std::max(kMaxRounds, kMaxLiveLooks / std::max<size_t>(all.size(), 1));
  for (size_t round = 0; round < most; ++round) {
    bool changed = false;
    for (ValueId id : all) {
      const Value& value = at(id);
      if (!live[n + id.value] && has_composite(value, room)) {
        live[id.value] = live[n + id.value] = changed = true;
      } else if (!live[id.value] && has_scalar(value, room)) {
        live[id.value] = changed = true;
      }
    }
    if (!changed && round > 0) return true;
  }
  return false;
}

void SchemaIR::finish_adding(const std::vector<ValueId>& told_apart) {
  contents_ = {};
  by_content_ = {};
  content_ = {};
  lists_ = {};
  number_sets_ = {};
  texts_ = {};
  key_condition_ids_ = {};
  name_ids_ = {};
  for (KeyCondition& condition : key_conditions_) {
    const auto& listed = terminals_[condition.terminal].listed;
    if (listed.size() >= kManyTexts) condition.large = KeyList::of({listed.begin(), listed.end()});
  }
  bytes_ = values_.bytes() + terminals_.bytes() + names_.size() * kNameBytes;
  find_orders();
  for (ValueId id : unions_) {
    const auto together = scalars_together(*this, at(id).alternatives);
    if (together) together_.emplace(id.value, together);
    if (!is_live(id)) continue;
    if (auto large = cfgmask::indexed_union(*this, together ? together->others : at(id).alternatives))
      indexed_unions_.emplace(id.value, std::move(large));
  }
  for (uint32_t i = 0; i < values_.size(); ++i) look_over(ValueId(i));
  std::ranges::copy_if(told_apart, std::back_inserter(overview_.apart_with_many_states),
                       [&](ValueId id) { return at(id).may_have_many_states(); });
  for (uint32_t i = 0; i < values_.size(); ++i) {
    Value& value = values_[i];
    value.name = {};
    bytes_ += (value.terminals.capacity() + value.alternatives.capacity()) * sizeof(uint32_t);
    if (value.array) bytes_ += sizeof(Array) + value.array->prefix.capacity() * sizeof(ValueId);
    if (value.object) bytes_ += sizeof(Object) + value.object->members.capacity() * sizeof(Member);
  }
  for (size_t i = 0; i < terminals_.size(); ++i) {
    const auto& listed = terminals_[i].listed;
    const auto* numbers = terminals_[i].numbers ? terminals_[i].numbers->listed() : nullptr;
    if (listed.size() >= kManyTexts) terminals_[i].large = std::make_shared<const IndexedChoice>(listed);
    if (numbers != nullptr && numbers->size() >= kManyTexts)
      terminals_[i].indexed_numbers = std::make_shared<const IndexedNumbers>(*numbers);
    bytes_ += terminals_[i].listed.capacity() * kNameBytes + (terminals_[i].numbers ? sizeof(NumberSet) : 0);
  }
}

void SchemaIR::look_over(ValueId id) {
  const Value& value = at(id);
  if (!is_live(id)) return;
  if (auto found = value.object ? indexed_object(*this, *value.object) : nullptr)
    large_.emplace(id.value, std::move(found));
  if (value.may_have_many_states()) overview_.with_many_states.push_back(id);
  if (value.object && value.object->may_repeat_others() && !value.object->counts_others())
    overview_.has_endless_keys = true;
  if (value.array && may_have_endless_items(*value.array)) overview_.has_endless_items = true;
  if (value.object && (value.object->counts_others() || !value.object->witnesses.empty()))
    overview_.needs_distinct = true;
  if (value.array && needs_distinct(*value.array)) overview_.needs_distinct = true;
  if (value.array && (value.array->forbids_equal_items() || value.array->repeats)) overview_.has_distinct_items = true;
}

bool SchemaIR::needs_distinct(const Array& array) const {
  if (array.repeats) return true;
  if (!array.forbids_equal_items()) return false;
  const auto is_scalar = [&](ValueId item) {
    return !at(item).array && !at(item).object && at(item).alternatives.empty();
  };
  return array.minimum > 1 || !array.witnesses.empty() || !std::ranges::all_of(array.prefix, is_scalar) ||
         (array.rest && !is_scalar(*array.rest));
}

void SchemaIR::set_counts(ValueCounts counts) { counts_ = std::make_shared<const ValueCounts>(std::move(counts)); }

std::vector<ValueId> SchemaIR::alternatives_of(std::vector<ValueId> pending) const {
  std::vector<ValueId> found;
  std::unordered_set<uint32_t> seen;
  while (!pending.empty()) {
    const ValueId next = pending.back();
    pending.pop_back();
    if (!is_live(next) || !seen.insert(next.value).second) continue;
    const auto& inner = at(next).alternatives;
    if (inner.empty()) found.push_back(next);
    pending.insert(pending.end(), inner.rbegin(), inner.rend());
  }
  return found;
}

bool SchemaIR::has_composites(const std::vector<ValueId>& sets, uint32_t room) const {
  const std::vector<ValueId> all = alternatives_of(sets);
  return std::ranges::any_of(all, [&](ValueId part) {
    const Value& value = at(part);
    return (value.array && can_be(*value.array, room)) || (value.object && can_be(*value.object, room));
  });
}

bool SchemaIR::has_composite_items(const Array& array) const {
  if (!array.forbids_equal_items() && !array.repeats) return false;
  std::vector<ValueId> items = array.prefix;
  if (array.rest) items.push_back(*array.rest);
  return has_composites(items);
}

bool SchemaIR::may_have_endless_items(const Array& array) const {
  if (!array.forbids_equal_items() || array.minimum > 1) return false;
  const std::vector<uint32_t> strings = item_terminals(array, kString);
  const auto may_be_endless = [&](uint32_t t) {
    return terminal(t).spelling == Spelling::kAnyString || terminal(t).spelling == Spelling::kText;
  };
  // Beside arrays and objects, strings are told apart by the parser.
  return !strings.empty() && std::ranges::all_of(strings, may_be_endless) && !has_composite_items(array);
}

std::vector<uint32_t> SchemaIR::item_terminals(const Array& array, uint32_t kinds) const {
  std::vector<uint32_t> found;
  std::vector<ValueId> pending(array.prefix);
  if (array.rest) pending.push_back(*array.rest);
  std::set<ValueId> seen;
  while (!pending.empty()) {
    const ValueId id = resolved(pending.back());
    pending.pop_back();
    if (!is_live(id) || !seen.insert(id).second) continue;
    for (uint32_t t : at(id).terminals) {
      if ((terminal(t).kind & kinds) != 0) found.push_back(t);
    }
    pending.insert(pending.end(), at(id).alternatives.begin(), at(id).alternatives.end());
  }
  return found;
}

// Those that are no unions begin with no other value, so they come last, in any order.
void SchemaIR::find_orders() {
  for (uint32_t i = 0; i < values_.size(); ++i) {
    if (values_[i].alternatives.size() > 1) unions_.push_back(ValueId(i));
  }
  if (unions_.empty()) return;
  const auto n = static_cast<uint32_t>(unions_.size());
  const Lists edges(n, [&](const auto& add) {
    for (uint32_t i = 0; i < n; ++i) {
      for (ValueId alternative : at(unions_[i]).alternatives) {
        const auto found = std::lower_bound(unions_.begin(), unions_.end(), resolved(alternative));
        if (found != unions_.end() && *found == resolved(alternative))
          add(i, static_cast<uint32_t>(found - unions_.begin()));
      }
    }
  });
  orders_.resize(n);
  for_each_in_components(edges, [&](uint32_t i, uint32_t order, bool loops) {
    if (loops) throw std::logic_error("a union begins with itself");
    orders_[i] = order;
  });
}

std::shared_ptr<const IndexedObject> SchemaIR::large(ValueId id) const {
  const auto found = large_.find(id.value);
  return found == large_.end() ? nullptr : found->second;
}

std::shared_ptr<const IndexedUnion> SchemaIR::indexed_union(ValueId id) const {
  const auto found = indexed_unions_.find(id.value);
  return found == indexed_unions_.end() ? nullptr : found->second;
}

std::shared_ptr<const ScalarsTogether> SchemaIR::together(ValueId id) const {
  const auto found = together_.find(id.value);
  return found == together_.end() ? nullptr : found->second;
}

const SimplePattern* SchemaIR::only_pattern(const Terminal& terminal) const {
  const Text& text = terminal.text;
  const bool alone = text.pattern && text.minimum == 0 && text.maximum == kUnbounded;
  return alone ? &patterns_[*text.pattern] : nullptr;
}

uint32_t SchemaIR::order(ValueId id) const {
  const auto found = std::lower_bound(unions_.begin(), unions_.end(), id);
  if (found == unions_.end() || *found != id) return static_cast<uint32_t>(unions_.size());
  return orders_[static_cast<size_t>(found - unions_.begin())];
}

size_t SchemaIR::Object::n_required() const {
  return static_cast<size_t>(std::count_if(members.begin(), members.end(), [](const Member& m) { return m.required; }));
}

std::vector<SchemaIR::KeyClass> SchemaIR::Object::kinds() const {
  auto kinds = classes;
  if (others) kinds.push_back({others_keys, *others, others_meet, n_others});
  return kinds;
}

SchemaIR::Object::Bounds SchemaIR::Object::bounds() const {
  const bool is_closed = !others && classes.empty();
  return {minimum <= n_required() ? 0 : minimum, is_closed && maximum >= members.size() ? kUnbounded : maximum};
}

}  // namespace cfgmask
