// What every token of the vocabulary does to a lexer state, before any parser is asked.
//
// From a lexer state, a token either stays inside the lexeme to its last byte, or dies in it, or leaves it: the bytes so
// far complete a lexeme and the next byte cannot go on. The first kind is a set of tokens; the last is a list of exits,
// each a range of sibling subtrees of the trie that begin a new lexeme once the parser has scanned the matched slots. Both
// depend on the residuals alone, so a table serves every parser state and every grammar in which the same residuals are
// live: a mask is a table's inside, and the walks of its exits from the parser's answers.
//
// Threads: guarded by the store that owns it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "lexer/lexer.h"
#include "vocab/trie.h"

namespace cfgmask {

// Bits of a mask: token i is bit i % 32 of word i / 32, 1 = allowed.
inline void set_bit(std::span<uint32_t> bits, TokenId token) { bits[token >> 5] |= 1U << (token & 31); }

struct LexerTable {
  // Siblings in [first, last) and what is below them, from the boundary after `matched`.
  struct Exit {
    SlotSetId matched;
    uint32_t first;
    uint32_t last;
  };

  // Tokens that stay inside: `tokens` if they are few, else `bits`.
  std::vector<TokenId> tokens;
  std::vector<uint32_t> bits;
  std::vector<Exit> exits;

  void add_inside(std::span<uint32_t> out) const;
  size_t bytes() const { return sizeof(*this) + (tokens.capacity() + bits.capacity()) * 4 + exits.capacity() * sizeof(Exit); }
};

class LexerTables {
 public:
  // n_words: 32-bit words of a mask.
  LexerTables(std::shared_ptr<const Trie> trie, size_t n_words, Lexer& lexer)
      : trie_(std::move(trie)), n_words_(n_words), lexer_(lexer) {}

  // The table of a state; built by one walk of the trie with the lexer alone, then remembered. The result outlives its
  // being forgotten.
  std::shared_ptr<const LexerTable> get(LexerStateId state);
  // Forgets all tables if they have grown over the bound.
  void trim(size_t max_bytes);
  void clear();

  const Trie& trie() const { return *trie_; }
  size_t n_words() const { return n_words_; }
  size_t size() const { return tables_.size(); }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<LexerTable> build(LexerStateId state);

  std::shared_ptr<const Trie> trie_;
  size_t n_words_;
  Lexer& lexer_;
  std::unordered_map<uint32_t, std::shared_ptr<const LexerTable>> tables_;
  size_t bytes_ = 0;
};

}  // namespace cfgmask
