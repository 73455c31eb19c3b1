// How long the strings of a regex are and how far their end is, from the regex's structure alone.
//
// The least length is exact but for intersections, complements and half-read escapes, where it is a lower bound:
// `RegexStore::shortest` searches there. What a search for a shortest text is guided by has to be cheap for every
// residual that it sees.
//
// Threads: guarded by the owner, like RegexStore.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "regex/lengths.h"
#include "regex/regex.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"

namespace cfgmask {

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

  // How long strings of the node are. Remembered as the least length is; linear in the keys of a set.
  LengthRange range(RegexId node, LengthUnit unit);

  size_t bytes() const {
    return known_.bytes() + longest_.bytes() + farthest_.bytes() + nearest_.bytes() + range_ids_[0].bytes() +
           range_ids_[1].bytes() + ranges_.bytes();
  }

 private:
  uint32_t compute(RegexId node);
  uint32_t compute_longest(RegexId node);
  uint32_t compute_farthest(RegexId node);
  uint32_t search_farthest(RegexId node);
  // Of an intersection with a bound on the length, if that is all there is to be known of it.
  std::optional<uint32_t> farthest_within_bounds(RegexId node);
  // `join(head, tail)` of a concatenation whose answers `known` has. What of its tails is open is found first, from the
  // last one on: a chain of 100,000 parts would be walked for each of them otherwise.
  template <class IsOpen, class Join>
  uint32_t along(RegexId node, HashTable& known, IsOpen is_open, Join join);
  bool is_too_far(RegexId node) const;
  // The numbers of ranges in ranges_.
  uint32_t compute_range(RegexId node, LengthUnit unit);
  uint32_t add_range(const LengthRange& range);

  RegexStore& regexes_;
  HashTable known_;
  HashTable longest_;
  HashTable farthest_;
  HashTable nearest_;                   // the shortest way to an end, of what was searched
  std::array<HashTable, 2> range_ids_;  // by unit
  ChunkedVector<LengthRange> ranges_;
};

}  // namespace cfgmask
