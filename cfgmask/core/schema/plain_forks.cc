#include <algorithm>

#include "schema/deferred_schema.h"

namespace cfgmask {

// What the schema has, stays.
void DeferredSchema::add_large(uint32_t rule, const LargeUnion& large) {
  if (large.objects) {
    forks_.add_room(large.objects->room);
    const uint32_t state = forks_.first(large.objects->places);
    large_objects_.emplace(state, &*large.objects);
    for (const LargeUnion::Others& others : large.objects->others) {
      for (const bool some : {false, true}) large_others_.emplace(forks_.others(others.places, some), &others);
    }
    add_alternative(rule, Symbols{open_object_, fork(state)});
  }
  if (large.arrays) {
    array_forks_.add_room(large.arrays->room);
    const uint32_t state = array_forks_.first(large.arrays->places);
    large_arrays_.emplace(state, &*large.arrays);
    add_alternative(rule, Symbols{open_array_, array_fork(state)});
  }
}

// What stands in one of some arrays, behind its opening mark.
uint32_t DeferredSchema::array_fork_of(std::vector<PlainValueId> arrays) {
  const ArrayForks::Places places = ObjectForks::at_beginning(std::move(arrays));
  array_forks_.add_room(ArrayForks::room_for(schema_, places));
  return array_fork(array_forks_.first(places));
}

uint32_t DeferredSchema::array_fork(uint32_t state) {
  if (const auto known = rule_of_array_fork_.find(state)) return *known;
  const uint32_t rule = defer(kFirstDeferredOrder + array_forks_.order(state), ArrayForkState{state});
  rule_of_array_fork_.insert(state, rule);
  return rule;
}

void DeferredSchema::add_rules(uint32_t rule, const ArrayForkState& state) {
  const auto [kind, places] = array_forks_.at(state.number);
  switch (kind) {
    case ArrayForks::Kind::kItem: {
      if (const auto large = large_arrays_.find(state.number); large != large_arrays_.end())
        return add_first_item(rule, *large->second);
      const ArrayForks::Next next = array_forks_.next(places);
      return add_items(rule, next, places[0].member > 0, array_forks_.held(next.items));
    }
    case ArrayForks::Kind::kHeld: {
      if (const auto large = large_items_.find(state.number); large != large_items_.end()) {
        add_item_values(rule, large->second->values);
        return add_choice(rule, {}, {large->second->strings.ways, ForkChoice::Of::kItems},
                          large->second->strings.texts);
      }
      ObjectForks::Held held = array_forks_.held_at(places);
      add_item_values(rule, held.values);
      return add_choice(rule, {}, std::move(held.strings), ForkChoice::Of::kItems);
    }
    case ArrayForks::Kind::kEach:
      for (ArrayForks::Place place : places) add_alternative(rule, Symbols{array_state(place)});
  }
}

void DeferredSchema::add_first_item(uint32_t rule, const LargeUnion::Arrays& large) {
  const uint32_t held = array_forks_.held(large.next.items);
  large_items_.emplace(held, &large);
  add_items(rule, large.next, false, held);
}

void DeferredSchema::add_items(uint32_t rule, const ArrayForks::Next& next, bool some, uint32_t held) {
  if (next.may_end) add_alternative(rule, Symbols{close_array_.after(some)});
  if (next.items.empty()) return;
  Symbols item = before_item(some);
  item.push_back(array_fork(held));
  add_alternative(rule, item);
}

void DeferredSchema::add_item_values(uint32_t rule, const std::vector<ObjectForks::Held::Of>& values) {
  for (const auto& of : values) add_alternative(rule, Symbols{symbol_of_item(of.value), after_items(of.places)});
}

uint32_t DeferredSchema::after_items(std::span<const ArrayForks::Place> items) {
  if (items.size() > 1) return array_fork(array_forks_.after(items));
  return array_state(array_forks_.passed(items[0]));
}

// What stands in one of some objects, behind its opening mark.
uint32_t DeferredSchema::fork_of(std::vector<PlainValueId> objects) {
  const ObjectForks::Places places = ObjectForks::at_beginning(std::move(objects));
  forks_.add_room(ObjectForks::room_for(schema_, places));
  return fork(forks_.first(places));
}

uint32_t DeferredSchema::fork(uint32_t state) {
  const auto known = rule_of_fork_.find(state);
  if (known) return *known;
  const uint32_t rule = defer(kFirstDeferredOrder + forks_.order(state), ForkState{state});
  rule_of_fork_.insert(state, rule);
  return rule;
}

void DeferredSchema::add_rules(uint32_t rule, const ForkState& state) {
  using Kind = ObjectForks::Kind;
  const ObjectForks::State at = forks_.at(state.number);
  switch (at.kind) {
    case Kind::kFirst:
    case Kind::kFurther:
      if (const auto large = large_objects_.find(state.number); large != large_objects_.end())
        return add_first_keys(rule, *large->second);
      return add_keys(rule, at.places, at.kind == Kind::kFurther);
    case Kind::kHeld:
      return add_held(rule, at.places);
    case Kind::kEach:
      return add_each(rule, at.places, true);
    case Kind::kFirstOther:
    case Kind::kFurtherOther:
      if (const auto large = large_others_.find(state.number); large != large_others_.end())
        return add_large_others(rule, state.number, *large->second, at.kind == Kind::kFurtherOther);
      return add_other_keys(rule, state.number, at.places, at.kind == Kind::kFurtherOther);
    case Kind::kWithout:
      for (const ObjectForks::Half& half : forks_.halves(at)) {
        if (half.is_left()) add_half(rule, half);
      }
  }
}

void DeferredSchema::add_each(uint32_t rule, const ObjectForks::Places& places, bool some) {
  for (ObjectForks::Place place : places) add_alternative(rule, Symbols{state_at(place, some ? 1 : 0)});
}

// Where an object goes on by itself, so many of its keys written.
uint32_t DeferredSchema::state_at(ObjectForks::Place place, uint32_t written) {
  const uint32_t object = open_object(place.of, kept_keys(*schema_.at(place.of).object));
  return rule_of(ObjectState{level(object, written), place.member});
}

void DeferredSchema::add_keys(uint32_t rule, const ObjectForks::Places& places, bool some) {
  ObjectForks::Next next = forks_.next(places);
  const auto is_apart = [&](const PlainSchema::Object& object) {
    return object.has_classes() || kept_keys(object) != Kept::kAsTexts;
  };
  add_ends(rule, forks_.ends(next.ends, is_apart), some);
  add_choice(rule, before_member(some), std::move(next.keys), ForkChoice::Of::kMembers);
}

void DeferredSchema::add_first_keys(uint32_t rule, const LargeUnion::Objects& large) {
  add_ends(rule, large.ends, false);
  add_choice(rule, before_member(false), {large.keys.ways, ForkChoice::Of::kMembers}, large.keys.texts);
}

void DeferredSchema::add_ends(uint32_t rule, const ObjectForks::Ends& ends, bool some) {
  if (ends.may_close) add_alternative(rule, Symbols{close_object_.after(some)});
  add_each(rule, ends.apart, some);
  for (const auto& of : ends.others) add_alternative(rule, Symbols{fork(forks_.others(of.places, some))});
}

// Keys that are no members of any of the objects, and those that are members of some.
void DeferredSchema::add_other_keys(uint32_t rule, uint32_t state, const ObjectForks::Places& objects, bool some) {
  auto [names, missing] = forks_.other_keys(objects);
  add_other_key(rule, regexes_->key_set(std::move(names)), objects, some);
  add_choice(rule, before_member(some), std::move(missing), ForkChoice::Of::kOthers, state);
}

void DeferredSchema::add_large_others(uint32_t rule, uint32_t state, const LargeUnion::Others& large, bool some) {
  add_other_key(rule, regexes_->key_set(large.names), large.places, some);
  add_choice(rule, before_member(some), {large.missing.ways, ForkChoice::Of::kOthers, state}, large.missing.texts);
}

// A key that is none of the names, of all of the objects, or their end.
void DeferredSchema::add_other_key(uint32_t rule, RegexId names, const ObjectForks::Places& objects, bool some) {
  const PlainSchema::Object& one = *schema_.at(objects[0].of).object;
  add_alternative(rule, Symbols{close_object_.after(some)});
  Symbols taken = before_member(some);
  const uint32_t key = other_key(names, one.others_keys, Kept::kAsTexts);
  taken.insert(taken.end(), {key, colon_, symbol_of_member(*one.others), fork(forks_.others(objects, true))});
  add_alternative(rule, taken);
}

void DeferredSchema::add_half(uint32_t rule, const ObjectForks::Half& half) {
  if (half.places.size() < ObjectForks::kMany) {
    ObjectForks::Places left;
    std::set_difference(half.places.begin(), half.places.end(), half.missing.begin(), half.missing.end(),
                        std::back_inserter(left));
    return add_each(rule, left, true);
  }
  const uint32_t whole = forks_.others(half.places, true);
  add_alternative(rule, Symbols{fork(half.missing.empty() ? whole : forks_.without(whole, half.missing))});
}

void DeferredSchema::add_held(uint32_t rule, const ObjectForks::Places& members) {
  ObjectForks::Held held = forks_.held_at(members);
  for (const auto& of : held.values)
    add_alternative(rule, Symbols{symbol_of_member(of.value), after_values(of.places)});
  add_choice(rule, {}, std::move(held.strings), ForkChoice::Of::kStrings);
}

// Texts, one of which comes next, behind some symbols.
void DeferredSchema::add_choice(uint32_t rule, const Symbols& before, ObjectForks::Ways ways, ForkChoice::Of of,
                                uint32_t others) {
  LargeWays sorted = LargeWays::of(std::move(ways));
  add_choice(rule, before, {std::move(sorted.ways), of, others}, std::move(sorted.texts));
}

void DeferredSchema::add_choice(uint32_t rule, const Symbols& before, ForkChoice made,
                                std::array<NumberedTexts, 2> texts) {
  // Known before its terminals are, which stay where a limit is crossed behind them.
  const uint32_t object = choice_object(fork_choices_.size(), true);
  const ForkChoice& choice = fork_choices_.push_back(std::move(made));
  const KeyRole role = choice.of == ForkChoice::Of::kOthers ? KeyRole::kKey : KeyRole::kNone;
  for (const auto& [are_strings, numbers, list] : numbered(std::move(texts))) {
    if (numbers.empty()) continue;
    if (numbers.size() == 1 || !to_->has_choices || parts_.layout->strings != nullptr) {
      for (const uint32_t number : numbers) {
        Symbols taken = before;
        taken.push_back(string(choice.ways->text(number), role));
        const Symbols after = after_text(choice, number);
        taken.insert(taken.end(), after.begin(), after.end());
        add_alternative(rule, taken);
      }
      continue;
    }
    Symbols taken = before;
    const Choice any{object, 0, list, 0, numbers.back() + 1, are_strings};
    taken.push_back(choice_terminal(any, choice.are_keys() ? "KEY" : "STRING", role));
    add_alternative(rule, taken);
  }
}

DeferredSchema::Symbols DeferredSchema::after_text(const ForkChoice& choice, uint32_t number) {
  const auto members = choice.ways->places(number);
  if (choice.of == ForkChoice::Of::kStrings) return {after_values(members)};
  if (choice.of == ForkChoice::Of::kItems) return {after_items(members)};
  if (choice.of == ForkChoice::Of::kOthers) {
    const PlainValueId value = *schema_.at(members[0].of).object->others;
    return {colon_, symbol_of_member(value), fork(forks_.without(choice.others, {members.begin(), members.end()}))};
  }
  if (const auto value = forks_.only_value(members)) return {colon_, symbol_of_member(*value), after_values(members)};
  return {colon_, fork(forks_.held({members.begin(), members.end()}))};
}

uint32_t DeferredSchema::after_values(std::span<const ObjectForks::Place> members) {
  if (members.size() > 1) return fork(forks_.after(members));
  return state_at({members[0].of, members[0].member + 1}, 1);
}

}  // namespace cfgmask
