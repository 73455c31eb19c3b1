// Regexes by derivatives against the slow matcher: along a text, byte by byte or by several at once, a residual is
// nullable exactly if the text so far matches, is empty exactly if nothing that starts so matches, and its first bytes
// leave no byte out.
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "byte_source.h"
#include "check.h"
#include "random_regex.h"
#include "regex/regex.h"
#include "slow_regex.h"
#include "util/limits.h"

namespace cfgmask::testing {
namespace {

constexpr int kDepth = 4;
constexpr size_t kTextSize = 24;
constexpr uint64_t kMaxDepth = 200;
constexpr uint64_t kMaxSearchSteps = 300;
constexpr size_t kSearchEvery = 6;
constexpr uint32_t kMostAtOnce = 6;

// A byte that the residual may take, or any.
unsigned choose_byte(ByteSource& source, const ByteSet& first) {
  if (first.empty() || source.below(8) == 0) return source.byte();
  int n = static_cast<int>(source.below(static_cast<uint32_t>(first.count())));
  for (unsigned b = 0; b < 256; ++b)
    if (first.has(b) && n-- == 0) return b;
  return 0;
}

void check_shortest(RegexStore& store, RegexId residual, const SlowRegex& slow, const std::string& text) {
  const std::optional<std::string> rest = store.shortest(residual);
  CHECK(rest.has_value() == !store.is_empty(residual));
  if (!rest) return;
  CHECK(rest->empty() == store.nullable(residual));
  if (!rest->empty()) CHECK(store.first(residual).has(static_cast<uint8_t>(rest->front())));
  if (text.size() + rest->size() < 60) CHECK(matches(slow, text + *rest));
}

// Moves on by some bytes, which are appended to the text: at once, if the store can.
RegexId step(ByteSource& source, RegexStore& store, RegexId residual, std::string& text) {
  const size_t n_bytes = source.below(3) == 0 ? 2 + source.below(kMostAtOnce - 1) : 1;
  std::string taken;
  RegexId next = residual;
  while (taken.size() < n_bytes) {
    const ByteSet first = store.first(next);
    const unsigned b = choose_byte(source, first);
    next = store.derivative(next, b);
    if (!first.has(b)) CHECK(store.is_empty(next));
    taken += static_cast<char>(b);
  }
  text += taken;
  if (n_bytes > 1) {
    if (const auto after = store.after(residual, taken)) return *after;
  }
  return next;
}

void check(ByteSource& source) {
  RegexStore store(kMaxDepth, kMaxSearchSteps);
  const RegexPair pair = RandomRegex(source, store).make(kDepth);
  RegexId residual = pair.fast;
  std::string text;
  while (true) {
    CHECK(store.nullable(residual) == matches(*pair.slow, text));
    if (text.size() % kSearchEvery == 0) check_shortest(store, residual, *pair.slow, text);
    if (text.size() >= kTextSize || source.used_up()) return;
    residual = step(source, store, residual, text);
  }
}

}  // namespace
}  // namespace cfgmask::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cfgmask::testing::ByteSource source(std::span(data, size));
  try {
    cfgmask::testing::check(source);
  } catch (const cfgmask::LimitExceeded&) {
    // A bound that holds is an answer.
  }
  return 0;
}
