#include "json_schema/document/text_names.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace cfgmask {

namespace {

// The Python front end cuts names in the same way.
constexpr size_t kMaxName = 60;

}  // namespace

size_t n_characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

std::string shortened(std::string name) {
  size_t characters = 0;
  size_t cut = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if ((static_cast<uint8_t>(name[i]) & 0xC0) == 0x80) continue;
    if (characters++ == kMaxName - 3) cut = i;
  }
  if (characters <= kMaxName) return name;
  name.resize(cut);
  return name + "...";
}

std::string shown(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
      case '\\':
        out += '\\';
        out += c;
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<uint8_t>(c) < 0x20) {
          out += "\\u00";
          out += kHex[c >> 4];
          out += kHex[c & 15];
        } else {
          out += c;
        }
    }
  }
  return out + '"';
}

// Without a branch for each character, which keeps the compiler from looking at many at once.
bool has_escapes(std::string_view text) {
  bool found = false;
  for (const char c : text) found |= (c < ' ') | (c > '~') | (c == '"') | (c == '/') | (c == '\\');
  return found;
}

}  // namespace cfgmask
