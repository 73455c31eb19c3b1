#include "pattern/rounds.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "util/pause.h"

namespace cfgmask {

namespace {

constexpr size_t kMostConditions = 40;
constexpr size_t kMostRoundNodes = 32;
// Leaves of what comes out; or as many times those of the body as there may be nodes, where that is more.
constexpr uint64_t kMostWeight = 20'000;

class Rounds {
 public:
  using Id = TextTrees::Id;

  Rounds(const Meaning& body, TextTrees& trees, TextSplitter& splitter)
      : body_(body), trees_(trees), splitter_(splitter) {}

  Meaning any_number() {
    ahead_ = pending(false);
    behind_ = pending(true);
    if (ahead_.size() * behind_.size() > 4 * kMostConditions) throw TooEntangled();
    find_steps();
    const std::vector<Node> nodes = nodes_on_the_way();
    if (nodes.size() > kMostRoundNodes) throw TooEntangled();
    std::map<Node, size_t> numbers;
    for (size_t i = 0; i < nodes.size(); ++i) numbers.emplace(nodes[i], i);
    std::vector<std::optional<Id>> edges(nodes.size() * nodes.size());
    for (const auto& [ends, texts] : steps_) {
      const auto start = numbers.find(ends.first), end = numbers.find(ends.second);
      if (start == numbers.end() || end == numbers.end()) continue;
      edges[start->second * nodes.size() + end->second] = trees_.alternation(texts);
    }
    const auto ways = ways_through(trees_, nodes.size(), std::move(edges));
    uint8_t origins = 0;
    for (const TextCase& one : body_) origins |= one.origins;
    Meaning found;
    for (Id before : behind_) {
      for (Id after : ahead_) {
        const auto start = numbers.find({TextTrees::kAnyText, before}),
                   end = numbers.find({after, TextTrees::kAnyText});
        if (start == numbers.end() || end == numbers.end()) continue;
        const auto way = ways[start->second * nodes.size() + end->second];
        if (way) found.push_back({before, *way, after, origins});
      }
    }
    if (weight(found) > std::max(kMostWeight, kMostRoundNodes * weight(body_))) throw TooEntangled();
    return found;
  }

 private:
  // What is demanded of what follows and of what came before.
  using Node = std::pair<Id, Id>;

  // Every condition that rounds may leave on one side of them, none included.
  std::vector<Id> pending(bool back) {
    std::vector<Id> found{TextTrees::kAnyText};
    std::vector<Id> open{TextTrees::kAnyText};
    while (!open.empty()) {
      const Id condition = open.back();
      open.pop_back();
      for (const TextCase& one : body_) {
        const auto splits = back ? splitter_.split_back(one.tree, condition) : splitter_.split(one.tree, condition);
        for (const auto& split : splits) {
          Pause::tick();
          const Id joint = splitter_.both(split.rest, back ? one.before : one.after);
          if (joint == TextTrees::kNothing || std::find(found.begin(), found.end(), joint) != found.end()) continue;
          found.push_back(joint);
          open.push_back(joint);
        }
      }
      if (found.size() > kMostConditions) throw TooEntangled();
    }
    return found;
  }

  // The texts by which one round leads from node to node.
  void find_steps() {
    for (const TextCase& one : body_) {
      for (Id after : ahead_) {
        for (Id before : behind_) {
          const auto fronts = splitter_.split(one.tree, after);
          for (const auto& [front, left] : fronts) {
            for (const auto& [text, needed] : splitter_.split_back(front, before)) {
              Pause::tick();
              const Id left_over = splitter_.both(left, one.after);
              const Id demanded = splitter_.both(needed, one.before);
              if (text == TextTrees::kNothing || left_over == TextTrees::kNothing || demanded == TextTrees::kNothing)
                continue;
              steps_[{{after, demanded}, {left_over, before}}].push_back(text);
            }
          }
        }
      }
    }
  }

  // In order: those that some way from a start to an end goes through.
  std::vector<Node> nodes_on_the_way() const {
    std::map<Node, std::vector<Node>> next;
    std::map<Node, std::vector<Node>> previous;
    for (const auto& [ends, texts] : steps_) {
      next[ends.first].push_back(ends.second);
      previous[ends.second].push_back(ends.first);
    }
    std::vector<Node> starts;
    std::vector<Node> ends;
    for (Id before : behind_) starts.emplace_back(TextTrees::kAnyText, before);
    for (Id after : ahead_) ends.emplace_back(after, TextTrees::kAnyText);
    const auto from_start = reached(starts, next);
    const auto to_end = reached(ends, previous);
    std::vector<Node> found;
    for (Id after : ahead_) {
      for (Id before : behind_) {
        const Node node{after, before};
        if (from_start.contains(node) && to_end.contains(node)) found.push_back(node);
      }
    }
    return found;
  }

  static std::set<Node> reached(std::vector<Node> open, const std::map<Node, std::vector<Node>>& next) {
    std::set<Node> found(open.begin(), open.end());
    while (!open.empty()) {
      const auto following = next.find(open.back());
      open.pop_back();
      if (following == next.end()) continue;
      for (const Node& node : following->second) {
        if (found.insert(node).second) open.push_back(node);
      }
    }
    return found;
  }

  uint64_t weight(const Meaning& meaning) const {
    uint64_t sum = 0;
    for (const TextCase& one : meaning) sum += std::min<uint64_t>(trees_.weight(one.tree), UINT32_MAX);
    return sum;
  }

  const Meaning& body_;
  TextTrees& trees_;
  TextSplitter& splitter_;
  std::vector<Id> ahead_;
  std::vector<Id> behind_;
  std::map<std::pair<Node, Node>, std::vector<Id>> steps_;
};

}  // namespace

Meaning any_rounds(const Meaning& body, TextTrees& trees, TextSplitter& splitter) {
  return Rounds(body, trees, splitter).any_number();
}

}  // namespace cfgmask
