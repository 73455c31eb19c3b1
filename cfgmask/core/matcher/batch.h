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
};

// Fills each row with at most `threads` threads, at least 1. One that fails leaves the others as they are.
//
// Rows of grammars of one shard have one lock. Those of several shards are found and written side by side, all rows of
// a shard by one thread. Where there is one shard, this thread finds all masks, one after the other, and the copies,
// nearly all of a warm batch, are made side by side. (With each thread finding the masks of its own rows, 64 rows took
// longer on two threads than on one: they met at the lock.)
void fill_masks(std::span<BatchRow> rows, size_t threads);

}  // namespace cfgmask
