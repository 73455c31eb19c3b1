// Masks when there is no memory, from each allocation on: an error of the row, never the end of the process, and never
// a bit that may not be known to be allowed.
//
// Rows whose masks cross a limit as well: what is left of them has to be found by what takes memory, too.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "check.h"
#include "matcher/batch.h"
#include "matcher/grammar_builder.h"
#include "matcher/matcher.h"
#include "matcher_checks.h"
#include "vocab/vocabulary.h"

namespace {

// How many more allocations succeed; none is counted while it is negative.
int64_t n_left = -1;

void* allocate(size_t size) {
  if (n_left >= 0 && n_left-- == 0) {
    n_left = 0;
    throw std::bad_alloc();
  }
  void* found = std::malloc(size == 0 ? 1 : size);
  if (found == nullptr) throw std::bad_alloc();
  return found;
}

}  // namespace

void* operator new(size_t size) { return allocate(size); }
void* operator new[](size_t size) { return allocate(size); }
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

void run() {
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
  std::printf("%d masks failed, %d limits were crossed\n", n_failed, n_limited);
}

}  // namespace
}  // namespace cfgmask::testing

int main() { cfgmask::testing::run(); }
