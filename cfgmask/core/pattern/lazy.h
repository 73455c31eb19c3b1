// Lazy repetitions of lexemes: they end where what follows them in the pattern can match for the first time.
//
// `X*?R`, where R is all of the pattern behind the repetition, becomes `(?:(?!R)X)*R`: before each round that the
// counts do not demand, the rest fails. A backtracking engine that looks for its first match ends such a repetition at
// the same place, if the texts of a round are told apart by their length. Where nothing follows, no more rounds are
// taken than must be. Whether R matches does not depend on which of its own repetitions are lazy, so inside of `(?!R)`
// they need not be.
//
// Threads: functions.
#pragma once

#include <cstdint>

#include "pattern/problems.h"
#include "pattern/syntax_tree.h"

namespace cfgmask {

// How many nodes the guards of one pattern may come to; each lazy repetition repeats what follows it, which is
// something for each but one.
inline constexpr uint64_t kMostLazyNodes = 20'000;

// Whether a part has a lazy repetition that leaves it a choice, outside of lookaround.
bool is_lazy(const SyntaxTree& tree, SyntaxTree::Id root);

// The same texts without lazy repetitions, as lookahead says them. Reports what cannot be said. Quadratic in the number
// of lazy repetitions.
SyntaxTree::Id without_lazy(SyntaxTree& tree, SyntaxTree::Id root, PatternProblems& problems);

}  // namespace cfgmask
