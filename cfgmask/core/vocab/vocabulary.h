// A vocabulary: the trie of its texts and its end tokens. Immutable, shared by threads freely.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "util/byte_set.h"
#include "vocab/characters.h"
#include "vocab/string_tokens.h"
#include "vocab/trie.h"

namespace cfgmask {

// A hash of what each id writes: that of two vocabularies is the same only if they are, but for chance. Holds within a
// process.
inline uint64_t fingerprint_of(std::span<const std::string_view> tokens) {
  constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2**64 by the golden ratio, odd
  uint64_t hash = tokens.size();
  for (std::string_view token : tokens) {
    hash = (hash ^ std::hash<std::string_view>{}(token)) * kGolden;
    hash ^= hash >> 32;
  }
  return hash;
}

struct Vocabulary {
  // The bytes of an end token are ignored: it is no text.
  Vocabulary(std::vector<std::string_view> tokens, std::vector<TokenId> ends)
      : n_vocab(static_cast<uint32_t>(tokens.size())), end_tokens(std::move(ends)) {
    std::sort(end_tokens.begin(), end_tokens.end());
    end_tokens.erase(std::unique(end_tokens.begin(), end_tokens.end()), end_tokens.end());
    for (TokenId id : end_tokens) tokens[id] = {};
    fingerprint = fingerprint_of(tokens);
    texts_ = Texts(tokens);
    trie = std::make_shared<const Trie>(texts_);
    in_strings = StringTokens(texts_, *trie);
    for (uint32_t node = 1; node < trie->n_nodes(); ++node) held.add(trie->byte(node));
  }

  std::string_view text(TokenId token) const { return texts_[token]; }
  bool is_end(TokenId token) const { return std::binary_search(end_tokens.begin(), end_tokens.end(), token); }
  // Whether it has a text, which consists of whole characters.
  bool is_text(TokenId token) const { return !text(token).empty() && characters_of(text(token)).valid; }
  // Whether tokens hold what every value of JSON can be written with, so that whatever is begun can be completed: all
  // printable characters of ASCII, and all bytes of longer characters or none.
  bool writes_json() const {
    ByteSet longer = ByteSet::range(0x80, 0xBF);
    longer |= ByteSet::range(0xC2, 0xF4);
    return held.holds(ByteSet::range(' ', '~')) && (held.holds(longer) || !held.meets(longer));
  }
  size_t n_words() const { return (size_t{n_vocab} + 31) / 32; }

  uint32_t n_vocab;
  std::vector<TokenId> end_tokens;
  uint64_t fingerprint;
  std::shared_ptr<const Trie> trie;
  StringTokens in_strings;
  ByteSet held;  // the bytes that some token holds, end tokens aside

 private:
  Texts texts_;
};

}  // namespace cfgmask
