#include "mask/exit_trie.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cfgmask {

ExitTrie::ExitTrie(const Trie& trie, std::span<const LexerTable::Exit> exits) {
  std::map<SlotSetId, std::vector<uint32_t>> siblings;
  for (const LexerTable::Exit& exit : exits) {
    for (uint32_t node = exit.first; node < exit.last; node = trie.end(node)) siblings[exit.matched].push_back(node);
  }
  for (auto& [matched, nodes] : siblings) {
    const auto first = static_cast<uint32_t>(byte_.size());
    add(trie, std::move(nodes));
    groups_.push_back({matched, first, static_cast<uint32_t>(byte_.size())});
  }
  first_token_.push_back(static_cast<uint32_t>(tokens_.size()));
  byte_.shrink_to_fit();
  end_.shrink_to_fit();
  first_token_.shrink_to_fit();
  tokens_.shrink_to_fit();
}

// Adds what nodes of the vocabulary's trie have in common, from their bytes on.
void ExitTrie::add(const Trie& trie, std::vector<uint32_t> siblings) {
  struct Step {
    std::vector<uint32_t> nodes;  // of one byte; none: the node `ends` is complete
    uint32_t ends = 0;
  };
  std::vector<Step> todo;
  const auto push = [&](std::vector<uint32_t>& nodes) {
    std::sort(nodes.begin(), nodes.end(), [&](uint32_t a, uint32_t b) {
      return trie.byte(a) != trie.byte(b) ? trie.byte(a) > trie.byte(b) : a < b;
    });
    for (auto from = nodes.begin(); from != nodes.end();) {
      const auto to = std::find_if(from, nodes.end(), [&](uint32_t n) { return trie.byte(n) != trie.byte(*from); });
      todo.push_back({{from, to}});
      from = to;
    }
  };
  push(siblings);
  std::vector<uint32_t> children;
  while (!todo.empty()) {
    const Step step = std::move(todo.back());
    todo.pop_back();
    if (step.nodes.empty()) {
      end_[step.ends] = static_cast<uint32_t>(byte_.size());
      continue;
    }
    todo.push_back({{}, static_cast<uint32_t>(byte_.size())});
    byte_.push_back(trie.byte(step.nodes[0]));
    end_.push_back(0);
    first_token_.push_back(static_cast<uint32_t>(tokens_.size()));
    children.clear();
    for (uint32_t node : step.nodes) {
      for (TokenId token : trie.tokens(node)) tokens_.push_back({token, node});
      for (uint32_t child = node + 1; child < trie.end(node); child = trie.end(child)) children.push_back(child);
    }
    push(children);
  }
}

}  // namespace cfgmask
