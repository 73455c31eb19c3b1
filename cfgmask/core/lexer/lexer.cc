#include "lexer/lexer.h"

namespace cfgmask {

Lexer::Lexer(RegexStore& regexes) : regexes_(regexes) {
  slot_sets_.intern({});
  const uint32_t inside[] = {0};
  intern(inside);
}

LexerStateId Lexer::start(std::span<const RegexId> terminals) {
  scratch_.assign(1, 1);
  for (size_t slot = 0; slot < terminals.size(); ++slot) {
    scratch_.push_back(static_cast<uint32_t>(slot));
    scratch_.push_back(terminals[slot].value);
  }
  return intern(scratch_);
}

LexerStateId Lexer::start(LexerStateId all, std::span<const uint32_t> slots) {
  scratch_.assign(1, 1);
  size_t next = 0;
  const Words pairs = residuals(all);
  for (size_t i = 0; i < pairs.size() && next < slots.size(); i += 2) {
    if (pairs[i] != slots[next]) continue;
    scratch_.push_back(pairs[i]);
    scratch_.push_back(pairs[i + 1]);
    ++next;
  }
  return intern(scratch_);
}

LexerStateId Lexer::inside(uint32_t slot, RegexId residual) {
  const uint32_t key[] = {0, slot, residual.value};
  return intern(key);
}

LexerStateId Lexer::intern(std::span<const uint32_t> key) {
  if (auto known = ids_.find(key)) return LexerStateId(*known);
  // Charged before it is entered: a state over the bound is refused each time it is asked for.
  if (account_ != nullptr) account_->charge();
  State state;
  state.boundary = key[0] != 0;
  std::vector<uint32_t> complete;
  for (size_t i = 1; i < key.size(); i += 2) {
    const RegexId residual(key[i + 1]);
    if (regexes_.nullable(residual)) complete.push_back(key[i]);
    state.first |= regexes_.first(residual);
  }
  state.can_continue = !state.first.empty();
  state.matched = SlotSetId(slot_sets_.intern(complete).first);
  states_.push_back(std::move(state));
  return LexerStateId(ids_.intern(key).first);
}

LexerStateId Lexer::compute_next(LexerStateId state, unsigned b) {
  State& s = states_[state.value];
  // The first-byte set answers without a row: most states are asked for few bytes that they take.
  if (!s.first.has(b)) return dead();
  scratch_.assign(1, 0);
  const Words pairs = residuals(state);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const RegexId residual(pairs[i + 1]);
    if (!regexes_.first(residual).has(b)) continue;
    const RegexId rest = regexes_.derivative(residual, b);
    if (regexes_.is_empty(rest)) continue;
    scratch_.push_back(pairs[i]);
    scratch_.push_back(rest.value);
  }
  const LexerStateId next = intern(scratch_);
  remember(s, b, next);
  return next;
}

void Lexer::remember(State& s, unsigned b, LexerStateId next) {
  if (s.row == nullptr) {
    if (s.n_few < kFew) {
      s.few_bytes[s.n_few] = static_cast<uint8_t>(b);
      s.few_next[s.n_few++] = next.value;
      return;
    }
    s.row = std::make_unique<Row>();
    s.row->fill(kUnknown);
    ++n_rows_;
    for (size_t i = 0; i < kFew; ++i) (*s.row)[s.few_bytes[i]] = s.few_next[i];
  }
  (*s.row)[b] = next.value;
}

}  // namespace cfgmask
