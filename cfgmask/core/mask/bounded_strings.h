// Strings within bounds that no token comes near: as long as that is so, each length allows the same tokens, and those
// that lead a string without the bounds back to where it was lead here to one that differs in its length alone. So a
// position there is one of another length, and how many characters it is further on: neither residuals nor states are
// made on the way, and what is known of the one serves all.
//
// Near a bound, too, as long as there is no token that fits the string and is so long: of 28 to 36 letters, say.
//
// Threads: as SharedStore.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "lexer/lexer.h"
#include "vocab/string_tokens.h"

namespace cfgmask {

// Of a string between characters of which `maximum` more may come, and `farthest` may be needed to end it.
struct BoundedString {
  // Without the bounds: tokens that lead from there back to it go on with the string.
  LexerStateId loop = Lexer::dead();
  uint32_t maximum = 0;
  uint32_t farthest = 0;
  uint32_t room = 0;  // characters that may come before other tokens fit

  // Those that may come for sure; 0: it is no such string.
  uint32_t reach() const { return maximum - std::min(maximum, farthest); }
};

class BoundedStrings {
 public:
  BoundedStrings(RegexStore& regexes, Lexer& lexer) : regexes_(regexes), lexer_(lexer) {}

  // Remembered. A first call goes through a few of the vocabulary's long tokens.
  BoundedString from(LexerStateId state, const StringTokens& tokens);
  // The state so many plain characters further on, which are within reach.
  LexerStateId after(LexerStateId state, uint32_t n_characters, const StringTokens& tokens);

 private:
  static constexpr size_t kStates = 1024;  // 20 KB
  struct Known {
    LexerStateId state = Lexer::dead();
    BoundedString string;
  };

  BoundedString find(LexerStateId state, const StringTokens& tokens);
  uint32_t room(const BoundedString& string, const StringTokens& tokens);
  bool may_take(LexerStateId loop, std::string_view text);

  RegexStore& regexes_;
  Lexer& lexer_;
  std::array<Known, kStates> known_{};
};

}  // namespace cfgmask
