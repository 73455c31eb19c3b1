// Strongly connected components of a graph, without recursion (Tarjan 1972).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "util/lists.h"

namespace cfgmask {

// Calls `found(node, order, loops)` for each node: the order is that of its component, in which edges lead to higher
// numbers or stay, and it loops if some way leads from it back to it. Linear.
template <class Found>
void for_each_in_components(const Lists& edges, Found found) {
  struct Frame {
    uint32_t node;
    size_t edge;
  };
  constexpr uint32_t kNew = UINT32_MAX;
  const auto n = static_cast<uint32_t>(edges.size());
  std::vector<uint32_t> index(n, kNew);
  std::vector<uint32_t> low(n, 0);
  std::vector<bool> on_stack(n, false);
  std::vector<uint32_t> stack;
  uint32_t counter = 0;
  uint32_t order = n;  // components are found callees first, and counted down
  for (uint32_t root = 0; root < n; ++root) {
    if (index[root] != kNew) continue;
    std::vector<Frame> frames{{root, 0}};
    while (!frames.empty()) {
      Frame& f = frames.back();
      const uint32_t v = f.node;
      if (f.edge == 0 && index[v] == kNew) {
        index[v] = low[v] = counter++;
        stack.push_back(v);
        on_stack[v] = true;
      }
      if (f.edge < edges[v].size()) {
        const uint32_t w = edges[v][f.edge++];
        if (index[w] == kNew) {
          frames.push_back({w, 0});
        } else if (on_stack[w]) {
          low[v] = std::min(low[v], index[w]);
        }
        continue;
      }
      frames.pop_back();
      if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[v]);
      if (low[v] != index[v]) continue;
      --order;
      const bool alone = stack.back() == v;
      const auto next = edges[v];
      const bool loops = !alone || std::find(next.begin(), next.end(), v) != next.end();
      for (uint32_t w = kNew; w != v;) {
        w = stack.back();
        stack.pop_back();
        on_stack[w] = false;
        found(w, order, loops);
      }
    }
  }
}

}  // namespace cfgmask
