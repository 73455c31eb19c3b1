// A concatenation of many regexes, which become nodes when a text comes to them: a pattern of a megabyte otherwise is
// that many nodes before the first byte.
//
// Of parts that may be left out, any of the next ones may be what comes. A run of such parts whose texts are plainly
// known to begin somehow is looked up by these beginnings (regex/prefixed_parts.h), each of which has its part as its
// owner; other parts are asked one after the other.
//
// Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "regex/prefixed_parts.h"

namespace cfgmask {

class LongSequence {
 public:
  // Shorter ones are made at once.
  static constexpr size_t kMany = 256;

  // The parts [first, last) by what they begin with. What a beginning belongs to is its part, if that is not empty, and
  // all that follows it in the sequence.
  struct Run {
    uint32_t first;
    uint32_t last;
    std::shared_ptr<const PrefixedParts> beginnings;
  };

  virtual ~LongSequence() = default;

  // One of the parts. None is empty, without a search being needed to tell.
  virtual RegexId part(uint32_t i, RegexStore& store) const = 0;

  uint32_t size() const { return static_cast<uint32_t>(least_.size() - 1); }
  uint32_t number() const { return number_; }  // its own in the process
  // The length of a shortest text of all parts from one on.
  uint32_t least_from(uint32_t i) const { return least_[i]; }
  bool nullable_from(uint32_t i) const { return least_[i] == 0; }
  bool nullable(uint32_t i) const { return nullable_[i]; }
  // The run that a part is in; null for none.
  const Run* run_at(uint32_t i) const;
  size_t bytes() const;

 protected:
  // least: the length of a shortest text of each part.
  LongSequence(const std::vector<uint32_t>& least, std::vector<Run> runs);

 private:
  std::vector<uint32_t> least_;  // from each part on, and 0
  std::vector<bool> nullable_;
  std::vector<Run> runs_;  // in ascending order
  uint32_t number_;
};

}  // namespace cfgmask
