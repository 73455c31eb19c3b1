// The characters of a text in UTF-8.
#pragma once

#include <cstdint>
#include <string_view>

namespace cfgmask {

struct Characters {
  bool valid = true;  // whole characters of UTF-8 only; else the rest says nothing
  bool space_beyond_ascii = false;
  uint32_t count = 0;
};

Characters characters_of(std::string_view text);

inline bool is_continuation(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }
// Whether it is the beginning of one character, from its first byte on but not whole.
bool begins_character(std::string_view text);

}  // namespace cfgmask
