// How many tokens close a nonterminal, where a limit on tokens stands around it: those of the derivation that takes
// fewest, each terminal by its closing text (mask/closing_counts.h). Where a set of values is open, a distinct terminal
// has no text whose value is in it; no derivation needs two of them (GrammarBuilder::close_within_limits).
//
// Rules of a part (earley/deferred_rules.h) are made as far as that derivation may need them. What is not made yet
// takes one token at least. So there are two bounds for each nonterminal, of which the lower one follows the derivation
// that seems to take fewest: its nonterminals are made next, until nothing in it is left to be made. Of an object these
// are the required members.
//
// Threads: guarded by the owner of the grammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "earley/distinct_register.h"
#include "earley/grammar.h"
#include "lexer/token_counts.h"
#include "regex/regex.h"

namespace cfgmask {

class Closings {
 public:
  // seen  null where no set is ever asked for
  Closings(Grammar& grammar, RegexStore& regexes, TokenCounts& counts, DistinctRegister* seen,
           uint64_t max_search_steps)
      : grammar_(grammar),
        regexes_(regexes),
        counts_(counts),
        distinct_register_(seen),
        max_search_steps_(max_search_steps) {}

  // kUnbounded where limits of rules inside leave none. Makes rules; throws what that does, and LimitExceeded
  // (max_search_steps) where a hostile part takes too many rounds.
  uint32_t of(uint32_t nonterminal, RegisterId seen);
  // Of a terminal where this set is open.
  uint32_t of_terminal(uint32_t index, RegisterId seen);

  size_t bytes() const { return (known_.size() + terminals_.size()) * 4 * sizeof(uint64_t); }

 private:
  struct Bounds {
    uint64_t lower = kUnbounded;
    uint64_t upper = kUnbounded;
    friend bool operator==(const Bounds&, const Bounds&) = default;
  };
  // A nonterminal or terminal, and whether the set of the question is open there: nonterminals that open or hide sets
  // are the same whatever was open.
  using Node = uint64_t;
  static Node node(uint32_t index, RegisterId seen) { return (uint64_t{seen.value} << 32) | index; }
  static uint32_t index_of(Node node) { return static_cast<uint32_t>(node); }
  static RegisterId seen_in(Node node) { return RegisterId(static_cast<uint32_t>(node >> 32)); }
  Node called(uint32_t nonterminal, RegisterId seen) const;

  void look_at(Node nonterminal);
  void look_further(Node from);
  const Alternative& likeliest(Node nonterminal);
  void solve();
  Bounds bounds(Symbol symbol, RegisterId seen);
  Bounds sum(const Alternative& alternative, RegisterId seen, uint32_t max_tokens);
  Node node_of_terminal(uint32_t index, RegisterId seen) const;
  size_t n_not_made(const Alternative& alternative) const;

  Grammar& grammar_;
  RegexStore& regexes_;
  TokenCounts& counts_;
  DistinctRegister* distinct_register_;
  uint64_t max_search_steps_;
  std::unordered_map<Node, uint32_t> known_;  // nonterminals
  std::unordered_map<Node, uint32_t> terminals_;
  // Of the question that is being answered: nonterminals whose alternatives are looked at, callers first.
  std::vector<Node> order_;
  std::unordered_map<Node, Bounds> bounds_;
  uint64_t n_looks_ = 0;
};

}  // namespace cfgmask
