#include <algorithm>

#include "json_schema/rules/schema_rules.h"
#include "json_schema/spelling/python_literals.h"

namespace cfgmask {

SchemaRules::Kept SchemaRules::kept_keys(const SchemaIR::Object& object) {
  if (tells_apart()) return Kept::kInSet;
  if (!object.may_repeat_others()) return Kept::kNowhere;
  if (object.counts_others() || !may_keep_texts()) return Kept::kInSet;
  return never_run_out(object) ? Kept::kAsTexts : Kept::kInSet;
}

// Whether it is sure that whatever begins a key that is no member begins infinitely many.
bool SchemaRules::never_run_out(const SchemaIR::Object& object) {
  const bool has_others = object.others && is_live_member(*object.others);
  const auto is_live = [&](const SchemaIR::KeyClass& c) { return is_live_member(c.value); };
  if (has_others && std::all_of(object.classes.begin(), object.classes.end(), is_live)) return true;
  std::vector<RegexId> all;
  for (const auto& c : object.classes) {
    if (is_live(c)) all.push_back(schema_.keys_regex(c.keys, *regexes_));
  }
  if (has_others) all.push_back(schema_.keys_regex(object.others_keys, *regexes_));
  const RegexId either = regexes_->alternation(std::move(all));
  return known_or_made(endless_, either, [&] { return is_endless_at_sight(either, *regexes_); });
}

// The keys of a class but those of the members; all keys but those where there are no classes.
uint32_t SchemaRules::other_key(const SchemaIR::Object& object, const SchemaIR::Keys& keys, Kept seen,
                                const std::shared_ptr<const IndexedObject>& large) {
  if (large) return other_key(regexes_->key_set(large->names), keys, seen);
  std::vector<std::string_view> names;
  for (const auto& member : object.members) names.push_back(schema_.name_at(member.name));
  return other_key(regexes_->key_set(std::move(names)), keys, seen);
}

uint32_t SchemaRules::other_key(RegexId names, const SchemaIR::Keys& keys, Kept seen) {
  RegexStore& r = *regexes_;
  std::vector<RegexId> conditions{schema_.keys_regex(keys, r)};
  if (names != RegexStore::nothing()) conditions.push_back(r.complement(names));
  if (flow_ != nullptr) conditions.push_back(flow_->short_texts(r));
  const RegexId body = conditions.size() == 1 ? conditions[0] : r.intersection(std::move(conditions));
  const RegexId strings = delimits_        ? FormReading(parts_, *form_).bare_keys(body, r)
                          : writes_python_ ? python_keys(body, r)
                          : yaml_          ? yaml_->other_keys(body, r)
                                           : with_escapes(r.json_string(body, JsonEscapes::kAny));
  return add_terminal(strings, yaml_ ? "KEY:" : "KEY", seen == Kept::kInSet,
                      seen == Kept::kAsTexts ? KeyRole::kKey : KeyRole::kNone);
}

// A key that is no member, and its value; one rule where there are several kinds.
std::optional<SchemaRules::Symbols> SchemaRules::other_member(const SchemaIR::Object& object, Kept seen,
                                                              const std::shared_ptr<const IndexedObject>& large) {
  std::vector<Symbols> ways;
  for (const auto& c : object.classes) {
    if (is_live_member(c.value))
      ways.push_back({other_key(object, c.keys, seen, large), colon_, symbol_of_member(c.value)});
  }
  if (object.others && is_live_member(*object.others))
    ways.push_back({other_key(object, object.others_keys, seen, large), colon_, symbol_of_member(*object.others)});
  if (ways.empty()) return std::nullopt;
  if (ways.size() == 1) return ways[0];
  const uint32_t either = add_nonterminal(kBeginsWithTerminal);
  for (const Symbols& way : ways) add_alternative(either, way);
  return Symbols{either};
}

// Whether a value is objects of which nothing is counted, and nothing else.
bool SchemaRules::is_open_object(ValueId id) {
  return is_roomy() && ObjectUnions::takes(schema_, id) && kept_keys(*schema_.at(id).object) != Kept::kInSet;
}

// The number of the objects of a value.
uint32_t SchemaRules::open_object(ValueId id, Kept seen) {
  return known_or_made(open_object_of_, id.value, [&] {
    const auto& object = schema_.at(id).object;
    open_objects_.push_back(
        {object, object->bounds(), is_roomy() ? schema_.large(id) : nullptr, seen, {}, {}, {}, {}, {}, {}});
    const auto is_required = [](const SchemaIR::Member& member) { return member.required; };
    const auto last = std::find_if(object->members.rbegin(), object->members.rend(), is_required);
    open_objects_.back().required_to = static_cast<uint32_t>(object->members.rend() - last);
    return static_cast<uint32_t>(open_objects_.size() - 1);
  });
}

void SchemaRules::add_object(uint32_t rule, ValueId id, std::optional<uint32_t> ends) {
  const SchemaIR::Object& object = *schema_.at(id).object;
  if (!schema_.can_be(object, room())) return;
  if (is_in_any_order(object)) return add_unordered(rule, id, ends);
  if (form_has_any_order_ && !object.members.empty()) return add_form_object_in_any_order(rule, object);
  const Kept seen = kept_keys(object);
  if (seen == Kept::kInSet) {
    const uint32_t whole = add_set_of(tells_apart() ? Holds::kObject : Holds::kValues, ends);
    add_alternative(rule, Symbols{whole});
    rule = whole;
  }
  if (!object.witnesses.empty()) return add_object_with_witnesses(rule, object, seen, Symbols{open_object_});
  add_alternative(rule, Symbols{open_object_, rule_of(ObjectState{level(open_object(id, seen), 0), 0})});
}

uint32_t SchemaRules::level(uint32_t object, uint32_t written) {
  const uint64_t key = (uint64_t{object} << 32) | std::min(written, open_objects_[object].counted_to());
  if (const auto known = level_ids_.find(key)) return *known;
  const auto made = static_cast<uint32_t>(levels_.size());
  levels_.push_back({object, static_cast<uint32_t>(key)});
  level_ids_.insert(key, made);
  return made;
}

// As for values: of an object with many members a text meets few states at first. Calls stand in tail position.
uint32_t SchemaRules::rule_of(const ObjectState& state) {
  const uint64_t key = (uint64_t{state.level} << 32) | state.n_passed;
  if (const auto known = states_.find(key)) return *known;
  const uint32_t rule = defer(order_of_state(state.n_passed), state);
  states_.insert(key, rule);
  return rule;
}

// The run that a member is in.
const SchemaRules::OptionalRun& SchemaRules::run_of(OpenObject& open, uint32_t member) {
  const auto& members = open.object->members;
  if (open.required.empty()) {
    std::vector<uint32_t> required;
    for (uint32_t i = 0; i < members.size(); ++i) {
      if (members[i].required || i + 1 == members.size()) required.push_back(i);
    }
    open.required = std::move(required);
  }
  const auto last = std::lower_bound(open.required.begin(), open.required.end(), member);
  return known_or_made(open.runs, *last,
                       [&] { return make_run(open, last == open.required.begin() ? 0 : last[-1] + 1, *last); });
}

SchemaRules::OptionalRun SchemaRules::make_run(const OpenObject& open, uint32_t first, uint32_t last) {
  const auto& members = open.object->members;
  if (open.large && !yaml_) {
    const auto same = [&](const IndexedObject::OptionalRun& run) { return run.first == first; };
    const auto known = std::find_if(open.large->runs.begin(), open.large->runs.end(), same);
    if (known != open.large->runs.end()) return {first, last, !members[last].required, numbered(known->keys)};
  }
  if (yaml_) return {first, last, !members[last].required, {}};  // without choices
  std::vector<NumberedText> names;
  for (uint32_t i = first; i <= last; ++i) {
    if (is_live_member(members[i].value)) names.emplace_back(&schema_.name_at(members[i].name), i - first);
  }
  return {first, last, !members[last].required, numbered(numbered_texts(names))};
}

std::array<SchemaRules::Numbered, 2> SchemaRules::numbered(std::array<NumberedTexts, 2> texts) {
  std::array<Numbered, 2> made;
  for (size_t kind : {size_t{0}, size_t{1}}) {
    made[kind] = {kind == 1, std::move(texts[kind].numbers), 0};
    if (texts[kind].list) made[kind].list = regexes_->number_keys(texts[kind].list);
  }
  return made;
}

// Whether keys that are no members may fill up what is missing.
const SchemaRules::Symbols& SchemaRules::other_member(OpenObject& open) {
  if (!open.other) open.other = other_member(*open.object, open.seen, open.large).value_or(Symbols{});
  return *open.other;
}

// How many of these may be written.
uint64_t SchemaRules::n_others(OpenObject& open) {
  if (!open.n_others) open.n_others = other_member(open).empty() ? 0 : schema_.n_others(*open.object, member_room_);
  return *open.n_others;
}

// What may come next is one choice. A chain of rules, one for each member, made 41 ms of a first mask out of 11,000
// optional members, and each state had an item for each. No state is a dead end: whether the members and keys that
// are left are as many as the bounds ask for is known before.
void SchemaRules::add_rules(uint32_t rule, const ObjectState state) {
  const auto [object, written] = levels_[state.level];
  OpenObject& open = open_objects_[object];
  const auto n_members = static_cast<uint32_t>(open.object->members.size());
  if (state.n_passed == n_members) return add_end(rule, open, written);
  const OptionalRun& run = run_of(open, state.n_passed);
  const uint32_t after = level(object, written + 1);
  const auto [first, last] = members_to_come(open, run, state.n_passed, written);
  const bool may_end = run.is_optional && written + n_others(open) >= open.bounds.minimum;
  if (!to_->has_choices || tells_apart() || yaml_ != nullptr || parts_.layout->strings != nullptr) {
    // A chain: each state with all keys that may come would be rules that grow with the square of their number.
    const auto& members = open.object->members;
    uint32_t next = first;
    while (next < last && !is_live_member(members[next].value)) ++next;
    if (next < last) add_member(rule, {after, next}, written > 0);
    if (next + 1 < last) return add_alternative(rule, Symbols{rule_of(ObjectState{state.level, next + 1})});
    if (may_end) add_alternative(rule, Symbols{rule_of(ObjectState{state.level, n_members})});
    return;
  }
  for (const auto& [are_strings, numbers, list] : run.keys) {
    const auto next = std::lower_bound(numbers.begin(), numbers.end(), first - run.first);
    const auto end = std::lower_bound(next, numbers.end(), last - run.first);
    if (next == end) continue;
    if (next + 1 == end || !writes_json_) {
      // A choice reads only keys of JSON.
      for (auto each = next; each != end; ++each) add_member(rule, {after, run.first + *each}, written > 0);
    } else {
      Symbols taken = before_member(written > 0);
      taken.push_back(choice({choice_object(after, false), run.first, list, *next, end[-1] + 1, are_strings}));
      add_alternative(rule, taken);
    }
  }
  if (may_end) add_alternative(rule, Symbols{rule_of(ObjectState{state.level, n_members})});
}

// Those of a run that leave room for the required ones and enough to come: [first, last).
std::pair<uint32_t, uint32_t> SchemaRules::members_to_come(OpenObject& open, const OptionalRun& run, uint32_t n_passed,
                                                           uint32_t written) {
  const auto [minimum, maximum] = open.bounds;
  const uint32_t end = run.last + 1;
  if (maximum != kUnbounded && written + 1 + open.n_required_from(n_passed) > maximum)
    return {run.is_optional ? end : run.last, end};
  const uint64_t at_most = written + n_others(open);
  if (at_most >= minimum) return {n_passed, end};
  if (open.n_left.empty()) open.n_left = n_left(open.object->members);
  const auto from = open.n_left.begin() + n_passed;
  const auto enough = [&](uint32_t left) { return at_most + left >= minimum; };
  const auto last = std::partition_point(from, open.n_left.begin() + end, enough);
  return {n_passed, static_cast<uint32_t>(last - open.n_left.begin())};
}

std::vector<uint32_t> SchemaRules::n_left(const std::vector<SchemaIR::Member>& members) const {
  std::vector<uint32_t> found(members.size() + 1, 0);
  for (size_t i = members.size(); i-- > 0;) found[i] = found[i + 1] + (is_live_member(members[i].value) ? 1 : 0);
  return found;
}

// Behind all members.
void SchemaRules::add_end(uint32_t rule, OpenObject& open, uint32_t written) {
  add_other_keys(rule, other_member(open), open.bounds, written);
}

// So many keys without names that the bounds hold, and the closing mark.
void SchemaRules::add_other_keys(uint32_t rule, const Symbols& other, const SchemaIR::Object::Bounds& bounds,
                                 uint32_t written, uint32_t needed) {
  const uint32_t least = std::max(needed, bounds.minimum > written ? bounds.minimum - written : 0);
  const uint32_t further = bounds.maximum == kUnbounded ? kUnbounded : bounds.maximum - written;
  if (!other.empty() && further >= std::max(1U, least)) {
    add_repeated(rule, written > 0, other, least, further, members_, close_object_);
  } else if (least == 0) {
    add_end(rule, close_object_, written > 0);
  }
}

void SchemaRules::add_member(uint32_t rule, const ObjectState& at, bool some) {
  const SchemaIR::Member& member = object_at(at.level).members[at.n_passed];
  const uint32_t after = rule_of(ObjectState{at.level, at.n_passed + 1});
  add_alternative(rule, std::array{some ? members_.further : members_.first, key(member.name), colon_,
                                   symbol_of_member(member.value), after});
}

// The number of a level or of a union, among those of other parts of the grammar.
uint32_t SchemaRules::choice_object(size_t number, bool of_union) const {
  const uint32_t n_levels = to_->n_objects / 2;
  if (number >= n_levels) throw LimitExceeded("max_rules", n_levels);
  return (of_union ? first_union() : to_->first_object) + static_cast<uint32_t>(number);
}

// A terminal of the keys of several members, of which the first tells the others.
uint32_t SchemaRules::choice(const Choice& keys) {
  const uint64_t first = keys.key(keys.from);
  if (const auto known = choices_.find(first)) return *known;
  const uint32_t made = choice_terminal(keys, "KEY");
  choices_.insert(first, made);
  return made;
}

uint32_t SchemaRules::choice_terminal(const Choice& keys, const char* name, KeyRole role) {
  const RegexId regex = keys.are_strings ? with_escapes(regexes_->numbered_strings(keys.list, keys.from, keys.to))
                                         : regexes_->numbered_keys(keys.list, keys.from, keys.to);
  const uint32_t made = add_terminal(regex, name, false, role);
  grammar_->choices.push_back(keys);
  grammar_->terminals.back().choice = static_cast<uint32_t>(grammar_->choices.size() - 1);
  return made;
}

// Each state, so many of the members passed and what was written of them, is a rule whose calls stand in tail
// position.
void SchemaRules::add_object_with_witnesses(uint32_t whole, const SchemaIR::Object& object, Kept seen,
                                            const Symbols& before) {
  const SchemaIR::Object::Bounds bounds = object.bounds();
  const auto most = bounds.maximum == kUnbounded ? 0 : bounds.maximum;
  const auto counted_to = static_cast<uint32_t>(std::max({1U, bounds.minimum, most}));
  // The states before a member.
  const Progress start{0, (1U << object.witnesses.size()) - 1};
  std::map<Progress, uint32_t> now{{start, add_nonterminal(order_of_state(0))}};
  Symbols begun = before;
  begun.push_back(now[start]);
  add_alternative(whole, begun);
  for (size_t i = 0; i < object.members.size(); ++i) {
    const SchemaIR::Member& member = object.members[i];
    std::map<Progress, uint32_t> next;
    const auto state = [&](Progress progress) {
      const auto [at, is_new] = next.try_emplace(progress, 0);
      if (is_new) at->second = add_nonterminal(order_of_state(static_cast<uint32_t>(i) + 1));
      return at->second;
    };
    for (const auto& [progress, rule_before] : now) {
      const auto [written, missing] = progress;
      for (const KeyWay& way : key_ways(object, member, missing, common_)) {
        if (written >= bounds.maximum || !is_live_member(way.value)) continue;
        Symbols taken = before_member(written > 0);
        const uint32_t after = state({std::min(written + 1, counted_to), way.missing});
        taken.insert(taken.end(), {key(member.name), colon_, symbol_of_member(way.value), after});
        add_alternative(rule_before, taken);
      }
      if (!member.required) add_alternative(rule_before, Symbols{state(progress)});
    }
    now = std::move(next);
  }
  if (object.has_particular_witnesses()) add_ways_of_others(object, now, counted_to, seen);
  const Symbols other = other_member(object, seen, nullptr).value_or(Symbols{});
  for (const auto& [progress, state] : now) {
    const auto [written, missing] = progress;
    // A key without a name is what all witnesses wait for.
    if (missing == 0 || !object.has_particular_witnesses())
      add_other_keys(state, other, bounds, written, missing == 0 ? 0 : 1);
  }
}

// Adds the states that other keys lead to where some of them must have a certain value, and the keys.
void SchemaRules::add_ways_of_others(const SchemaIR::Object& object, std::map<Progress, uint32_t>& states,
                                     uint32_t counted_to, Kept seen) {
  const auto kinds = object.kinds();
  std::vector<uint32_t> keys;
  for (const auto& kind : kinds) keys.push_back(other_key(object, kind.keys, seen, nullptr));
  std::vector<Progress> todo;
  for (const auto& [progress, state] : states) todo.push_back(progress);
  while (!todo.empty()) {
    const Progress before = todo.back();
    const auto [written, missing] = before;
    todo.pop_back();
    if (missing == 0 || written >= object.maximum) continue;
    for (size_t i = 0; i < kinds.size(); ++i) {
      for (const KeyWay& way : key_ways(object, kinds[i], missing, common_)) {
        if (!is_live_member(way.value)) continue;
        const Progress after{std::min(written + 1, counted_to), way.missing};
        const auto [at, is_new] = states.try_emplace(after, 0);
        if (is_new) {
          at->second = add_nonterminal(order_of_state(static_cast<uint32_t>(object.members.size())));
          todo.push_back(after);
        }
        Symbols taken = before_member(written > 0);
        taken.insert(taken.end(), {keys[i], colon_, symbol_of_member(way.value), at->second});
        add_alternative(states.at(before), taken);
      }
    }
  }
}

}  // namespace cfgmask
