// Threads that walk one compiled grammar: what they share is guarded, and what one of them learns is right for the
// others.
//
// Each thread makes random walks with masks, forks and rollbacks over a JSON-like grammar and a synthetic vocabulary,
// while others fill masks in batches, compile further grammars for the same vocabulary and forget masks. What is read
// without a lock is tried alone as well. Run under thread sanitizer.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "check.h"
#include "matcher/batch.h"
#include "matcher/grammar_builder.h"
#include "matcher/matcher.h"
#include "matcher_checks.h"
#include "random_schema.h"
#include "util/chunked_vector.h"
#include "util/readers.h"
#include "util/seqlock.h"
#include "util/workers.h"
#include "vocab/vocabulary.h"

namespace cfgmask::testing {
namespace {

constexpr int kWalkers = 3;
constexpr int kWalksEach = 100;
constexpr int kSteps = 60;
constexpr int kCompilations = 60;
constexpr size_t kRows = 12;
constexpr int kBatches = 40;
constexpr int kSchemas = 100;
constexpr uint32_t kWrites = 20000;
constexpr int kFrees = 2000;
constexpr int kLater = 100;
constexpr uint32_t kGenerations = 8;
constexpr size_t kElements = 20000;

using Random = std::mt19937_64;

std::shared_ptr<const Vocabulary> make_vocabulary() {
  std::vector<std::string> tokens;
  for (int b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(b));
  Random random(1);
  constexpr std::string_view kLetters = "{}[]\",:0123456789 \nabcdetruflsn\\u";
  for (int i = 0; i < 4000; ++i) {
    std::string word;
    for (uint64_t n = 2 + random() % 5; n > 0; --n) word += kLetters[random() % kLetters.size()];
    tokens.push_back(word);
  }
  tokens.emplace_back();
  const auto end = static_cast<TokenId>(tokens.size() - 1);
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  return std::make_shared<const Vocabulary>(views, std::vector<TokenId>{end});
}

// value: STRING | NUMBER | "[" [value ("," value)*] "]" | "{" [pair ("," pair)*] "}", blanks ignored.
std::shared_ptr<CompiledGrammar> make_json(VocabularyStores& stores, uint32_t max_length, uint32_t shard = 0,
                                           const Limits& limits = {}) {
  GrammarBuilder builder(stores, limits, shard);
  const auto regex = [&](auto make) { return builder.with([&](RegexStore& r) { return make(r).value; }); };
  const uint32_t blanks = regex([](RegexStore& r) {
    ByteSet set;
    for (const char c : {' ', '\n'}) set.add(static_cast<uint8_t>(c));
    return r.repetition(r.bytes(set), 1, 4);
  });
  const uint32_t scope = builder.scope(true);
  builder.ignore(scope, blanks, "blanks", {});
  const auto literal = [&](std::string_view text) {
    return builder.terminal(regex([&](RegexStore& r) { return r.literal(text); }), scope, 0, std::string(text));
  };
  const uint32_t string =
      builder.terminal(regex([&](RegexStore& r) {
                         const RegexId character = r.char_class({{0x20, 0x7F}, {0x80, 0x7FF}});
                         return r.json_string(r.repetition(character, 0, max_length), JsonEscapes::kAny);
                       }),
                       scope, 0, "STRING");
  const uint32_t number = builder.terminal(
      regex([](RegexStore& r) { return r.repetition(r.bytes(ByteSet::range('0', '9')), 1, 12); }), scope, 0, "NUMBER");

  const uint32_t value = builder.nonterminal();
  const uint32_t comma = literal(",");
  const auto list = [&](std::string_view open, uint32_t element, std::string_view close) {
    const uint32_t rest = builder.nonterminal();
    builder.alternative(rest, std::vector{comma, element});
    builder.alternative(value, std::vector{literal(open), literal(close)});
    builder.alternative(value,
                        std::vector{literal(open), element, builder.repeat(rest, 0, kUnbounded), literal(close)});
  };
  const uint32_t pair = builder.nonterminal();
  builder.alternative(pair, std::vector{string, literal(":"), value});
  builder.alternative(value, std::vector{string});
  builder.alternative(value, std::vector{number});
  list("[", value, "]");
  list("{", pair, "}");
  return builder.build(value, scope, false, false, false);
}

// A schema whose values become rules when a text first comes to them.
std::shared_ptr<CompiledGrammar> make_schema(VocabularyStores& stores) {
  constexpr std::string_view kSchema = R"({
    "anyOf": [
      {"type": "array", "items": {"$ref": "#"}, "minItems": 1},
      {"type": "array", "items": {"enum": ["a", "b", 1, true, null]}, "uniqueItems": true, "minItems": 2},
      {
        "properties": {"a": {"$ref": "#"}, "b": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}, "c": {"maximum": 20}},
        "patternProperties": {"^d": {"type": "boolean"}},
        "additionalProperties": {"$ref": "#"},
        "required": ["b"]
      }
    ]
  })";
  const auto compiled = schema_grammar(kSchema, stores, Limits{});
  CHECK(compiled != nullptr);
  return compiled;
}

void walk(const std::shared_ptr<CompiledGrammar>& grammar, uint64_t seed) {
  Random random(seed);
  Matcher matcher(grammar);
  for (int step = 0; step < kSteps; ++step) {
    const Bits mask = mask_of(matcher);
    const std::vector<TokenId> allowed = tokens_of(mask);
    CHECK(!allowed.empty());
    const TokenId token = allowed[random() % allowed.size()];
    check_steps(matcher, token);
    CHECK(matcher.advance(token));
    if (random() % 8 == 0) {
      const size_t n = random() % (matcher.n_steps() + 1);
      CHECK(matcher.rollback(n));
    }
    if (random() % 16 == 0) matcher.reset();
  }
}

// Batches of walking matchers of several grammars, and a row without one: the same masks as row by row.
void walk_batch(const std::vector<std::shared_ptr<CompiledGrammar>>& grammars, uint64_t seed) {
  Random random(seed);
  std::vector<Matcher> matchers;
  for (size_t i = 0; i < kRows; ++i) matchers.emplace_back(grammars[i % grammars.size()]);
  std::vector<Bits> masks(kRows + 1, Bits(grammars[0]->vocabulary().n_words() + 1));
  for (int n = 0; n < kBatches; ++n) {
    std::vector<BatchRow> rows;
    for (size_t i = 0; i < kRows; ++i) rows.push_back({&matchers[i], masks[i]});
    rows.push_back({nullptr, masks[kRows]});
    fill_masks(rows, 1 + random() % 4);
    CHECK(masks[kRows] == Bits(masks[kRows].size(), UINT32_MAX));
    for (size_t i = 0; i < kRows; ++i) {
      CHECK(!rows[i].error && masks[i].back() == 0);
      const std::vector<TokenId> allowed = tokens_of(masks[i]);
      Bits alone = mask_of(matchers[i]);
      alone.push_back(0);
      CHECK(alone == masks[i]);
      CHECK(matchers[i].advance(allowed[random() % allowed.size()]));
    }
  }
}

struct Triple {
  uint32_t first, second, third;
};

// Two threads write a value that two others read: each comes as it was written.
void check_seqlock() {
  SeqLock<Triple> value;
  CHECK(!value.read());
  std::atomic<bool> is_over = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back([&] {
      while (!is_over) {
        const auto read = value.read();
        CHECK(!read || (read->second == ~read->first && read->third == read->first * 3));
      }
    });
  std::vector<std::thread> writers;
  for (uint32_t i = 0; i < 2; ++i)
    writers.emplace_back([&, i] {
      for (uint32_t n = i; n < kWrites; n += 2) value.write({n, ~n, n * 3});
    });
  for (std::thread& writer : writers) writer.join();
  is_over = true;
  for (std::thread& reader : readers) reader.join();
  value.write({1, ~1U, 3});
  CHECK(value.read() && value.read()->first == 1);
}

// What is unpublished is freed when nobody reads it.
void check_readers() {
  Readers readers;
  std::atomic<const std::string*> published = nullptr;
  std::atomic<bool> is_over = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      while (!is_over) {
        const Readers::Pin pin(readers, i == 0 ? nullptr : &i);
        if (const std::string* text = published.load()) CHECK(*text == "a text that has its own memory");
      }
    });
  for (int i = 0; i < kFrees; ++i) {
    const auto text = std::make_unique<const std::string>("a text that has its own memory");
    published = text.get();
    std::this_thread::yield();
    published = nullptr;
    readers.wait();
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
}

// A vector is read while it grows.
void check_lasting_directory() {
  ChunkedVector<size_t, LastingDirectory<size_t>> squares;
  std::atomic<size_t> n_known = 0;
  std::thread reader([&] {
    for (size_t n = 0; n < kElements;) {
      n = n_known;
      for (size_t i = 0; i < n; i += 1 + i / 8) CHECK(squares[i] == i * i);
    }
  });
  for (size_t i = 0; i < kElements; ++i) {
    squares.push_back(i * i);
    n_known = i + 1;
  }
  reader.join();
}

// What is left for later is done by some thread, once.
void check_later() {
  std::atomic<int> n_done = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < kLater; ++n) Workers::shared().later([&n_done] { ++n_done; });
    });
  for (std::thread& thread : threads) thread.join();
  while (n_done < 3 * kLater) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(n_done == 3 * kLater);
}

// Each grammar begins a generation of its own, of which the one before is freed elsewhere while this one is used.
void walk_generations(VocabularyStores& stores, uint32_t shard) {
  Limits limits;
  limits.shared_cache_bytes = 0;
  for (uint32_t i = 0; i < kGenerations; ++i) {
    const auto grammar = make_json(stores, 30 + i, shard, limits);
    for (uint64_t seed = 0; seed < 3; ++seed) walk(grammar, seed);
  }
}

void run() {
  check_seqlock();
  check_later();
  check_readers();
  check_lasting_directory();
  VocabularyStores stores(make_vocabulary());
  const std::shared_ptr<CompiledGrammar> grammar = make_json(stores, 30);
  CHECK(grammar != nullptr);
  Matcher matcher(grammar);
  check_mask(matcher);

  std::vector<std::thread> threads;
  for (int i = 0; i < kWalkers; ++i)
    threads.emplace_back([&grammar, i] {
      for (int n = 0; n < kWalksEach; ++n) walk(grammar, static_cast<uint64_t>(i * kWalksEach + n));
    });
  const std::vector<std::shared_ptr<CompiledGrammar>> shards{grammar, make_json(stores, 30, 1),
                                                             make_json(stores, 9, 2)};
  threads.emplace_back([&] { walk_batch({grammar}, 0); });
  for (uint64_t seed = 1; seed < 3; ++seed) threads.emplace_back([&shards, seed] { walk_batch(shards, seed); });
  threads.emplace_back([&] {
    for (int i = 0; i < kCompilations; ++i) {
      walk(make_json(stores, static_cast<uint32_t>(i)), 1);
      const CompiledGrammar::Guard guard(*grammar);
      grammar->clear_masks();
    }
  });
  threads.emplace_back([&] { walk_generations(stores, 3); });
  // Forks of one matcher in several threads share its history.
  CHECK(matcher.advance_bytes("[\"a\", ") == 6);
  for (int i = 0; i < kWalkers; ++i)
    threads.emplace_back([fork = matcher]() mutable {
      for (int n = 0; n < 200; ++n) {
        CHECK(fork.advance('1'));
        Matcher copy = fork;
        CHECK(copy.rollback(2) && copy.n_steps() == 0);
        CHECK(fork.rollback(1));
      }
    });
  // What one thread comes to first becomes rules for the others.
  std::vector<std::shared_ptr<CompiledGrammar>> schemas;
  for (int i = 0; i < kSchemas; ++i) schemas.push_back(make_schema(stores));
  for (int i = 0; i < kWalkers; ++i)
    threads.emplace_back([&schemas, i] {
      for (size_t n = 0; n < schemas.size(); ++n) walk(schemas[n], n * kWalkers + static_cast<uint64_t>(i));
    });
  threads.emplace_back([&schemas] {
    for (const auto& schema : schemas) CHECK(Matcher(schema).completion().has_value());
  });
  for (std::thread& thread : threads) thread.join();
  std::printf("%d threads\n", static_cast<int>(threads.size()));
}

}  // namespace
}  // namespace cfgmask::testing

int main() { cfgmask::testing::run(); }
