// The tree of a plain pattern (schema/plain_pattern.h), and its way to regexes.
//
// Threads: immutable once finished.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "regex/key_list.h"
#include "regex/prefixed_parts.h"
#include "regex/regex.h"
#include "util/chunked_vector.h"

namespace cfgmask {

void append_utf8(uint32_t code_point, std::string& out);

struct PatternNode {
  enum class Kind : uint8_t { kText, kClass, kSequence, kAlternation, kRepetition };

  Kind kind = Kind::kText;
  std::vector<CodePointRange> ranges = {};  // sorted, apart from each other
  std::vector<uint32_t> parts = {};
  uint32_t minimum = 1;
  uint32_t maximum = 1;
  std::string text = {};

  // The only text of a node that is one character.
  std::optional<uint32_t> character() const {
    const bool one = kind == Kind::kClass && ranges.size() == 1 && ranges[0].low == ranges[0].high;
    return one ? std::optional(ranges[0].low) : std::nullopt;
  }
  // Whether a node is one text; adds that.
  bool append_to(std::string& run) const;
};

class PatternNodes : public std::enable_shared_from_this<PatternNodes> {
 public:
  using Kind = PatternNode::Kind;
  // What a node's texts plainly begin with, and whether that is all of its only text.
  struct Start {
    std::string_view text;
    bool is_all;
  };

  uint32_t add(PatternNode node) {
    nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  // Sorts the ways of large alternations by what they begin with.
  void finish();

  const PatternNode& operator[](uint32_t id) const { return nodes_[id]; }
  // Texts of several nodes are put together in `made`, which has to stay.
  Start start(uint32_t id, std::deque<std::string>& made) const;
  RegexId regex(RegexStore& store, uint32_t id) const;

 private:
  // The ways of a large alternation: words, those that begin with some text, and others.
  struct Sorted {
    std::shared_ptr<const KeyList> words;
    std::unique_ptr<const PrefixedParts> prefixed;
    std::vector<uint32_t> others;
  };

  Sorted sorted(const std::vector<uint32_t>& ways) const;
  RegexId sequence(RegexStore& store, const std::vector<uint32_t>& parts) const;
  RegexId alternation(RegexStore& store, const Sorted& ways) const;

  ChunkedVector<PatternNode> nodes_;
  std::unordered_map<uint32_t, Sorted> sorted_;
};

}  // namespace cfgmask
