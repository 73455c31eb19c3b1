#include "regex/lengths.h"

#include <algorithm>
#include <utility>

#include "regex/regex.h"

namespace cfgmask {

namespace {

uint32_t excess(uint32_t a, uint32_t b) { return a - std::min(a, b); }

// From the least to the greatest, at least.
uint32_t width(const LengthRange& lengths) { return excess(lengths.most, lengths.least); }

// Of a least length that was cut off nothing more is known.
LengthRange of(uint32_t least, uint32_t most, uint32_t gap, bool is_exact) {
  return {least, most, gap, is_exact && least < kNoLength};
}

}  // namespace

// Each length of the one set moves all of the other: what is between two of these is a gap less the other's width.
LengthRange LengthRange::sum(const LengthRange& a, const LengthRange& b) {
  const uint32_t moved_a = std::max(a.gap, excess(b.gap, width(a)));
  const uint32_t moved_b = std::max(b.gap, excess(a.gap, width(b)));
  return of(add_lengths(a.least, b.least), add_lengths(a.most, b.most), std::min(moved_a, moved_b),
            a.is_exact && b.is_exact);
}

LengthRange LengthRange::any_of(std::vector<LengthRange> all) {
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.least < b.least; });
  LengthRange out = all[0];
  for (const LengthRange& next : all) {
    out.gap = std::max({out.gap, next.gap, excess(next.least, out.most)});
    out.most = std::max(out.most, next.most);
    out.is_exact = out.is_exact && next.is_exact;
  }
  return out;
}

// Between k strings and one more, the least of these less the most of those is greatest at the first k.
LengthRange LengthRange::repeated(uint32_t minimum, uint32_t maximum) const {
  if (maximum == 0) return only(0);
  const uint32_t no_end = most == 0 ? 0 : kNoLength;
  const uint32_t between = maximum > minimum ? excess(least, multiply_lengths(width(*this), minimum)) : 0;
  return of(multiply_lengths(least, minimum), maximum == kUnbounded ? no_end : multiply_lengths(most, maximum),
            std::max(gap, between), is_exact);
}

LengthRange LengthRange::both(const LengthRange& a, const LengthRange& b) {
  return {std::max(a.least, b.least), std::min(a.most, b.most), 0, false};
}

std::optional<bool> LengthRange::any_within(uint32_t minimum, uint32_t maximum) const {
  if (minimum >= kNoLength) return std::nullopt;
  if (least > maximum || most < minimum) return false;
  if (!is_exact) return std::nullopt;
  if (least >= minimum || (most <= maximum && most < kNoLength)) return true;
  // The next length after the last one below the minimum is no more than a gap away.
  if (maximum == kUnbounded || gap <= maximum - minimum + 1) return true;
  return std::nullopt;
}

}  // namespace cfgmask
