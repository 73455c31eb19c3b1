// Builds a regex from a fuzzer's choices, twice: in a RegexStore, and as a SlowRegex.
#pragma once

#include <memory>
#include <vector>

#include "byte_source.h"
#include "regex/regex.h"
#include "slow_regex.h"

namespace cfgmask::testing {

struct RegexPair {
  RegexId fast;
  std::shared_ptr<const SlowRegex> slow;
};

class RandomRegex {
 public:
  RandomRegex(ByteSource& source, RegexStore& store) : source_(source), store_(store) {}

  // `utf8`: of valid UTF-8 alone, as the inside of a JSON string must be.
  RegexPair make(int depth, bool utf8 = false);

 private:
  RegexPair make_leaf(bool utf8);
  RegexPair make_multiples();
  RegexPair make_parts(SlowRegex::Kind kind, int depth, bool utf8);
  RegexPair make_repetition(int depth, bool utf8);
  // A part of which a text has so many characters.
  RegexPair make_bounded(int depth, bool utf8);
  RegexPair make_json_string(int depth);
  std::string make_word();
  std::vector<CodePointRange> make_ranges();

  ByteSource& source_;
  RegexStore& store_;
};

}  // namespace cfgmask::testing
