// What tokens do to a JSON string where they come between two of its characters.
//
// Immutable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/texts.h"
#include "vocab/trie.h"

namespace cfgmask {

class StringTokens {
 public:
  StringTokens() = default;
  // Linear in the texts, which are those of the trie.
  StringTokens(const Texts& texts, const Trie& trie);

  // How many characters a token is that go on with the string and stand for themselves, if it is nothing else; 0 for
  // all other tokens and for long ones.
  uint32_t n_characters(TokenId token) const { return effects_[token] == kEnds ? 0 : effects_[token]; }
  // Whether it ends the string, and nothing before the quote is an escape.
  bool ends(TokenId token) const { return effects_[token] == kEnds; }

  // What a token of many bytes writes before a quote, for which the string needs room for so many characters.
  struct Long {
    uint32_t first;  // byte
    uint32_t n_bytes;
    uint32_t n_characters;
  };
  // Few, those with more characters first.
  std::span<const Long> long_ones(uint32_t most_characters) const {
    const auto has_more = [](const Long& token, uint32_t most) { return token.n_characters > most; };
    return {std::lower_bound(long_.begin(), long_.end(), most_characters, has_more), long_.end()};
  }
  // Those with escapes by digits, which may be half a character each or a whole one: they may need less.
  std::span<const Long> vague_ones() const { return vague_; }
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
  std::vector<Long> vague_;
  std::string bytes_;  // of both
  uint32_t n_of_others_ = 0;
};

}  // namespace cfgmask
