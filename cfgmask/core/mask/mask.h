// The set of tokens that may come next, stored as what differs from a table that many masks share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mask/configuration.h"
#include "mask/lexer_table.h"

namespace cfgmask {

struct Mask {
  std::shared_ptr<const LexerTable> base;  // or null
  std::vector<TokenId> more;               // allowed besides, if few
  std::vector<uint32_t> bits;              // else all that is allowed

  void write(std::span<uint32_t> out) const;
  size_t bytes() const { return sizeof(*this) + (more.capacity() + bits.capacity()) * sizeof(uint32_t); }
};

// Walks of the trie with lexer and parser (lexer: longest). Kept between walks to spare an allocation for each of the
// thousand short ones that a string's exits take.
class ParserWalk {
 public:
  ParserWalk(const Trie& trie, Lexer& lexer, Stepper& stepper) : trie_(trie), lexer_(lexer), stepper_(stepper) {}

  // Appends the tokens of the subtrees of the siblings [first, last) that fit from `at`.
  void run(Configuration at, uint32_t first, uint32_t last, std::vector<TokenId>& out);

 private:
  struct Frame {
    uint32_t end;
    Configuration at;
    const ByteSet* taken;  // other bytes are dead; null where they may begin another lexeme
  };

  void push(uint32_t end, Configuration at);

  const Trie& trie_;
  Lexer& lexer_;
  Stepper& stepper_;
  std::vector<Frame> stack_;
};

}  // namespace cfgmask
