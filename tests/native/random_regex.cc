#include "random_regex.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace cfgmask::testing {

namespace {

using Kind = SlowRegex::Kind;

// Few letters, so that random texts meet random regexes; the rest is what JSON strings are made of.
constexpr std::string_view kLetters = "aab\"\\/nu0dD8.";
constexpr uint32_t kRangeEnds[] = {0x09,  0x1F,  0x22,   0x5C,   0x61,   0x7F,    0x80,    0xE9,
                                   0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF};

RegexPair pair(RegexId fast, SlowRegex slow) { return {fast, std::make_shared<const SlowRegex>(std::move(slow))}; }

}  // namespace

RegexPair RandomRegex::make(int depth, bool utf8) {
  if (depth == 0 || source_.used_up()) return make_leaf(utf8);
  switch (source_.below(9)) {
    case 0:
    case 1:
      return make_parts(Kind::kConcatenation, depth, utf8);
    case 2:
      return make_parts(Kind::kAlternation, depth, utf8);
    case 3:
      return make_repetition(depth, utf8);
    case 4:
      return make_parts(Kind::kIntersection, depth, utf8);
    case 5:
      return utf8 ? make_leaf(utf8) : make_parts(Kind::kComplement, depth, utf8);
    case 6:
      return utf8 ? make_leaf(utf8) : make_json_string(depth);
    case 7:
      return make_bounded(depth, utf8);
    default:
      return make_leaf(utf8);
  }
}

RegexPair RandomRegex::make_leaf(bool utf8) {
  SlowRegex slow;
  switch (source_.below(7)) {
    case 0:
      slow.kind = Kind::kLiteral;
      slow.keys = {make_word()};
      return pair(store_.literal(slow.keys[0]), slow);
    case 1:
      slow.kind = Kind::kCharacters;
      slow.ranges = make_ranges();
      return pair(store_.char_class(slow.ranges), slow);
    case 2:
      slow.kind = Kind::kKeySet;
      for (uint32_t n = source_.below(5); n > 0; --n) slow.keys.push_back(make_word());
      return pair(store_.key_set(slow.keys), slow);
    case 3:
      slow.kind = Kind::kDivisible;
      slow.modulus = 1 + source_.below(12);
      return pair(store_.divisible(slow.modulus), slow);
    case 4:
      slow.kind = Kind::kSubstring;
      for (uint32_t n = source_.below(8); n > 0; --n) slow.keys.push_back(make_word());
      return pair(store_.substring(slow.keys), slow);
    case 5:
      return make_multiples();
    default:
      slow.kind = Kind::kBytes;
      for (uint32_t n = 1 + source_.below(4); n > 0; --n)
        slow.bytes.add(utf8 || source_.flip() ? static_cast<uint8_t>(kLetters[source_.below(kLetters.size())])
                                              : source_.byte());
      return pair(store_.bytes(slow.bytes), slow);
  }
}

RegexPair RandomRegex::make_multiples() {
  constexpr std::array<uint64_t, 8> kSteps{1, 2, 3, 4, 7, 10, 30, 1'000};
  SlowRegex slow;
  slow.kind = Kind::kMultiples;
  slow.minimum = source_.below(3);
  slow.maximum = source_.flip() ? kUnbounded : 1 + source_.below(4);
  std::vector<uint32_t> words{slow.minimum, slow.maximum};
  for (uint32_t n = 1 + source_.below(3); n > 0; --n) {
    Multiples::Case given{kSteps[source_.below(kSteps.size())], {}, kUnbounded, source_.flip()};
    if (source_.flip()) given.most_places = source_.below(5);
    for (uint32_t k = source_.below(3); k > 0; --k) given.without.push_back(kSteps[source_.below(kSteps.size())]);
    const auto n_without = static_cast<uint32_t>(given.without.size());
    words.insert(words.end(),
                 {static_cast<uint32_t>(given.step), 0, given.most_places, given.finer ? 1U : 0U, n_without});
    for (uint64_t step : given.without) words.insert(words.end(), {static_cast<uint32_t>(step), 0});
    slow.cases.push_back(std::move(given));
  }
  return pair(store_.multiples(words), slow);
}

RegexPair RandomRegex::make_parts(Kind kind, int depth, bool utf8) {
  const uint32_t n = kind == Kind::kComplement ? 1 : 2 + source_.below(2);
  SlowRegex slow;
  slow.kind = kind;
  std::vector<RegexId> fast;
  for (uint32_t i = 0; i < n; ++i) {
    const RegexPair part = make(depth - 1, utf8);
    fast.push_back(part.fast);
    slow.parts.push_back(part.slow);
  }
  if (kind == Kind::kAlternation) return pair(store_.alternation(fast), slow);
  if (kind == Kind::kIntersection) return pair(store_.intersection(fast), slow);
  if (kind == Kind::kComplement) return pair(store_.complement(fast[0]), slow);
  RegexId all = fast.back();
  for (size_t i = fast.size() - 1; i-- > 0;) all = store_.concatenation(fast[i], all);
  return pair(all, slow);
}

RegexPair RandomRegex::make_repetition(int depth, bool utf8) {
  const RegexPair body = make(depth - 1, utf8);
  SlowRegex slow;
  slow.kind = Kind::kRepetition;
  slow.parts = {body.slow};
  slow.minimum = source_.below(4);
  slow.maximum = source_.flip() ? kUnbounded : slow.minimum + source_.below(source_.flip() ? 4 : 60000);
  return pair(store_.repetition(body.fast, slow.minimum, slow.maximum), slow);
}

RegexPair RandomRegex::make_bounded(int depth, bool utf8) {
  SlowRegex character;
  character.kind = Kind::kCharacters;
  character.ranges = {{0, 0xD7FF}, {0xE000, 0x10FFFF}};
  SlowRegex run;
  run.kind = Kind::kRepetition;
  run.parts = {std::make_shared<const SlowRegex>(character)};
  run.minimum = source_.below(8);
  run.maximum = run.minimum + source_.below(source_.flip() ? 3 : 40);
  const RegexPair part = make(depth - 1, utf8);
  SlowRegex slow;
  slow.kind = Kind::kIntersection;
  slow.parts = {std::make_shared<const SlowRegex>(run), part.slow};
  const RegexId bounds = store_.repetition(store_.char_class(character.ranges), run.minimum, run.maximum);
  return pair(store_.intersection({bounds, part.fast}), slow);
}

RegexPair RandomRegex::make_json_string(int depth) {
  const RegexPair body = make(depth - 1, true);
  SlowRegex slow;
  slow.kind = Kind::kJsonString;
  slow.parts = {body.slow};
  slow.escapes = static_cast<JsonEscapes>(source_.below(4));
  return pair(store_.json_string(body.fast, slow.escapes), slow);
}

std::string RandomRegex::make_word() {
  std::string word;
  for (uint32_t n = source_.below(5); n > 0; --n) word += kLetters[source_.below(kLetters.size())];
  return word;
}

std::vector<CodePointRange> RandomRegex::make_ranges() {
  std::vector<uint32_t> ends;
  for (uint32_t n = 2 * (1 + source_.below(2)); n > 0; --n)
    ends.push_back(kRangeEnds[source_.below(std::size(kRangeEnds))]);
  std::sort(ends.begin(), ends.end());
  std::vector<CodePointRange> ranges;
  for (size_t i = 0; i < ends.size(); i += 2) {
    // Sorted, disjoint and without surrogates, as the store wants them.
    uint32_t low = ends[i];
    if (!ranges.empty()) low = std::max(low, ranges.back().high + 1);
    if (low == 0xD800) low = 0xE000;
    if (low > ends[i + 1]) continue;
    if (low < 0xD800 && ends[i + 1] > 0xDFFF) {
      ranges.push_back({low, 0xD7FF});
      low = 0xE000;
    }
    ranges.push_back({low, ends[i + 1]});
  }
  return ranges;
}

}  // namespace cfgmask::testing
