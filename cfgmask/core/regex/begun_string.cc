#include "regex/begun_string.h"

#include <algorithm>

#include "regex/regex.h"

namespace cfgmask {

namespace {

constexpr size_t kHexEscape = 6;  // \uXXXX

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool is_hex_escape(std::string_view text) {
  return text.size() >= kHexEscape && text[0] == '\\' && text[1] == 'u' &&
         std::all_of(text.begin() + 2, text.begin() + kHexEscape, is_hex);
}

// Of \uXXXX: D800 to DBFF, or DC00 to DFFF.
bool is_surrogate(std::string_view escape, bool high) {
  const char d = static_cast<char>(escape[2] | 0x20);
  const char next = static_cast<char>(escape[3] | 0x20);
  const bool is_low = next >= 'c';
  const bool is_either = next == '8' || next == '9' || next >= 'a';
  return d == 'd' && is_either && is_low != high;
}

// The bytes of the first character or escape of what is inside of a string; 0 where it is not whole, or is none.
size_t unit(std::string_view text) {
  if (text[0] != '\\') return 1;
  if (text.size() < 2) return 0;
  if (text[1] != 'u') return 2;
  if (!is_hex_escape(text) || is_surrogate(text, false)) return 0;
  if (!is_surrogate(text, true)) return kHexEscape;
  const std::string_view low = text.substr(kHexEscape);
  return is_hex_escape(low) && is_surrogate(low, false) ? 2 * kHexEscape : 0;
}

}  // namespace

size_t whole_units(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && text[n] != '"') {
    const size_t more = unit(text.substr(n));
    if (more == 0) break;
    n += more;
  }
  return n;
}

BegunString decode_begun_string(std::string_view spelling) {
  const std::string_view inside = spelling.substr(1);
  const size_t whole = whole_units(inside);
  return {decode_json_string('"' + std::string(inside.substr(0, whole)) + '"'), whole < inside.size()};
}

}  // namespace cfgmask
