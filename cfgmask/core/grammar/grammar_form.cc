#include "grammar/grammar_form.h"

#include <stdexcept>
#include <utility>

namespace cfgmask {

GrammarForm::GrammarForm(std::shared_ptr<const SchemaWithLayout> schema) {
  start(part({std::move(schema), nullptr, {}, false, kNoPlace}), 0, {false, false, false});
}

uint32_t GrammarForm::scope(bool ignore_once) {
  scopes_.push_back({ignore_once});
  return static_cast<uint32_t>(scopes_.size() - 1);
}

void GrammarForm::ignore(uint32_t scope, Ignored what) {
  check_scope(scope);
  check_regex(what.regex);
  check(what.around);
  scopes_[scope].ignored.push_back(std::move(what));
}

uint32_t GrammarForm::rule(Rule rule) {
  check_expression(rule.body);
  rules_.push_back(std::move(rule));
  return static_cast<uint32_t>(rules_.size() - 1);
}

void GrammarForm::body(uint32_t rule, uint32_t expression) {
  check_rule(rule);
  check_expression(expression);
  rules_[rule].body = expression;
}

uint32_t GrammarForm::rows(RowsOfScope rows) {
  check_scope(rows.scope);
  check_token_sets(rows.tokens);
  rows_.push_back(std::move(rows));
  return static_cast<uint32_t>(rows_.size() - 1);
}

void GrammarForm::indenter(Indentation indenter) {
  check_regex(indenter.newline);
  check_scope(indenter.scope);
  indenter_ = std::move(indenter);
}

uint32_t GrammarForm::terminal(Terminal terminal) {
  check_regex(terminal.regex);
  check_scope(terminal.scope);
  check(terminal.around);
  if (terminal.suffix) {
    check_regex(terminal.suffix->body);
    check_regex(terminal.suffix->end);
  }
  terminals_.push_back(std::move(terminal));
  return add({Kind::kTerminal, static_cast<uint32_t>(terminals_.size() - 1)});
}

uint32_t GrammarForm::token_set(TokenSet set) {
  check_scope(set.scope);
  token_sets_.push_back(std::move(set));
  return add({Kind::kTokenSet, static_cast<uint32_t>(token_sets_.size() - 1)});
}

uint32_t GrammarForm::reference(uint32_t rule) {
  check_rule(rule);
  return add({Kind::kRule, rule});
}

uint32_t GrammarForm::call(uint32_t rule, const Argument& argument) {
  check_rule(rule);
  arguments_.push_back(argument);
  return add({Kind::kCall, rule, static_cast<uint32_t>(arguments_.size() - 1)});
}

uint32_t GrammarForm::part(Part part) {
  check_token_sets(part.tokens);
  schemas_.push_back(std::move(part));
  return add({Kind::kPart, static_cast<uint32_t>(schemas_.size() - 1)});
}

uint32_t GrammarForm::of_parts(Kind kind, std::span<const uint32_t> parts) {
  for (const uint32_t part : parts) check_expression(part);
  const auto first = static_cast<uint32_t>(parts_.size());
  parts_.insert(parts_.end(), parts.begin(), parts.end());
  return add({kind, first, static_cast<uint32_t>(parts_.size())});
}

uint32_t GrammarForm::repeat(uint32_t body, uint32_t minimum, uint32_t maximum) {
  check_expression(body);
  return add({Kind::kRepeat, body, 0, minimum, maximum});
}

uint32_t GrammarForm::guarded(uint32_t body, Condition condition) {
  check_expression(body);
  conditions_.push_back(std::move(condition));
  return add({Kind::kGuarded, body, static_cast<uint32_t>(conditions_.size() - 1)});
}

uint32_t GrammarForm::variants(uint32_t rows, std::span<const uint32_t> body) {
  if (rows >= rows_.size()) throw std::out_of_range("no such rows");
  return add({Kind::kVariants, rows, sequence(body)});
}

void GrammarForm::start(uint32_t expression, uint32_t scope, Options options) {
  check_expression(expression);
  const Kind kind = expressions_[expression].kind;
  if (kind != Kind::kPart) {
    check_scope(scope);
    if (kind != Kind::kRule) throw std::invalid_argument("the start is a rule or a part");
    if (rules_[expressions_[expression].first].parametric)
      throw std::invalid_argument("nothing gives the start a parameter");
  }
  start_ = expression;
  start_scope_ = scope;
  options_ = options;
}

void GrammarForm::check_scope(uint32_t scope) const {
  if (scope >= scopes_.size()) throw std::out_of_range("no such scope");
}

void GrammarForm::check_regex(uint32_t regex) const {
  if (regex >= regexes_.size()) throw std::out_of_range("no such regex");
}

void GrammarForm::check(const Around& around) const {
  if (around.before) check_regex(*around.before);
  if (around.after) check_regex(*around.after);
}

void GrammarForm::check_rule(uint32_t rule) const {
  if (rule >= rules_.size()) throw std::out_of_range("no such rule");
}

void GrammarForm::check_expression(uint32_t expression) const {
  if (expression >= expressions_.size()) throw std::out_of_range("no such expression");
}

void GrammarForm::check_token_sets(std::span<const uint32_t> expressions) const {
  for (const uint32_t expression : expressions) {
    check_expression(expression);
    if (expressions_[expression].kind != Kind::kTokenSet) throw std::invalid_argument("a form's token is a token set");
  }
}

}  // namespace cfgmask
