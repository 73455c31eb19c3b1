#include "earley/part_closings.h"

#include <algorithm>
#include <unordered_set>

#include "earley/deferred_rules.h"
#include "util/limits.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// Looks at alternatives for one answer: half a second.
constexpr uint64_t kMostLooks = 20'000'000;

}  // namespace

uint32_t PartClosings::of(uint32_t nonterminal) {
  if (const auto known = known_.find(nonterminal); known != known_.end()) return known->second;
  order_.clear();
  bounds_.clear();
  n_looks_ = 0;
  look_at(nonterminal);
  for (solve(); bounds_.at(nonterminal).lower != bounds_.at(nonterminal).upper; solve()) look_further(nonterminal);
  for (const uint32_t one : order_) {
    const Bounds found = bounds_.at(one);
    if (found.lower == found.upper) known_.emplace(one, static_cast<uint32_t>(found.lower));
  }
  return known_.at(nonterminal);
}

void PartClosings::look_at(uint32_t nonterminal) {
  if (!bounds_.try_emplace(nonterminal).second) return;
  order_.push_back(nonterminal);
  if (grammar_.nonterminals[nonterminal].is_deferred) grammar_.deferred->define(nonterminal, grammar_, regexes_);
}

// Along the derivation that seems to take fewest: what is not made in it, and what seems so in that.
void PartClosings::look_further(uint32_t from) {
  std::vector<uint32_t> todo{from};
  std::unordered_set<uint32_t> met{from};
  while (!todo.empty()) {
    const uint32_t nonterminal = todo.back();
    todo.pop_back();
    look_at(nonterminal);
    for (Symbol symbol : likeliest(nonterminal).symbols) {
      if (symbol.kind() == SymbolKind::kRepeat) {
        const Repeat& repeat = grammar_.repeats[symbol.index()];
        if (repeat.minimum == 0) continue;
        symbol = repeat.body;
      }
      if (symbol.kind() == SymbolKind::kTerminal) of_terminal(symbol.index());
      if (symbol.kind() != SymbolKind::kNonterminal || known_.contains(symbol.index())) continue;
      if (met.insert(symbol.index()).second) todo.push_back(symbol.index());
    }
  }
}

// Of those that may take fewest tokens the one with the fewest nonterminals to be made, and the last of these: members
// that are required come behind those that may be left out.
const Alternative& PartClosings::likeliest(uint32_t nonterminal) {
  const Nonterminal& n = grammar_.nonterminals[nonterminal];
  const Alternative* best = nullptr;
  std::pair<uint64_t, size_t> least;
  for (const Alternative& alternative : n.alternatives) {
    const std::pair of{sum(alternative, n.max_tokens).lower, n_not_made(alternative)};
    if (best != nullptr && of > least) continue;
    best = &alternative;
    least = of;
  }
  static const Alternative kNone;
  return best == nullptr ? kNone : *best;
}

size_t PartClosings::n_not_made(const Alternative& alternative) const {
  return static_cast<size_t>(std::ranges::count_if(alternative.symbols, [&](Symbol symbol) {
    return symbol.kind() == SymbolKind::kNonterminal && grammar_.nonterminals[symbol.index()].is_deferred;
  }));
}

// The least solution for both bounds, as in `find_closing_tokens`.
void PartClosings::solve() {
  for (const uint32_t nonterminal : order_) bounds_[nonterminal] = Bounds();
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order_.size(); i-- > 0;) {
      const Nonterminal& n = grammar_.nonterminals[order_[i]];
      Bounds best;
      for (const Alternative& alternative : n.alternatives) {
        const Bounds of = sum(alternative, n.max_tokens);
        best = {std::min(best.lower, of.lower), std::min(best.upper, of.upper)};
      }
      Bounds& now = bounds_[order_[i]];
      if (best == now) continue;
      now = best;
      changed = true;
    }
  }
}

PartClosings::Bounds PartClosings::sum(const Alternative& alternative, uint32_t max_tokens) {
  if (++n_looks_ > kMostLooks) throw LimitExceeded("max_search_steps", kMostLooks);
  Pause::tick();
  Bounds sum{0, 0};
  for (const Symbol symbol : alternative.symbols) {
    const Bounds of = bounds(symbol);
    sum = {saturated(sum.lower + of.lower), saturated(sum.upper + of.upper)};
  }
  if (sum.lower > max_tokens) sum.lower = kUnbounded;
  if (sum.upper > max_tokens) sum.upper = kUnbounded;
  return sum;
}

PartClosings::Bounds PartClosings::bounds(Symbol symbol) {
  switch (symbol.kind()) {
    case SymbolKind::kTerminal: {
      if (const auto known = terminals_.find(symbol.index()); known != terminals_.end())
        return {known->second, known->second};
      const Terminal& terminal = grammar_.terminals[symbol.index()];
      return {terminal.is_deferred || terminal.nullable ? 0U : 1U, kUnbounded};
    }
    case SymbolKind::kTokenSet: {
      const TokenSet& set = grammar_.token_sets[symbol.index()];
      const uint64_t tokens = set.is_indent() ? 0 : set.ids.empty() ? kUnbounded : 1;
      return {tokens, tokens};
    }
    case SymbolKind::kNonterminal: {
      if (const auto known = known_.find(symbol.index()); known != known_.end()) return {known->second, known->second};
      const auto found = bounds_.find(symbol.index());
      // Nothing that is deferred derives the empty text.
      if (found == bounds_.end()) return {grammar_.nonterminals[symbol.index()].is_deferred ? 1U : 0U, kUnbounded};
      return found->second;
    }
    case SymbolKind::kRepeat: {
      const Repeat& repeat = grammar_.repeats[symbol.index()];
      if (repeat.minimum == 0) return {0, 0};
      const Bounds once = bounds(repeat.body);
      return {saturated(once.lower * repeat.minimum), saturated(once.upper * repeat.minimum)};
    }
    case SymbolKind::kCall:
      break;  // deferred rules do not go together with parameters
  }
  return {};
}

uint32_t PartClosings::of_terminal(uint32_t index) {
  if (const auto known = terminals_.find(index); known != terminals_.end()) return known->second;
  if (grammar_.terminals[index].is_deferred) grammar_.deferred->define_terminal(index, grammar_, regexes_);
  const Terminal& terminal = grammar_.terminals[index];
  uint32_t tokens = 0;
  if (!terminal.nullable) tokens = terminal.regex == RegexStore::nothing() ? kUnbounded : needed_(terminal.regex);
  return terminals_.emplace(index, tokens).first->second;
}

}  // namespace cfgmask
