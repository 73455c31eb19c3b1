// Random walks through random grammars: masks against trying every token, forks, rollbacks, forgotten caches.
#include <cstdint>
#include <span>

#include "byte_source.h"
#include "matcher_checks.h"
#include "random_grammar.h"
#include "util/limits.h"

namespace cfgmask::testing {
namespace {

Limits small_limits() {
  Limits limits;
  limits.max_regex_nodes = 200'000;
  limits.max_lexer_states = 20'000;
  limits.max_search_steps = 300;
  limits.max_items = 2'000;
  limits.max_item_sets = 5'000;
  return limits;
}

}  // namespace
}  // namespace cfgmask::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cfgmask::testing;
  ByteSource source(std::span(data, size));
  try {
    cfgmask::VocabularyStores stores(random_vocabulary(source));
    // Two grammars in one store: what the first has learnt must not show in the second.
    for (int i = 0; i < 2; ++i) {
      const RandomGrammar grammar = random_grammar(source, stores, small_limits());
      if (grammar.compiled != nullptr) check_walk(source, grammar.compiled, grammar.free_of_dead_ends);
    }
  } catch (const cfgmask::LimitExceeded&) {
    // A bound that holds is an answer.
  }
  return 0;
}
