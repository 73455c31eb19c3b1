// The byte strings of a vocabulary as one flat trie.
//
// Nodes stand in depth-first order, so a subtree is a range of nodes and its tokens a range of one array: skipping a
// subtree is one assignment, allowing a whole one a loop without branches. Immutable after construction, hence shared by
// threads freely.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "util/ids.h"

namespace cfgmask {

using TokenId = uint32_t;

class Trie {
 public:
  // tokens[i]: the bytes of token i; empty ones are not in the trie.
  explicit Trie(std::span<const std::string_view> tokens);

  // Nodes are 1 .. n_nodes() - 1 in depth-first order; node 0 is the root.
  uint32_t n_nodes() const { return static_cast<uint32_t>(byte_.size()); }
  uint8_t byte(uint32_t node) const { return byte_[node]; }
  // One past the last node below `node`.
  uint32_t end(uint32_t node) const { return end_[node]; }
  // The tokens whose bytes end at this node.
  std::span<const TokenId> tokens(uint32_t node) const {
    return {tokens_.data() + first_token_[node], first_token_[node + 1] - first_token_[node]};
  }
  // The tokens of all nodes in [first, last).
  std::span<const TokenId> tokens_between(uint32_t first, uint32_t last) const {
    return {tokens_.data() + first_token_[first], first_token_[last] - first_token_[first]};
  }
  size_t max_depth() const { return max_depth_; }
  size_t bytes() const;

 private:
  std::vector<uint8_t> byte_;
  std::vector<uint32_t> end_;
  std::vector<uint32_t> first_token_;  // n_nodes + 1
  std::vector<TokenId> tokens_;
  size_t max_depth_ = 0;
};

}  // namespace cfgmask
