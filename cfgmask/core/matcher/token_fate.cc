#include <utility>

#include "matcher/budget_masks.h"
#include "matcher/matcher.h"

namespace cfgmask {

Matcher::TokenFate Matcher::fate(TokenId token) {
  TokenFate fate;
  if (is_finished()) {
    fate.may_end = true;
    fate.allowed = grammar_->vocabulary().is_end(token) || is_stop(token);
    return fate;
  }
  const CompiledGrammar::Guard guard(*grammar_);
  Position at = position();
  if (is_stop(token)) {
    fate.allowed = grammar_->accepting(at.state);
  } else if (token < grammar_->vocabulary().n_vocab) {
    const auto next = grammar_->step_token(at, token);
    const Bound most = next ? bound() : Bound{};
    fate.too_far = most.steps && !grammar_->budget_masks().allows(at, token, *next, *most.steps);
    fate.allowed = (next && !fate.too_far) || (grammar_->vocabulary().is_end(token) && grammar_->accepting(at.state));
    const std::string_view text = grammar_->vocabulary().text(token);
    auto taken = grammar_->step_text(at, text, &fate.n_bytes);
    if (taken && !next) {
      fate.n_bytes = grammar_->longest_token(at, text);
      taken.reset();
    }
    if (!taken) taken = grammar_->step_text(at, text.substr(0, fate.n_bytes));
    at = next ? *next : *taken;
  }
  fate.may_end = grammar_->accepting(at.state);
  for (auto& symbol : grammar_->live_symbols(at.state)) {
    auto rules = grammar_->rules(symbol);
    fate.expected.push_back({std::move(symbol), std::move(rules)});
  }
  return fate;
}

}  // namespace cfgmask
