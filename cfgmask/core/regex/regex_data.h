// Regexes that belong to no store: a store makes its nodes of them without Python, when a text first comes to them.
//
// A list of nodes, each behind those that it consists of, which others may consist of as well.
//
// Threads: immutable once made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "regex/regex.h"

namespace cfgmask {

class RegexData {
 public:
  // As in cfgmask/grammar/regex_tree.py.
  enum class Kind : uint8_t {
    kLiteral,
    kCharClass,
    kByteClass,
    kConcatenation,
    kAlternation,
    kRepetition,
    kIntersection,
    kComplement,
    kKeySet,
    kDivisible,
    kJsonString,
    kSubstring,
    kMultiples,
  };

  // Front ends make about four levels of tree for one level of nesting; this leaves room for what others put around.
  static constexpr uint64_t kHeightPerNesting = 8;

  // Each adds a node and returns its number. `parts` are numbers of nodes; ranges are sorted and disjoint.
  uint32_t texts(Kind kind, std::vector<std::string> all);
  uint32_t ranges(Kind kind, std::span<const CodePointRange> all);
  uint32_t parts(Kind kind, std::span<const uint32_t> all);
  uint32_t repetition(uint32_t body, uint32_t minimum, uint32_t maximum);
  uint32_t divisible(uint32_t modulus) { return add({Kind::kDivisible, 0, 0, modulus, 0, 1}); }
  uint32_t multiples(std::span<const uint32_t> words);  // as in `Multiples::of_words`
  uint32_t json_string(uint32_t body, JsonEscapes escapes);
  // Adds all nodes of other data, and returns the number of the last. Linear.
  uint32_t append(const RegexData& other);
  // The same with equal nodes once, and without those that the last one does not consist of. Linear.
  RegexData without_repeats() const;

  size_t size() const { return nodes_.size(); }
  Kind kind(uint32_t node) const { return nodes_[node].kind; }
  // What a node consists of, according to its kind.
  std::span<const std::string> texts(uint32_t node) const {
    return std::span(texts_).subspan(nodes_[node].first, nodes_[node].last - nodes_[node].first);
  }
  std::span<const CodePointRange> ranges(uint32_t node) const {
    return std::span(ranges_).subspan(nodes_[node].first, nodes_[node].last - nodes_[node].first);
  }
  std::span<const uint32_t> parts(uint32_t node) const { return parts_of(nodes_[node]); }
  std::span<const uint32_t> words(uint32_t node) const {
    return std::span(words_).subspan(nodes_[node].first, nodes_[node].last - nodes_[node].first);
  }
  // The minimum and maximum of a repetition; the first is the modulus of kDivisible, and the escapes of a JSON string.
  std::pair<uint32_t, uint32_t> counts(uint32_t node) const { return {nodes_[node].minimum, nodes_[node].maximum}; }
  // How many texts all nodes have.
  size_t n_texts() const { return texts_.size(); }
  // Of a node, how many stand in each other, itself included.
  uint64_t height(uint32_t node) const { return nodes_[node].height; }
  // Makes the nodes of a store for those from number `made.size()` on, and appends them. Linear in these. Throws
  // LimitExceeded.
  void make(RegexStore& store, std::vector<RegexId>& made) const;
  // Makes the nodes of a store for one node and what it consists of, but for what was made before: `made` has a place
  // for each node. The last parts come first, as where trees of Python are read. Throws LimitExceeded.
  RegexId make(RegexStore& store, uint32_t node, std::vector<std::optional<RegexId>>& made) const;

 private:
  // What it consists of stands from `first` to `last` in the list for its kind; of `divisible` there is none.
  struct Node {
    Kind kind;
    uint32_t first;
    uint32_t last;
    uint32_t minimum;  // or the modulus, or the escapes
    uint32_t maximum;
    uint64_t height;
  };

  // Where what nodes of a kind consist of stands.
  enum class List : uint8_t { kNone, kTexts, kRanges, kParts, kWords };

  static List list_of(Kind kind);
  uint32_t add(Node node) {
    nodes_.push_back(node);
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  std::vector<bool> needed() const;
  // The numbers of what a node consists of.
  std::span<const uint32_t> parts_of(const Node& node) const;
  // `part(i)` is the node of the store for the i-th of these.
  template <typename Part>
  RegexId make_of(RegexStore& store, const Node& node, Part part) const;

  std::vector<Node> nodes_;
  std::vector<uint32_t> parts_;
  std::vector<CodePointRange> ranges_;
  std::vector<std::string> texts_;
  std::vector<uint32_t> words_;
};

// One regex out of such a list, the last node; equal nodes are one. Three quarters of those of a date with a time are
// repeats, and each store made them again.
//
// Threads: immutable.
class PortableRegex {
 public:
  explicit PortableRegex(const RegexData& data);

  // Its node in a store, which remembers it. Linear the first time. Throws LimitExceeded.
  RegexId in(RegexStore& store) const;
  const RegexData& data() const { return data_; }
  uint64_t height() const { return data_.height(static_cast<uint32_t>(data_.size() - 1)); }

 private:
  RegexData data_;
  uint64_t number_;  // its own in the process
};

}  // namespace cfgmask
