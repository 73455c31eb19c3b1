// How many tokens a vocabulary needs for what is left of a terminal.
#pragma once

#include <algorithm>
#include <cstdint>

#include "regex/regex.h"

namespace cfgmask {

class TokenCounts {
 public:
  virtual ~TokenCounts() = default;
  // For its closing text, tokens from the first byte on; kUnbounded if it has none.
  virtual uint32_t needed(RegexId residual) = 0;
  // No fewer than `needed` of the residual and of any that some text leads to; kUnbounded where that is not known.
  virtual uint32_t most_needed(RegexId residual) = 0;
};

// So many tokens, or kUnbounded where they are more than can be counted.
inline uint64_t saturated(uint64_t tokens) { return std::min<uint64_t>(tokens, kUnbounded); }

}  // namespace cfgmask
