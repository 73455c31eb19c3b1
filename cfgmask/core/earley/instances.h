// Nonterminals with the values of their parameters.
//
// A nonterminal and a value are an instance, made when something first calls it: of the 2^20 instances that a list of
// 20 different elements has, a text meets a few. An instance has an id; those up to the number of the grammar's
// nonterminals are these themselves with the parameter 0.
//
// Order and left recursion are the grammar's, which knows no conditions: with fewer alternatives they stay right. But
// what is nullable or productive depends on the value, and is decided when it is first asked for, exactly.
//
// Threads: guarded by the owner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "earley/grammar.h"
#include "lexer/token_counts.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"
#include "util/interner.h"
#include "util/limits.h"

namespace cfgmask {

class Instances {
 public:
  // `grammar` was analysed and outlives this. New instances are charged as rules.
  // `counts` says what a terminal's closing text takes.
  Instances(const Grammar& grammar, TokenCounts& counts, const Limits& limits);

  // What the instance is one of.
  uint32_t origin(uint32_t instance) const;
  const Nonterminal& nonterminal(uint32_t instance) const { return grammar_.nonterminals[origin(instance)]; }
  // The symbol where its rule has the parameter of `instance`: what it calls becomes an instance, or the terminal that
  // is all of it, so that a terminal may depend on a parameter and be one to whoever looks ahead.
  Symbol resolved(Symbol symbol, uint32_t instance);
  // Whether the alternative is there for the instance, and each of its symbols can end. Throws as `nullable`.
  bool is_live(const Alternative& alternative, uint32_t instance);
  // Whether the instance derives the empty text, or any text. Where that depends on further instances, they are
  // searched, depth first and as far as needed; throws LimitExceeded (max_search_steps, max_rules).
  bool nullable(uint32_t instance);
  bool productive(uint32_t instance);

  // The closing tokens of the instance, where its nonterminal has a limit or is called within one; kUnbounded if they
  // are more than its limit, or there are none. All instances that it leads to are looked at; throws as `nullable`.
  uint32_t closing_tokens(uint32_t instance);

  size_t bytes() const;
  Account& account() { return rules_; }

 private:
  // A property that an instance has if all symbols of one of its alternatives have it: the least solution of these
  // equations, as far as it was asked for (Dowling, Gallier 1984, on demand).
  enum class Truth : uint8_t { kOpen, kTrue, kFalse };
  enum class Property { kNullable, kProductive };
  struct Solution {
    struct Node {
      Truth truth = Truth::kOpen;
      uint32_t n_entered = 0;         // so many of its alternatives have been looked at
      uint32_t search = 0;            // the last search that came by
      std::vector<uint32_t> needs;    // instances that these alternatives wait for
      std::vector<uint32_t> waiting;  // alternatives that wait for it
    };
    struct Wait {
      uint32_t owner = 0;
      uint32_t missing = 0;
    };
    ChunkedVector<Node> nodes;  // by instance
    ChunkedVector<Wait> waits;
    uint32_t n_searches = 0;
  };

  uint64_t value(uint32_t instance) const;
  static std::optional<Symbol> only_terminal(const Nonterminal& called, uint64_t argument);
  uint32_t instance_of(uint32_t nonterminal, uint64_t value);
  bool applies(const Alternative& alternative, uint32_t instance) const;

  bool solve(Property property, uint32_t instance);
  // Whether its limit, if it has one, leaves room for a text.
  bool is_closed(uint32_t instance);
  void find_closings(uint32_t instance);
  // Looks at one more alternative of an instance that is open; false if there is none.
  bool enter_next(Property property, uint32_t instance);
  // Whether the symbol has the property; an instance of which that is not known yet is put into `needs`.
  bool may_have(Property property, Symbol symbol, uint32_t instance, std::vector<uint32_t>& needs);
  Truth truth(Property property, uint32_t instance);
  void mark(Property property, uint32_t instance);
  Solution& solution(Property property) { return property == Property::kNullable ? nullable_ : productive_; }
  Solution::Node& node(Property property, uint32_t instance);

  const Grammar& grammar_;
  TokenCounts& counts_;
  Account rules_;
  uint64_t max_search_steps_;
  Interner ids_;  // words (nonterminal, value, value); an id here is one less the grammar's nonterminals
  Solution nullable_;
  Solution productive_;
  HashTable closings_;  // by instance
};

}  // namespace cfgmask
