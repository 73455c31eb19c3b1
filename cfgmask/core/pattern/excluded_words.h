// Names that are none of some words: `(?!(?:and|break|while)\b)[a-z_]\w*`. See cfgmask/regex/excluded_words.py.
//
// Threads: function.
#pragma once

#include <optional>

#include "pattern/character_sets.h"
#include "pattern/syntax_tree.h"
#include "pattern/text_trees.h"

namespace cfgmask {

// What the lookahead at the start of a lexeme excludes.
struct ExcludedWords {
  TextTrees::Id words;
  CodePoints word;     // the characters of words, for `\b`
  CodePoints letters;  // the characters of these words but for the first of each
};

struct WordsAndRest {
  ExcludedWords excluded;
  SyntaxTree::Id rest;
};

// The words that a pattern excludes at its start, and the rest of it; nullopt for any other pattern. Linear.
std::optional<WordsAndRest> excluded_words(SyntaxTree& tree, SyntaxTree::Id root, const PatternRules& rules,
                                           UnicodeSets& unicode, TextTrees& trees);

}  // namespace cfgmask
