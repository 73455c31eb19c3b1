// Sets of characters: sorted ranges of code points that are apart from each other, without surrogates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "regex/regex.h"
#include "util/utf8.h"

namespace cfgmask {

using CodePoints = std::vector<CodePointRange>;

inline constexpr uint32_t kLastCodePoint = 0x10FFFF;

// Takes the surrogates out of sorted ranges.
inline CodePoints without_surrogates(const CodePoints& ranges) {
  CodePoints found;
  found.reserve(ranges.size() + 1);
  for (const auto& [low, high] : ranges) {
    if (low < 0xD800) found.push_back({low, std::min(high, 0xD7FFU)});
    if (high > 0xDFFF) found.push_back({std::max(low, 0xE000U), high});
  }
  return found;
}

// The set of ranges in any order, overlapping or not. O(n log n).
inline CodePoints code_point_set(CodePoints ranges) {
  std::sort(ranges.begin(), ranges.end(), [](auto a, auto b) { return a.low < b.low; });
  CodePoints merged;
  for (const CodePointRange& range : ranges) {
    if (!merged.empty() && range.low <= merged.back().high + 1) {
      merged.back().high = std::max(merged.back().high, range.high);
    } else if (range.low <= range.high) {
      merged.push_back(range);
    }
  }
  return without_surrogates(merged);
}

// Every character that is not in the set. Linear.
inline CodePoints negated(const CodePoints& set) {
  CodePoints gaps;
  uint32_t next = 0;
  for (const auto& [low, high] : set) {
    if (low > next) gaps.push_back({next, low - 1});
    next = high + 1;
  }
  if (next <= kLastCodePoint) gaps.push_back({next, kLastCodePoint});
  return without_surrogates(gaps);
}

// The characters of both sets. Linear.
inline CodePoints common(const CodePoints& left, const CodePoints& right) {
  CodePoints found;
  for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    const uint32_t low = std::max(left[i].low, right[j].low);
    const uint32_t high = std::min(left[i].high, right[j].high);
    if (low <= high) found.push_back({low, high});
    ++(left[i].high < right[j].high ? i : j);
  }
  return found;
}

// The characters of either set.
inline CodePoints united(CodePoints left, const CodePoints& right) {
  left.insert(left.end(), right.begin(), right.end());
  return code_point_set(std::move(left));
}

// Whether all characters of a set are in another.
inline bool is_within(const CodePoints& one, const CodePoints& other) {
  return std::all_of(one.begin(), one.end(), [&](const CodePointRange& range) {
    const auto after = std::upper_bound(other.begin(), other.end(), range.low,
                                        [](uint32_t low, const CodePointRange& known) { return low < known.low; });
    return after != other.begin() && range.high <= std::prev(after)->high;
  });
}

}  // namespace cfgmask
