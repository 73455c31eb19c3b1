// Backreferences to groups with few texts: `(['"])[a-z]*\1` is `'[a-z]*'|"[a-z]*"`.
//
// A pattern with a backreference is no regular language in general. Where a group has finitely many texts, it is: one
// alternative for each of them, in which the group and what refers to it are that text.
//
// Threads: function.
#pragma once

#include "pattern/syntax_tree.h"

namespace cfgmask {

// The same pattern without the backreferences to groups that have few texts and stand before them in one sequence. All
// others stay, for the translator to refuse. Linear in the result, which has a bound.
SyntaxTree::Id without_backreferences(SyntaxTree& tree, SyntaxTree::Id root);

}  // namespace cfgmask
