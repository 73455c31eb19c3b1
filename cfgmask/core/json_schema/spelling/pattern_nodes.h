// The tree of a simple pattern (json_schema/spelling/simple_pattern.h), and its way to regexes.
//
// Threads: immutable once finished.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pattern/code_points.h"
#include "regex/key_list.h"
#include "regex/long_sequence.h"
#include "regex/prefixed_parts.h"
#include "regex/regex.h"

namespace cfgmask {

// What is said of a node; valid as long as the tree.
struct PatternNode {
  enum class Kind : uint8_t { kText, kClass, kSequence, kAlternation, kRepetition };

  Kind kind = Kind::kText;
  uint32_t minimum = 1;
  uint32_t maximum = 1;
  std::span<const CodePointRange> ranges = {};  // sorted, apart from each other
  std::span<const uint32_t> parts = {};
  std::string_view text = {};

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

  uint32_t add_text(std::string_view text) {
    texts_ += text;
    return add(Kind::kText, texts_.size(), text.size());
  }
  uint32_t add_class(std::span<const CodePointRange> ranges) {
    ranges_.insert(ranges_.end(), ranges.begin(), ranges.end());
    return add(Kind::kClass, ranges_.size(), ranges.size());
  }
  // A sequence or an alternation.
  uint32_t add_parts(Kind kind, std::span<const uint32_t> parts) {
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    return add(kind, parts_.size(), parts.size());
  }
  uint32_t add_repetition(uint32_t body, uint32_t minimum, uint32_t maximum) {
    parts_.push_back(body);
    return add(Kind::kRepetition, parts_.size(), 1, minimum, maximum);
  }
  // Sorts the ways of large alternations and of long sequences by what they begin with, and large texts.
  void finish();

  // Known once finished.
  PatternNode operator[](uint32_t id) const {
    const Record& record = nodes_[id];
    PatternNode node{record.kind, record.minimum, record.maximum};
    if (record.kind == Kind::kText) {
      node.text = std::string_view(texts_).substr(record.first, record.size);
    } else if (record.kind == Kind::kClass) {
      node.ranges = std::span(ranges_).subspan(record.first, record.size);
    } else {
      node.parts = std::span(parts_).subspan(record.first, record.size);
    }
    return node;
  }
  // Texts of several nodes are put together in `made`, which has to stay.
  Start start(uint32_t id, std::deque<std::string>& made) const;
  // Whether the parts of a long sequence are made when a text comes to them. What is intersected with others has to be
  // searched for texts, and its residuals are fewer where all parts are nodes.
  enum class Sequences : uint8_t { kByPart, kAtOnce };
  RegexId regex(RegexStore& store, uint32_t id, Sequences how = Sequences::kByPart) const;
  // The bytes of a shortest text of a node.
  uint32_t least(uint32_t id) const;
  // One of the long sequences. Whoever has it has the tree.
  std::shared_ptr<const LongSequence> long_sequence(uint32_t id) const {
    return {shared_from_this(), long_sequences_.at(id).get()};
  }

 private:
  // Its texts, ranges or parts stand beside those of the other nodes: a node with a list of its own took 100 bytes and
  // two allocations, and a third of the time of reading thousands of patterns went to the pages of these.
  struct Record {
    Kind kind;
    uint32_t minimum;
    uint32_t maximum;
    uint32_t first;
    uint32_t size;
  };
  // The ways of a large alternation: words, those that begin with some text, and others.
  struct Sorted {
    std::shared_ptr<const KeyList> words;
    std::unique_ptr<const PrefixedParts> prefixed;
    std::vector<uint32_t> others;
  };

  uint32_t add(Kind kind, size_t end, size_t size, uint32_t minimum = 1, uint32_t maximum = 1) {
    nodes_.push_back({kind, minimum, maximum, static_cast<uint32_t>(end - size), static_cast<uint32_t>(size)});
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  Sorted sorted(std::span<const uint32_t> ways) const;
  RegexId text(RegexStore& store, uint32_t id) const;
  RegexId sequence(RegexStore& store, std::span<const uint32_t> parts, Sequences how) const;
  RegexId alternation(RegexStore& store, const Sorted& ways, Sequences how) const;

  std::vector<Record> nodes_;
  std::string texts_;
  std::vector<CodePointRange> ranges_;
  std::vector<uint32_t> parts_;
  std::unordered_map<uint32_t, Sorted> sorted_;
  std::unordered_map<uint32_t, std::unique_ptr<const LongSequence>> long_sequences_;
  std::unordered_map<uint32_t, std::shared_ptr<const KeyList>> indexed_texts_;
};

}  // namespace cfgmask
