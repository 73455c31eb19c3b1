// Repetitions of what has assertions.
//
// The conditions of one round fall on the rounds before and behind it. Between two rounds stands a *node*: what the
// rounds so far demand of all that follows, and what the rounds to come demand of all that came before. A round leads
// from node to node, and the ways through that graph are the repetition.
//
// Threads: function.
#pragma once

#include "pattern/cases.h"
#include "pattern/splits.h"
#include "pattern/text_trees.h"

namespace cfgmask {

// The body any number of times. Throws TooEntangled where that takes too many nodes, or too large trees.
Meaning any_rounds(const Meaning& body, TextTrees& trees, TextSplitter& splitter);

}  // namespace cfgmask
