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

// What lengths are counted in. A character of UTF-8 has one byte that continues none.
enum class LengthUnit : uint8_t { kByte, kCharacter };

// How long the strings of a set are. None is shorter than `least` or longer than `most`; kNoLength is no bound. If they
// are exact, some string is as long as either, and of the lengths that strings have no two next to each other are more
// than `gap` apart.
struct LengthRange {
  uint32_t least = 0;
  uint32_t most = kNoLength;
  uint32_t gap = 0;
  bool is_exact = false;

  static LengthRange only(uint32_t n) { return {n, n, 0, true}; }

  // Those of one string after another, of a string of any of the sets, of `minimum` to `maximum` strings, of strings
  // that both sets have. `maximum` may be kUnbounded.
  static LengthRange sum(const LengthRange& a, const LengthRange& b);
  static LengthRange any_of(std::vector<LengthRange> all);
  LengthRange repeated(uint32_t minimum, uint32_t maximum) const;
  static LengthRange both(const LengthRange& a, const LengthRange& b);

  // Whether a string is from `minimum` to `maximum` long, kUnbounded being no maximum; nullopt where this does not
  // tell.
  std::optional<bool> any_within(uint32_t minimum, uint32_t maximum) const;

  bool operator==(const LengthRange&) const = default;
};

}  // namespace cfgmask
