// The runs of consecutive chunks of a list, as an automaton: the factor automaton of the list read as a word whose
// letters are chunks (Blumer et al. 1985). At most two states and three edges a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cfgmask {

class SubstringAutomaton {
 public:
  struct Edge {
    uint32_t chunk;
    uint32_t target;
  };

  // Empty chunks count for nothing. O(n log n). States are numbered from 0, where a run begins; it may end at any.
  explicit SubstringAutomaton(const std::vector<std::string>& chunks);

  // In the order of their chunks' bytes; no two have the same.
  std::span<const Edge> edges(uint32_t state) const {
    return std::span(edges_).subspan(first_edge_[state], first_edge_[state + 1] - first_edge_[state]);
  }
  std::string_view chunk(const Edge& edge) const { return chunks_[edge.chunk]; }
  size_t bytes() const { return bytes_; }

 private:
  std::vector<std::string> chunks_;   // distinct and sorted
  std::vector<uint32_t> first_edge_;  // one more than there are states
  std::vector<Edge> edges_;
  size_t bytes_ = 0;
};

}  // namespace cfgmask
