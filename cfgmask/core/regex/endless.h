// Whether the texts of a regex never run out, wherever one has begun.
#pragma once

#include "regex/regex.h"

namespace cfgmask {

// Whether whatever begins a string of the node begins infinitely many of them. False as well where that takes a look at
// more than a few hundred residuals. Throws LimitExceeded where a residual cannot be told from the empty set.
bool is_endless(RegexStore& regexes, RegexId node);

}  // namespace cfgmask
