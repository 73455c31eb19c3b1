#include "matcher/matcher.h"

#include <algorithm>

namespace cfgmask {

void NextMask::write(const Vocabulary& vocabulary, std::span<uint32_t> bits) const {
  if (mask_ != nullptr) {
    mask_->write(bits);
  } else {
    std::fill(bits.begin(), bits.end(), 0);
  }
  if (!may_end_) return;
  for (TokenId token : vocabulary.end_tokens) set_bit(bits, token);
}

NextMask Matcher::next_mask() {
  NextMask next;
  if (is_finished()) {
    next.may_end_ = true;
    return next;
  }
  const CompiledGrammar::Guard guard(*grammar_);
  next.mask_ = grammar_->mask(state());
  next.may_end_ = grammar_->accepting(state());
  return next;
}

NextMask Matcher::next_mask_over_limit() {
  NextMask next;
  try {
    next.may_end_ = is_accepting();
  } catch (const LimitExceeded&) {
    next.may_end_ = false;  // not even that may be asked
  }
  return next;
}

void Matcher::fill_mask(std::span<uint32_t> bits) {
  try {
    next_mask().write(grammar_->vocabulary(), bits);
  } catch (const LimitExceeded&) {
    next_mask_over_limit().write(grammar_->vocabulary(), bits);
    throw;
  }
}

bool Matcher::advance(TokenId token) {
  if (token >= grammar_->vocabulary().n_vocab) return false;
  const bool is_end = grammar_->vocabulary().is_end(token);
  const CompiledGrammar::Guard guard(*grammar_);
  if (!is_finished()) {
    if (auto next = grammar_->step_token(state(), token)) {
      history_.push(*next, false, token);
      return true;
    }
  }
  if (!is_end || !(is_finished() || grammar_->accepting(state()))) return false;
  history_.push(state(), true, token);
  return true;
}

size_t Matcher::try_advance(std::span<const TokenId> tokens, bool consume) {
  const History before = history_;
  size_t n = 0;
  try {
    while (n < tokens.size() && advance(tokens[n])) ++n;
  } catch (...) {
    history_ = before;
    throw;
  }
  if (!consume || n < tokens.size()) history_ = before;
  return n;
}

size_t Matcher::advance_bytes(std::string_view text) {
  if (is_finished()) return 0;
  const CompiledGrammar::Guard guard(*grammar_);
  size_t n = 0;
  if (auto next = grammar_->step_text(state(), text, &n))
    history_.push(*next, false, CompiledGrammar::Consumed::kBytes, text);
  return n;
}

bool Matcher::rollback(size_t n) {
  if (n > history_.size()) return false;
  history_.pop(n);
  return true;
}

bool Matcher::is_accepting() {
  if (is_finished()) return true;
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->accepting(state());
}

std::string Matcher::forced_bytes(size_t max_bytes) {
  std::string text;
  if (is_finished()) return text;
  const CompiledGrammar::Guard guard(*grammar_);
  StateId at = state();
  while (text.size() < max_bytes && !grammar_->accepting(at) && !grammar_->expects_token_set(at)) {
    std::optional<std::pair<unsigned, StateId>> only;
    size_t n = 0;
    for (unsigned b = 0; b < 256 && n < 2; ++b) {
      if (auto next = grammar_->step(at, b)) {
        ++n;
        only = {b, *next};
      }
    }
    if (n != 1) break;
    text.push_back(static_cast<char>(only->first));
    at = only->second;
  }
  return text;
}

std::vector<std::string> Matcher::expected() {
  if (is_finished()) return {};
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->expected(state());
}

std::vector<CompiledGrammar::Capture> Matcher::captures() {
  if (!grammar_->has_captures()) return {};
  std::vector<CompiledGrammar::Consumed> consumed;
  history_.for_each_back([&](TokenId token, std::string_view text) {
    const bool is_token = token != CompiledGrammar::Consumed::kBytes;
    consumed.push_back({token, is_token ? grammar_->vocabulary().text(token) : text});
  });
  std::reverse(consumed.begin(), consumed.end());
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->captures(consumed);
}

std::optional<double> Matcher::temperature() {
  if (is_finished()) return std::nullopt;
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->temperature(state());
}

}  // namespace cfgmask
