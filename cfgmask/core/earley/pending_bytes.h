// About how many bytes the values take that open registers still ask for, where rules do not tell (earley/remaining.h):
// an object whose keys come in any order may end, to its rules, wherever a member has ended.
//
// A guess, for a search that wants to know which of two places is nearer to an end. Of several readings the first one
// counts.
//
// Threads: guarded by the owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "earley/grammar.h"
#include "earley/parser.h"

namespace cfgmask {

class PendingBytes {
 public:
  // The parser outlives this.
  explicit PendingBytes(Parser& parser) : parser_(parser) {}

  // What all registers ask for that are open in a set. Cost: linear in the rules that are open, once for each of them
  // and each register in them.
  uint32_t bytes(ItemSetId set);
  // What may be left of a lexeme that began with `text`, so that its value is one that the innermost register asks for;
  // RegexStore::nothing() if it cannot be.
  RegexId lexemes(ItemSetId set, TextId text);
  // Of numbered keys that are left, those that it asks for; RegexStore::nothing() if it asks for none of them.
  RegexId keys(ItemSetId set, RegexId left);

  size_t memory() const { return known_.size() * sizeof(*known_.begin()); }

 private:
  const Item* first(ItemSetId set) const;
  uint32_t around(ContinuationId continuation);

  Parser& parser_;
  std::unordered_map<uint64_t, uint32_t> known_;  // by register and continuation
};

}  // namespace cfgmask
