// Tables of x{m,n} for all m and n from one walk of x*.
//
// In x{m,n}, where x is one character out of a class, a token that stays inside x* stays inside as long as it begins no
// more than n characters, and one that leaves may do so after m to n of them. So one walk that counts characters serves
// every bound. (By plain walks, each position of a string of at most 40 characters cost 4 ms with 128k tokens.)
//
// Where a tail must follow, that begins with bytes of its own, as in [^\n]{0,400}\n or as a JSON string's quote, the
// tail does not depend on the bounds either, but on whether they let it begin.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mask/lexer_table.h"
#include "regex/regex.h"
#include "vocab/trie.h"

namespace cfgmask {

struct CountedTable {
  struct Token {
    TokenId id;
    uint32_t count;  // characters begun
  };
  struct Exit {
    LexerTable::Exit exit;
    uint32_t count;  // characters complete
  };

  std::vector<Token> inside;  // most characters first
  // Segments of which every token stays inside, and the trie that knows their tokens' characters.
  std::vector<const Segment*> segments;
  const Trie* trie = nullptr;
  std::vector<Token> in_tail;  // tokens that go on into the tail, or complete the lexeme by it
  std::vector<Exit> exits;
  bool has_tail = false;
  // Where one more character begins outside of those segments. A bound that is reached there ends the lexeme, unless a
  // tail must follow.
  std::vector<Exit> more;
  SlotSetId matched_run;  // after a whole character

  // `unbounded` is x*, x* and a tail, or a JSON string between characters whose rest is x*; see RegexStore::counted.
  static std::shared_ptr<const CountedTable> build(const Trie& trie, Lexer& lexer, RegexStore& regexes,
                                                   RegexId unbounded);

  // For x{minimum,maximum}: appends the tokens of x* that do not fit.
  void restrict(uint32_t minimum, uint32_t maximum, std::vector<TokenId>& less) const;
  // Where there is a tail: appends what is below the exits of x* that do not fit.
  void restrict_exits(uint32_t minimum, uint32_t maximum, std::vector<LexerTable::Range>& replaced) const;
  // Where there is none: sets the exits, in the order of the trie.
  void set_exits(uint32_t minimum, uint32_t maximum, std::vector<LexerTable::Exit>& out) const;
  void add_ends(const Segment& segment, uint32_t n_characters, std::vector<LexerTable::Exit>& out) const;

  size_t bytes() const {
    return sizeof(*this) + (inside.capacity() + in_tail.capacity()) * sizeof(Token) +
           (exits.capacity() + more.capacity()) * sizeof(Exit);
  }
};

}  // namespace cfgmask
