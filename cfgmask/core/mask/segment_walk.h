// What a lexer state does to all tokens of a segment at once.
#pragma once

#include <cstdint>
#include <vector>

#include "lexer/lexer.h"
#include "regex/regex.h"
#include "vocab/trie.h"

namespace cfgmask {

// Whether `state` takes all texts of the segment's class and is the same after them. At most a hundred look-ups for
// ASCII, some hundreds beyond it.
bool stays(Lexer& lexer, LexerStateId state, const Segment& segment);

// Whether `state` takes all texts of the segment's class, to whatever state: then its tokens stay inside the lexeme.
bool takes_all(RegexStore& regexes, Lexer& lexer, LexerStateId state, const Segment& segment);

}  // namespace cfgmask
