// Arrays and objects that are items of arrays in which no two are equal, and to which nothing can be added at the end:
// rules in which each place knows how many ends may follow.
//
// The parser's set of an item holds the steps that were taken (earley/distinct_register.h, Holds::kItem), and takes
// none after which all ends are those of items that came. What follows a place depends on where a rule is used, so a
// state is one of the value and the ends behind it. Ends are counted up to `kEndless`, so there are few such numbers.
//
// Each value has one derivation: DistinctItems sees to it.
#include <algorithm>

#include "json_schema/document/text_names.h"
#include "json_schema/rules/indented_rules.h"
#include "json_schema/rules/schema_rules.h"

namespace cfgmask {

namespace {

uint32_t ways_of(uint32_t n_ends) { return n_ends >= kEndless ? kUnbounded : n_ends; }
// Places of terminals and of sets, each of its own in the whole grammar.
uint32_t place_of_terminal(size_t index) { return static_cast<uint32_t>(2 * index + 1); }
uint32_t place_of_set(size_t index) { return static_cast<uint32_t>(2 * index + 2); }

}  // namespace

SchemaRules& SchemaRules::inside() {
  if (yaml_ != nullptr) return whole_->flow();
  if (whole_ == nullptr) return tells_apart() ? *main_ : *this;
  return whole_->at(column_ + 1);
}

// An item: its scalars are told apart by what they are.
uint32_t SchemaRules::item_by_steps(ValueId id, Kept strings) {
  return known_or_made(items_by_steps_, id, [&] {
    const uint32_t either = add_nonterminal(kItems);
    for (ValueId part : schema_.alternatives_of({id})) {
      for (uint32_t t : schema_.at(part).terminals) {
        const uint32_t scalar = tells_apart() ? terminal(t) : distinct_terminal(t, strings);
        add_alternative(either, Symbols{scalar});
      }
    }
    if (has_composites_inside(id)) add_alternative(either, Symbols{inside().item_set(id, std::nullopt)});
    return either;
  });
}

// The arrays and objects of a set as items of the set around. In an item, with so many ends behind them.
uint32_t SchemaRules::item_set(ValueId id, std::optional<uint32_t> ends) {
  const auto make = [&] {
    SetBounds bounds;
    bounds.holds = Holds::kItem;
    const uint32_t made = add_set(std::move(bounds), ends, kItemSets);
    add_alternative(made, Symbols{rule_of(StepValue{schema_.resolved(id), 1, true})});
    return made;
  };
  return known_or_made(item_sets_, {schema_.resolved(id), ends.value_or(0)}, make);
}

uint32_t SchemaRules::rule_of(const StepValue& of) {
  return known_or_made(item_values_, of, [&] { return defer(kItemValues, of); });
}

uint32_t SchemaRules::rule_of(const StepState& of) {
  return known_or_made(item_states_, of, [&] {
    return defer(kFirstState + (of.kind == StepState::Kind::kObject ? of.n_passed : 0), of);
  });
}

uint32_t SchemaRules::item_value(ValueId id, uint32_t ends) {
  return inside().rule_of(StepValue{schema_.resolved(id), std::min(ends, kEndless), false});
}

bool SchemaRules::has_composites_inside(ValueId id) const {
  return schema_.counts().n_composites(id) > 0 && schema_.has_composites({id}, item_room_);
}

// A mark behind which so many ends may follow.
uint32_t SchemaRules::mark_step(uint32_t mark, uint32_t ends) {
  const Terminal& known = grammar_->terminals[Symbol{mark}.index()];
  return with_step(add_terminal(known.regex, std::string(known.name), false, known.key_role), ends);
}

uint32_t SchemaRules::with_step(uint32_t terminal, uint32_t ends) {
  const size_t index = Symbol{terminal}.index();
  grammar_->terminals[index].step = {place_of_terminal(index), ways_of(ends)};
  return terminal;
}

uint32_t SchemaRules::add_set(SetBounds bounds, std::optional<uint32_t> ends, uint32_t order) {
  if (ends) bounds.step = {place_of_set(grammar_->set_bounds.size()), ways_of(*ends)};
  const uint32_t made = add_set(std::move(bounds));
  grammar_->nonterminals.back().order = order;
  return made;
}

const ArrayEnds& SchemaRules::array_ends(ValueId id) {
  return known_or_made(array_ends_, id, [&] {
    return ArrayEnds(*schema_.at(id).array, [&](ValueId item) { return schema_.counts().n_values(item); });
  });
}

const ObjectEnds& SchemaRules::object_ends(ValueId id) {
  return known_or_made(object_ends_, id, [&] {
    return ObjectEnds(*schema_.at(id).object, [&](ValueId value) { return schema_.counts().n_values(value); });
  });
}

ListEnds SchemaRules::list_ends(ValueId id) const {
  const SchemaIR::Array& array = *schema_.at(id).array;
  return {array.rest ? schema_.counts().n_values(*array.rest) : 0, array.minimum, array.maximum};
}

void SchemaRules::add_rules(uint32_t rule, const StepValue& of) {
  using Kind = StepState::Kind;
  for (ValueId id : schema_.alternatives_of({of.id})) {
    const SchemaIR::Value& value = schema_.at(id);
    for (uint32_t t : value.terminals) {
      if (of.is_composite) break;
      const uint32_t ends = n_pairs(schema_.counts().n_scalars(t), of.ends);
      if (ends > 0) add_alternative(rule, Symbols{with_step(new_terminal(t, true), of.ends)});
    }
    if (value.array && schema_.can_be(*value.array, room())) {
      if (schema_.counts().arrays_going_on.contains(id.value)) {
        apart().add_array(rule, id, of.ends);
      } else if (value.array->forbids_equal_items()) {
        const uint32_t ends = list_ends(id).after(0);
        if (ends > 0) {
          SetBounds bounds;
          bounds.holds = Holds::kList;
          const uint32_t list = add_set(std::move(bounds), of.ends, kBeginsWithTerminal);
          add_alternative(list, Symbols{mark_step(open_array_, ends), rule_of(StepState{Kind::kList, id})});
          add_alternative(rule, Symbols{list});
        }
      } else if (const uint32_t ends = n_pairs(array_ends(id).after(0), of.ends); ends > 0) {
        const uint32_t items = rule_of(StepState{Kind::kArray, id, 0, 0, of.ends});
        add_alternative(rule, Symbols{mark_step(open_array_, ends), items});
      }
    }
    if (value.object && schema_.can_be(*value.object, room())) {
      if (schema_.counts().objects_going_on.contains(id.value)) {
        apart().add_object(rule, id, of.ends);
      } else if (const uint32_t ends = n_pairs(object_ends(id).after(0, 0), of.ends); ends > 0) {
        const uint32_t members = rule_of(StepState{Kind::kObject, id, 0, 0, of.ends});
        add_alternative(rule, Symbols{mark_step(open_object_, ends), members});
      }
    }
  }
}

void SchemaRules::add_rules(uint32_t rule, const StepState& of) {
  switch (of.kind) {
    case StepState::Kind::kArray:
      return add_items(rule, of);
    case StepState::Kind::kList:
      return add_list_items(rule, of);
    case StepState::Kind::kObject:
      return add_members(rule, of);
  }
}

// A separator behind which so many ends may follow. Line breaks before a first item or member must come.
SchemaRules::Symbols SchemaRules::separated_by_step(bool some, uint32_t ends) {
  return {some ? mark_step(items_.further, ends) : items_.first};
}

void SchemaRules::add_items(uint32_t rule, const StepState& of) {
  const SchemaIR::Array& array = *schema_.at(of.id).array;
  const ArrayEnds& ends = array_ends(of.id);
  const uint32_t i = of.n_passed;
  if (i >= array.minimum) add_alternative(rule, Symbols{mark_step(close_array_.after(i > 0), of.ends)});
  const auto item = array.item(i);
  if (!ends.may_go_on(i) || !item || !is_live_item(*item)) return;
  const uint32_t after = n_pairs(ends.after(i + 1), of.ends);
  const uint32_t n_values = schema_.counts().n_values(*item);
  if (after == 0 || n_values == 0) return;
  Symbols taken = separated_by_step(i > 0, n_pairs(n_values, after));
  StepState next = of;
  next.n_passed = std::min(i + 1, ends.alike_from());
  taken.insert(taken.end(), {item_value(*item, after), rule_of(next)});
  add_alternative(rule, taken);
}

// What came in the list already is none of the values that may follow.
void SchemaRules::add_list_items(uint32_t rule, const StepState& of) {
  const SchemaIR::Array& array = *schema_.at(of.id).array;
  const ListEnds ends = list_ends(of.id);
  const uint32_t i = of.n_passed;
  if (i >= array.minimum) add_alternative(rule, Symbols{mark_step(close_array_.after(i > 0), 1)});
  if (i >= array.maximum || ends.after_comma(i) == 0 || !is_live_item(*array.rest)) return;
  Symbols taken = separated_by_step(i > 0, ends.after_comma(i));
  StepState next = of;
  next.n_passed = std::min(i + 1, ends.alike_from());
  taken.insert(taken.end(), {list_item(*array.rest, ends.after(i + 1)), rule_of(next)});
  add_alternative(rule, taken);
}

uint32_t SchemaRules::list_item(ValueId id, uint32_t ends) {
  const uint32_t either = add_nonterminal(kItems);
  for (ValueId part : schema_.alternatives_of({id})) {
    for (uint32_t t : schema_.at(part).terminals) {
      if (schema_.counts().n_scalars(t) > 0) add_alternative(either, Symbols{with_step(new_terminal(t, true), ends)});
    }
  }
  if (has_composites_inside(id)) add_alternative(either, Symbols{inside().item_set(id, ends)});
  return either;
}

void SchemaRules::add_members(uint32_t rule, const StepState& of) {
  const auto& members = schema_.at(of.id).object->members;
  const ObjectEnds& ends = object_ends(of.id);
  const uint32_t written = of.n_written;
  if (of.n_passed == members.size()) {
    add_alternative(rule, Symbols{mark_step(close_object_.after(written > 0), of.ends)});
    return;
  }
  const SchemaIR::Member& member = members[of.n_passed];
  const auto state_after = [&](uint32_t n_written) {
    StepState next = of;
    ++next.n_passed;
    next.n_written = ends.counted(n_written);
    return next;
  };
  const StepState taken = state_after(written + 1);
  const uint32_t after = n_pairs(ends.after(taken.n_passed, taken.n_written), of.ends);
  const uint32_t n_values = schema_.counts().n_values(member.value);
  if (ends.has_room(written) && after > 0 && n_values > 0 && is_live_member(member.value)) {
    const uint32_t n_ends = n_pairs(n_values, after);
    Symbols symbols = separated_by_step(written > 0, n_ends);
    const std::string& name = schema_.name_at(member.name);
    const RegexId written = flow_ ? regexes_->literal(YamlLayout::quoted(name)) : fixed({name});
    const uint32_t key = with_step(add_terminal(written, shortened(shown(name))), n_ends);
    symbols.insert(symbols.end(), {key, colon_, item_value(member.value, after), rule_of(taken)});
    add_alternative(rule, symbols);
  }
  const StepState passed = state_after(written);
  if (!member.required && ends.after(passed.n_passed, passed.n_written) > 0)
    add_alternative(rule, Symbols{rule_of(passed)});
}

}  // namespace cfgmask
