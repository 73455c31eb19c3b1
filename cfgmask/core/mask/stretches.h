// Strings within bounds that no token comes near: as long as that is so, each length allows the same tokens, and those
// that lead a string without the bounds back to where it was lead here to one that differs in its length alone. So a
// position there is one of another length, and how many characters it is further on: neither residuals nor states are
// made on the way, and what is known of the one serves all.
//
// Near a bound, too, as long as there is no token that fits the string and is so long: of 28 to 36 letters, say.
//
// Threads: as SharedStore.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lexer/lexer.h"
#include "vocab/string_tokens.h"

namespace cfgmask {

struct Stretch {
  LexerStateId loop;   // without the bounds; tokens that lead from there back to it go on with the stretch
  uint32_t room = 0;   // characters that may come before it ends; 0: there is none
  uint32_t reach = 0;  // those that may come for sure, no fewer
};

class Stretches {
 public:
  Stretches(RegexStore& regexes, Lexer& lexer) : regexes_(regexes), lexer_(lexer) {}

  // Asks the vocabulary's long tokens once for each loop.
  Stretch from(LexerStateId state, const StringTokens& tokens);
  // The state so many plain characters further on.
  LexerStateId after(LexerStateId state, uint32_t n_characters);

 private:
  static constexpr size_t kStates = 1024;  // 12 KB
  struct Known {
    LexerStateId state = Lexer::dead();
    Stretch stretch;
  };
  // How many characters there must be room for before a quote, for tokens that a loop may take.
  struct Lengths {
    uint32_t least;
    uint32_t most;
  };
  static constexpr size_t kLoops = 128;
  struct Loop {
    LexerStateId state = Lexer::dead();
    std::vector<Lengths> lengths;
  };

  Stretch find(LexerStateId state, const StringTokens& tokens);
  const std::vector<Lengths>& lengths(LexerStateId loop, const StringTokens& tokens);
  void add_lengths(LexerStateId loop, std::span<const StringTokens::Long> some, const StringTokens& tokens,
                   std::vector<Lengths>& lengths);

  RegexStore& regexes_;
  Lexer& lexer_;
  std::array<Known, kStates> known_{};
  std::array<Loop, kLoops> loops_{};
};

}  // namespace cfgmask
