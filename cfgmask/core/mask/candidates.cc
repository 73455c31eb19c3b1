#include "mask/candidates.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace cfgmask {

namespace {

// Words are looked at so many at a time: most masks have tokens in few places.
constexpr size_t kBlock = 8;

// Without an instruction for it, which not all processors have, `std::popcount` is a call for each word.
uint32_t n_ones(uint32_t word) {
  word -= (word >> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >> 2) & 0x33333333);
  return (((word + (word >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24;
}

size_t n_allowed(std::span<const uint32_t> bits) {
  size_t n = 0;
  for (uint32_t word : bits) n += n_ones(word);
  return n;
}

// Calls f(token) for the tokens of the mask below n, until it gives false; whether it never did.
template <class F>
bool all_of_mask(std::span<const uint32_t> bits, size_t n, F f) {
  for (size_t block = 0; block < bits.size(); block += kBlock) {
    const auto words = bits.subspan(block, std::min(kBlock, bits.size() - block));
    uint32_t any = 0;
    for (uint32_t word : words) any |= word;
    for (size_t i = 0; any != 0 && i < words.size(); ++i) {
      for (uint32_t allowed = words[i]; allowed != 0; allowed &= allowed - 1) {
        const size_t token = (block + i) * 32 + static_cast<size_t>(std::countr_zero(allowed));
        if (token >= n) return true;
        if (!f(token)) return false;
      }
    }
  }
  return true;
}

}  // namespace

std::optional<size_t> keep_candidates(std::span<const uint32_t> bits, std::span<Candidate> candidates) {
  if (n_allowed(bits) > candidates.size() / 2) return std::nullopt;
  const auto is_in_place = [&](size_t token) { return std::cmp_equal(candidates[token].id, token); };
  if (!all_of_mask(bits, candidates.size(), is_in_place)) return std::nullopt;
  size_t n_kept = 0;
  all_of_mask(bits, candidates.size(), [&](size_t token) {
    candidates[n_kept++] = candidates[token];
    return true;
  });
  return n_kept;
}

}  // namespace cfgmask
