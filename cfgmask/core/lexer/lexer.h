// Lexer states: which residuals the terminals that the parser can take here have come to.
//
// A state is an interned list of (slot, residual). A slot is the place of a terminal among the live terminals of a
// parser state, not the terminal itself, so parser states and grammars whose live regexes are equal share automata,
// transition rows and everything that is remembered by lexer state.
//
// A state made by `start` is at the boundary between two lexemes; any other is inside one. The two never share an id:
// the residual of /a*b/ after "a" equals the one before it, but only before it may the text end or a token set match.
//
// A slot may be limited: its lexeme has bytes of so many tokens at most. What is left is part of the state: bytes leave
// it alone, `end_token` counts it down, and a slot that can no longer be completed within it is dropped there. Under a
// deadline, a limit of a whole rule, that is not asked: the slot takes bytes as long as tokens are left. A state
// without limited slots is the same state, and has the same id, as if there were no limits.
//
// Threads: guarded by the owner, like RegexStore.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "regex/regex.h"
#include "util/chunked_vector.h"
#include "util/ids.h"
#include "util/interner.h"
#include "util/limits.h"

namespace cfgmask {

using LexerStateId = Id<struct LexerStateTag>;
using SlotSetId = Id<struct SlotSetTag>;

// How many tokens a vocabulary needs for what is left of a terminal.
class TokenCounts {
 public:
  virtual ~TokenCounts() = default;
  // For its closing text, tokens from the first byte on; kUnbounded if it has none.
  virtual uint32_t needed(RegexId residual) = 0;
};

class Lexer {
 public:
  // `counts` is asked about limited slots alone; null if there are none.
  explicit Lexer(RegexStore& regexes, TokenCounts* counts = nullptr);

  // No terminal is live.
  static constexpr LexerStateId dead() { return LexerStateId(0U); }
  static constexpr SlotSetId no_slots() { return SlotSetId(0U); }

  // New states are charged to this account until the next call.
  void charge_to(Account* account) { account_ = account; }

  // The limit of a slot that is live for `tokens` more.
  static constexpr uint32_t deadline(uint32_t tokens) { return kDeadline | tokens; }
  static constexpr uint32_t kMostTokens = (uint32_t{1} << 31) - 2;

  // The boundary state in which slot i has the residual terminals[i], and limits[i] tokens if there are any limits. No
  // terminal may be nullable.
  LexerStateId start(std::span<const RegexId> terminals, std::span<const uint32_t> limits = {});
  // The same with some slots alone. `slots` are those of another boundary state, in their order.
  LexerStateId start(LexerStateId all, std::span<const uint32_t> slots);

  // The state inside a lexeme in which `slot` alone is live.
  LexerStateId inside(uint32_t slot, RegexId residual);
  SlotSetId slot_set(uint32_t slot) { return slot_set(Words{&slot, 1}); }
  SlotSetId slot_set(Words slots) { return SlotSetId(slot_sets_.intern(slots).first); }

  // The residuals that can take b; the others drop out. dead() if there is none.
  LexerStateId next(LexerStateId state, unsigned b) {
    const State& s = states_[state.value];
    if (!s.first.has(b)) return dead();
    if (s.row != nullptr) {
      const uint8_t known = s.row->numbers[b];
      if (known != Row::kUnknown) return LexerStateId(s.row->next[known]);
    } else {
      for (size_t i = 0; i < s.n_few; ++i) {
        if (s.few_bytes[i] == b) return LexerStateId(s.few_next[i]);
      }
    }
    return compute_next(state, b);
  }

  // The state where a token ends: dead() if no slot can be completed within its limit.
  LexerStateId end_token(LexerStateId state) {
    return is_limited(state) && !is_boundary(state) ? count_token(state) : state;
  }
  // Whether some slot is limited.
  bool is_limited(LexerStateId state) const { return states_[state.value].limited; }
  // Tokens left for each slot of a limited state, kUnbounded for those without a limit.
  Words tokens_left(LexerStateId state) const { return ids_.at(state.value).subspan(1 + residuals(state).size()); }
  // The same residuals without limits.
  LexerStateId unlimited(LexerStateId state);
  // Whether so many tokens hold some text of the residual.
  bool fits(RegexId residual, uint32_t limit) {
    if (is_deadline(limit)) return limit != kDeadline || regexes_.nullable(residual);
    return limit == kUnbounded || counts_->needed(residual) <= limit;
  }
  // The tokens of the residual's closing text.
  uint32_t needed(RegexId residual) { return counts_->needed(residual); }

  // The slots whose terminal is complete.
  SlotSetId matched(LexerStateId state) const { return states_[state.value].matched; }
  // False only if no byte can be taken; then the lexeme may be finished at once.
  bool can_continue(LexerStateId state) const { return states_[state.value].can_continue; }
  bool is_boundary(LexerStateId state) const { return states_[state.value].boundary; }

  // Bytes, b among them, that all lead to the state that b leads to; not always all of them. b is one of `first`.
  ByteSet alike(LexerStateId state, unsigned b);
  // A superset of the bytes that `next` takes.
  const ByteSet& first(LexerStateId state) const { return states_[state.value].first; }

  Words slots(SlotSetId set) const { return slot_sets_.at(set.value); }
  // Pairs of words (slot, residual), by slot.
  Words residuals(LexerStateId state) const {
    const Words words = ids_.at(state.value).subspan(1);
    return is_limited(state) ? words.first(words.size() / 3 * 2) : words;
  }

  size_t size() const { return states_.size(); }
  size_t bytes() const { return ids_.bytes() + states_.bytes() + n_rows_ * sizeof(Row) + slot_sets_.bytes(); }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;
  static constexpr size_t kFew = 4;
  // The states that bytes lead to, which are few: a row of states would be a kilobyte.
  struct Row {
    static constexpr uint8_t kUnknown = UINT8_MAX;
    std::array<uint8_t, 256> numbers;
    std::vector<uint32_t> next;

    Row() { numbers.fill(kUnknown); }
    void set(unsigned b, uint32_t state);
  };
  // Most states are left by a few bytes only, so a row is made for the fifth.
  struct State {
    SlotSetId matched;
    bool can_continue = false;
    bool boundary = false;
    bool limited = false;
    uint8_t n_few = 0;
    std::array<uint8_t, kFew> few_bytes{};
    std::array<uint32_t, kFew> few_next{};
    uint32_t after_token = kUnknown;  // of a limited state
    ByteSet first;
    std::unique_ptr<Row> row;
  };

  static constexpr uint32_t kBoundary = 1;
  static constexpr uint32_t kLimited = 2;
  static constexpr uint32_t kDeadline = uint32_t{1} << 31;

  static bool is_deadline(uint32_t limit) { return limit >= kDeadline && limit != kUnbounded; }
  static bool is_used_up(uint32_t limit) { return limit == 0 || limit == kDeadline; }

  // From slots_ and limits_.
  LexerStateId intern_slots(uint32_t flags);
  LexerStateId intern(std::span<const uint32_t> key);
  LexerStateId count_token(LexerStateId state);
  LexerStateId compute_next(LexerStateId state, unsigned b);
  void remember(State& s, unsigned b, LexerStateId next);

  RegexStore& regexes_;
  TokenCounts* counts_;
  Account* account_ = nullptr;
  Interner ids_;  // key: flags, then (slot, residual) pairs, then tokens left if kLimited
  ChunkedVector<State> states_;
  Interner slot_sets_;
  size_t n_rows_ = 0;
  std::vector<uint32_t> slots_;   // working memory: pairs
  std::vector<uint32_t> limits_;  // and what each has left
  std::vector<uint32_t> key_;
};

}  // namespace cfgmask
