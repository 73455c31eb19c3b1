// Values in the blocks of YAML. A value begins where the text stands, or behind a key, whose column it then is in. An
// array or object without items or members is written in brackets, all others are blocks, which nothing closes: the
// states behind an item or a member may derive the empty text, and none else does. A block below a key begins with the
// break of its line, and all rules of the block are the same as where it begins right there.
#include <algorithm>

#include "json_schema/document/text_names.h"
#include "json_schema/layouts/yaml_layout.h"
#include "json_schema/rules/indented_rules.h"
#include "json_schema/rules/schema_rules.h"

namespace cfgmask {

Symbol SchemaRules::yaml_start() {
  const uint32_t whole = add_nonterminal(kFirstDeferredOrder);
  const uint32_t line_break = add_terminal(regexes_->literal("\n"), shown("\n"));
  add_alternative(whole, Symbols{symbol_of(schema_.root()), add_repeat(line_break, 0, 1)});
  return Symbol{whole};
}

void SchemaRules::make_marks_of_blocks() {
  const auto written = [&](const std::string& text) { return add_terminal(regexes_->literal(text), shown(text)); };
  const std::string line = yaml_->line(column_);
  line_ = members_.further = written(line);
  items_ = {written("- "), written(line + "- ")};
  // Two scalars that begin alike may both be meant. The longest lexeme would leave one of them if the space after a key
  // were a lexeme of its own for the other only: where lexemes are compared, they are the scalars alone.
  if (schema_.overview().has_distinct_items) blank_ = written(" ");
}

// A scalar after a key.
uint32_t SchemaRules::terminal_below(uint32_t index) {
  if (const auto known = terminals_below_.find(index)) return *known;
  const uint32_t made = new_terminal(index, false, KeyRole::kNone, BlockPlace::kBelow);
  terminals_below_.insert(index, made);
  return made;
}

void SchemaRules::add_value(uint32_t rule, const PlacedValue& of) {
  const SchemaIR::Value& value = schema_.at(of.id);
  for (const uint32_t t : value.terminals) add_scalar(rule, t, of.place);
  for (const ValueId alternative : value.alternatives) {
    if (schema_.is_live(alternative, room(of.place))) add_alternative(rule, Symbols{symbol_of(alternative, of.place)});
  }
  const bool is_below = of.place == BlockPlace::kBelow;
  const auto before = [&](uint32_t column) { return is_below ? Symbols{whole_->at(column).line_} : Symbols{}; };
  if (value.array && schema_.can_be(*value.array, room(of.place))) {
    if (has_empty(*value.array)) add_empty(rule, "[]", of.place);
    for (const uint32_t column : columns_of_array(of.place))
      whole_->at(column).add_array_block(rule, of.id, before(column));
  }
  if (value.object && schema_.can_be(*value.object, room(of.place))) {
    if (has_empty(*value.object)) add_empty(rule, "{}", of.place);
    const uint32_t column = column_ + (is_below ? yaml_->below_key() : 0);
    whole_->at(column).add_object_block(rule, of.id, before(column));
  }
}

void SchemaRules::add_scalar(uint32_t rule, uint32_t index, BlockPlace place) {
  if (place == BlockPlace::kHere) return add_alternative(rule, Symbols{terminal(index)});
  if (blank_ != kNoSymbol) return add_alternative(rule, Symbols{blank_, terminal(index)});
  add_alternative(rule, Symbols{terminal_below(index)});
}

void SchemaRules::add_empty(uint32_t rule, const char* brackets, BlockPlace place) {
  const bool has_blank = place == BlockPlace::kBelow && blank_ == kNoSymbol;
  std::string text(has_blank ? 1 : 0, ' ');
  text += brackets;
  const uint32_t empty = add_terminal(regexes_->literal(text), shown(brackets));
  add_alternative(rule, Symbols{place == BlockPlace::kBelow ? blank_ : kNoSymbol, empty});
}

// Dashes may stand right below a key.
std::vector<uint32_t> SchemaRules::columns_of_array(BlockPlace place) const {
  std::vector<uint32_t> columns{column_};
  if (place == BlockPlace::kBelow && column_ + yaml_->below_key() <= yaml_->deepest())
    columns.push_back(column_ + yaml_->below_key());
  return columns;
}

bool SchemaRules::has_empty(const SchemaIR::Array& array) {
  return array.minimum == 0 && !array.repeats &&
         std::ranges::all_of(array.witnesses, [](const auto& w) { return w.least == 0; });
}

bool SchemaRules::has_empty(const SchemaIR::Object& object) {
  return object.minimum == 0 && object.n_required() == 0 && object.witnesses.empty();
}

// The arrays with items that begin at this column.
void SchemaRules::add_array_block(uint32_t rule, ValueId id, const Symbols& before) {
  const SchemaIR::Array& array = *schema_.at(id).array;
  const auto first = array.maximum == 0 ? std::nullopt : array.item(0);
  if (!first || !schema_.can_be(array, room())) return;
  if (array.repeats) return add_repeating_array(rule, id, before);
  if (array.counts_kinds()) return add_block(rule, before, true, items_of_kinds(id));
  if (array.witnesses.empty()) {
    if (is_live_item(*first)) add_block(rule, before, array.forbids_equal_items(), rule_of(ArrayState{id, 0}));
    return;
  }
  if (!array.forbids_equal_items()) return add_array_with_witnesses(rule, id, before);
  const uint32_t whole = add_set_of(Holds::kValues);
  add_array_with_witnesses(whole, id, {});
  add_block(rule, before, false, whole);
}

// The objects with members that begin at this column.
void SchemaRules::add_object_block(uint32_t rule, ValueId id, const Symbols& before) {
  const SchemaIR::Object& object = *schema_.at(id).object;
  const auto is_live = [&](const auto& of) { return is_live_member(of.value); };
  const bool has_member = std::ranges::any_of(object.members, is_live) ||
                          std::ranges::any_of(object.classes, is_live) ||
                          (object.others && is_live_member(*object.others));
  if (object.maximum == 0 || !has_member || !schema_.can_be(object, room())) return;
  const Kept seen = kept_keys(object);
  if (object.witnesses.empty())
    return add_block(rule, before, seen == Kept::kInSet, rule_of(ObjectState{level(open_object(id, seen), 0), 0}));
  if (seen != Kept::kInSet) return add_object_with_witnesses(rule, object, seen, before);
  const uint32_t whole = add_set_of(Holds::kValues);
  add_object_with_witnesses(whole, object, seen, {});
  add_block(rule, before, false, whole);
}

void SchemaRules::add_block(uint32_t rule, Symbols block, bool has_set, uint32_t state) {
  if (has_set) {
    const uint32_t whole = add_set_of(Holds::kValues);
    add_alternative(whole, Symbols{state});
    state = whole;
  }
  block.push_back(state);
  add_alternative(rule, block);
}

// Whether the block of a state is complete.
bool SchemaRules::may_end(const Deferred& of) const {
  if (const auto* array = std::get_if<ArrayState>(&of))
    return array->n_written > 0 && array->n_written >= schema_.at(array->array).array->minimum;
  const auto* state = std::get_if<ObjectState>(&of);
  if (state == nullptr) return false;
  const auto [number, written] = levels_[state->level];
  const OpenObject& open = open_objects_[number];
  return written > 0 && written >= open.bounds.minimum && state->n_passed >= open.required_to;
}

// Of rules that are not deferred.
void SchemaRules::mark_nullable(uint32_t first) {
  const auto is_empty = [&](const Alternative& alternative) {
    return std::ranges::all_of(alternative.symbols, [&](Symbol symbol) { return grammar_->nullable(symbol); });
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = grammar_->nonterminals.size(); i-- > first;) {
      Nonterminal& each = grammar_->nonterminals[i];
      if (each.nullable || !std::ranges::any_of(each.alternatives, is_empty)) continue;
      each.nullable = changed = true;
    }
  }
}

}  // namespace cfgmask
