// How many tokens close what a part of the grammar derives (earley/deferred_rules.h), where a limit on tokens stands
// around it: those of the derivation that takes fewest, each terminal by its closing text (mask/closing_counts.h).
//
// Rules of a part are made as far as that derivation may need them. What is not made yet takes one token at least. So
// there are two bounds for each nonterminal, of which the lower one follows the derivation that seems to take fewest:
// its nonterminals are made next, until nothing in it is left to be made. Of an object these are the required members.
//
// Threads: guarded by the owner of the grammar.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "earley/grammar.h"
#include "regex/regex.h"

namespace cfgmask {

class PartClosings {
 public:
  // needed  how many tokens the closing text of a regex has
  PartClosings(Grammar& grammar, RegexStore& regexes, std::function<uint32_t(RegexId)> needed)
      : grammar_(grammar), regexes_(regexes), needed_(std::move(needed)) {}

  // kUnbounded where limits of rules inside leave none. Makes rules; throws what that does, and LimitExceeded
  // (max_search_steps) where a hostile part takes too many rounds.
  uint32_t of(uint32_t nonterminal);

  size_t bytes() const { return (known_.size() + terminals_.size()) * 4 * sizeof(uint32_t); }

 private:
  struct Bounds {
    uint64_t lower = kUnbounded;
    uint64_t upper = kUnbounded;
    friend bool operator==(const Bounds&, const Bounds&) = default;
  };

  void look_at(uint32_t nonterminal);
  void look_further(uint32_t from);
  const Alternative& likeliest(uint32_t nonterminal);
  void solve();
  Bounds bounds(Symbol symbol);
  Bounds sum(const Alternative& alternative, uint32_t max_tokens);
  uint32_t of_terminal(uint32_t index);
  size_t n_not_made(const Alternative& alternative) const;

  Grammar& grammar_;
  RegexStore& regexes_;
  std::function<uint32_t(RegexId)> needed_;
  std::unordered_map<uint32_t, uint32_t> known_;      // by nonterminal: the answer
  std::unordered_map<uint32_t, uint32_t> terminals_;  // the same
  // Of the question that is being answered: nonterminals whose alternatives are looked at, callers first.
  std::vector<uint32_t> order_;
  std::unordered_map<uint32_t, Bounds> bounds_;
  uint64_t n_looks_ = 0;
};

}  // namespace cfgmask
