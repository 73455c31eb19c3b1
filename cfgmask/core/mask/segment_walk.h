// What a lexer state does to all tokens of a segment at once.
#pragma once

#include <cstdint>
#include <vector>

#include "lexer/lexer.h"
#include "regex/regex.h"
#include "util/hash_table.h"
#include "vocab/trie.h"

namespace cfgmask {

// Whether `state` takes all texts of the segment's class and is the same after them. At most a hundred look-ups for
// ASCII, some hundreds beyond it.
bool stays(Lexer& lexer, LexerStateId state, const Segment& segment);

// Whether states take all texts of a segment's class, to whatever state: then its tokens stay inside the lexeme, and so
// do those of a subtree on the way to which the lexer came to such a state. Remembered: a walk comes to few states by
// many subtrees.
class SegmentAnswers {
 public:
  SegmentAnswers(const Trie& trie, RegexStore& regexes, Lexer& lexer) : trie_(trie), regexes_(regexes), lexer_(lexer) {}

  bool takes_all(LexerStateId state, const Segment& segment);
  // The same, and to the same state. Not remembered.
  bool keeps(LexerStateId state, const Segment& segment) {
    return !lexer_.is_limited(state) && stays(lexer_, state, segment);
  }
  void clear() { known_ = HashTable(); }
  size_t bytes() const { return known_.bytes(); }

 private:
  bool ask(LexerStateId state, const Segment& segment);

  const Trie& trie_;
  RegexStore& regexes_;
  Lexer& lexer_;
  HashTable known_;  // (state, segment) -> whether
};

}  // namespace cfgmask
