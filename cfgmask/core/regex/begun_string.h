// What the beginning of a JSON string says, before its closing quote has come.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cfgmask {

// How much of a text is whole inside of a string, up to its first quote: not an escape that is cut off, or none.
size_t whole_units(std::string_view text);

// The text of a string that has begun, without an escape that is not complete yet.
struct BegunString {
  std::string text;
  bool in_escape = false;
};
// `spelling` begins with a quote; what comes behind the next unescaped one is left out.
BegunString decode_begun_string(std::string_view spelling);

}  // namespace cfgmask
