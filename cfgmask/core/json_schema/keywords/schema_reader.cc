#include "json_schema/keywords/schema_reader.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "json_schema/keywords/schema_reading.h"
#include "json_schema/sets/distinct_items.h"
#include "util/limits.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// How often sets are changed so that items can be counted: the sets in those that were changed are looked at next.
constexpr int kMostRounds = 16;

// Names of sets begin with the mark of a fragment, or with the URI of another document.
std::string pointer_of(const std::string& name) { return name.substr(name.starts_with('#') ? 1 : 0); }

}  // namespace

// A limit that the answers cross is met where they are asked for.
template <class Ask, class... Question>
auto SchemaReading::placed(const Ask& ask, const Question&... question) const {
  try {
    return ask(question...);
  } catch (const LimitExceeded& crossed) {
    throw SchemaLimitExceeded(crossed.limit().c_str(), crossed.value(), pointer_of(algebra_.place()));
  }
}

SchemaReading::SchemaReading(const SchemaReader& reader, JsonDocument& document, const ReaderQuestions& questions,
                             const ReadingLimits& limits, std::vector<SchemaRefusal>* refusals,
                             const Writable* writable)
    : document_(document),
      refusals_(refusals),
      annotates_(asks_for_the_rest(document)),
      // Most schemas ask nothing: what is small enough to be copied without memory of its own is handed on.
      questions_{[&](auto folding, bool only_ascii) { return placed(questions.alike, folding, only_ascii); },
                 [&](const auto& name) { return questions.format(name); },
                 [&](const auto& name) { return placed(questions.properties, name); },
                 [&](const auto& uri, const auto& around) { return questions.drafts(uri, around); },
                 [&](const auto& uri) { return questions.documents ? placed(questions.documents, uri) : nullptr; }},
      root_reader_(reader),
      max_nesting_(limits.max_nesting),
      max_depth_(std::min(limits.max_nesting, SchemaReader::kMaxDepth)),
      max_rules_(limits.max_rules),
      max_search_steps_(limits.max_search_steps),
      properties_(questions_.properties),
      strings_(reader.strings_, questions_.alike, questions_.format, properties_, limits.max_nesting,
               limits.max_search_steps, refusals != nullptr),
      keys_(schema_, limits.max_nesting, limits.max_search_steps,
            reader.yaml_ ? reader.yaml_->most_of_key() : kUnbounded),
      algebra_(
          schema_, keys_, [this](const std::string& asked) { return ask_strings(asked); },
          [this](const SchemaAlgebra::MakeNumbers& make) { return added_numbers(make); },
          [this](const Value& made) { count_rules(made, made.name); }, kWorkPerRule * limits.max_rules, annotates_,
          writable) {}

bool SchemaReading::asks_for_the_rest(const JsonDocument& document) {
  return document.find_key("unevaluatedItems") || document.find_key("unevaluatedProperties");
}

std::shared_ptr<SchemaIR> SchemaReading::read() {
  const JsonId root = document_.root();
  require(!is_object(root) || !document_.member(root, "x-guidance"));
  enter_root();
  schema_.set_root(value(root, "#", 0));
  read_later_ones();
  algebra_.finish();
  find_live();
  if (relax()) find_live();
  if (!schema_.is_live(schema_.root())) {
    refuse_root();
    return nullptr;
  }
  for (const Nesting& nesting : reader().nestings_) {
    if (!schema_.find_live_within(nesting)) throw LimitExceeded("max_rules", max_rules_);
    if (!schema_.is_live(schema_.root(), nesting.room(0))) {
      refuse(SchemaRefusal::Kind::kIndentDepth, "#");
      return nullptr;
    }
  }
  if (!has_writable_keys()) return nullptr;
  schema_.finish_adding(told_apart());
  return made_;
}

DistinctItems SchemaReading::distinct_items() {
  return {schema_, keys_, [this](uint64_t steps) { algebra_.work(steps); }, most_depth()};
}

// The sets whose values are told from others by all that is in them.
std::vector<ValueId> SchemaReading::told_apart() {
  if (!algebra_.compares_items()) return {};
  DistinctItems items = distinct_items();
  // Tells how the others are told apart. Fewer values may be possible than before, and so be counted otherwise.
  let_repeat(items.doubtful(), schema_.written());
  std::vector<ValueId> found = items.told_apart();
  // These have rules of their own.
  for (ValueId id : found) count_rules(schema_.at(id), schema_.at(id).name);
  schema_.set_counts(items.counts());
  return found;
}

// What is doubtful of items that must differ, once sets were changed so that more of them can be counted.
std::pair<DistinctItems, std::vector<ValueId>> SchemaReading::look_at_items() {
  std::unordered_set<uint32_t> parted;
  std::unordered_set<uint32_t> sorted;
  for (int round = 0;; ++round) {
    DistinctItems items = distinct_items();
    std::vector<ValueId> doubtful = items.doubtful();
    bool is_changed = false;
    if (round < kMostRounds) {
      for (ValueId id : items.overlapping()) {
        if (!parted.insert(id.value).second) continue;
        algebra_.part(id);
        is_changed = true;
      }
      for (ValueId id : items.uncounted()) {
        if (!sorted.insert(id.value).second) continue;
        algebra_.sort_items(id);
        is_changed = true;
      }
    }
    for (ValueId id : items.impossible()) {
      Value without = schema_.at(id);
      without.array = nullptr;
      schema_.define(id, std::move(without));
      is_changed = true;
    }
    if (!is_changed) return {std::move(items), std::move(doubtful)};
    algebra_.finish();
    find_live();
  }
}

// Refuses that the items of some arrays differ. Whether there were any that a text may reach.
bool SchemaReading::let_repeat(const std::vector<ValueId>& arrays, const std::vector<bool>& written) {
  bool found = false;
  for (ValueId id : arrays) {
    const std::string place = schema_.name_at(schema_.at(id).array->distinct_at);
    if (written[id.value]) refuse(SchemaRefusal::Kind::kUniqueItems, place);
    schema_.change_array(id, [](SchemaIR::Array& array) {
      array.distinct = false;
      // What items and witnesses have in common is not known of an array that repeats.
      if (!array.repeats) array.kinds = nullptr;
    });
    found = found || written[id.value];
  }
  return found;
}

// How many brackets there may be around an item that must differ, if that is limited. YAML writes it on one line.
std::optional<uint32_t> SchemaReading::most_depth() const {
  return reader().nestings_.empty() || reader().yaml_ != nullptr ? std::nullopt
                                                                 : std::optional(reader().nestings_[0].room(0));
}

// Whether YAML can write the keys with names.
bool SchemaReading::has_writable_keys() {
  if (reader().yaml_ == nullptr) return true;
  const std::vector<bool> written = schema_.written();
  std::optional<RegexStore> regexes;
  const auto can_be_written = [&](const SchemaIR::Member& member) {
    if (!schema_.is_live(member.value)) return true;
    const std::string& name = schema_.name_at(member.name);
    if (const auto known = reader().yaml_->can_be_key(name, nullptr)) return *known;
    if (!regexes) regexes.emplace(max_nesting_, UINT64_MAX);
    return *reader().yaml_->can_be_key(name, &*regexes);
  };
  bool all = true;
  for (uint32_t i = 0; i < schema_.n_values(); ++i) {
    const Value& value = schema_.at(ValueId(i));
    if (!written[i] || !value.object || std::ranges::all_of(value.object->members, can_be_written)) continue;
    refuse(SchemaRefusal::Kind::kYamlKey, value.name);
    all = false;
  }
  return all;
}

void SchemaReading::find_live() {
  if (!schema_.find_live()) throw LimitExceeded("max_rules", max_rules_);
}

std::string SchemaReading::place() const { return pointer_of(algebra_.left().value_or(algebra_.place())); }

void SchemaReading::refuse(SchemaRefusal::Kind kind, const std::string& name) {
  if (refusals_ == nullptr) throw Unsupported{kind};
  SchemaRefusal refusal{kind, pointer_of(name)};
  if (std::ranges::find(*refusals_, refusal) == refusals_->end()) refusals_->push_back(std::move(refusal));
}

bool SchemaReading::relax() {
  if (algebra_.doubts().empty() && !algebra_.compares_items() && !algebra_.has_witnesses()) return false;
  auto [items, doubtful] = look_at_items();
  const std::vector<bool> written = schema_.written();
  for (const auto& [id, refusal] : algebra_.doubts()) {
    if (written[id.value]) refuse(refusal.kind, refusal.pointer);
  }
  bool found = let_repeat(doubtful, written);
  std::optional<std::vector<ValueId>> apart;
  for (uint32_t i = 0; i < schema_.n_values(); ++i) {
    const ValueId id(i);
    if (!written[i] || !schema_.at(id).array || !schema_.at(id).array->repeats) continue;
    if (!schema_.can_be(*schema_.at(id).array)) continue;
    if (!apart) apart = items.told_apart();
    if (items.may_repeat(id, *apart)) continue;
    refuse(SchemaRefusal::Kind::kEqualItems, schema_.name_at(schema_.at(id).array->repeats_at));
    schema_.change_array(id, [](SchemaIR::Array& array) {
      array.repeats = false;
      // What witnesses and items have in common is not known of such an array.
      if (array.kinds) array.witnesses.clear();
      array.kinds = nullptr;
    });
    found = true;
  }
  for (uint32_t i = 0; i < schema_.n_values(); ++i) {
    const ValueId id(i);
    if (!written[i] || !schema_.at(id).object) continue;
    if (const auto kind = may_run_out(*schema_.at(id).object)) refuse(*kind, schema_.at(id).name);
  }
  return found;
}

void SchemaReading::refuse_root() {
  static constexpr uint32_t kMostItems = 16;
  ValueId id = schema_.root();
  std::unordered_set<uint32_t> seen;
  // Where a set that has no values stands, and so no name.
  std::string place;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    std::vector<ValueId> same{id};
    const auto need = [&](ValueId part, std::string at) {
      if (goes_on || schema_.is_live(part) || !seen.insert(part.value).second) return;
      goes_on = true;
      place = std::move(at);
      id = part;
    };
    for (size_t i = 0; i < same.size() && !goes_on; ++i) {
      const Value& value = schema_.at(same[i]);
      seen.insert(same[i].value);
      for (ValueId part : value.alternatives) {
        if (!seen.contains(part.value)) same.push_back(part);
      }
      if (value.array) {
        for (uint32_t at = 0; at < std::min(value.array->minimum, kMostItems); ++at) {
          const std::string under = at < value.array->prefix.size() ? "/prefixItems/" + std::to_string(at) : "/items";
          if (const auto item = value.array->item(at)) need(*item, value.name + under);
        }
      }
      if (value.object) {
        for (const auto& member : value.object->members) {
          if (member.required) need(member.value, below(value.name, "properties", schema_.name_at(member.name)));
        }
      }
    }
  }
  if (id == SchemaIR::never() && !place.empty()) return refuse(SchemaRefusal::Kind::kUnsatisfiable, place);
  size_t n_named = 0;
  for (const auto& term : algebra_.terms_of(id)) {
    if (term.negated) continue;
    refuse(SchemaRefusal::Kind::kUnsatisfiable, schema_.at(term.id).name);
    ++n_named;
  }
  if (n_named == 0) refuse(SchemaRefusal::Kind::kUnsatisfiable, schema_.at(id).name);
}

std::optional<SchemaRefusal::Kind> SchemaReading::may_run_out(const SchemaIR::Object& object) {
  if (object.witnesses.empty()) return std::nullopt;
  const bool any_order = reader().has_any_order_;
  const auto kinds = object.kinds();
  const bool is_counted = !kinds.empty() && object.minimum > object.n_required() + 1;
  const auto is_plenty = [&](const SchemaIR::KeyClass& kind) {
    return kind.count == kUnbounded && schema_.is_live(kind.value);
  };
  if (is_counted && std::ranges::none_of(kinds, is_plenty)) return SchemaRefusal::Kind::kMinProperties;
  if (any_order && object.maximum != kUnbounded) return SchemaRefusal::Kind::kAnyOrder;
  std::vector<uint32_t> names;
  for (const auto& member : object.members) names.push_back(member.name);
  for (size_t i = 0; i < object.witnesses.size(); ++i) {
    const ValueId wanted = object.witnesses[i].value;
    const auto meets = [&](const SchemaIR::KeyClass& kind) { return (kind.meets & (1U << i)) != 0; };
    if (wanted == SchemaIR::any()) continue;
    if (!any_order && std::ranges::none_of(kinds, meets)) continue;
    const auto never_runs_out = [&](const SchemaIR::KeyClass& kind) {
      // Short keys are many, but not without end.
      return reader().yaml_ == nullptr && meets(kind) &&
             keys_.surely_has(KeyConditions::kEndlesslyMany, kind.keys, names) && has_common(kind.value, wanted);
    };
    if (std::ranges::none_of(kinds, never_runs_out))
      return any_order ? SchemaRefusal::Kind::kAnyOrder : SchemaRefusal::Kind::kNegatedValues;
  }
  return std::nullopt;
}

bool SchemaReading::has_common(ValueId a, ValueId b) const {
  if (a == SchemaIR::any() || a == b) return schema_.is_live(b);
  const auto both = schema_.known_common(a, b);
  return both && schema_.is_live(*both);
}

std::string_view SchemaReading::text(JsonId value) const {
  require(is_text(value));
  return document_.text(value);
}

std::span<const JsonId> SchemaReading::items(JsonId value) const {
  require(is_array(value));
  return document_.items(value);
}

std::span<const JsonDocument::Member> SchemaReading::members(JsonId value) const {
  require(is_object(value));
  return document_.members(value);
}

std::optional<uint64_t> SchemaReading::digits(JsonId value) const {
  return is_number(value) ? Decimal::count(document_.text(value)) : std::nullopt;
}

uint32_t SchemaReading::count(JsonId value) const {
  const std::optional<uint64_t> found = digits(value);
  require(found && *found <= kMaxCount);
  return static_cast<uint32_t>(*found);
}

// No text is so long that it breaks a maximum of two thousand million, which Java's schemas say where they mean none.
bool SchemaReading::is_idle(Keyword keyword, JsonId value) const {
  const bool is_maximum =
      keyword == kMaxLength || keyword == kMaxItems || keyword == kMaxProperties || keyword == kMaxContains;
  return is_maximum && digits(value).value_or(0) > kMaxCount;
}

std::optional<Keyword> SchemaReading::keyword(uint32_t key) const {
  auto& known = around_->codes->known;
  // A document that was added has further keys.
  while (known.size() <= key) {
    const auto& codes = around_->reader->codes_;
    const auto found = codes.find(std::string(document_.key_text(static_cast<uint32_t>(known.size()))));
    known.push_back(found == codes.end() ? std::nullopt : std::optional(found->second));
  }
  const auto code = known[key];
  return code ? std::optional(static_cast<Keyword>(*code)) : std::nullopt;
}

SchemaReading::Said SchemaReading::keywords(JsonId schema) const {
  Said said;
  for (const auto& member : document_.members(schema)) {
    Pause::tick();
    const auto found = keyword(member.key);
    if (found && !is_idle(*found, member.value)) said.set(*found, member.value);
  }
  return said;
}

ValueId SchemaReading::value(JsonId schema, const std::string& pointer, uint64_t depth) {
  if (is(schema, Json::kTrue)) return SchemaIR::any();
  if (is_false(schema)) return SchemaIR::never();
  require(is_object(schema));
  if (depth > std::min(max_depth_, kMostAtOnce)) throw Unsupported{SchemaRefusal::Kind::kTooDeep};
  // A schema that leads to itself without going into a value.
  const Reached here = reached(schema, *around_);
  require(!is_read_for_this_value(here));
  Known& known = (*around_)[schema];
  if (known.progress == Progress::kReading && !known.id) known.id = schema_.reserve();
  if (known.progress != Progress::kNew) {
    leads_to(here, known);
    return *known.id;
  }
  known.progress = Progress::kReading;
  level_.push_back(here);
  Context* const outside = around_;
  const Said said = entered(schema);
  if (const auto later = referred_later(said, depth)) {
    // Where this applies to the same value as another schema, it is read after all.
    known.progress = Progress::kNew;
    around_ = outside;
    level_.pop_back();
    return *later;
  }
  ValueId id = [&] {
    const SchemaAlgebra::At at(algebra_, &pointer);
    const auto reference = only_reference(said);
    return reference ? referred(said, *reference, depth) : described(schema, said, pointer, depth);
  }();
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
void SchemaReading::leads_to(Reached schema, const Known& known) {
  if (!is_open(schema, known)) return;
  std::unordered_set<Reached> seen{schema};
  std::vector<Reached> todo{schema};
  while (!todo.empty()) {
    const Reached next = todo.back();
    todo.pop_back();
    require(++n_looked_at_ <= kWorkPerRule * max_rules_ && !is_read_for_this_value(next));
    const auto further = leads_.find(next);
    if (further == leads_.end()) continue;
    for (Reached other : further->second) {
      if (seen.insert(other).second) todo.push_back(other);
    }
  }
  for (auto at = level_.begin() + level_begin_; at != level_.end(); ++at) add_lead(*at, schema);
}

void SchemaReading::add_lead(Reached from, Reached to) {
  auto& leads = leads_[from];
  if (leads.empty() || leads.back() != to) leads.push_back(to);
}

bool SchemaReading::is_open(Reached schema, const Known& known) const {
  return known.progress == Progress::kReading || leads_.contains(schema);
}

bool SchemaReading::is_read_for_this_value(Reached schema) const {
  return std::find(level_.begin() + level_begin_, level_.end(), schema) != level_.end();
}

ValueId SchemaReading::inner(JsonId schema, const std::string& pointer, uint64_t depth) {
  if (depth > kDeep && is_object(schema)) {
    Known& known = (*around_)[schema];
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

ValueId SchemaReading::inner_now(JsonId schema, const std::string& pointer, uint64_t depth) {
  const ptrdiff_t outer = std::exchange(level_begin_, std::ssize(level_));
  const ValueId found = value(schema, pointer, depth + 1);
  level_begin_ = outer;
  return found;
}

std::string SchemaReading::below(const std::string& pointer, std::string_view keyword, std::string_view key) {
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

ValueId SchemaReading::described(JsonId schema, const Said& said, const std::string& pointer, uint64_t depth) {
  require(!said[kOther]);
  const ValueId own = described_here(said, pointer, depth);
  ValueId whole = said.has_any(kApplicators) ? combined(schema, said, own, pointer, depth) : own;
  if (!looks_around(said)) return whole;
  for (Keyword keyword : {kUnevaluatedItems, kUnevaluatedProperties}) {
    if (!said[keyword]) continue;
    const ValueId held = inner(*said[keyword], below(pointer, kKeywordNames[keyword]), depth);
    whole = algebra_.closed(whole, keyword == kUnevaluatedProperties, held, pointer);
  }
  return whole;
}

ValueId SchemaReading::described_here(const Said& said, const std::string& pointer, uint64_t depth) {
  const Types types = allowed_types(said[kType]);
  Value value;
  value.name = pointer;
  // Most values are of a type that most of the keywords say nothing about.
  auto array = schema_.at(SchemaIR::any()).array;
  auto object = schema_.at(SchemaIR::any()).object;
  if (said.has_any(kOfArrays)) array = SchemaIR::shared(array_shape(said, pointer, depth));
  if (said.has_any(kOfObjects)) object = SchemaIR::shared(object_shape(said, pointer, depth));
  check_scalar_keywords(said);
  if ((types.kinds & SchemaIR::kArray) != 0) value.array = std::move(array);
  if ((types.kinds & SchemaIR::kObject) != 0) value.object = std::move(object);
  const ValueId contained = said.has_any(kOfContained) ? containing(said, pointer, depth) : SchemaIR::any();
  ValueId found;
  if (said[kEnum] || said[kConst]) {
    found = listed(said, types, value);
  } else {
    add_scalars(said, types, value);
    found = added(std::move(value));
  }
  return contained == SchemaIR::any() ? found : both(found, contained, pointer);
}

ValueId SchemaReading::added(Value value) {
  count_rules(value, value.name);
  return schema_.add(std::move(value));
}

ValueId SchemaReading::added(Value value, const std::string& pointer) {
  count_rules(value, pointer);
  return schema_.add(std::move(value));
}

void SchemaReading::count_rules(const Value& value, const std::string& pointer) {
  n_steps_ += kStepsPerValue;
  if (value.array) n_steps_ += 2 + value.array->prefix.size();
  if (value.object) n_steps_ += n_states(*value.object);
  if (n_steps_ > max_rules_) throw SchemaLimitExceeded("max_rules", max_rules_, pointer_of(pointer));
}

uint64_t SchemaReading::n_states(const SchemaIR::Object& object) {
  const auto [minimum, maximum] = object.bounds();
  const uint64_t most = maximum == kUnbounded ? 0 : maximum;
  const uint64_t counts = std::max({uint64_t{1}, uint64_t{minimum}, most});
  // Other keys are counted where some of them must have a certain value.
  const size_t n_kinds = object.classes.size() + (object.others ? 1 : 0);
  const uint64_t n_others = object.has_particular_witnesses() ? n_kinds * (counts << object.witnesses.size()) : 0;
  return n_others + (object.members.size() + 1) * (1 + std::min<uint64_t>(counts, object.members.size() + 1));
}

SchemaReader::SchemaReader(const std::vector<std::string>& asserted, std::shared_ptr<KnownStrings> strings,
                           const std::string& identifier, bool reference_hides_siblings, Exclusive exclusive,
                           NumberStyle::Spelling numbers, std::vector<Nesting> nestings,
                           std::shared_ptr<const YamlLayout> yaml, bool has_any_order)
    : strings_(std::move(strings)),
      identifier_(identifier),
      hides_siblings_(reference_hides_siblings),
      exclusive_(exclusive),
      numbers_(numbers),
      nestings_(std::move(nestings)),
      yaml_(std::move(yaml)),
      has_any_order_(has_any_order) {
  for (const std::string& keyword : asserted) codes_[keyword] = code_of(keyword);
  codes_[identifier] = kIdentifier;
  codes_["$schema"] = kDialect;
}

std::shared_ptr<SchemaIR> SchemaReader::read(JsonDocument& document, const ReaderQuestions& questions,
                                             const ReadingLimits& limits, std::vector<SchemaRefusal>* refusals,
                                             const Writable* writable) const {
  try {
    return read_once(document, questions, limits, refusals, writable);
  } catch (const SchemaReading::NotAnnotated&) {
    // The document has those by now that it refers to.
    return read_once(document, questions, limits, refusals, writable);
  }
}

std::shared_ptr<SchemaIR> SchemaReader::read_once(JsonDocument& document, const ReaderQuestions& questions,
                                                  const ReadingLimits& limits, std::vector<SchemaRefusal>* refusals,
                                                  const Writable* writable) const {
  if (refusals != nullptr) refusals->clear();
  std::optional<SchemaReading> reading;
  const auto place = [&] { return reading ? reading->place() : ""; };
  try {
    reading.emplace(*this, document, questions, limits, refusals, writable);
    return reading->read();
  } catch (const SchemaReading::Unsupported& refused) {
    if (refusals != nullptr) refusals->push_back({refused.kind, place()});
    return nullptr;
  } catch (const SchemaAlgebra::TooMuchWork& much) {
    throw SchemaLimitExceeded("max_rules", limits.max_rules, pointer_of(much.name));
  } catch (const SchemaLimitExceeded&) {
    throw;
  } catch (const LimitExceeded& crossed) {
    throw SchemaLimitExceeded(crossed.limit().c_str(), crossed.value(), place());
  }
}

}  // namespace cfgmask
