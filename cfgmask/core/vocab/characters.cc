#include "vocab/characters.h"

#include <algorithm>
#include <bit>
#include <string>

namespace cfgmask {

namespace {

bool is_space_beyond_ascii(uint32_t c) {
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

}  // namespace

Characters characters_of(std::string_view text) {
  Characters out;
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<uint8_t>(text[i]);
    const auto length = static_cast<size_t>(std::max(1, std::countl_one(lead)));
    const bool leads = lead < 0x80 || (lead >= 0xC2 && lead < 0xF5);
    if (!leads || i + length > text.size()) return {false};
    uint32_t c = length == 1 ? lead : lead & (0x7FU >> length);
    for (size_t j = 1; j < length; ++j) {
      if (!is_continuation(text[i + j])) return {false};
      c = (c << 6) | (static_cast<uint8_t>(text[i + j]) & 0x3F);
    }
    static constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < kSmallest[length] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return {false};
    out.space_beyond_ascii = out.space_beyond_ascii || is_space_beyond_ascii(c);
    ++out.count;
    i += length;
  }
  return out;
}

bool begins_character(std::string_view text) {
  if (text.empty()) return false;
  const auto length = static_cast<size_t>(std::countl_one(static_cast<uint8_t>(text[0])));
  if (text.size() >= length) return false;
  // Of the characters that begin with some bytes, the first or the last is one of these, if there are any.
  static constexpr std::string_view kFirstAndLast = "\x80\xBF";
  return std::any_of(kFirstAndLast.begin(), kFirstAndLast.end(), [&](char last) {
    const Characters whole = characters_of(std::string(text) + std::string(length - text.size(), last));
    return whole.valid && whole.count == 1;
  });
}

}  // namespace cfgmask
