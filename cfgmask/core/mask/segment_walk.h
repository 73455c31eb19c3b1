// Whether a lexer state takes all texts of a segment's class and is the same after them.
#pragma once

#include <cstdint>
#include <vector>

#include "lexer/lexer.h"
#include "vocab/trie.h"

namespace cfgmask {

// At most a hundred look-ups for ASCII, some hundreds beyond it.
bool stays(Lexer& lexer, LexerStateId state, const Segment& segment);

}  // namespace cfgmask
