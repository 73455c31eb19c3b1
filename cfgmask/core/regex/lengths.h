// Lengths of the strings of a regex, and how they add up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace cfgmask {

// Lengths stop here: sums of two of them fit.
inline constexpr uint32_t kNoLength = UINT32_MAX / 4;

inline uint32_t add_lengths(uint32_t a, uint32_t b) { return a + b < kNoLength ? a + b : kNoLength; }
inline uint32_t multiply_lengths(uint32_t a, uint32_t b) {
  const uint64_t product = uint64_t{a} * b;
  return product < kNoLength ? static_cast<uint32_t>(product) : kNoLength;
}

// How many characters the strings of a set have as UTF-8, that is, bytes other than those that continue one. None has
// fewer than `least` or more than `most`; kNoLength is no bound. If they are exact, some string has as many as either,
// and of the counts that strings have no two next to each other are more than `gap` apart.
struct CharacterCounts {
  uint32_t least = 0;
  uint32_t most = kNoLength;
  uint32_t gap = 0;
  bool is_exact = false;

  static CharacterCounts only(uint32_t n) { return {n, n, 0, true}; }

  // Those of one string after another, of a string of any of the sets, of `minimum` to `maximum` strings, of strings
  // that both sets have. `maximum` may be kUnbounded.
  static CharacterCounts sum(const CharacterCounts& a, const CharacterCounts& b);
  static CharacterCounts any_of(std::vector<CharacterCounts> all);
  CharacterCounts repeated(uint32_t minimum, uint32_t maximum) const;
  static CharacterCounts both(const CharacterCounts& a, const CharacterCounts& b);

  // Whether a string has from `minimum` to `maximum` characters, kUnbounded being no maximum; nullopt where this does
  // not tell.
  std::optional<bool> any_within(uint32_t minimum, uint32_t maximum) const;

  bool operator==(const CharacterCounts&) const = default;
};

}  // namespace cfgmask
