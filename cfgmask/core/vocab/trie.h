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

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "util/byte_set.h"

namespace cfgmask {

using TokenId = uint32_t;

// The tokens whose characters are all ASCII of a set, or also (if multibyte) beyond ASCII but not white space, which
// `.`,
// `\S` and the like leave out; for the last segment, the rest.
struct Segment {
  ByteSet ascii;
  bool multibyte = false;
  bool is_rest = false;
  ByteSet first_bytes;
  uint32_t first = 0;  // siblings [first, last) under the root
  uint32_t last = 0;
};

class Trie {
 public:
  // tokens[i]: the bytes of token i; empty ones are not in the trie.
  explicit Trie(std::span<const std::string_view> tokens);

  // Nodes are 1 .. n_nodes() - 1 in depth-first order; node 0 is the root.
  uint32_t n_nodes() const { return static_cast<uint32_t>(byte_.size()); }
  uint8_t byte(uint32_t node) const { return byte_[node]; }
  // One past the last node below `node`.
  uint32_t end(uint32_t node) const { return end_[node]; }
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
  // Characters of each of tokens_between(first, last), in the same order; of segments that are not the rest.
  std::span<const uint32_t> characters_between(uint32_t first, uint32_t last) const {
    return {characters_.data() + first_token_[first], first_token_[last] - first_token_[first]};
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
  size_t max_depth() const { return max_depth_; }
  size_t bytes() const;

 private:
  void add(std::span<const std::string_view> tokens, std::span<TokenId> ids);

  std::vector<uint8_t> byte_;
  std::vector<uint32_t> end_;
  std::vector<uint32_t> first_token_;  // n_nodes + 1
  std::vector<TokenId> tokens_;
  std::vector<uint32_t> characters_;  // beside tokens_
  std::vector<Segment> segments_;
  size_t max_depth_ = 0;
};

}  // namespace cfgmask
