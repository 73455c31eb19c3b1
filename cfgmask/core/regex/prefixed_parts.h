// An alternation of many regexes, each of which begins with a text: which of them are left is seen from those texts,
// and one becomes nodes when it is the only one left or its text has been read. Thousands of patterns or ranges
// otherwise are so many nodes before the first byte.
//
// Threads: immutable.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "regex/key_table.h"
#include "util/ids.h"

namespace cfgmask {

class RegexStore;
using RegexId = Id<struct RegexTag>;

// The texts, in ascending order. None is empty. They may have owners, by which they are left out: those of the earlier
// parts of a sequence.
class PrefixedTexts {
 public:
  explicit PrefixedTexts(std::span<const std::string_view> texts, std::span<const uint32_t> owners = {});

  KeyTable table() const { return KeyTable(words_); }
  uint32_t number() const { return number_; }  // their own in the process
  size_t bytes() const { return (words_.capacity() + latest_.capacity()) * sizeof(uint32_t); }
  // 0 where there are none.
  uint32_t owner(uint32_t place) const { return latest_.empty() ? 0 : latest_[latest_.size() / 2 + place]; }
  // The greatest owner of some texts, of which there are some. Logarithmic.
  uint32_t latest(uint32_t low, uint32_t high) const;

 private:
  static uint32_t next() {
    static std::atomic<uint32_t> last{0};
    return ++last;
  }

  std::vector<uint32_t> words_;
  std::vector<uint32_t> latest_;  // a tree: of node i, the greatest of nodes 2i and 2i + 1; the latter half are owners
  uint32_t number_;
};

class PrefixedParts {
 public:
  // Fewer are made at once.
  static constexpr size_t kMany = 64;

  // Parts of equal texts and variant are the same.
  explicit PrefixedParts(std::shared_ptr<const PrefixedTexts> texts, uint32_t variant = 0)
      : texts_(std::move(texts)), variant_(variant) {}
  virtual ~PrefixedParts() = default;

  // A part by its place among the texts. It matches something, without a search being needed to tell, and all that it
  // matches begins with its text.
  virtual RegexId part(uint32_t place, RegexStore& store) const = 0;
  // The length of a shortest text of a part, where that is known without making it.
  virtual std::optional<uint32_t> least(uint32_t) const { return std::nullopt; }

  const PrefixedTexts& texts() const { return *texts_; }
  uint64_t number() const { return (uint64_t{texts_->number()} << 32) | variant_; }

 private:
  std::shared_ptr<const PrefixedTexts> texts_;
  uint32_t variant_;
};

}  // namespace cfgmask
