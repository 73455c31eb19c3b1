// How many bytes a text needs at least to come to its end, from where the parser is.
//
// Least lengths of terminals, rules and continuations, each the least fixpoint (Knuth 1977), added up along an item.
// Exact where neither the lexer's longest match nor a register of values nor a rule's parameter stands in the way;
// otherwise a lower bound. A
// token that is taken by its id counts as one byte.
//
// Threads: guarded by the owner.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "earley/grammar.h"
#include "earley/parser.h"
#include "regex/minimum_length.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"

namespace cfgmask {

class Remaining {
 public:
  // All outlive this. Cost: linear in the grammar, with a logarithm.
  Remaining(const Grammar& grammar, const Parser& parser, MinimumLengths& lengths);

  // What is left at the beginning of a lexeme.
  uint32_t at_boundary(ItemSetId set) { return ends(set).at_boundary; }
  // The same whether or not what would end there may come yet, as registers have it.
  uint32_t of_rules(ItemSetId set);
  // What is left after a lexeme that completes a slot, by the lexer's numbers of slots. Valid until the next call.
  std::span<const uint32_t> after_slots(ItemSetId set) { return ends(set).after_slots; }

  size_t bytes() const;

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;
  struct Ends {
    uint32_t at_boundary = kNoLength;
    std::vector<uint32_t> after_slots;
  };

  void find_nonterminals();
  RestId rest_after(const Choice& choice, uint32_t number) const;
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> shorter_choices() const;
  uint32_t of(Symbol symbol) const;
  uint32_t of(RestId rest);
  uint32_t of(ContinuationId continuation);
  uint32_t member_length(uint64_t member);
  void find_continuations(ContinuationId from);
  const Ends& ends(ItemSetId set);
  Ends compute_ends(const ItemSet& set);

  const Grammar& grammar_;
  const Parser& parser_;
  MinimumLengths& lengths_;
  std::vector<uint32_t> terminals_;
  std::vector<uint32_t> nonterminals_;
  std::vector<uint32_t> rests_;          // by RestId, as far as they were asked for
  std::vector<uint32_t> continuations_;  // by ContinuationId, as far as they were asked for
  HashTable ends_ids_;                   // by ItemSetId
  ChunkedVector<Ends> ends_;
  size_t n_slots_ = 0;
};

}  // namespace cfgmask
