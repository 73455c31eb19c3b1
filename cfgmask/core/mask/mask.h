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
  std::vector<TokenId> whole_keys;         // those among them that begin and end a key

  void write(std::span<uint32_t> out) const;
  // Those of a few tokens that are allowed; in no order.
  std::vector<TokenId> allowed(const FewTokens& few) const;
  size_t bytes() const {
    return sizeof(*this) + (more.capacity() + bits.capacity() + whole_keys.capacity()) * sizeof(uint32_t);
  }
};

// Walks of the trie with lexer and parser (lexer: longest). Kept between walks to spare an allocation for each of the
// thousand short ones that a string's exits take.
class ParserWalk {
 public:
  ParserWalk(Lexer& lexer, Stepper& stepper) : lexer_(lexer), stepper_(stepper) {}

  // Calls take(tokens of a node) for each node that fits from `at`, of the siblings [first, last) and what is below
  // them. `trie` is a Trie or an ExitTrie.
  template <class Nodes, class Take>
  void run(Configuration at, const Nodes& trie, uint32_t first, uint32_t last, Take take);

 private:
  struct Frame {
    uint32_t end;
    Configuration at;
    const ByteSet* taken;  // other bytes are dead; null where they may begin another lexeme
  };

  void push(uint32_t end, Configuration at);

  Lexer& lexer_;
  Stepper& stepper_;
  std::vector<Frame> stack_;
};

template <class Nodes, class Take>
void ParserWalk::run(Configuration at, const Nodes& trie, uint32_t first, uint32_t last, Take take) {
  stack_.clear();
  push(last, at);
  for (uint32_t node = first; node < last;) {
    while (stack_.back().end <= node) stack_.pop_back();
    const uint32_t end = trie.end(node);
    const Frame& here = stack_.back();
    const uint8_t byte = trie.byte(node);
    if (here.taken != nullptr && !here.taken->has(byte)) {
      node = end;
      continue;
    }
    const auto next = stepper_.longest(here.at, byte);
    if (!next) {
      node = end;
      continue;
    }
    take(trie.tokens(node));
    if (node + 1 != end) push(end, *next);
    ++node;
  }
}

}  // namespace cfgmask
