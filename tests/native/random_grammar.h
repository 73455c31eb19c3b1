// A vocabulary and a grammar from a fuzzer's choices.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "byte_source.h"
#include "matcher/compiled_grammar.h"
#include "matcher/grammar_builder.h"
#include "vocab/vocabulary.h"

namespace cfgmask::testing {

// Every byte as a token, random words over the letters that grammars use, two ids without text, two end tokens.
std::shared_ptr<const Vocabulary> random_vocabulary(ByteSource& source);

struct RandomGrammar {
  std::shared_ptr<CompiledGrammar> compiled;  // null if the start symbol derives nothing
  bool free_of_dead_ends;  // by the rules of `lexer: complete`: every text that is allowed can be finished
};

// Rules that may be left-recursive, nullable, ambiguous or useless. Throws LimitExceeded.
RandomGrammar random_grammar(ByteSource& source, VocabularyStores& stores, const Limits& limits);

}  // namespace cfgmask::testing
