#include <algorithm>

#include "earley/parser.h"

namespace cfgmask {

// Outwards from each item until a rule has a temperature. Continuations of left recursion may hold themselves.
std::optional<double> Parser::temperature(std::span<const Item> items) const {
  std::optional<double> highest;
  std::vector<ContinuationId> todo;
  for (const Item& item : items) todo.push_back(item.continuation);
  HashTable visited;
  while (!todo.empty()) {
    const ContinuationId at = todo.back();
    todo.pop_back();
    if (visited.find(at.value)) continue;
    visited.insert(at.value, 0);
    const Continuation& awaiting = continuations_[at.value];
    if (awaiting.marked != kUnmarked) {
      if (const auto own = instances_.nonterminal(awaiting.marked).mark->temperature) {
        highest = std::max(highest.value_or(*own), *own);
        continue;
      }
    }
    for (uint64_t member : awaiting.members) todo.push_back(Item::unpack(member).continuation);
  }
  return highest;
}

}  // namespace cfgmask
