// What all grammars of one vocabulary share: regexes, lexer states, and what is known of the vocabulary from each.
//
// A store is a generation: a grammar keeps the one that it was compiled in, and a vocabulary starts a new one when the
// current one has grown large, so memory is bounded by the live grammars and ids are never reused.
//
// Threads: `mutex` guards everything in the store and in the grammars compiled in it. Whoever touches them holds it,
// but for what is known already: masks, which are read under a pin of `readers`, and steps.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "lexer/lexer.h"
#include "mask/alike_masks.h"
#include "mask/bounded_strings.h"
#include "mask/closing_counts.h"
#include "mask/key_endings.h"
#include "mask/known_steps.h"
#include "mask/lexer_table.h"
#include "regex/minimum_length.h"
#include "regex/regex.h"
#include "util/limits.h"
#include "util/readers.h"
#include "vocab/trie.h"

namespace cfgmask {

struct SharedStore {
  SharedStore(std::shared_ptr<const Trie> trie, size_t n_words, const Limits& limits,
              std::shared_ptr<const KeyEndings> endings = nullptr)
      : key_endings(std::move(endings)),
        regexes(limits.max_nesting * kDepthPerNesting, limits.max_search_steps),
        lengths(regexes.lengths()),
        closing(trie, regexes),
        lexer(regexes, trie->max_depth()),
        known_loops(*trie),
        bounded_strings(regexes, lexer),
        tables(std::move(trie), n_words, regexes, lexer) {}

  std::mutex mutex;
  Readers readers;                                // of masks
  std::shared_ptr<const KeyEndings> key_endings;  // null in a store without a vocabulary
  RegexStore regexes;
  MinimumLengths& lengths;
  ClosingCounts closing;
  Lexer lexer;
  KnownLoops known_loops;  // the tables hold its trie
  BoundedStrings bounded_strings;
  LexerTables tables;
  KnownSteps known_steps;
  AlikeMasks alike_masks;
  std::vector<TokenId> more;  // of a mask that is being made
  uint64_t n_grammars = 0;    // that were compiled in it

  // Residuals nest deeper than the pattern that they come from, by a small factor.
  static constexpr uint64_t kDepthPerNesting = 8;

  size_t bytes() const {
    return regexes.bytes() + closing.bytes() + lexer.bytes() + tables.bytes() + known_steps.bytes() +
           alike_masks.bytes();
  }
};

}  // namespace cfgmask
