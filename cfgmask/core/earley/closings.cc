#include "earley/closings.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "earley/deferred_rules.h"
#include "util/limits.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// Looks at alternatives that cost as much as a step of a search: by default, one answer takes half a second at most.
constexpr uint64_t kLooksPerStep = 100;

}  // namespace

uint32_t Closings::of(uint32_t nonterminal, RegisterId seen) {
  const Node root = called(nonterminal, seen);
  if (const auto known = known_.find(root); known != known_.end()) return known->second;
  order_.clear();
  bounds_.clear();
  n_looks_ = 0;
  look_at(root);
  for (solve(); bounds_.at(root).lower != bounds_.at(root).upper; solve()) look_further(root);
  for (const Node one : order_) {
    const Bounds found = bounds_.at(one);
    if (found.lower == found.upper) known_.emplace(one, static_cast<uint32_t>(found.lower));
  }
  return known_.at(root);
}

Closings::Node Closings::called(uint32_t nonterminal, RegisterId seen) const {
  return node(nonterminal, grammar_.nonterminals[nonterminal].restores_set() ? DistinctRegister::none() : seen);
}

void Closings::look_at(Node nonterminal) {
  if (!bounds_.try_emplace(nonterminal).second) return;
  order_.push_back(nonterminal);
  const uint32_t index = index_of(nonterminal);
  if (grammar_.nonterminals[index].is_deferred) grammar_.deferred->define(index, grammar_, regexes_);
}

// Along the derivation that seems to take fewest: what is not made in it, and what seems so in that.
void Closings::look_further(Node from) {
  std::vector<Node> todo{from};
  std::unordered_set<Node> met{from};
  while (!todo.empty()) {
    const Node at = todo.back();
    todo.pop_back();
    look_at(at);
    for (Symbol symbol : likeliest(at).symbols) {
      if (symbol.kind() == SymbolKind::kRepeat) {
        const Repeat& repeat = grammar_.repeats[symbol.index()];
        if (repeat.minimum == 0) continue;
        symbol = repeat.body;
      }
      if (symbol.kind() == SymbolKind::kTerminal) of_terminal(symbol.index(), seen_in(at));
      if (symbol.kind() != SymbolKind::kNonterminal) continue;
      const Node next = called(symbol.index(), seen_in(at));
      if (!known_.contains(next) && met.insert(next).second) todo.push_back(next);
    }
  }
}

// Of those that may take fewest tokens the one with the fewest nonterminals to be made, and the last of these: members
// that are required come behind those that may be left out.
const Alternative& Closings::likeliest(Node nonterminal) {
  const Nonterminal& n = grammar_.nonterminals[index_of(nonterminal)];
  const Alternative* best = nullptr;
  std::pair<uint64_t, size_t> least;
  for (const Alternative& alternative : n.alternatives) {
    const std::pair of{sum(alternative, seen_in(nonterminal), n.max_tokens).lower, n_not_made(alternative)};
    if (best != nullptr && of > least) continue;
    best = &alternative;
    least = of;
  }
  static const Alternative kNone;
  return best == nullptr ? kNone : *best;
}

size_t Closings::n_not_made(const Alternative& alternative) const {
  return static_cast<size_t>(std::ranges::count_if(alternative.symbols, [&](Symbol symbol) {
    return symbol.kind() == SymbolKind::kNonterminal && grammar_.nonterminals[symbol.index()].is_deferred;
  }));
}

// The least solution for both bounds, as in `find_closing_tokens`.
void Closings::solve() {
  for (const Node one : order_) bounds_[one] = Bounds();
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order_.size(); i-- > 0;) {
      const Nonterminal& n = grammar_.nonterminals[index_of(order_[i])];
      Bounds best;
      for (const Alternative& alternative : n.alternatives) {
        const Bounds of = sum(alternative, seen_in(order_[i]), n.max_tokens);
        best = {std::min(best.lower, of.lower), std::min(best.upper, of.upper)};
      }
      Bounds& now = bounds_[order_[i]];
      if (best == now) continue;
      now = best;
      changed = true;
    }
  }
}

Closings::Bounds Closings::sum(const Alternative& alternative, RegisterId seen, uint32_t max_tokens) {
  if (++n_looks_ / kLooksPerStep > max_search_steps_) throw LimitExceeded("max_search_steps", max_search_steps_);
  Pause::tick();
  Bounds sum{0, 0};
  for (const Symbol symbol : alternative.symbols) {
    const Bounds of = bounds(symbol, seen);
    sum = {saturated(sum.lower + of.lower), saturated(sum.upper + of.upper)};
  }
  if (sum.lower > max_tokens) sum.lower = kUnbounded;
  if (sum.upper > max_tokens) sum.upper = kUnbounded;
  return sum;
}

Closings::Bounds Closings::bounds(Symbol symbol, RegisterId seen) {
  switch (symbol.kind()) {
    case SymbolKind::kTerminal: {
      const auto known = terminals_.find(node_of_terminal(symbol.index(), seen));
      if (known != terminals_.end()) return {known->second, known->second};
      const Terminal& terminal = grammar_.terminals[symbol.index()];
      return {terminal.is_deferred || terminal.nullable ? 0U : 1U, kUnbounded};
    }
    case SymbolKind::kTokenSet: {
      const TokenSet& set = grammar_.token_sets[symbol.index()];
      const uint64_t tokens = set.is_indent() ? 0 : set.ids.empty() ? kUnbounded : 1;
      return {tokens, tokens};
    }
    case SymbolKind::kCall:
    case SymbolKind::kNonterminal: {
      const uint32_t index = grammar_.skeleton(symbol).index();
      const Node callee = called(index, seen);
      if (const auto known = known_.find(callee); known != known_.end()) return {known->second, known->second};
      const auto found = bounds_.find(callee);
      const Nonterminal& n = grammar_.nonterminals[index];
      if (found == bounds_.end()) return {n.is_deferred && !n.nullable ? 1U : 0U, kUnbounded};
      return found->second;
    }
    case SymbolKind::kRepeat: {
      const Repeat& repeat = grammar_.repeats[symbol.index()];
      if (repeat.minimum == 0) return {0, 0};
      const Bounds once = bounds(repeat.body, seen);
      return {saturated(once.lower * repeat.minimum), saturated(once.upper * repeat.minimum)};
    }
  }
  return {};
}

Closings::Node Closings::node_of_terminal(uint32_t index, RegisterId seen) const {
  return node(index, grammar_.terminals[index].distinct ? seen : DistinctRegister::none());
}

uint32_t Closings::of_terminal(uint32_t index, RegisterId seen) {
  const Node at = node_of_terminal(index, seen);
  if (const auto known = terminals_.find(at); known != terminals_.end()) return known->second;
  if (grammar_.terminals[index].is_deferred) grammar_.deferred->define_terminal(index, grammar_, regexes_);
  const Terminal& terminal = grammar_.terminals[index];
  uint32_t tokens = 0;
  if (!terminal.nullable) {
    RegexId regex = terminal.regex;
    if (seen_in(at) != DistinctRegister::none()) regex = distinct_register_->addable(regex, seen, terminal.step);
    tokens = regex == RegexStore::nothing() ? kUnbounded : counts_.needed(regex);
  }
  terminals_.emplace(at, tokens);
  return tokens;
}

}  // namespace cfgmask
