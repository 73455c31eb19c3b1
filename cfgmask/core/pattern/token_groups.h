// Patterns some of whose groups are tokens: terminals for what has text, and token sets between them.
//
// Threads: function.
#pragma once

#include "pattern/meaning.h"

namespace cfgmask {

// Fills in what a rule that is the pattern holds. Linear.
//
// Between tokens stand whole lexemes; what their assertions see of a token is that it has no text.
void split_at_tokens(SyntaxTree& tree, SyntaxTree::Id root, const PatternQuestion& question, const PatternRules& rules,
                     UnicodeSets& unicode, const NamedTexts& named, PatternProblems& problems, PatternMeaning& found);

}  // namespace cfgmask
