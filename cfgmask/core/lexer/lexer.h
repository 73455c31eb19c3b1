// Lexer states: which residuals the terminals that the parser can take here have come to.
//
// A state is an interned list of (slot, residual). A slot is the place of a terminal among the live terminals of a
// parser state, not the terminal itself, so parser states and grammars whose live regexes are equal share automata,
// transition rows and everything that is remembered by lexer state.
//
// A state made by `start` is at the boundary between two lexemes; any other is inside one. The two never share an id:
// the residual of /a*b/ after "a" equals the one before it, but only before it may the text end or a token set match.
//
// A terminal of numbered keys has as many slots as its list has numbers, the first of which it is in until one key is
// left: then that key's rest is in the key's slot.
//
// Nothing here counts tokens: a slot that has no tokens left is one whose residual is the empty text
// (earley/deadlines.cc). So states are shared whatever is left of a limit.
//
// Threads: guarded by the owner, like RegexStore.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "regex/regex.h"
#include "util/chunked_vector.h"
#include "util/ids.h"
#include "util/interner.h"
#include "util/limits.h"

namespace cfgmask {

using LexerStateId = Id<struct LexerStateTag>;
using SlotSetId = Id<struct SlotSetTag>;

class Lexer {
 public:
  // longest: the bytes of the longest token.
  Lexer(RegexStore& regexes, size_t longest);

  // No terminal is live.
  static constexpr LexerStateId dead() { return LexerStateId(0U); }
  static constexpr SlotSetId no_slots() { return SlotSetId(0U); }

  // New states, those of many slots as several, and ways out of such are charged to this account until the next call.
  void charge_to(Account* account) { account_ = account; }

  // The boundary state in which slot i has the residual terminals[i], or where terminals have several slots, the first
  // one after those of terminals[i - 1]. No terminal may be nullable.
  LexerStateId start(std::span<const RegexId> terminals);
  // The same with some slots alone. `slots` are those of another boundary state, in their order.
  LexerStateId start(LexerStateId all, std::span<const uint32_t> slots);

  // The state inside a lexeme in which `slot` alone is live.
  LexerStateId inside(uint32_t slot, RegexId residual);
  // The one with these residuals, pairs as those of `residuals`.
  LexerStateId inside(Words pairs);
  // The state without bounds that no token comes near, if it is inside a lexeme and its residuals are few: to any token
  // both do the same.
  LexerStateId without_far_bounds(LexerStateId state) {
    return states_[state.value].has_bounds ? without_bounds_beyond(state, longest_) : state;
  }
  // The same for texts of so many bytes.
  LexerStateId without_bounds_beyond(LexerStateId state, uint32_t n_bytes);
  SlotSetId slot_set(uint32_t slot) { return slot_set(Words{&slot, 1}); }
  SlotSetId slot_set(Words slots) { return SlotSetId(slot_sets_.intern(slots).first); }

  // The residuals that can take b; the others drop out. dead() if there is none.
  LexerStateId next(LexerStateId state, unsigned b) {
    const auto known = known_next(state, b);
    return known ? *known : compute_next(state, b, false);
  }
  // The same for whoever will ask for other bytes that lead to the same state, where each is dear.
  LexerStateId next_of_many(LexerStateId state, unsigned b) {
    const auto known = known_next(state, b);
    return known ? *known : compute_next(state, b, true);
  }

  // The state after several bytes, if it takes no states between them to tell; see RegexStore::after. Not remembered.
  std::optional<LexerStateId> after(LexerStateId state, std::string_view text);
  // Whether `next` was asked for b before, or b cannot be taken.
  bool knows(LexerStateId state, unsigned b) const;

  // The slots whose terminal is complete.
  SlotSetId matched(LexerStateId state) const { return states_[state.value].matched; }
  // False only if no byte can be taken; then the lexeme may be finished at once.
  bool can_continue(LexerStateId state) const { return states_[state.value].can_continue; }
  // Whether some byte can be taken; unlike can_continue, exactly.
  bool goes_on(LexerStateId state);
  bool is_boundary(LexerStateId state) const { return states_[state.value].boundary; }

  // Bytes, b among them, that all lead to the state that b leads to; not always all of them. b is one of `first`.
  ByteSet alike(LexerStateId state, unsigned b);
  // A superset of the bytes that `next` takes.
  const ByteSet& first(LexerStateId state) const { return states_[state.value].first; }

  Words slots(SlotSetId set) const { return slot_sets_.at(set.value); }
  // Pairs of words (slot, residual), by slot.
  Words residuals(LexerStateId state) const { return ids_.at(state.value).subspan(1); }

  size_t size() const { return states_.size(); }
  size_t bytes() const { return ids_.bytes() + states_.bytes() + n_rows_ * sizeof(Row) + slot_sets_.bytes(); }

 private:
  static constexpr size_t kFew = 4;
  // The states that bytes lead to, which are few: a row of states would be a kilobyte.
  struct Row {
    static constexpr uint8_t kUnknown = UINT8_MAX;
    std::array<uint8_t, 256> numbers;
    std::vector<uint32_t> next;

    Row() { numbers.fill(kUnknown); }
    void set(const ByteSet& bytes, uint32_t state);
  };
  // Most states are left by a few bytes only, so a row is made for the fifth.
  struct State {
    SlotSetId matched;
    bool can_continue = false;
    bool boundary = false;
    bool has_bounds = false;  // inside a lexeme, and maybe far ones
    uint8_t n_few = 0;
    std::array<uint8_t, kFew> few_bytes{};
    std::array<uint32_t, kFew> few_next{};
    ByteSet first;
    std::unique_ptr<Row> row;
  };

  static constexpr uint32_t kBoundary = 1;

  void charge(uint64_t amount) {
    if (account_ != nullptr) account_->charge(amount);
  }
  // From slots_.
  LexerStateId intern_slots(uint32_t flags);
  LexerStateId intern(std::span<const uint32_t> key);
  void add_slot(uint32_t slot, RegexId rest);
  std::optional<LexerStateId> known_next(LexerStateId state, unsigned b) const {
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
    return std::nullopt;
  }
  LexerStateId compute_next(LexerStateId state, unsigned b, bool of_many);
  void remember(State& s, unsigned b, LexerStateId next);
  void make_row(State& s);

  RegexStore& regexes_;
  uint32_t longest_;
  Account* account_ = nullptr;
  Interner ids_;  // key: flags, then (slot, residual) pairs
  ChunkedVector<State> states_;
  Interner slot_sets_;
  size_t n_rows_ = 0;
  std::vector<uint32_t> slots_;  // working memory: pairs
  std::vector<uint32_t> key_;
};

}  // namespace cfgmask
