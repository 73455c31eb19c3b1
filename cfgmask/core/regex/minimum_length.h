// How far the end of a string of a regex is, from the regex's structure alone.
//
// The least length is exact but for intersections, complements and half-read escapes, where it is a lower bound:
// `RegexStore::shortest` searches there. What a search for a shortest text is guided by has to be cheap for every
// residual that it sees.
//
// Threads: guarded by the owner, like RegexStore.
#pragma once

#include <cstddef>
#include <cstdint>

#include "regex/regex.h"
#include "util/hash_table.h"

namespace cfgmask {

// Lengths stop here: sums of two of them fit.
inline constexpr uint32_t kNoLength = UINT32_MAX / 4;

inline uint32_t add_lengths(uint32_t a, uint32_t b) { return a + b < kNoLength ? a + b : kNoLength; }
inline uint32_t multiply_lengths(uint32_t a, uint32_t b) {
  const uint64_t product = uint64_t{a} * b;
  return product < kNoLength ? static_cast<uint32_t>(product) : kNoLength;
}

class MinimumLengths {
 public:
  explicit MinimumLengths(RegexStore& regexes) : regexes_(regexes) {}

  // kNoLength for what is known to match nothing. Remembered for what has parts; one visit of the node's parts at
  // first.
  uint32_t of(RegexId node);

  // No string of the node is longer; kNoLength where that is not known. Remembered as the least length is.
  uint32_t longest(RegexId node);

  // An upper bound on the shortest way to an end from anywhere inside a string of the node, that is, on the lengths of
  // the shortest strings of all residuals that are not empty. Intersections and complements have all their residuals
  // looked at; kNoLength if they are many.
  uint32_t farthest(RegexId node);

  size_t bytes() const { return known_.bytes() + longest_.bytes() + farthest_.bytes(); }

 private:
  uint32_t compute(RegexId node);
  uint32_t compute_longest(RegexId node);
  uint32_t compute_farthest(RegexId node);
  uint32_t search_farthest(RegexId node);
  // `join(head, tail)` of a concatenation whose answers `known` has. What of its tails is open is found first, from the
  // last one on: a chain of 100,000 parts would be walked for each of them otherwise.
  template <class IsOpen, class Join>
  uint32_t along(RegexId node, HashTable& known, IsOpen is_open, Join join);
  bool is_too_far(RegexId node) const;

  RegexStore& regexes_;
  HashTable known_;
  HashTable longest_;
  HashTable farthest_;
};

}  // namespace cfgmask
