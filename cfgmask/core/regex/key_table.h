// Sorted texts as one list of words, as an interner has them: how many there are, where each begins, where the last one
// ends, and their bytes. That is a third of what strings beside such words took, and none has to be made.
//
// Threads: immutable. Valid as long as the words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "util/byte_set.h"
#include "util/interner.h"

namespace cfgmask {

class KeyTable {
 public:
  explicit KeyTable(Words words) : words_(words) {}

  static std::vector<uint32_t> words_of(std::span<const std::string_view> texts) {
    size_t n_bytes = 0;
    for (std::string_view text : texts) n_bytes += text.size();
    std::vector<uint32_t> words(n_before(texts.size()) + n_words(n_bytes), 0);
    words[0] = static_cast<uint32_t>(texts.size());
    char* bytes = reinterpret_cast<char*>(words.data() + n_before(texts.size()));
    uint32_t at = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      words[1 + i] = at;
      std::copy(texts[i].begin(), texts[i].end(), bytes + at);
      at += static_cast<uint32_t>(texts[i].size());
    }
    words[1 + texts.size()] = at;
    return words;
  }

  uint32_t size() const { return words_[0]; }
  std::string_view operator[](size_t i) const {
    const char* bytes = reinterpret_cast<const char*>(words_.data() + n_before(size()));
    return {bytes + words_[1 + i], words_[2 + i] - words_[1 + i]};
  }
  // The first place of [low, high) whose text is not before what is looked for.
  template <class F>
  uint32_t find(uint32_t low, uint32_t high, F is_before) const {
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (is_before((*this)[middle])) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  // The keys of [low, high) that go on with a byte; all have so many bytes in common, and more.
  std::pair<uint32_t, uint32_t> with_byte(uint32_t low, uint32_t high, uint32_t depth, unsigned b) const {
    const auto byte_at = [depth](std::string_view key) { return static_cast<uint8_t>(key[depth]); };
    const uint32_t from = find(low, high, [&](std::string_view key) { return byte_at(key) < b; });
    return {from, find(from, high, [&](std::string_view key) { return byte_at(key) == b; })};
  }
  // The bytes that they go on with. A search for each byte, or a look at each key.
  ByteSet bytes_at(uint32_t low, uint32_t high, uint32_t depth) const {
    constexpr uint32_t kFew = 256;
    ByteSet set;
    while (low < high) {
      const auto b = static_cast<uint8_t>((*this)[low][depth]);
      set.add(b);
      low = high - low < kFew ? low + 1 : with_byte(low, high, depth, b).second;
    }
    return set;
  }
  // The words that stand behind the bytes.
  Words further() const { return words_.subspan(n_before(size()) + n_words(words_[1 + size()])); }

 private:
  static size_t n_before(size_t n_texts) { return n_texts + 2; }
  static size_t n_words(size_t n_bytes) { return (n_bytes + 3) / 4; }

  Words words_;
};

// Texts that have numbers.
struct NumberedTable {
  static constexpr uint32_t kNoPlace = UINT32_MAX;

  explicit NumberedTable(Words words)
      : keys(words), numbers(keys.further().subspan(0, keys.size())), places(keys.further().subspan(keys.size())) {}

  // `numbers` are those of the texts.
  static std::vector<uint32_t> words_of(std::span<const std::string_view> texts, std::span<const uint32_t> numbers) {
    std::vector<uint32_t> words = KeyTable::words_of(texts);
    words.insert(words.end(), numbers.begin(), numbers.end());
    const uint32_t n_numbers = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end()) + 1;
    const size_t first = words.size();
    words.resize(first + n_numbers, kNoPlace);
    for (uint32_t place = 0; place < numbers.size(); ++place) words[first + numbers[place]] = place;
    return words;
  }

  KeyTable keys;
  Words numbers;  // by place in `keys`
  Words places;   // by number
};

}  // namespace cfgmask
