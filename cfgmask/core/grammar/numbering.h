// The only place where symbols of a grammar are numbered: what a front end has handed over becomes the builder's
// symbols. A group inside of a rule becomes a nonterminal of its own, repetition stays a symbol, equal terminals are
// one.
//
// Threads: as the builder's; the form is only read.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "grammar/grammar_form.h"
#include "matcher/compiled_grammar.h"
#include "matcher/grammar_builder.h"
#include "util/limits.h"

namespace cfgmask {

// The ids of a form's token sets in one vocabulary, by their numbers.
using TokenIds = std::vector<std::vector<uint32_t>>;

// What a form comes to with one vocabulary.
struct Compiled {
  std::shared_ptr<CompiledGrammar> grammar;  // null: it has no text
  // Or null for one of these reasons.
  GrammarBuilder::Failure failure = GrammarBuilder::Failure::kNone;
  // Without text: the places of its terminals that match no text that is not empty, and of its rules whose limits hold
  // none; else the places of limits; ascending.
  std::vector<uint32_t> places;
};

// Linear in the form. Throws LimitExceeded, and std::out_of_range or std::invalid_argument for what no grammar is.
Compiled compile(const GrammarForm& form, const TokenIds& ids, VocabularyStores& stores, const Limits& limits,
                 uint32_t shard = 0);

}  // namespace cfgmask
