// Masks when there is no memory, from each allocation on: an error of the row, never the end of the process, and never
// a bit that may not be known to be allowed.
//
// Rows whose masks cross a limit as well: what is left of them has to be found by what takes memory, too.
//
// And once there is memory again, the masks of all grammars of a vocabulary are right, wherever it was missing.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "byte_source.h"
#include "check.h"
#include "matcher/batch.h"
#include "matcher/grammar_builder.h"
#include "matcher/matcher.h"
#include "matcher_checks.h"
#include "random_grammar.h"
#include "random_schema.h"
#include "vocab/vocabulary.h"

namespace {

// How many more allocations succeed; none is counted while it is negative.
int64_t n_left = -1;
// Whether there is memory again after the first allocation that fails.
bool fails_once = false;

void* allocate(size_t size) {
  if (n_left >= 0 && n_left-- == 0) {
    n_left = fails_once ? -1 : 0;
    throw std::bad_alloc();
  }
  void* found = std::malloc(size == 0 ? 1 : size);
  if (found == nullptr) throw std::bad_alloc();
  return found;
}

}  // namespace

void* operator new(size_t size) { return allocate(size); }
void* operator new[](size_t size) { return allocate(size); }
// As std::stable_partition asks for its buffer; a sanitizer would answer that otherwise, and miss it in `delete`.
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace cfgmask::testing {
namespace {

std::shared_ptr<const Vocabulary> make_vocabulary() {
  std::vector<std::string> tokens;
  for (int b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(b));
  for (const char* word : {"aa", "ab", "ba", "aab", "b,", ",a", "aaaa"}) tokens.emplace_back(word);
  tokens.emplace_back();
  const auto end = static_cast<TokenId>(tokens.size() - 1);
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  return std::make_shared<const Vocabulary>(views, std::vector<TokenId>{end});
}

// list: item | list "," item; item: [ab]* "a" [ab]{6}.
std::shared_ptr<CompiledGrammar> make_grammar(VocabularyStores& stores, const Limits& limits) {
  GrammarBuilder builder(stores, limits, 0);
  const uint32_t scope = builder.scope(true);
  const auto regex = [&](auto make) { return builder.with([&](RegexStore& r) { return make(r).value; }); };
  const uint32_t item = builder.terminal(regex([](RegexStore& r) {
                                           const RegexId either = r.bytes(ByteSet::range('a', 'b'));
                                           const RegexId end =
                                               r.concatenation(r.literal("a"), r.repetition(either, 6, 6));
                                           return r.concatenation(r.repetition(either, 0, kUnbounded), end);
                                         }),
                                         scope, 0, "ITEM");
  const uint32_t comma = builder.terminal(regex([](RegexStore& r) { return r.literal(","); }), scope, 0, ",");
  const uint32_t list = builder.nonterminal();
  builder.alternative(list, std::vector{item});
  builder.alternative(list, std::vector{list, comma, item});
  return builder.build(list, scope, false, false, false);
}

// Whether a mask has no bit that the right one lacks.
bool is_within(const Bits& mask, const Bits& right) {
  for (size_t i = 0; i < mask.size(); ++i) {
    if ((mask[i] & ~right[i]) != 0) return false;
  }
  return true;
}

// Fills a mask after `text`, in a batch or alone, with memory for n allocations. Whether that failed.
bool fails_with(int64_t n, std::string_view text, const Limits& limits, bool in_batch) {
  const auto vocabulary = make_vocabulary();
  VocabularyStores stores(vocabulary);
  Matcher matcher(make_grammar(stores, limits));
  CHECK(matcher.advance_bytes(text) == text.size());
  Matcher reference(make_grammar(stores, Limits()));
  CHECK(reference.advance_bytes(text) == text.size());
  const Bits right = mask_of(reference);

  VocabularyStores fresh(vocabulary);
  Matcher starved(make_grammar(fresh, limits));
  CHECK(starved.advance_bytes(text) == text.size());
  Bits mask(vocabulary->n_words(), UINT32_MAX);
  std::vector<BatchRow> rows{{&starved, mask}};
  bool failed = false;
  bool was_begun = true;
  n_left = n;
  try {
    if (in_batch) {
      was_begun = false;  // what the batch itself needs is allocated before it looks at a row
      fill_masks(rows, 1);
      was_begun = true;
    } else {
      starved.fill_mask(mask);
    }
  } catch (const std::exception&) {
    failed = true;
  }
  n_left = -1;
  // Once a row is looked at, no error leaves the batch: a worker has nobody to tell.
  CHECK(was_begun || rows[0].error == nullptr);
  failed = failed || rows[0].error != nullptr;
  if (!failed) CHECK(mask == right);
  if (failed && was_begun) CHECK(is_within(mask, right));
  return failed;
}

// How many masks fail until there is memory enough, or 200.
int starve(std::string_view text, const Limits& limits) {
  int total = 0;
  for (const bool in_batch : {true, false}) {
    int n = 0;
    while (n < 200 && fails_with(n, text, limits, in_batch)) ++n;
    total += n;
  }
  return total;
}

// A text of a grammar, with a budget or without.
struct Case {
  std::function<std::shared_ptr<CompiledGrammar>(VocabularyStores&)> make;
  std::string text;
  std::optional<uint32_t> max_tokens = std::nullopt;

  Matcher matcher(VocabularyStores& stores) const { return Matcher(make(stores), max_tokens, 0); }
};

// The masks along the text.
std::vector<Bits> masks_along(Matcher& matcher, std::string_view text) {
  std::vector<Bits> found;
  for (const char byte : text) {
    found.push_back(mask_of(matcher));
    CHECK(matcher.advance(static_cast<uint8_t>(byte)));
  }
  return found;
}

// With memory for n allocations, compiles the grammar and takes the text, with a mask before each byte. Afterwards
// there is memory again, and all grammars of the vocabulary give the right masks: the one that failed, and others that
// were compiled before and after. Whether an allocation failed.
bool is_right_after(int64_t n, bool once, const Case& of, const std::vector<Bits>& right) {
  const auto vocabulary = make_vocabulary();
  VocabularyStores stores(vocabulary);
  Matcher before = of.matcher(stores);
  CHECK(before.advance(static_cast<uint8_t>(of.text[0])));
  std::optional<Matcher> starved;
  Bits mask(vocabulary->n_words());
  bool failed = false;
  fails_once = once;
  n_left = n;
  try {
    starved = of.matcher(stores);
    for (const char byte : of.text) {
      starved->fill_mask(mask);
      starved->advance(static_cast<uint8_t>(byte));
    }
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  n_left = -1;
  fails_once = false;
  Matcher after = of.matcher(stores);
  for (Matcher* matcher : {starved ? &*starved : nullptr, &before, &after}) {
    if (matcher == nullptr) continue;
    matcher->reset();
    CHECK(masks_along(*matcher, of.text) == right);
  }
  return failed;
}

// How many allocations a fresh vocabulary needs for the text.
int64_t count_allocations(const Case& of) {
  VocabularyStores stores(make_vocabulary());
  constexpr int64_t kMany = int64_t{1} << 40;
  n_left = kMany;
  Matcher matcher = of.matcher(stores);
  masks_along(matcher, of.text);
  return kMany - std::exchange(n_left, -1);
}

// How many of the allocations were made to fail: all of them, or `most` at about the same distance.
int check_what_is_left(const Case& of, int64_t most) {
  VocabularyStores stores(make_vocabulary());
  Matcher reference = of.matcher(stores);
  const std::vector<Bits> right = masks_along(reference, of.text);
  const int64_t distance = 1 + count_allocations(of) / most;
  int n_failed = 0;
  for (const bool once : {true, false}) {
    for (int64_t n = once ? 0 : distance / 2; is_right_after(n, once, of, right); n += distance) ++n_failed;
  }
  return n_failed;
}

// A random grammar, and a text that its masks allow; nullopt for one that crosses a limit or allows no byte.
std::optional<Case> random_case(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> choices(400);
  for (uint8_t& choice : choices) choice = static_cast<uint8_t>(random());
  const auto make = [choices](VocabularyStores& stores) {
    ByteSource source(choices);
    return random_grammar(source, stores, Limits()).compiled;
  };
  VocabularyStores stores(make_vocabulary());
  std::string text;
  try {
    const auto grammar = make(stores);
    if (grammar == nullptr) return std::nullopt;
    Matcher matcher(grammar);
    while (text.size() < 12) {
      const Bits mask = mask_of(matcher);
      std::vector<uint8_t> allowed;
      for (unsigned byte = 0; byte < 256; ++byte) {
        if (has(mask, byte)) allowed.push_back(static_cast<uint8_t>(byte));
      }
      if (allowed.empty()) break;
      const uint8_t byte = allowed[random() % allowed.size()];
      CHECK(matcher.advance(byte));
      text.push_back(static_cast<char>(byte));
    }
  } catch (const LimitExceeded&) {
    return std::nullopt;
  }
  return text.empty() ? std::nullopt : std::optional<Case>({make, text});
}

// Rules of a grammar, registers, keys and lazy parts of schemas, the search for short texts.
int check_what_is_left(int64_t most) {
  const auto rules = [](VocabularyStores& stores) { return make_grammar(stores, Limits()); };
  const auto schema = [](const std::string& text) {
    return [text](VocabularyStores& stores) {
      auto grammar = schema_grammar(text, stores, Limits());
      CHECK(grammar != nullptr);
      return grammar;
    };
  };
  const auto unique = schema(R"({"type": "array", "items": {"enum": ["a", "b", 1, 2]}, "uniqueItems": true})");
  const std::string keys =
      R"({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string", "pattern": "^a{1,3}b"}},)"
      R"( "required": ["a"], "additionalProperties": {"$ref": "#"}})";
  // With a blank more, the other order of keys (random_schema.cc).
  const auto object = schema(keys);
  const auto other_order = schema(keys + ' ');
  const Case cases[] = {{rules, "aabbabab,aabbabab,"},
                        {unique, R"(["a",1,2])"},
                        {unique, R"(["a",1,2])", 12},
                        {object, R"({"a":10,"b":"aab","c":{"a":1}})"},
                        {object, R"({"a":10,"b":"aab","c":{"a":1}})", 32},
                        {other_order, R"({"a":10,"b":"aab","c":{"a":1}})"}};
  int total = 0;
  for (const Case& of : cases) total += check_what_is_left(of, most);
  for (uint32_t seed = 0; seed < 24; ++seed) {
    if (const auto of = random_case(seed)) total += check_what_is_left(*of, most / 2);
  }
  return total;
}

void run(int64_t most) {
  const int n_left_right = check_what_is_left(most);
  int n_failed = 0;
  int n_limited = 0;
  for (const std::string_view text : {std::string_view(""), std::string_view("aab"), std::string_view("aaaaaaa,")}) {
    n_failed += starve(text, Limits());
    for (const auto limit : {&Limits::max_lexer_states, &Limits::max_item_sets, &Limits::max_items}) {
      for (uint64_t most = 1; most < 30; ++most) {
        Limits few;
        few.*limit = most;
        try {
          // A limit that the mask alone crosses, however much memory there is.
          const int n = starve(text, few);
          if (n == 400) ++n_limited;
          n_failed += n;
        } catch (const LimitExceeded&) {
          continue;  // before there was a mask to fill
        }
      }
    }
  }
  CHECK(n_failed > 100 && n_limited > 0);
  std::printf("%d masks failed, %d limits were crossed, %d failures left all right\n", n_failed, n_limited,
              n_left_right);
}

}  // namespace
}  // namespace cfgmask::testing

// With a number: so many of the allocations that a case needs are made to fail, and not 100.
int main(int n_arguments, char** arguments) { cfgmask::testing::run(n_arguments > 1 ? std::atoll(arguments[1]) : 100); }
