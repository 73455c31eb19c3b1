// The exits of a lexer table as one trie of what is below them.
//
// What may follow a lexeme is asked of the parser once for each exit, and most exits have the same few texts below:
// `",` may end a JSON string after any token's letters. Here equal texts after equal slots are one node with all their
// tokens, so that the parser is asked once for each text. (A JSON string has 380 subtrees below its exits, of which the
// parser visited 90 nodes for a mask.)
//
// Nodes stand in depth-first order, as in Trie. Immutable after construction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mask/lexer_table.h"
#include "vocab/trie.h"

namespace cfgmask {

class ExitTrie {
 public:
  struct Token {
    TokenId id;
    uint32_t node;  // of the vocabulary's trie
  };
  // The nodes [first, last), siblings and what is below them, follow these slots.
  struct Group {
    SlotSetId matched;
    uint32_t first;
    uint32_t last;
  };

  ExitTrie(const Trie& trie, std::span<const LexerTable::Exit> exits);

  std::span<const Group> groups() const { return groups_; }
  uint8_t byte(uint32_t node) const { return byte_[node]; }
  // One past the last node below `node`.
  uint32_t end(uint32_t node) const { return end_[node]; }
  std::span<const Token> tokens(uint32_t node) const {
    return {tokens_.data() + first_token_[node], first_token_[node + 1] - first_token_[node]};
  }
  size_t bytes() const {
    return sizeof(*this) + groups_.capacity() * sizeof(Group) + byte_.capacity() + tokens_.capacity() * sizeof(Token) +
           (end_.capacity() + first_token_.capacity()) * sizeof(uint32_t);
  }

 private:
  void add(const Trie& trie, std::vector<uint32_t> siblings);

  std::vector<Group> groups_;
  std::vector<uint8_t> byte_;
  std::vector<uint32_t> end_;
  std::vector<uint32_t> first_token_;  // and one more, where all tokens end
  std::vector<Token> tokens_;
};

}  // namespace cfgmask
