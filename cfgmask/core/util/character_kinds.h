// What Python's `\w`, `\d` and `\s` take beyond ASCII: the core has no tables of characters.
#pragma once

namespace cfgmask {

struct CharacterKinds {
  bool (*is_word)(char32_t);
  bool (*is_digit)(char32_t);
  bool (*is_space)(char32_t);
};

}  // namespace cfgmask
