// Objects with keys in any order: all keys with names are one choice, and a set of the parser (earley/seen_values.h)
// knows which are written. It leaves those out of the choice, and lets the object close once the required ones are
// there. So an object is two rules, however many keys it has.
#include <utility>

#include "schema/deferred_schema.h"

namespace cfgmask {

// Objects with witnesses are not read, and where at most one member has a name and no key is without one, there is no
// order.
bool DeferredSchema::is_in_any_order(const PlainSchema::Object& object) const {
  if (!has_any_order_) return false;
  size_t n_live = 0;
  for (const auto& member : object.members) n_live += is_live_inside(member.value) ? 1 : 0;
  const auto is_live = [&](const PlainSchema::KeyClass& c) { return is_live_inside(c.value); };
  const bool has_more =
      (object.others && is_live_inside(*object.others)) || std::ranges::any_of(object.classes, is_live);
  return n_live > (has_more ? 0 : 1);
}

// Where keys without names are kept. Those with names are always in the set.
DeferredSchema::Kept DeferredSchema::kept_unordered(const PlainSchema::Object& object) {
  if (!object.others && object.classes.empty()) return Kept::kNowhere;
  if (!object.bounds().are_idle() || !may_keep_texts()) return Kept::kInSet;
  return never_run_out(object) ? Kept::kAsTexts : Kept::kInSet;
}

void DeferredSchema::add_unordered(uint32_t rule, PlainValueId id) {
  const PlainSchema::Object& object = *schema_.at(id).object;
  SetBounds bounds;
  for (const auto& member : object.members) {
    if (member.required) bounds.required.push_back(schema_.name_at(member.name));
  }
  bounds.minimum = object.bounds().minimum;
  bounds.maximum = object.bounds().maximum;
  const uint32_t whole = add_set(std::move(bounds));
  add_alternative(rule, Symbols{whole});
  const uint32_t first = rule_of(UnorderedState{level(open_object(id, kept_unordered(object)), 0), false});
  add_alternative(whole, Symbols{open_object_, first});
}

uint32_t DeferredSchema::rule_of(const UnorderedState& state) {
  const uint64_t key = (uint64_t{state.level} << 1) | (state.some ? 1 : 0);
  if (const auto known = unordered_.find(key)) return *known;
  const uint32_t rule = defer(kFirstState, state);
  unordered_.insert(key, rule);
  return rule;
}

void DeferredSchema::add_rules(uint32_t rule, const UnorderedState& state) {
  OpenObject& open = open_objects_[levels_[state.level].object];
  for (uint32_t keys : choices_of(state.level)) {
    Symbols taken = separated(state.some);
    taken.push_back(keys);
    add_alternative(rule, taken);
  }
  if (const Symbols& other = other_member(open); !other.empty()) {
    Symbols taken = separated(state.some);
    taken.insert(taken.end(), other.begin(), other.end());
    taken.push_back(rule_of(UnorderedState{state.level, true}));
    add_alternative(rule, taken);
  }
  if (state.some || (open.object->n_required() == 0 && open.bounds.minimum == 0))
    add_alternative(rule, Symbols{close_set_.after(state.some)});
}

// The terminals of the keys with names: of those of one spelling, and of the others.
const std::vector<uint32_t>& DeferredSchema::choices_of(uint32_t level) {
  OpenObject& open = open_objects_[levels_[level].object];
  if (!open.choices.empty()) return open.choices;
  const auto& members = open.object->members;
  std::vector<NumberedText> names;
  for (uint32_t i = 0; i < members.size(); ++i) {
    if (is_live_inside(members[i].value)) names.emplace_back(&schema_.name_at(members[i].name), i);
  }
  std::vector<uint32_t> choices;
  for (const auto& [are_strings, numbers, list] : numbered(numbered_texts(names, false))) {
    if (numbers.empty()) continue;
    const Choice keys{choice_object(level, false), 0, list, 0, numbers.back() + 1, are_strings};
    choices.push_back(choice_terminal(keys, "KEY"));
    grammar_->terminals.back().distinct = true;
  }
  open.choices = std::move(choices);
  return open.choices;
}

}  // namespace cfgmask
