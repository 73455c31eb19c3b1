// Objects with keys in any order: all keys with names are one choice, and a set of the parser
// (earley/distinct_register.h) knows which are written. It leaves those out of the choice, and lets the object close
// once the required ones are there. So an object is two rules, however many keys it has.
//
// Witnesses are no values of a set: which of them are missing is a state, with two rules of its own.
#include <utility>

#include "json_schema/rules/schema_rules.h"
#include "json_schema/sets/witnesses.h"

namespace cfgmask {

// Where at most one member has a name and no key is without one, there is no
// order.
bool SchemaRules::is_in_any_order(const SchemaIR::Object& object) const {
  if (!has_any_order_) return false;
  size_t n_live = 0;
  for (const auto& member : object.members) n_live += is_live_member(member.value) ? 1 : 0;
  const auto is_live = [&](const SchemaIR::KeyClass& c) { return is_live_member(c.value); };
  const bool has_more =
      (object.others && is_live_member(*object.others)) || std::ranges::any_of(object.classes, is_live);
  return n_live > (has_more ? 0 : 1);
}

// Where keys without names are kept. Those with names are always in the set.
SchemaRules::Kept SchemaRules::kept_unordered(const SchemaIR::Object& object) {
  if (tells_apart()) return Kept::kInSet;
  if (!object.others && object.classes.empty()) return Kept::kNowhere;
  if (!object.bounds().are_idle() || !object.witnesses.empty() || !may_keep_texts()) return Kept::kInSet;
  return never_run_out(object) ? Kept::kAsTexts : Kept::kInSet;
}

void SchemaRules::add_unordered(uint32_t rule, ValueId id, std::optional<uint32_t> ends) {
  const SchemaIR::Object& object = *schema_.at(id).object;
  SetBounds bounds;
  for (const auto& member : object.members) {
    if (member.required) bounds.required.push_back(schema_.name_at(member.name));
  }
  bounds.minimum = object.bounds().minimum;
  bounds.maximum = object.bounds().maximum;
  if (tells_apart()) bounds.holds = Holds::kObject;
  const uint32_t whole = add_set(std::move(bounds), ends, kBeginsWithTerminal);
  add_alternative(rule, Symbols{whole});
  const uint32_t missing = (1U << object.witnesses.size()) - 1;
  const uint32_t level = unordered_level(open_object(id, kept_unordered(object)), missing);
  add_alternative(whole, Symbols{open_object_, rule_of(UnorderedState{level, false})});
}

uint32_t SchemaRules::unordered_level(uint32_t object, uint32_t missing) {
  const uint64_t key = (uint64_t{object} << 32) | missing;
  if (const auto known = level_ids_.find(key)) return *known;
  const auto made = static_cast<uint32_t>(levels_.size());
  levels_.push_back({object, missing});
  level_ids_.insert(key, made);
  return made;
}

uint32_t SchemaRules::rule_of(const UnorderedState& state) {
  const uint64_t key = (uint64_t{state.level} << 1) | (state.some ? 1 : 0);
  if (const auto known = unordered_.find(key)) return *known;
  const uint32_t rule = defer(kFirstState, state);
  unordered_.insert(key, rule);
  return rule;
}

void SchemaRules::add_rules(uint32_t rule, const UnorderedState& state) {
  const auto [object, missing] = levels_[state.level];
  const OpenObject& open = open_objects_[object];
  const auto add = [&](const Symbols& member) {
    Symbols taken = before_member(state.some);
    taken.insert(taken.end(), member.begin(), member.end());
    add_alternative(rule, taken);
  };
  if (tells_apart() || !to_->has_choices) {
    // Sets that are values have no numbered keys.
    for (const auto& member : open.object->members) {
      if (!is_live_member(member.value)) continue;
      Symbols taken{tells_apart() ? key(member.name) : distinct_key(member.name)};
      const Symbols after = after_unordered(state.level, member);
      taken.insert(taken.end(), after.begin(), after.end());
      add(taken);
    }
  } else {
    for (uint32_t keys : choices_of(state.level)) add(Symbols{keys});
  }
  add_other_keys(rule, state);
  const bool may_be_empty = open.object->n_required() == 0 && open.bounds.minimum == 0;
  if (missing == 0 && (state.some || may_be_empty)) add_alternative(rule, Symbols{close_set_.after(state.some)});
}

void SchemaRules::add_other_keys(uint32_t rule, const UnorderedState& state) {
  const auto [number, missing] = levels_[state.level];
  OpenObject& open = open_objects_[number];
  const auto add = [&](const Symbols& member, uint32_t missing_after) {
    Symbols taken = before_member(state.some);
    taken.insert(taken.end(), member.begin(), member.end());
    taken.push_back(rule_of(UnorderedState{unordered_level(number, missing_after), true}));
    add_alternative(rule, taken);
  };
  const SchemaIR::Object& object = *open.object;
  if (missing == 0) {
    if (const Symbols& other = other_member(open); !other.empty()) add(other, 0);
    return;
  }
  const auto kinds = object.kinds();
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (open.other_keys.size() == i) open.other_keys.push_back(other_key(object, kinds[i].keys, open.seen, open.large));
    for (const KeyWay& way : key_ways(object, kinds[i], missing, common_)) {
      if (is_live_member(way.value)) add({open.other_keys[i], colon_, symbol_of_member(way.value)}, way.missing);
    }
  }
}

SchemaRules::Symbols SchemaRules::after_unordered(uint32_t level, const SchemaIR::Member& member) {
  const auto [number, missing] = levels_[level];
  std::vector<Symbols> ways;
  for (const KeyWay& way : key_ways(*open_objects_[number].object, member, missing, common_)) {
    if (!is_live_member(way.value)) continue;
    const uint32_t after = rule_of(UnorderedState{unordered_level(number, way.missing), true});
    ways.push_back({symbol_of_member(way.value), after});
  }
  if (ways.size() == 1) return {colon_, ways[0][0], ways[0][1]};
  const uint32_t either = add_nonterminal(kFirstState);
  for (const Symbols& way : ways) add_alternative(either, way);
  return {colon_, either};
}

// The terminals of the keys with names: of those of one spelling, and of the others.
std::vector<uint32_t> SchemaRules::choices_of(uint32_t level) {
  const OpenObject& open = open_objects_[levels_[level].object];
  const auto& members = open.object->members;
  std::vector<NumberedText> names;
  for (uint32_t i = 0; i < members.size(); ++i) {
    if (is_live_member(members[i].value)) names.emplace_back(&schema_.name_at(members[i].name), i);
  }
  std::vector<uint32_t> choices;
  for (const auto& [are_strings, numbers, list] : numbered(numbered_texts(names, false))) {
    if (numbers.empty()) continue;
    const Choice keys{choice_object(level, false), 0, list, 0, numbers.back() + 1, are_strings};
    choices.push_back(choice_terminal(keys, "KEY"));
    grammar_->terminals.back().distinct = true;
  }
  return choices;
}

}  // namespace cfgmask
