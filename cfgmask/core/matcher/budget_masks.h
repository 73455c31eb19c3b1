// Masks within a number of tokens: a token is allowed only if the text can be completed in what is left after it.
//
// The plain mask serves as long as no token leads to a state whose number is too large. What that takes is found out
// once for each state, by the lexeme's residuals and the exits of its table, not by its tokens; where the residuals are
// too many, by a walk of all tokens. Where it does not suffice, that is near the end, the mask is walked with the state
// after each token, one question for each different state; where values must differ, one state stands for all texts
// that are no beginning of a value which counts (see Walk).
//
// Numbers are upper bounds (see completion.h), so a token may be refused that would just have fit; the first token of
// the way that a state's number stands for never is.
//
// Threads: guarded by the owner, the CompiledGrammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "matcher/compiled_grammar.h"
#include "matcher/completion.h"
#include "util/hash_table.h"

namespace cfgmask {

class BudgetMasks {
 public:
  // Both outlive this. The caller holds a Guard of the grammar, here and below.
  BudgetMasks(CompiledGrammar& grammar, Completions& completions) : grammar_(grammar), completions_(completions) {}

  // What may come at a position: a mask, and tokens that are not allowed though they may be in it.
  struct Allowed {
    std::shared_ptr<const Mask> mask;
    std::vector<TokenId> repeated_keys;
  };
  // That of `mask` below, where the keys are known.
  Allowed mask(const Position& at, uint32_t left);
  bool allows(const Position& at, TokenId token, const Position& after, uint32_t left);
  // The mask of a state from which `left` more tokens may come, without end tokens, as CompiledGrammar::mask gives it.
  // The state's number is at most `left`. Cost: that of the plain mask where there is plenty left; else one walk of the
  // vocabulary for each state.
  std::shared_ptr<const Mask> mask(StateId state, uint32_t left);
  // Whether `token`, which leads from `state` to `after`, is allowed where `left` more tokens may come. Allows what
  // `mask` does.
  bool allows(StateId state, TokenId token, StateId after, uint32_t left);

  size_t bytes() const { return enough_.bytes() + guesses_.bytes() + enough_inside_.bytes() + narrowed_bytes_; }

 private:
  class Walk;
  // The tokens of a state by the numbers of the states after them.
  struct Narrowed {
    std::vector<uint32_t> numbers;             // ascending
    std::vector<std::vector<uint32_t>> masks;  // masks[i]: those of at most numbers[i]
    ScalarSet differs;                         // of some other text: those for which it holds begin no value of these
  };
  // What suffices in the JSON strings of a lexeme, and the bytes that they begin with.
  struct InStrings {
    ByteSet first;
    uint32_t tokens = 0;
  };

  void leave_out_far(const Position& at, const Mask& plain, uint32_t left, std::span<uint32_t> bits);
  template <class F>
  void for_each_bound(const Configuration& from, F f);
  std::optional<std::vector<TokenId>> tokens_about_keys(const Position& at);
  void add_beginnings(const WrittenKeys& keys, std::string begun, std::vector<TokenId>& out) const;
  uint32_t enough(StateId state);
  uint32_t compute_enough(StateId state);
  uint32_t enough_in_lexeme(const Configuration& at);
  std::optional<InStrings> enough_in_strings(const Configuration& at);
  bool is_of_string(RegexId residual) const;
  uint32_t search_lexeme(const Configuration& from, const ByteSet& known, uint32_t most);
  struct AtExits {
    uint32_t tokens = 0;
    bool begins_value = false;  // that must differ; then `tokens` says nothing
    uint32_t farthest = 0;      // see below, of all such values
  };
  AtExits enough_at_exits(const Configuration& at);
  uint32_t guess_enough(StateId state, uint32_t farthest);
  uint32_t farthest(LexerStateId at);
  bool is_guess(StateId state) const;
  bool counts_text(StateId state) const;
  std::optional<TokenId> next_on_way(StateId state, uint32_t left);
  std::optional<TokenId> next_on_way(const Position& at, uint32_t left);
  std::optional<uint32_t> number_after(StateId state, TokenId token, StateId after);
  uint32_t number(const Configuration& at);
  const Narrowed& narrowed_of(StateId state);
  const Narrowed& narrowed(StateId state);
  template <class F>
  void walk_readings(StateId from, F f);
  std::vector<StateId> after_other_text(StateId state, TokenId token);

  CompiledGrammar& grammar_;
  Completions& completions_;
  HashTable enough_;                                 // by state
  HashTable guesses_;                                // states of which that is not proved, though nothing is begun
  HashTable enough_inside_;                          // by state: for all states of its lexeme
  std::unordered_map<uint32_t, Narrowed> narrowed_;  // by state
  size_t narrowed_bytes_ = 0;
};

}  // namespace cfgmask
