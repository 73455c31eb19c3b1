#include <algorithm>

#include "json_schema/rules/schema_rules.h"
#include "json_schema/sets/kind_states.h"

namespace cfgmask {

// A terminal of an item that must not be equal to another.
uint32_t SchemaRules::distinct_terminal(uint32_t index, Kept strings) {
  const bool is_endless = strings == Kept::kAsTexts && schema_.terminal(index).kind == SchemaIR::kString;
  return known_or_made(distinct_terminals_, {index, is_endless}, [&] {
    if (delimits_ && FormReading::is_string(schema_.terminal(index))) return delimited_string(index, true);
    return new_terminal(index, !is_endless, is_endless ? KeyRole::kKey : KeyRole::kNone);
  });
}

void SchemaRules::add_array(uint32_t rule, ValueId id, std::optional<uint32_t> ends) {
  const SchemaIR::Array& array = *schema_.at(id).array;
  if (!schema_.can_be(array, room())) return;
  if (array.repeats) return add_repeating_array(rule, id, Symbols{open_array_});
  std::optional<Holds> set;
  if (tells_apart()) {
    set = array.forbids_equal_items() ? Holds::kDistinctArray : Holds::kArray;
  } else if (array.forbids_equal_items() && !keeps_all_as_texts(id)) {
    set = Holds::kValues;
  }
  if (set) {
    const uint32_t whole = add_set_of(*set, ends);
    add_alternative(rule, Symbols{whole});
    rule = whole;
  }
  if (array.counts_kinds()) return add_alternative(rule, Symbols{open_array_, items_of_kinds(id)});
  if (!array.witnesses.empty()) return add_array_with_witnesses(rule, id, Symbols{open_array_});
  add_alternative(rule, Symbols{open_array_, rule_of(ArrayState{id, 0})});
}

// What follows the bracket of an array that counts the kinds of its items.
uint32_t SchemaRules::items_of_kinds(ValueId id) {
  const SchemaIR::Array& array = *schema_.at(id).array;
  const std::vector<uint32_t>& n_values = schema_.counts().of_kinds.at(id.value);
  const auto found = unique_item_states(array, n_values, [&](ValueId kind) { return is_live_item(kind); });
  std::vector<uint32_t> rules;
  for (size_t i = 0; i < std::max<size_t>(1, found->states.size()); ++i)
    rules.push_back(add_nonterminal(order_of_state(0)));
  for (size_t i = 0; i < found->states.size(); ++i) {
    const KindStates::State& state = found->states[i];
    if (state.may_end) add_end(rules[i], close_array_, state.some);
    for (const auto& item : state.items) {
      Symbols written = before_item(state.some);
      written.insert(written.end(), {item_of(id, array.kinds->kinds[item.kind].items), rules[item.after]});
      add_alternative(rules[i], written);
    }
  }
  return rules[0];
}

// Calls stand in tail position.
uint32_t SchemaRules::rule_of(const ArrayState& state) {
  const uint64_t key = (uint64_t{state.array.value} << 32) | state.n_written;
  if (const auto known = array_states_.find(key)) return *known;
  const uint32_t rule = defer(order_of_state(0), state);
  array_states_.insert(key, rule);
  return rule;
}

void SchemaRules::add_rules(uint32_t rule, const ArrayState& state) {
  const SchemaIR::Array& array = *schema_.at(state.array).array;
  const uint32_t i = state.n_written;
  if (i >= array.prefix.size()) return add_further_items(rule, state.array, i);
  if (i >= array.minimum) add_end(rule, close_array_, i > 0);
  if (i >= array.maximum || !is_live_item(array.prefix[i])) return;
  Symbols item = before_item(i > 0);
  item.insert(item.end(), {item_of(state.array, array.prefix[i]), rule_of(ArrayState{state.array, i + 1})});
  add_alternative(rule, item);
}

// What follows items that have a position of their own.
void SchemaRules::add_further_items(uint32_t state, ValueId id, uint32_t written) {
  const SchemaIR::Array& array = *schema_.at(id).array;
  const uint32_t least = array.minimum > written ? array.minimum - written : 0;
  const uint32_t most = array.maximum == kUnbounded ? kUnbounded : array.maximum - std::min(array.maximum, written);
  if (!array.rest || most == 0 || !is_live_item(*array.rest)) {
    if (least == 0) add_end(state, close_array_, written > 0);
    return;
  }
  add_repeated(state, written > 0, Symbols{item_of(id, *array.rest)}, least, most, items_, close_array_);
}

uint32_t SchemaRules::item_of(ValueId array, ValueId item) {
  if (!schema_.at(array).array->forbids_equal_items()) return symbol_of_item(item);
  if (schema_.counts().tells(schema_.resolved(item))) return item_by_steps(schema_.resolved(item), Kept::kInSet);
  if (tells_apart()) return symbol_of_item(item);
  if (has_composites(item)) return item_told_apart(item);
  return distinct_scalar(schema_.resolved(item), kept_strings(array));
}

// Whether the items of an array that must not be equal have strings of which none runs out. A matcher keeps those.
SchemaRules::Kept SchemaRules::kept_strings(ValueId array) {
  return known_or_made(kept_strings_, array, [&] { return find_kept_strings(array); });
}

SchemaRules::Kept SchemaRules::find_kept_strings(ValueId array) {
  if (!may_keep_texts() || schema_.at(array).array->counts_kinds()) return Kept::kInSet;
  const auto is_endless = [&](const SchemaIR::Terminal& t) {
    if (t.spelling == SchemaIR::Spelling::kAnyString) return true;
    return t.spelling == SchemaIR::Spelling::kText && is_endless_at_sight(schema_.text_regex(t, *regexes_), *regexes_);
  };
  if (schema_.may_have_endless_items(*schema_.at(array).array)) {
    const std::vector<uint32_t> strings = schema_.item_terminals(*schema_.at(array).array, SchemaIR::kString);
    if (std::ranges::all_of(strings, [&](uint32_t t) { return is_endless(schema_.terminal(t)); }))
      return Kept::kAsTexts;
  }
  return Kept::kInSet;
}

// Whether a matcher keeps all of them.
bool SchemaRules::keeps_all_as_texts(ValueId array) {
  return kept_strings(array) == Kept::kAsTexts &&
         schema_.item_terminals(*schema_.at(array).array, SchemaIR::kAnyKind & ~SchemaIR::kString).empty();
}

// A value that has scalars only, one of those that must not come twice.
uint32_t SchemaRules::distinct_scalar(ValueId id, Kept strings) {
  const SchemaIR::Value& value = schema_.at(id);
  if (value.terminals.size() == 1) return distinct_terminal(value.terminals[0], strings);
  return known_or_made(distinct_scalars_, {id, strings == Kept::kAsTexts}, [&] {
    const uint32_t rule = add_nonterminal(kValues + schema_.order(id));
    for (uint32_t t : value.terminals) add_alternative(rule, Symbols{distinct_terminal(t, strings)});
    for (ValueId alternative : value.alternatives) {
      if (is_live_item(alternative))
        add_alternative(rule, Symbols{distinct_scalar(schema_.resolved(alternative), strings)});
    }
    return rule;
  });
}

// before  as below
void SchemaRules::add_repeating_array(uint32_t rule, ValueId id, const Symbols& before) {
  const SchemaIR::Array& array = *schema_.at(id).array;
  const auto found = equal_item_states(array, [&](ValueId kind) { return is_live_item(kind); });
  if (!found || found->states.empty()) return;
  const uint32_t whole = add_set_of(Holds::kValues);
  Symbols block = before;
  block.push_back(whole);
  add_alternative(rule, block);
  std::vector<uint32_t> rules;
  for (size_t i = 0; i < found->states.size(); ++i) rules.push_back(add_nonterminal(order_of_state(0)));
  add_alternative(whole, Symbols{rules[0]});
  std::map<uint32_t, uint32_t> again;
  const auto symbol = [&](const KindStates::Item& item) {
    using How = KindStates::How;
    const ValueId kind = array.kinds->kinds[item.kind].items;
    if (item.how == How::kAny) return symbol_of_item(kind);
    const uint32_t fresh =
        has_composites(kind) ? item_told_apart(kind) : distinct_scalar(schema_.resolved(kind), Kept::kInSet);
    if (item.how == How::kNew) return fresh;
    return known_or_made(again, item.kind, [&] {
      // Its order is that of states: a comma or a dash comes before it, and it begins with a value.
      const uint32_t made = add_set_of(Holds::kAgain, kFirstState);
      add_alternative(made, Symbols{fresh});
      return made;
    });
  };
  for (size_t i = 0; i < found->states.size(); ++i) {
    const KindStates::State& state = found->states[i];
    if (state.may_end) add_end(rules[i], close_array_, state.some);
    for (const auto& item : state.items) {
      Symbols written = before_item(state.some);
      written.insert(written.end(), {symbol(item), rules[item.after]});
      add_alternative(rules[i], written);
    }
  }
}

// before  the symbols before the first item, or before the mark that closes right there
void SchemaRules::add_array_with_witnesses(uint32_t rule, ValueId id, const Symbols& before) {
  const auto states = item_states(*schema_.at(id).array, common_).value();
  std::vector<uint32_t> rules;
  for (size_t i = 0; i < states.size(); ++i) rules.push_back(add_nonterminal(order_of_state(0)));
  Symbols whole = before;
  whole.push_back(rules[0]);
  add_alternative(rule, whole);
  for (size_t i = 0; i < states.size(); ++i) {
    const ItemState& state = states[i];
    if (state.is_met) {
      add_further_items(rules[i], id, state.position);
      continue;
    }
    if (state.may_end) add_end(rules[i], close_array_, state.position > 0);
    for (const auto& item : state.items) {
      if (!is_live_item(item.value)) continue;
      Symbols written = before_item(state.position > 0);
      written.insert(written.end(), {symbol_of_item(item.value), rules[item.after]});
      add_alternative(rules[i], written);
    }
  }
}

}  // namespace cfgmask
