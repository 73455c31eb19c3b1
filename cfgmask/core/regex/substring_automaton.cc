#include "regex/substring_automaton.h"

#include <algorithm>
#include <map>

namespace cfgmask {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

// A state of the automaton that is being built: the ends of equal runs, the longest of them `length` chunks long.
struct State {
  uint32_t length = 0;
  uint32_t link = kNone;              // the state of the longest suffix that ends elsewhere too
  std::map<uint32_t, uint32_t> next;  // by chunk; sorted, and quick for the start, which has every chunk
};

// The automaton of one more chunk; returns the state of the whole list.
uint32_t extend(std::vector<State>& states, uint32_t last, uint32_t chunk) {
  const auto add = [&](uint32_t length) {
    states.emplace_back().length = length;
    return static_cast<uint32_t>(states.size() - 1);
  };
  const uint32_t whole = add(states[last].length + 1);
  uint32_t at = last;
  for (; at != kNone && states[at].next.emplace(chunk, whole).second; at = states[at].link) {
  }
  if (at == kNone) {
    states[whole].link = 0;
    return whole;
  }
  const uint32_t found = states[at].next.at(chunk);
  if (states[found].length == states[at].length + 1) {
    states[whole].link = found;
    return whole;
  }
  // `found` also stands for longer runs, which do not end here: the shorter ones get a state of their own.
  const uint32_t shorter = add(states[at].length + 1);
  states[shorter].next = states[found].next;
  states[shorter].link = states[found].link;
  states[found].link = states[whole].link = shorter;
  for (; at != kNone; at = states[at].link) {
    uint32_t& target = states[at].next.at(chunk);
    if (target != found) break;
    target = shorter;
  }
  return whole;
}

}  // namespace

SubstringAutomaton::SubstringAutomaton(const std::vector<std::string>& chunks) : chunks_(chunks) {
  std::sort(chunks_.begin(), chunks_.end());
  chunks_.erase(std::unique(chunks_.begin(), chunks_.end()), chunks_.end());
  if (!chunks_.empty() && chunks_.front().empty()) chunks_.erase(chunks_.begin());
  std::vector<State> states(1);
  states.reserve(2 * chunks.size() + 1);
  uint32_t last = 0;
  for (const std::string& chunk : chunks) {
    if (chunk.empty()) continue;
    const auto place = std::lower_bound(chunks_.begin(), chunks_.end(), chunk);
    last = extend(states, last, static_cast<uint32_t>(place - chunks_.begin()));
  }
  for (const State& state : states) {
    first_edge_.push_back(static_cast<uint32_t>(edges_.size()));
    for (const auto& [chunk, target] : state.next) edges_.push_back({chunk, target});
  }
  first_edge_.push_back(static_cast<uint32_t>(edges_.size()));
  bytes_ = edges_.size() * sizeof(Edge) + first_edge_.size() * sizeof(uint32_t);
  for (const std::string& chunk : chunks_) bytes_ += sizeof(chunk) + chunk.size();
}

}  // namespace cfgmask
