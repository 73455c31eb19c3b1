#include "json_schema/rules/indented_rules.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "json_schema/document/text_names.h"
#include "json_schema/layouts/yaml_layout.h"

namespace cfgmask {

std::vector<Nesting> IndentedRules::nestings(const YamlLayout* yaml) {
  std::vector<Nesting> found{Nesting::of_brackets(kMaxDepth)};
  if (yaml != nullptr) found.push_back(yaml->nesting());
  return found;
}

IndentedRules::IndentedRules(std::shared_ptr<const SchemaWithLayout> parts, uint32_t scope)
    : parts_(std::move(parts)),
      scope_(scope),
      columns_(parts_->layout->yaml ? parts_->layout->yaml->n_columns() : kMaxDepth + 1) {}

Symbol IndentedRules::start(const DeferredAdditions& to) {
  enter(to);
  SchemaRules& outermost = at(0);
  return outermost.start(*columns_[0].to);
}

void IndentedRules::define(uint32_t nonterminal, const DeferredAdditions& to) {
  enter(to);
  if (flow_.rules && flow_.rules->owns(nonterminal)) return flow().define(nonterminal);
  at(where([&](const SchemaRules& each) { return each.owns(nonterminal); })).define(nonterminal);
}

void IndentedRules::define_terminal(uint32_t terminal, const DeferredAdditions& to) {
  enter(to);
  if (flow_.rules && flow_.rules->owns_terminal(terminal)) return flow().define_terminal(terminal, *flow_.to);
  const uint32_t column = where([&](const SchemaRules& each) { return each.owns_terminal(terminal); });
  at(column).define_terminal(terminal, *columns_[column].to);
}

std::vector<Symbol> IndentedRules::after_key(uint32_t object, uint32_t member, const DeferredAdditions& to) {
  enter(to);
  const uint32_t column = column_of_object(object, to);
  return at(column).after_key(object, member, *columns_[column].to);
}

uint32_t IndentedRules::terminal_of_key(uint32_t object, uint32_t member, const DeferredAdditions& to) {
  enter(to);
  const uint32_t column = column_of_object(object, to);
  return at(column).terminal_of_key(object, member, *columns_[column].to);
}

void IndentedRules::enter(const DeferredAdditions& to) {
  to_ = &to;
  for (Column& each : columns_) each.to.reset();
  flow_.to.reset();
}

SchemaRules& IndentedRules::flow() {
  if (!flow_.rules) flow_.rules = std::make_unique<SchemaRules>(parts_, scope_, *parts_->layout->yaml);
  if (!flow_.to) {
    // Of its objects nothing is told outside.
    flow_.to.emplace(
        DeferredAdditions{to_->grammar, to_->regexes, to_->rules, to_->first_object, 0, false, false, false});
    flow_.rules->enter(*flow_.to);
  }
  if (!flow_.rules->has_marks_) flow_.rules->make_marks();
  return *flow_.rules;
}

SchemaRules& IndentedRules::at(uint32_t column) {
  Column& found = columns_[column];
  if (!found.rules) found.rules = std::make_unique<SchemaRules>(parts_, scope_, *this, column);
  if (!found.to) {
    const uint32_t n_objects = objects_of_column(*to_);
    const uint32_t first = to_->first_object + column * n_objects;
    found.to.emplace(DeferredAdditions{to_->grammar, to_->regexes, to_->rules, first, n_objects, to_->has_key_roles,
                                       to_->has_choices, to_->has_unions});
    found.rules->enter(*found.to);
  }
  if (!found.rules->has_marks_) found.rules->make_marks();
  return *found.rules;
}

uint32_t IndentedRules::column_of_object(uint32_t object, const DeferredAdditions& to) const {
  return (object - to.first_object) / objects_of_column(to);
}

template <class Has>
uint32_t IndentedRules::where(Has has) const {
  const auto found = std::ranges::find_if(columns_, [&](const Column& each) { return each.rules && has(*each.rules); });
  return static_cast<uint32_t>(found - columns_.begin());
}

// ---- a column

uint32_t SchemaRules::room(BlockPlace place) const {
  return whole_ == nullptr ? kUnbounded : schema_.nesting().room(column_, place);
}

uint32_t SchemaRules::symbol_of_item(ValueId id) {
  if (yaml_ != nullptr) return whole_->at(column_ + yaml_->below_dash()).symbol_of(id, BlockPlace::kHere);
  if (whole_ == nullptr) return symbol_of(id);
  SchemaRules& inside = whole_->at(column_ + 1);
  return (tells_apart() ? inside.apart() : inside).symbol_of(id);
}

uint32_t SchemaRules::symbol_of_member(ValueId id) {
  return yaml_ != nullptr ? symbol_of(id, BlockPlace::kBelow) : symbol_of_item(id);
}

void SchemaRules::make_marks_of_lines() {
  const auto line = [&](uint32_t depth) { return '\n' + std::string(size_t{*parts_.layout->indent} * depth, ' '); };
  const auto written = [&](const std::string& text, KeyRole role) {
    return add_terminal(regexes_->literal(text), shown(text), false, to_->has_key_roles ? role : KeyRole::kNone);
  };
  const auto& overview = schema_.overview();
  const auto role = [](bool has_role, KeyRole role) { return has_role ? role : KeyRole::kNone; };
  const auto brackets = [&](const char* open, const std::string& close, bool has_role) {
    const uint32_t opening = written(open, role(has_role, KeyRole::kOpens));
    const KeyRole closes = role(has_role, KeyRole::kCloses);
    return std::pair(opening, Closing{written(close, closes), written(line(column_) + close, closes)});
  };
  std::tie(open_object_, close_object_) = brackets("{", "}", overview.has_endless_keys);
  std::tie(open_array_, close_array_) = brackets("[", "]", overview.has_endless_items);
  const uint32_t first = written(line(column_ + 1), KeyRole::kNone);
  items_ = members_ = {first, written(',' + line(column_ + 1), KeyRole::kNone)};
  colon_ = written(": ", KeyRole::kNone);
}

}  // namespace cfgmask
