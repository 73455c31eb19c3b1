// The secret of this process that hashes begin with, so that nobody can write a grammar or schema whose strings
// collide.
//
// Nothing may depend on the order of entries in a hash table, and no hash may leave the process.
#pragma once

#include <cstdint>

namespace cfgmask {

// Random words from the operating system.
uint64_t random_word();

inline const uint64_t kHashSeed = random_word();

}  // namespace cfgmask
