// The syntax tree of a pattern, before flags, dialects and anchors are resolved.
//
// Every node knows its place: `start` and `end` are offsets in code points. A node that a flag can change carries the
// flags that hold where it stands. What cannot be translated (backreferences, atomic groups, ...) has nodes too: the
// parser reads such constructs whole, so that everything inside of them is checked.
//
// Threads: immutable once read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cfgmask {

// The flags in force at one place. ascii: Python's `(?a)`, Rust's `(?-u)`: shorthands and case mean ASCII.
struct PatternFlags {
  bool ignore_case = false;
  bool multi_line = false;
  bool dot_all = false;
  bool verbose = false;
  bool ascii = false;

  // Letters switched on and off; those that change nothing here are passed over.
  PatternFlags with(std::u32string_view added, std::u32string_view removed) const;
  // Below 32.
  uint32_t bits() const {
    return (ignore_case ? 1U : 0U) | (multi_line ? 2U : 0U) | (dot_all ? 4U : 0U) | (verbose ? 8U : 0U) |
           (ascii ? 16U : 0U);
  }
};

struct SyntaxNode {
  enum class Kind : uint8_t {
    kText,  // `text`: characters that stand for themselves
    kDot,
    kShorthand,  // `letter`: d, w, s
    kProperty,   // `name`, and `value` if there is one
    kSet,        // [...]: parts are terms, joined from left to right; then `negated` applies
    kTerm,       // in a set: the union of its parts, joined to the terms before it by `letter`: | (the first), &, -, ~
    kRange,      // in a set: `low` to `high`
    kPosix,      // in a set: [:name:]
    kAnchor,     // `letter`: s (start), e (end), n (end, or before a line break that ends the text); `option`: flag m
    kBoundary,   // `letter`: b, B, and s, e, S, E for Rust's start, end, start-half, end-half
    kBackreference,  // `name`: what it names, or a number
    kGroup,          // `low`: its part; `name`, empty where it has none; `option`: whether it captures
    kLookaround,     // one part; `option`: looks behind; `letter`: g where it stands for a lazy repetition, see lazy.h
    kAtomic,         // one part
    kSequence,       // as an item of a sequence and without parts: flags on their own, `(?i)`
    kChoice,
    kRepeat,  // one part; `low`, `high` (kUnbounded: none); `letter`: g(reedy), l(azy), p(ossessive)
  };

  Kind kind = Kind::kSequence;
  char letter = 0;
  bool negated = false;
  bool option = false;
  PatternFlags flags = {};
  uint32_t start = 0;
  uint32_t end = 0;
  uint32_t low = 0;
  uint32_t high = 0;
  // Places of text, of a name, or of parts; and of the value of a property.
  uint32_t first = 0;
  uint32_t size = 0;
  uint32_t value_first = 0;
  uint32_t value_size = 0;
};

class SyntaxTree {
 public:
  using Kind = SyntaxNode::Kind;
  using Id = uint32_t;

  explicit SyntaxTree(std::u32string_view pattern) : pattern_(pattern) {
    // Of most patterns; growing from nothing took a tenth of the time of reading.
    const size_t expected = std::min<size_t>(pattern.size() + 2, 64);
    nodes_.reserve(expected);
    parts_.reserve(expected);
    texts_.reserve(std::min<size_t>(pattern.size(), 256));
  }

  const SyntaxNode& operator[](Id id) const { return nodes_[id]; }
  size_t size() const { return nodes_.size(); }
  // Parts come before what holds them.
  std::span<const Id> parts(const SyntaxNode& node) const {
    if (node.kind == Kind::kGroup) return {&node.low, 1};
    return has_parts(node.kind) ? std::span(parts_).subspan(node.first, node.size) : std::span<const Id>();
  }
  std::u32string_view text(const SyntaxNode& node) const {
    return std::u32string_view(texts_).substr(node.first, node.size);
  }
  std::u32string_view written(const SyntaxNode& node) const {
    return pattern_.substr(node.start, node.end - node.start);
  }
  // The name of a group, a property, a POSIX class or a backreference.
  std::u32string_view name(const SyntaxNode& node) const { return pattern_.substr(node.first, node.size); }
  std::u32string_view value(const SyntaxNode& node) const { return pattern_.substr(node.value_first, node.value_size); }
  // The parts that a match goes through: of a class of characters none.
  std::span<const Id> inner(const SyntaxNode& node) const {
    return node.kind == Kind::kSet || node.kind == Kind::kTerm ? std::span<const Id>() : parts(node);
  }
  static bool has_parts(Kind kind) { return kind == Kind::kSet || kind == Kind::kTerm || kind >= Kind::kLookaround; }

  Id add(const SyntaxNode& node) {
    nodes_.push_back(node);
    return static_cast<Id>(nodes_.size() - 1);
  }
  Id add_text(SyntaxNode node, std::u32string_view text) {
    node.kind = Kind::kText;
    node.first = static_cast<uint32_t>(texts_.size());
    node.size = static_cast<uint32_t>(text.size());
    texts_ += text;
    return add(node);
  }
  // A copy of a node with other inner parts, as many as it has.
  Id add_copy(SyntaxNode node, std::span<const Id> parts) {
    if (node.kind != Kind::kGroup) return has_parts(node.kind) ? add_parts(node, parts) : add(node);
    node.low = parts[0];
    return add(node);
  }
  Id add_parts(SyntaxNode node, std::span<const Id> parts) {
    node.first = static_cast<uint32_t>(parts_.size());
    node.size = static_cast<uint32_t>(parts.size());
    parts_.insert(parts_.end(), parts.begin(), parts.end());
    return add(node);
  }

 private:
  std::u32string_view pattern_;
  std::u32string texts_;
  std::vector<SyntaxNode> nodes_;
  std::vector<Id> parts_;
};

}  // namespace cfgmask
