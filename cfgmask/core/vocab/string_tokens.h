// What tokens do to a JSON string where they come between two of its characters.
//
// Immutable.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/texts.h"

namespace cfgmask {

class StringTokens {
 public:
  StringTokens() : StringTokens(Texts()) {}
  // Linear in the texts.
  explicit StringTokens(const Texts& texts);

  // How many characters a token is that go on with the string and stand for themselves, if it is nothing else; 0 for
  // all other tokens and for long ones.
  uint32_t n_characters(TokenId token) const { return effects_[token] == kEnds ? 0 : effects_[token]; }
  // Whether it ends the string, and nothing before the quote is an escape.
  bool ends(TokenId token) const { return effects_[token] == kEnds; }

  // What a token of many bytes writes before a quote, for which the string needs room: escapes by digits may be half a
  // character each or a whole one, what else there is tells how many they are.
  struct Long {
    uint32_t first;  // byte
    uint32_t n_bytes;
    uint32_t n_least;  // characters
    uint32_t n_most;
    uint32_t n_common = 0;  // bytes that it has in common with the one before it
  };
  // Few, in the order of their bytes: those that begin with this one.
  std::span<const Long> long_ones(unsigned first_byte) const {
    const uint32_t begin = first_long_[first_byte];
    return std::span(long_).subspan(begin, first_long_[first_byte + 1] - begin);
  }
  std::string_view text(const Long& token) const { return std::string_view(bytes_).substr(token.first, token.n_bytes); }
  // No other token needs room for more characters than this.
  uint32_t n_of_others() const { return n_of_others_; }

 private:
  static constexpr uint8_t kEnds = UINT8_MAX;
  // Of Llama 3's those of 22 bytes and more.
  static constexpr size_t kMostLong = 512;
  static constexpr size_t kMostBytesOfLong = size_t{1} << 16;

  void add_long(const Texts& texts);

  std::vector<uint8_t> effects_;  // by token
  std::vector<Long> long_;
  std::string bytes_;  // of them, in their order
  std::array<uint32_t, 257> first_long_{};
  uint32_t n_of_others_ = 0;
};

}  // namespace cfgmask
