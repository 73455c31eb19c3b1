#include <algorithm>

#include "json_schema/rules/schema_rules.h"

namespace cfgmask {

// What the schema has, stays.
void SchemaRules::add_large(uint32_t rule, const IndexedUnion& large) {
  if (large.objects) {
    unions_.add_room(large.objects->room);
    const uint32_t state = unions_.first(large.objects->places);
    indexed_objects_.emplace(state, &*large.objects);
    for (const IndexedUnion::Others& others : large.objects->others) {
      for (const bool some : {false, true}) indexed_others_.emplace(unions_.others(others.places, some), &others);
    }
    add_alternative(rule, Symbols{open_object_, union_rule(state)});
  }
  if (large.arrays) {
    array_unions_.add_room(large.arrays->room);
    const uint32_t state = array_unions_.first(large.arrays->places);
    indexed_arrays_.emplace(state, &*large.arrays);
    add_alternative(rule, Symbols{open_array_, array_union(state)});
  }
}

// What stands in one of some arrays, behind its opening mark.
uint32_t SchemaRules::array_union_of(std::vector<ValueId> arrays) {
  const ArrayUnions::Places places = ObjectUnions::at_beginning(std::move(arrays));
  array_unions_.add_room(ArrayUnions::room_for(schema_, places));
  return array_union(array_unions_.first(places));
}

uint32_t SchemaRules::array_union(uint32_t state) {
  if (const auto known = rule_of_array_union_.find(state)) return *known;
  const uint32_t rule = defer(kFirstDeferredOrder + array_unions_.order(state), ArrayUnionState{state});
  rule_of_array_union_.insert(state, rule);
  return rule;
}

void SchemaRules::add_rules(uint32_t rule, const ArrayUnionState& state) {
  const auto [kind, places] = array_unions_.at(state.number);
  switch (kind) {
    case ArrayUnions::Kind::kItem: {
      if (const auto large = indexed_arrays_.find(state.number); large != indexed_arrays_.end())
        return add_first_item(rule, *large->second);
      const ArrayUnions::Next next = array_unions_.next(places);
      return add_items(rule, next, places[0].member > 0, array_unions_.held(next.items));
    }
    case ArrayUnions::Kind::kHeld: {
      if (const auto large = indexed_items_.find(state.number); large != indexed_items_.end()) {
        add_item_values(rule, large->second->values);
        return add_choice(rule, {}, {large->second->strings.ways, UnionChoice::Of::kItems},
                          large->second->strings.texts);
      }
      ObjectUnions::Held held = array_unions_.held_at(places);
      add_item_values(rule, held.values);
      return add_choice(rule, {}, std::move(held.strings), UnionChoice::Of::kItems);
    }
    case ArrayUnions::Kind::kEach:
      for (ArrayUnions::Place place : places) add_alternative(rule, Symbols{array_state(place)});
  }
}

void SchemaRules::add_first_item(uint32_t rule, const IndexedUnion::Arrays& large) {
  const uint32_t held = array_unions_.held(large.next.items);
  indexed_items_.emplace(held, &large);
  add_items(rule, large.next, false, held);
}

void SchemaRules::add_items(uint32_t rule, const ArrayUnions::Next& next, bool some, uint32_t held) {
  if (next.may_end) add_alternative(rule, Symbols{close_array_.after(some)});
  if (next.items.empty()) return;
  Symbols item = before_item(some);
  item.push_back(array_union(held));
  add_alternative(rule, item);
}

void SchemaRules::add_item_values(uint32_t rule, const std::vector<ObjectUnions::Held::Of>& values) {
  for (const auto& of : values) add_alternative(rule, Symbols{symbol_of_item(of.value), after_items(of.places)});
}

uint32_t SchemaRules::after_items(std::span<const ArrayUnions::Place> items) {
  if (items.size() > 1) return array_union(array_unions_.after(items));
  return array_state(array_unions_.passed(items[0]));
}

// What stands in one of some objects, behind its opening mark.
uint32_t SchemaRules::union_of(std::vector<ValueId> objects) {
  const ObjectUnions::Places places = ObjectUnions::at_beginning(std::move(objects));
  unions_.add_room(ObjectUnions::room_for(schema_, places));
  return union_rule(unions_.first(places));
}

uint32_t SchemaRules::union_rule(uint32_t state) {
  const auto known = rule_of_union_.find(state);
  if (known) return *known;
  const uint32_t rule = defer(kFirstDeferredOrder + unions_.order(state), UnionState{state});
  rule_of_union_.insert(state, rule);
  return rule;
}

void SchemaRules::add_rules(uint32_t rule, const UnionState& state) {
  using Kind = ObjectUnions::Kind;
  const ObjectUnions::State at = unions_.at(state.number);
  switch (at.kind) {
    case Kind::kFirst:
    case Kind::kFurther:
      if (const auto large = indexed_objects_.find(state.number); large != indexed_objects_.end())
        return add_first_keys(rule, *large->second);
      return add_keys(rule, at.places, at.kind == Kind::kFurther);
    case Kind::kHeld:
      return add_held(rule, at.places);
    case Kind::kEach:
      return add_each(rule, at.places, true);
    case Kind::kFirstOther:
    case Kind::kFurtherOther:
      if (const auto large = indexed_others_.find(state.number); large != indexed_others_.end())
        return add_large_others(rule, state.number, *large->second, at.kind == Kind::kFurtherOther);
      return add_other_keys(rule, state.number, at.places, at.kind == Kind::kFurtherOther);
    case Kind::kWithout:
      for (const ObjectUnions::Half& half : unions_.halves(at)) {
        if (half.is_left()) add_half(rule, half);
      }
  }
}

void SchemaRules::add_each(uint32_t rule, const ObjectUnions::Places& places, bool some) {
  for (ObjectUnions::Place place : places) add_alternative(rule, Symbols{state_at(place, some ? 1 : 0)});
}

// Where an object goes on by itself, so many of its keys written.
uint32_t SchemaRules::state_at(ObjectUnions::Place place, uint32_t written) {
  const uint32_t object = open_object(place.of, kept_keys(*schema_.at(place.of).object));
  return rule_of(ObjectState{level(object, written), place.member});
}

void SchemaRules::add_keys(uint32_t rule, const ObjectUnions::Places& places, bool some) {
  ObjectUnions::Next next = unions_.next(places);
  const auto is_apart = [&](const SchemaIR::Object& object) {
    return object.has_classes() || kept_keys(object) != Kept::kAsTexts;
  };
  add_ends(rule, unions_.ends(next.ends, is_apart), some);
  add_choice(rule, before_member(some), std::move(next.keys), UnionChoice::Of::kMembers);
}

void SchemaRules::add_first_keys(uint32_t rule, const IndexedUnion::Objects& large) {
  add_ends(rule, large.ends, false);
  add_choice(rule, before_member(false), {large.keys.ways, UnionChoice::Of::kMembers}, large.keys.texts);
}

void SchemaRules::add_ends(uint32_t rule, const ObjectUnions::Ends& ends, bool some) {
  if (ends.may_close) add_alternative(rule, Symbols{close_object_.after(some)});
  add_each(rule, ends.apart, some);
  for (const auto& of : ends.others) add_alternative(rule, Symbols{union_rule(unions_.others(of.places, some))});
}

// Keys that are no members of any of the objects, and those that are members of some.
void SchemaRules::add_other_keys(uint32_t rule, uint32_t state, const ObjectUnions::Places& objects, bool some) {
  auto [names, missing] = unions_.other_keys(objects);
  add_other_key(rule, regexes_->key_set(std::move(names)), objects, some);
  add_choice(rule, before_member(some), std::move(missing), UnionChoice::Of::kOthers, state);
}

void SchemaRules::add_large_others(uint32_t rule, uint32_t state, const IndexedUnion::Others& large, bool some) {
  add_other_key(rule, regexes_->key_set(large.names), large.places, some);
  add_choice(rule, before_member(some), {large.missing.ways, UnionChoice::Of::kOthers, state}, large.missing.texts);
}

// A key that is none of the names, of all of the objects, or their end.
void SchemaRules::add_other_key(uint32_t rule, RegexId names, const ObjectUnions::Places& objects, bool some) {
  const SchemaIR::Object& one = *schema_.at(objects[0].of).object;
  add_alternative(rule, Symbols{close_object_.after(some)});
  Symbols taken = before_member(some);
  const uint32_t key = other_key(names, one.others_keys, Kept::kAsTexts);
  taken.insert(taken.end(), {key, colon_, symbol_of_member(*one.others), union_rule(unions_.others(objects, true))});
  add_alternative(rule, taken);
}

void SchemaRules::add_half(uint32_t rule, const ObjectUnions::Half& half) {
  if (half.places.size() < ObjectUnions::kMany) {
    ObjectUnions::Places left;
    std::set_difference(half.places.begin(), half.places.end(), half.missing.begin(), half.missing.end(),
                        std::back_inserter(left));
    return add_each(rule, left, true);
  }
  const uint32_t whole = unions_.others(half.places, true);
  add_alternative(rule, Symbols{union_rule(half.missing.empty() ? whole : unions_.without(whole, half.missing))});
}

void SchemaRules::add_held(uint32_t rule, const ObjectUnions::Places& members) {
  ObjectUnions::Held held = unions_.held_at(members);
  for (const auto& of : held.values)
    add_alternative(rule, Symbols{symbol_of_member(of.value), after_values(of.places)});
  add_choice(rule, {}, std::move(held.strings), UnionChoice::Of::kStrings);
}

// Texts, one of which comes next, behind some symbols.
void SchemaRules::add_choice(uint32_t rule, const Symbols& before, ObjectUnions::Ways ways, UnionChoice::Of of,
                             uint32_t others) {
  IndexedWays sorted = IndexedWays::of(std::move(ways));
  add_choice(rule, before, {std::move(sorted.ways), of, others}, std::move(sorted.texts));
}

void SchemaRules::add_choice(uint32_t rule, const Symbols& before, UnionChoice made,
                             std::array<NumberedTexts, 2> texts) {
  // Entered first: its terminals stay, even if a later one crosses a limit.
  const uint32_t object = choice_object(union_choices_.size(), true);
  const UnionChoice& choice = union_choices_.push_back(std::move(made));
  const KeyRole role = choice.of == UnionChoice::Of::kOthers ? KeyRole::kKey : KeyRole::kNone;
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

SchemaRules::Symbols SchemaRules::after_text(const UnionChoice& choice, uint32_t number) {
  const auto members = choice.ways->places(number);
  if (choice.of == UnionChoice::Of::kStrings) return {after_values(members)};
  if (choice.of == UnionChoice::Of::kItems) return {after_items(members)};
  if (choice.of == UnionChoice::Of::kOthers) {
    const ValueId value = *schema_.at(members[0].of).object->others;
    return {colon_, symbol_of_member(value),
            union_rule(unions_.without(choice.others, {members.begin(), members.end()}))};
  }
  if (const auto value = unions_.only_value(members)) return {colon_, symbol_of_member(*value), after_values(members)};
  return {colon_, union_rule(unions_.held({members.begin(), members.end()}))};
}

uint32_t SchemaRules::after_values(std::span<const ObjectUnions::Place> members) {
  if (members.size() > 1) return union_rule(unions_.after(members));
  return state_at({members[0].of, members[0].member + 1}, 1);
}

}  // namespace cfgmask
