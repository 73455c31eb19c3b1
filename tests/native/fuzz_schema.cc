// Random walks through grammars of random JSON Schemas, as fuzz_grammar.cc does; and reading what is hardly a schema.
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "byte_source.h"
#include "check.h"
#include "matcher_checks.h"
#include "random_schema.h"
#include "util/limits.h"

namespace cfgmask::testing {
namespace {

Limits small_limits() {
  Limits limits;
  limits.max_regex_nodes = 200'000;
  limits.max_lexer_states = 20'000;
  limits.max_search_steps = 1'000;
  limits.max_items = 5'000;
  limits.max_item_sets = 5'000;
  limits.max_rules = 5'000;
  return limits;
}

// A few bytes of the text are others, or gone.
void spoil(std::string& schema, ByteSource& source) {
  for (uint32_t n = 1 + source.below(3); n > 0 && !schema.empty(); --n) {
    const size_t at = source.below(static_cast<uint32_t>(schema.size()));
    if (source.flip()) {
      schema.erase(at, 1 + source.below(3));
    } else {
      schema[at] = static_cast<char>(source.byte() & 0x7F);  // whoever reads a text knows that it is UTF-8
    }
  }
}

}  // namespace
}  // namespace cfgmask::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cfgmask::testing;
  const std::span all(data, size);
  // The way goes by the bytes that made the schemas, which mostly take all that there are.
  ByteSource way(all);
  cfgmask::VocabularyStores stores(json_vocabulary(way));
  // Two grammars in one store: what the first has learnt must not show in the second.
  for (const auto half : {all.first(size / 2), all.subspan(size / 2)}) {
    ByteSource source(half);
    std::string schema = random_schema(source);
    if (way.below(8) == 0) spoil(schema, way);
    try {
      const auto compiled = schema_grammar(schema, stores, small_limits());
      if (compiled != nullptr) check_walk(way, compiled, true);
    } catch (const cfgmask::LimitExceeded&) {
      // A bound that holds is an answer.
    }
  }
  return 0;
}
