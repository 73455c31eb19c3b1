// A vocabulary: the trie of its texts and its end tokens. Immutable, shared by threads freely.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "vocab/trie.h"

namespace cfgmask {

struct Vocabulary {
  // The bytes of an end token are ignored: it is no text.
  Vocabulary(std::vector<std::string_view> tokens, std::vector<TokenId> ends)
      : n_vocab(static_cast<uint32_t>(tokens.size())), end_tokens(std::move(ends)) {
    std::sort(end_tokens.begin(), end_tokens.end());
    end_tokens.erase(std::unique(end_tokens.begin(), end_tokens.end()), end_tokens.end());
    text_bytes_.reserve(tokens.size() + 1);
    for (TokenId id : end_tokens) tokens[id] = {};
    size_t total = 0;
    for (const auto& token : tokens) total += token.size();
    texts_.reserve(total);
    for (const auto& token : tokens) {
      text_bytes_.push_back(static_cast<uint32_t>(texts_.size()));
      texts_.append(token);
    }
    text_bytes_.push_back(static_cast<uint32_t>(texts_.size()));
    trie = std::make_shared<const Trie>(tokens);
  }

  std::string_view text(TokenId token) const {
    return std::string_view(texts_).substr(text_bytes_[token], text_bytes_[token + 1] - text_bytes_[token]);
  }
  bool is_end(TokenId token) const { return std::binary_search(end_tokens.begin(), end_tokens.end(), token); }
  size_t n_words() const { return (size_t{n_vocab} + 31) / 32; }

  uint32_t n_vocab;
  std::vector<TokenId> end_tokens;
  std::shared_ptr<const Trie> trie;

 private:
  std::string texts_;
  std::vector<uint32_t> text_bytes_;  // start of each token's text
};

}  // namespace cfgmask
