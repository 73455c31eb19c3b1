// How many strings a regex denotes.
#pragma once

#include <cstdint>
#include <optional>

#include "regex/regex.h"

namespace cfgmask {

// nullopt for infinitely many, or more than `at_most`. Throws LimitExceeded where that has as many residuals as may be
// searched. One derivative for each residual and the bytes that it tells apart.
std::optional<uint32_t> count_texts(RegexStore& regexes, RegexId node, uint32_t at_most);

}  // namespace cfgmask
