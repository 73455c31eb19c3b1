// Blanks within the tokens of a Lark grammar, such as `{ 2, 3 }` and `[ 0:3 ]`.
#pragma once

#include <string_view>

namespace cfgmask {

inline bool is_lark_blank(char32_t c) { return c == U' ' || c == U'\t'; }

// The text without those at its ends.
inline std::u32string_view trimmed(std::u32string_view text) {
  while (!text.empty() && is_lark_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_lark_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace cfgmask
