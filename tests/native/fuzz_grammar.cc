// Random walks through random grammars: masks against trying every token, forks, rollbacks, forgotten caches.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "byte_source.h"
#include "check.h"
#include "matcher/matcher.h"
#include "matcher_checks.h"
#include "random_grammar.h"
#include "util/limits.h"

namespace cfgmask::testing {
namespace {

constexpr uint32_t kMaxSteps = 12;

Limits small_limits() {
  Limits limits;
  limits.max_regex_nodes = 200'000;
  limits.max_lexer_states = 20'000;
  limits.max_search_steps = 300;
  limits.max_items = 2'000;
  limits.max_item_sets = 5'000;
  return limits;
}

void walk(ByteSource& source, const RandomGrammar& grammar) {
  Matcher matcher(grammar.compiled);
  for (uint32_t step = 0; step < kMaxSteps; ++step) {
    check_mask(matcher);
    const std::vector<TokenId> allowed = tokens_of(mask_of(matcher));
    if (grammar.free_of_dead_ends) CHECK(!allowed.empty());
    if (allowed.empty() || source.used_up()) return;
    const TokenId token = allowed[source.below(static_cast<uint32_t>(allowed.size()))];
    check_steps(matcher, token);
    if (!matcher.is_finished()) check_forced_bytes(matcher);
    if (source.below(4) == 0) {
      const Bits before = mask_of(matcher);
      {
        const CompiledGrammar::Guard guard(*grammar.compiled);
        grammar.compiled->clear_masks();
      }
      CHECK(mask_of(matcher) == before);
    }
    if (source.below(8) == 0) CHECK(matcher.rollback(source.below(static_cast<uint32_t>(matcher.n_steps() + 1))));
    (void)matcher.advance(token);
  }
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
      if (grammar.compiled != nullptr) walk(source, grammar);
    }
  } catch (const cfgmask::LimitExceeded&) {
    // A bound that holds is an answer.
  }
  return 0;
}
