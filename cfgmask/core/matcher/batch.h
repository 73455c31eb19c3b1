// The masks of several sequences at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

#include "matcher/matcher.h"

namespace cfgmask {

// A row of a batch.
struct BatchRow {
  Matcher* matcher;                    // or null, for a row that allows everything
  std::span<uint32_t> bits;            // at least as many words as a mask of the matcher; the rest are set to 0
  std::exception_ptr error = nullptr;  // why the row allows no more than end tokens, where the text is complete
  MaskCost cost = {};
};

// Fills each row with at most `threads` threads, at least 1. One that fails leaves the others as they are.
//
// Masks that are known, nearly all of a warm batch, are written side by side. The others are found under the lock that
// the rows of a shard have in common: those of several shards side by side, all of a shard by one thread. (With each
// thread finding the masks of its own rows, threads met at the lock.)
//
// Throws nothing but what ends the long call of this thread (util/pause.h); rows may be left as they were then.
void fill_masks(std::span<BatchRow> rows, size_t threads);

}  // namespace cfgmask
