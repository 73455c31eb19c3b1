// Walks through syntax trees, and trees made of others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
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
// Linear in the part, however large the tree is.
template <class Combine>
SyntaxTree::Id rebuilt(SyntaxTree& tree, SyntaxTree::Id root, Combine combine) {
  using Id = SyntaxTree::Id;
  std::unordered_map<Id, Id> made;
  walk_syntax(tree, root, [&](Id id) { return made.try_emplace(id).second; });
  std::vector<Id> in_order;
  for (const auto& [id, _] : made) in_order.push_back(id);
  std::ranges::sort(in_order);
  for (const Id id : in_order) {
    std::vector<Id> parts;
    for (Id part : tree.inner(tree[id])) parts.push_back(made.at(part));
    made.at(id) = combine(id, parts);
  }
  return made.at(root);
}

// Whether a part comes to more nodes than that, each as often as there are ways to it. Linear in what it counts.
inline bool is_larger(const SyntaxTree& tree, SyntaxTree::Id root, uint64_t most) {
  uint64_t n_nodes = 0;
  walk_syntax(tree, root, [&](SyntaxTree::Id) { return ++n_nodes <= most; });
  return n_nodes > most;
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
