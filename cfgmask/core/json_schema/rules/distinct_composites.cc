// Arrays and objects that must be told from others, as items of arrays in which no two are equal.
//
// Their rules stand beside those of other values: sets hold all that is written in them (earley/distinct_register.h),
// so every scalar counts, and every key, and nothing is closed that would come twice. Which values can be told apart in
// that way is for json_schema/sets/distinct_items.h to say.
#include <algorithm>
#include <string>

#include "json_schema/rules/indented_rules.h"
#include "json_schema/rules/schema_rules.h"

namespace cfgmask {

SchemaRules::SchemaRules(SchemaRules& main)
    : kept_(main.kept_),
      form_(main.form_),
      writes_python_(main.writes_python_),
      delimits_(main.delimits_),
      writes_json_(main.writes_json_),
      has_any_order_(main.has_any_order_),
      form_has_any_order_(main.form_has_any_order_),
      form_tokens_(main.form_tokens_),
      main_(&main),
      whole_(main.whole_),
      column_(main.column_),
      flow_(main.flow_),
      parts_(*kept_),
      schema_(*parts_.schema),
      item_room_(main.item_room_),
      member_room_(main.member_room_),
      scope_(main.scope_),
      unions_(schema_),
      array_unions_(schema_) {}

SchemaRules& SchemaRules::apart() {
  if (tells_apart()) return *this;
  if (!apart_) apart_.reset(new SchemaRules(*this));
  apart_->enter(*to_);
  if (!apart_->has_marks_) apart_->make_marks_of_sets();
  return *apart_;
}

// The marks of the other rules, of which those that close end a set, too.
void SchemaRules::make_marks_of_sets() {
  has_marks_ = true;
  open_object_ = main_->open_object_;
  open_array_ = main_->open_array_;
  items_ = main_->items_;
  members_ = main_->members_;
  close_object_ = {closing_set(main_->close_object_.empty), closing_set(main_->close_object_.further)};
  close_array_ = {closing_set(main_->close_array_.empty), closing_set(main_->close_array_.further)};
  close_set_ = close_object_;
  colon_ = main_->colon_;
}

uint32_t SchemaRules::closing_set(uint32_t mark) {
  const Terminal& known = grammar_->terminals[Symbol{mark}.index()];
  const uint32_t made = add_terminal(known.regex, std::string(known.name), false, known.key_role);
  grammar_->terminals.back().closes_set = true;
  return made;
}

// One without bounds.
uint32_t SchemaRules::add_set_of(Holds holds, std::optional<uint32_t> ends) {
  if (!ends) return add_set_of(holds, yaml_ ? kBlocks : kBeginsWithTerminal);
  SetBounds bounds;
  bounds.holds = holds;
  return add_set(std::move(bounds), ends, kBeginsWithTerminal);
}

uint32_t SchemaRules::add_set_of(Holds holds, uint32_t order) {
  const uint32_t made = add_nonterminal(order);
  const auto [at, is_new] = default_sets_.try_emplace(holds, static_cast<uint32_t>(grammar_->set_bounds.size()));
  if (is_new) grammar_->set_bounds.emplace_back().holds = holds;
  grammar_->nonterminals.back().opens_set = at->second;
  return made;
}

// An item that may be an array or an object. Those have brackets in YAML, too: nothing closes a block.
uint32_t SchemaRules::item_told_apart(ValueId id) {
  if (yaml_ == nullptr) return (whole_ == nullptr ? apart() : whole_->at(column_ + 1).apart()).symbol_of(id);
  return known_or_made(items_told_apart_, id, [&] {
    SchemaRules& flow = whole_->flow().apart();
    const uint32_t either = add_nonterminal(kItems);
    for (ValueId part : schema_.alternatives_of({id})) {
      const SchemaIR::Value& value = schema_.at(part);
      for (uint32_t t : value.terminals) add_alternative(either, Symbols{distinct_terminal(t, Kept::kInSet)});
      if (value.array) flow.add_array(either, part);
      if (value.object) flow.add_object(either, part);
    }
    return either;
  });
}

bool SchemaRules::has_composites(ValueId id) {
  return known_or_made(has_composites_, id, [&] { return schema_.has_composites({id}); });
}

bool SchemaRules::owns(uint32_t nonterminal) const {
  return deferred_.contains(nonterminal) || (apart_ && apart_->deferred_.contains(nonterminal));
}

bool SchemaRules::owns_terminal(uint32_t terminal) const {
  return terminal_of_.contains(terminal) || (apart_ && apart_->terminal_of_.contains(terminal));
}

}  // namespace cfgmask
