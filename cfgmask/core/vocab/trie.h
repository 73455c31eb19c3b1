// The byte strings of a vocabulary as flat tries.
//
// Nodes stand in depth-first order, so a subtree is a range of nodes and its tokens a range of one array: skipping a
// subtree is one assignment, allowing a whole one a loop without branches. Immutable after construction, hence shared
// by threads freely.
//
// Tokens are sorted into segments by the characters that they consist of (lower case letters only; letters and digits;
// ...), each a trie of its own, all standing side by side under the root. Where every character of a segment's class
// leads a lexer state back to itself, as in most places of most strings, its tokens are known without a walk. The last
// segment holds what is in no class. A walk needs to know nothing of this: siblings may have the same byte, that is
// all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "util/byte_set.h"
#include "vocab/texts.h"

namespace cfgmask {

// The tokens whose characters are all ASCII of a set, or also (if multibyte) beyond ASCII but not white space, which
// `.`, `\S` and the like leave out; for the last segment, the rest.
struct Segment {
  ByteSet ascii;
  bool multibyte = false;
  bool is_rest = false;
  uint8_t further = 0;  // the index of the segment whose class has all characters behind the first
  ByteSet first_bytes;
  uint32_t first = 0;  // siblings [first, last) under the root
  uint32_t last = 0;
  std::array<uint32_t, 256> tops{};  // the one of those siblings that has a byte; 0: none
  uint32_t height = 0;               // bytes of the longest token
  std::vector<uint32_t> n_longer;    // but for the rest: how many tokens have more characters than the index
  std::vector<uint32_t> bits;        // its tokens as a mask, up to the last of them
};

class Trie {
 public:
  // Empty texts are not in the trie.
  explicit Trie(const Texts& texts);

  // What a walk looks at, in one place: siblings lie far apart, and a walk that goes from one to the next waits for
  // each.
  struct Node {
    uint32_t end;  // one past the last node below it
    uint8_t byte;
    uint8_t height;  // bytes on the longest way down, kTallest or more if there are so many
    uint8_t depth;   // bytes on the way to it, kDeepest or more if there are so many
  };
  static constexpr uint32_t kTallest = 255;
  static constexpr uint32_t kDeepest = 255;

  // Nodes are 1 .. n_nodes() - 1 in depth-first order; node 0 is the root.
  uint32_t n_nodes() const { return nodes_[0].end; }
  uint8_t byte(uint32_t node) const { return nodes_[node].byte; }
  uint32_t end(uint32_t node) const { return nodes_[node].end; }
  uint32_t height(uint32_t node) const { return nodes_[node].height; }
  // For a walk over many of them; one more than there are.
  const Node* nodes() const { return nodes_.data(); }
  // The bytes on the way to a node, without its own. Walks down from the root.
  std::vector<uint8_t> path(uint32_t node) const;
  // The tokens whose bytes end at this node.
  std::span<const TokenId> tokens(uint32_t node) const {
    return {tokens_.data() + first_token_[node], first_token_[node + 1] - first_token_[node]};
  }
  // The tokens of all nodes in [first, last).
  std::span<const TokenId> tokens_between(uint32_t first, uint32_t last) const {
    return {tokens_.data() + first_token_[first], first_token_[last] - first_token_[first]};
  }
  // The tokens of a segment, not the rest, that have more characters.
  std::span<const TokenId> longer_than(uint32_t characters, const Segment& segment) const {
    if (characters >= segment.n_longer.size()) return {};
    return {longest_first_.data() + first_token_[segment.first], segment.n_longer[characters]};
  }
  // The bytes that are tokens by themselves.
  ByteSet single_bytes() const;
  // Calls f(length, token) for a token of each length that `text` begins with.
  template <class F>
  void for_each_prefix(std::string_view text, F f) const {
    for (const Segment& segment : segments_) {
      if (text.empty() || !segment.first_bytes.has(static_cast<uint8_t>(text[0]))) continue;
      uint32_t first = segment.first;
      uint32_t last = segment.last;
      for (size_t i = 0; i < text.size(); ++i) {
        uint32_t node = first;
        while (node < last && byte(node) != static_cast<uint8_t>(text[i])) node = end(node);
        if (node >= last) break;
        const auto found = tokens(node);
        if (!found.empty()) f(i + 1, found[0]);
        first = node + 1;
        last = end(node);
      }
    }
  }
  std::span<const Segment> segments() const { return segments_; }
  // What stands for the class of all that is below a segment's nodes: only the first character of a text may be a
  // space, so that what is below one is answered like a text without.
  const Segment& below(const Segment& segment) const { return segments_[segment.further]; }
  // The index of the one that a token belongs to; kNoSegment if it has no text.
  uint8_t segment_of(TokenId token) const { return segment_of_[token]; }
  static constexpr uint8_t kNoSegment = UINT8_MAX;
  // Whether a node stands under the root.
  bool is_top(uint32_t node) const {
    return std::any_of(segments_.begin(), segments_.end(),
                       [&](const Segment& segment) { return segment.tops[byte(node)] == node; });
  }
  // Calls f(node) for the nodes of a segment that stand under the root and whose byte is in `bytes`: hundreds, which
  // lie far apart in memory and are found by their bytes.
  template <class F>
  static void for_each_top(const Segment& segment, const ByteSet& bytes, F f) {
    ByteSet its_own = segment.first_bytes;
    its_own &= bytes;
    its_own.for_each([&](unsigned b) { f(segment.tops[b]); });
  }
  // Calls f(node, segment) for those of all segments.
  template <class F>
  void for_each_top(const ByteSet& bytes, F f) const {
    for (const Segment& segment : segments_) for_each_top(segment, bytes, [&](uint32_t node) { f(node, segment); });
  }
  // Calls f(node) for those of the siblings [first, last) whose byte is in `bytes`.
  template <class F>
  void for_each_sibling(uint32_t first, uint32_t last, const ByteSet& bytes, F f) const {
    if (!is_top(first)) {
      for (uint32_t node = first; node < last; node = end(node)) {
        if (bytes.has(byte(node))) f(node);
      }
      return;
    }
    for (const Segment& segment : segments_) {
      if (segment.last <= first || segment.first >= last) continue;
      for_each_top(segment, bytes, [&](uint32_t node) {
        if (node >= first && node < last) f(node);
      });
    }
  }
  size_t max_depth() const { return max_depth_; }
  // The nodes of all tokens that begin with a byte, or with one of several.
  uint32_t n_nodes_of(unsigned first_byte) const { return n_nodes_of_[first_byte]; }
  uint32_t n_nodes_of(const ByteSet& first_bytes) const {
    uint32_t n = 0;
    first_bytes.for_each([&](unsigned b) { n += n_nodes_of_[b]; });
    return n;
  }
  size_t bytes() const;

 private:
  void add(const Texts& texts, std::span<const TokenId> ids);
  void set_bits(Segment& segment) const;
  void sort_by_length(std::span<const uint32_t> n_characters, Segment& segment);

  uint32_t n_added() const { return static_cast<uint32_t>(nodes_.size()); }

  std::vector<Node> nodes_;            // n_nodes + 1
  std::vector<uint32_t> first_token_;  // n_nodes + 1
  std::vector<TokenId> tokens_;
  std::vector<TokenId> longest_first_;  // those of each segment but the rest, at the places that they have in tokens_
  std::vector<Segment> segments_;
  std::vector<uint8_t> segment_of_;         // by token
  std::array<uint32_t, 256> n_nodes_of_{};  // by first byte
  size_t max_depth_ = 0;
};

}  // namespace cfgmask
