// Gives equal sequences of words the same small integer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "util/chunked_vector.h"
#include "util/hash_table.h"

namespace cfgmask {

using Words = std::span<const uint32_t>;

// Ids are dense from 0 in order of first sight. The words live in an arena and never move, so a span that `at` gave
// stays valid as long as the interner. Cost of `intern`: one hash of the words, one probe, on a miss one copy.
class Interner {
 public:
  std::optional<uint32_t> find(Words words) const { return find(words, hash(words)); }

  // The id, and whether it is new.
  std::pair<uint32_t, bool> intern(Words words) {
    const uint32_t h = hash(words);
    if (auto found = find(words, h)) return {*found, false};
    return {add(words, h), true};
  }

  // The two halves of `intern`, for those who do something between them. `add` takes what `find` did not find.
  static uint32_t hash(Words words) { return static_cast<uint32_t>(hash_words(words.data(), words.size())); }
  std::optional<uint32_t> find(Words words, uint32_t hash) const {
    return table_.find(hash, [&](uint32_t id) { return equal(entries_[id], words); });
  }
  uint32_t add(Words words, uint32_t hash) { return add_kept(store(words), hash); }
  // The same of words that the caller keeps as long as the interner.
  uint32_t add_kept(Words words, uint32_t hash) {
    const auto id = static_cast<uint32_t>(entries_.size());
    entries_.push_back(words);
    table_.insert(hash, id);
    return id;
  }

  Words at(uint32_t id) const { return entries_[id]; }
  size_t size() const { return entries_.size(); }
  size_t bytes() const { return table_.bytes() + entries_.bytes() + block_words_ * sizeof(uint32_t); }

 private:
  static constexpr size_t kFirstBlock = 32;
  static constexpr size_t kLargestBlock = 16 * 1024;

  static bool equal(Words a, Words b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
  }

  Words store(Words words) {
    if (words.empty()) return {};
    if (words.size() > left_) {
      const size_t n = std::max(words.size(), std::clamp(block_words_, kFirstBlock, kLargestBlock));
      blocks_.push_back(std::make_unique_for_overwrite<uint32_t[]>(n));
      block_words_ += n;
      next_ = blocks_.back().get();
      left_ = n;
    }
    uint32_t* at = next_;
    std::memcpy(at, words.data(), words.size_bytes());
    next_ += words.size();
    left_ -= words.size();
    return {at, words.size()};
  }

  HashIndex table_;
  ChunkedVector<Words> entries_;
  std::vector<std::unique_ptr<uint32_t[]>> blocks_;
  size_t block_words_ = 0;
  uint32_t* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace cfgmask
