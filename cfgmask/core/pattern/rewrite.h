// Walks through syntax trees, and trees made of others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pattern/syntax_tree.h"

namespace cfgmask {

// All nodes of a part, each after those around it and those to its left, as often as there are ways to it.
// `enter(id)`: whether to look at its inner parts.
template <class Enter>
void walk_syntax(const SyntaxTree& tree, SyntaxTree::Id root, Enter enter) {
  std::vector<SyntaxTree::Id> pending{root};
  while (!pending.empty()) {
    const SyntaxTree::Id id = pending.back();
    pending.pop_back();
    if (!enter(id)) continue;
    const auto parts = tree.inner(tree[id]);
    pending.insert(pending.end(), parts.rbegin(), parts.rend());
  }
}

// By node up to `root`: whether a match of it goes through the node. `below(id)` are the parts of one.
template <class Below>
std::vector<bool> nodes_below(SyntaxTree::Id root, Below below) {
  std::vector<bool> found(root + 1);
  found[root] = true;
  for (SyntaxTree::Id id = root + 1; id-- > 0;) {
    if (!found[id]) continue;
    for (SyntaxTree::Id part : below(id)) found[part] = true;
  }
  return found;
}

// A part made anew, from its leaves on: `combine(id, parts)` is the node in place of one whose inner parts are these.
template <class Combine>
SyntaxTree::Id rebuilt(SyntaxTree& tree, SyntaxTree::Id root, Combine combine) {
  using Id = SyntaxTree::Id;
  const std::vector<bool> needed = nodes_below(root, [&](Id id) { return tree.inner(tree[id]); });
  std::vector<Id> made(root + 1);
  for (Id id = 0; id <= root; ++id) {
    if (!needed[id]) continue;
    std::vector<Id> parts;
    for (Id part : tree.inner(tree[id])) parts.push_back(made[part]);
    made[id] = combine(id, parts);
  }
  return made[root];
}

// By node up to `root`: how many nodes each comes to, with what it consists of. Saturates.
inline std::vector<uint64_t> syntax_sizes(const SyntaxTree& tree, SyntaxTree::Id root) {
  constexpr uint64_t kMost = UINT32_MAX;
  std::vector<uint64_t> sizes(root + 1);
  for (SyntaxTree::Id id = 0; id <= root; ++id) {
    sizes[id] = 1;
    for (SyntaxTree::Id part : tree.inner(tree[id])) sizes[id] = std::min(kMost, sizes[id] + sizes[part]);
  }
  return sizes;
}

}  // namespace cfgmask
