// The strings of regexes that consist of certain bytes: those that the tokens of a vocabulary hold.
//
// What a vocabulary cannot write must not lead a text into a dead end: where no token holds an `f`, nothing may begin
// that only `f` can complete. So these bytes leave each regex before anything is made of it.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "regex/regex.h"
#include "util/byte_set.h"
#include "util/ids.h"

namespace cfgmask {

// Threads: guarded by the owner of the store.
class HeldBytes {
 public:
  HeldBytes(RegexStore& store, const ByteSet& bytes) : store_(store), bytes_(bytes) {}

  // The strings of a node that consist of these bytes; the node itself if all do. Throws LimitExceeded.
  // Cost: linear in the node; an intersection or a complement is not searched.
  RegexId of(RegexId node);

 private:
  RegexId compute(RegexId node);
  RegexId of_concatenation(RegexId node);
  RegexId of_parts(RegexId node);
  RegexId of_key_set(RegexId node);
  RegexId intersected(RegexId node);
  bool completes_json_strings(JsonEscapes escapes) const;

  RegexStore& store_;
  ByteSet bytes_;
  std::unordered_map<uint32_t, RegexId> known_;
};

}  // namespace cfgmask
