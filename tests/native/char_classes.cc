// Classes of characters as UTF-8: all that a class matches, against the ranges that it was made of.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "check.h"
#include "regex/regex.h"

namespace cfgmask::testing {
namespace {

using Ranges = std::vector<CodePointRange>;

constexpr uint64_t kMaxDepth = 100;
constexpr uint64_t kMaxSearchSteps = 1'000;
constexpr uint32_t kLast = 0x10FFFF;

// Where the forms of UTF-8 and their blocks begin and end, and neighbours.
uint32_t random_code_point(std::mt19937& random) {
  static constexpr uint32_t kBlocks[] = {1, 64, 0x1000, 0x40000};
  static constexpr uint32_t kForms[] = {0, 0x80, 0x800, 0x10000, kLast};
  const auto nearby = static_cast<int32_t>(random() % 5) - 2;
  int32_t at = static_cast<int32_t>(random() % (kLast + 1));
  if (random() % 3 != 0) {
    const uint32_t block = kBlocks[random() % 4];
    at = static_cast<int32_t>(random() % 2 == 0 ? kForms[random() % 5] : random() % (kLast / block + 1) * block) +
         nearby;
  }
  return static_cast<uint32_t>(std::clamp(at, 0, static_cast<int32_t>(kLast)));
}

// Sorted and disjoint; some touch each other.
Ranges random_ranges(std::mt19937& random, size_t n) {
  std::vector<uint32_t> ends(2 * n);
  for (uint32_t& end : ends) end = random_code_point(random);
  std::sort(ends.begin(), ends.end());
  Ranges out;
  for (size_t i = 0; i < ends.size(); i += 2) {
    uint32_t low = ends[i];
    if (!out.empty() && low <= out.back().high) low = out.back().high + 1;
    if (low <= ends[i + 1]) out.push_back({low, ends[i + 1]});
    if (random() % 4 == 0 && i + 2 < ends.size()) ends[i + 2] = ends[i + 1] + 1;
  }
  return out;
}

std::string utf8(uint32_t code) {
  const auto byte = [](uint32_t value) { return static_cast<char>(static_cast<uint8_t>(value)); };
  const auto tail = [&](int shift) { return byte(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return {byte(code)};
  if (code < 0x800) return {byte(0xC0 | (code >> 6)), tail(0)};
  if (code < 0x10000) return {byte(0xE0 | (code >> 12)), tail(6), tail(0)};
  return {byte(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
}

// Appends all texts of a node, in the order of their bytes, which is that of code points.
void add_texts(RegexStore& store, RegexId node, std::string& text, std::vector<std::string>& out) {
  if (node == RegexStore::empty_text()) {
    out.push_back(text);
    return;
  }
  CHECK(!store.nullable(node) && text.size() < 4);
  ByteSet first = store.first(node);
  for (unsigned b = first.lowest(); b < 256; first.remove(b), b = first.lowest()) {
    text.push_back(static_cast<char>(static_cast<uint8_t>(b)));
    add_texts(store, store.derivative(node, b), text, out);
    text.pop_back();
  }
}

Ranges joined(const Ranges& ranges) {
  Ranges out;
  for (const CodePointRange& range : ranges) {
    if (!out.empty() && out.back().high + 1 == range.low) {
      out.back().high = range.high;
    } else {
      out.push_back(range);
    }
  }
  return out;
}

void check(const Ranges& ranges) {
  RegexStore store(kMaxDepth, kMaxSearchSteps);
  const RegexId node = store.char_class(ranges);
  std::string text;
  std::vector<std::string> found;
  add_texts(store, node, text, found);
  size_t i = 0;
  for (const CodePointRange& range : ranges) {
    for (uint32_t code = range.low; code <= range.high; ++code) CHECK(i < found.size() && found[i++] == utf8(code));
  }
  CHECK(i == found.size());
  // However the ranges are cut, it is the same class.
  CHECK(store.char_class(joined(ranges)) == node);
}

}  // namespace
}  // namespace cfgmask::testing

int main() {
  using namespace cfgmask::testing;
  check({});
  check({{0, kLast}});
  check({{0, 0xD7FF}, {0xE000, kLast}});
  std::mt19937 random(7);
  for (size_t n : {1U, 1U, 2U, 3U, 8U, 30U, 30U, 200U}) check(random_ranges(random, n));
  return 0;
}
