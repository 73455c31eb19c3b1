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

// Appends the tokens of the subtrees of the siblings [first, last) that fit from `at` (lexer: longest).
void walk_longest(const Trie& trie, Stepper& stepper, Configuration at, uint32_t first, uint32_t last,
                  std::vector<TokenId>& out);

}  // namespace cfgmask
