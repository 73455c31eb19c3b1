// Kinds of characters of ASCII.
#pragma once

namespace cfgmask {

inline bool is_ascii_digit(char32_t c) { return U'0' <= c && c <= U'9'; }
inline bool is_ascii_lower(char32_t c) { return U'a' <= c && c <= U'z'; }
inline bool is_ascii_upper(char32_t c) { return U'A' <= c && c <= U'Z'; }
inline bool is_ascii_letter(char32_t c) { return is_ascii_lower(c) || is_ascii_upper(c); }
inline bool is_hex_digit(char32_t c) {
  return is_ascii_digit(c) || (U'a' <= c && c <= U'f') || (U'A' <= c && c <= U'F');
}

}  // namespace cfgmask
