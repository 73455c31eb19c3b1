#include "earley/instances.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace cfgmask {

Instances::Instances(const Grammar& grammar, const Limits& limits)
    : grammar_(grammar), rules_{"max_rules", limits.max_rules}, max_search_steps_(limits.max_search_steps) {}

uint32_t Instances::origin(uint32_t instance) const {
  const size_t n = grammar_.nonterminals.size();
  return instance < n ? instance : ids_.at(static_cast<uint32_t>(instance - n))[0];
}

uint64_t Instances::value(uint32_t instance) const {
  const size_t n = grammar_.nonterminals.size();
  if (instance < n) return 0;
  const Words words = ids_.at(static_cast<uint32_t>(instance - n));
  return (uint64_t{words[1]} << 32) | words[2];
}

uint32_t Instances::instance_of(uint32_t nonterminal, uint64_t value) {
  if (value == 0) return nonterminal;
  const uint32_t words[] = {nonterminal, static_cast<uint32_t>(value >> 32), static_cast<uint32_t>(value)};
  if (!ids_.find(words)) rules_.charge();
  return static_cast<uint32_t>(grammar_.nonterminals.size()) + ids_.intern(words).first;
}

Symbol Instances::resolved(Symbol symbol, uint32_t instance) {
  if (symbol.kind() != SymbolKind::kCall) return symbol;
  const Call& call = grammar_.calls[symbol.index()];
  return Symbol::make(SymbolKind::kNonterminal, instance_of(call.nonterminal, call.argument.apply(value(instance))));
}

bool Instances::applies(const Alternative& alternative, uint32_t instance) const {
  return alternative.condition.empty() || holds(alternative.condition, value(instance));
}

bool Instances::is_live(const Alternative& alternative, uint32_t instance) {
  if (!applies(alternative, instance)) return false;
  return std::all_of(alternative.symbols.begin(), alternative.symbols.end(), [&](Symbol symbol) {
    if (symbol.kind() == SymbolKind::kRepeat) {
      const Repeat& repeat = grammar_.repeats[symbol.index()];
      if (repeat.minimum == 0) return true;
      symbol = repeat.body;
    }
    symbol = resolved(symbol, instance);
    return symbol.kind() != SymbolKind::kNonterminal || productive(symbol.index());
  });
}

bool Instances::nullable(uint32_t instance) {
  const Nonterminal& n = nonterminal(instance);
  return n.nullable && (!n.conditional || solve(Property::kNullable, instance));
}

bool Instances::productive(uint32_t instance) {
  const Nonterminal& n = nonterminal(instance);
  return !n.alternatives.empty() && (!n.conditional || solve(Property::kProductive, instance));
}

bool Instances::solve(Property property, uint32_t instance) {
  std::unordered_set<uint32_t> visited;
  std::vector<uint32_t> stack{instance};
  while (!stack.empty()) {
    const uint32_t at = stack.back();
    stack.pop_back();
    if (truth(property, at) == Truth::kTrue || truth(property, at) == Truth::kFalse || !visited.insert(at).second)
      continue;
    if (visited.size() > max_search_steps_) throw LimitExceeded("max_search_steps", max_search_steps_);
    if (truth(property, at) == Truth::kUnseen) explore(property, at);
    if (truth(property, instance) == Truth::kTrue) break;
    const auto& needs = node(property, at).needs;
    stack.insert(stack.end(), needs.rbegin(), needs.rend());
  }
  if (truth(property, instance) == Truth::kTrue) return true;
  if (truth(property, instance) == Truth::kFalse) return false;
  // All that it leads to was looked at, and nothing more follows.
  for (const uint32_t seen : visited) {
    if (truth(property, seen) == Truth::kOpen) node(property, seen).truth = Truth::kFalse;
  }
  return false;
}

// Enters the alternatives of an instance, up to one whose symbols are all known to have the property.
void Instances::explore(Property property, uint32_t instance) {
  std::vector<std::vector<uint32_t>> open;
  for (const Alternative& alternative : nonterminal(instance).alternatives) {
    if (!applies(alternative, instance)) continue;
    std::vector<uint32_t> needs;
    const bool possible = std::all_of(alternative.symbols.begin(), alternative.symbols.end(),
                                      [&](Symbol s) { return may_have(property, s, instance, needs); });
    if (!possible) continue;
    if (needs.empty()) {
      mark(property, instance);
      return;
    }
    open.push_back(std::move(needs));
  }
  Solution& s = solution(property);
  node(property, instance).truth = Truth::kOpen;
  for (const auto& needs : open) {
    const auto wait = static_cast<uint32_t>(s.waits.size());
    s.waits.push_back({instance, static_cast<uint32_t>(needs.size())});
    for (const uint32_t needed : needs) {
      node(property, needed).waiting.push_back(wait);
      node(property, instance).needs.push_back(needed);
    }
  }
}

bool Instances::may_have(Property property, Symbol symbol, uint32_t instance, std::vector<uint32_t>& needs) {
  if (symbol.kind() == SymbolKind::kRepeat) {
    const Repeat& repeat = grammar_.repeats[symbol.index()];
    if (repeat.minimum == 0) return true;
    symbol = repeat.body;
  }
  const bool nullable = property == Property::kNullable;
  if (symbol.kind() == SymbolKind::kTerminal) return !nullable || grammar_.terminals[symbol.index()].nullable;
  if (symbol.kind() == SymbolKind::kTokenSet) return !nullable;
  const Nonterminal& called = grammar_.nonterminals[grammar_.skeleton(symbol).index()];
  if (nullable ? !called.nullable : called.alternatives.empty()) return false;
  if (!called.conditional) return true;
  const uint32_t needed = resolved(symbol, instance).index();
  const Truth known = truth(property, needed);
  if (known != Truth::kTrue && known != Truth::kFalse) needs.push_back(needed);
  return known != Truth::kFalse;
}

Instances::Solution::Node& Instances::node(Property property, uint32_t instance) {
  Solution& s = solution(property);
  while (s.nodes.size() <= instance) s.nodes.push_back({});
  return s.nodes[instance];
}

Instances::Truth Instances::truth(Property property, uint32_t instance) { return node(property, instance).truth; }

// The instance has the property, and so have those that waited for nothing else.
void Instances::mark(Property property, uint32_t instance) {
  Solution& s = solution(property);
  std::vector<uint32_t> ready{instance};
  while (!ready.empty()) {
    Solution::Node& at = node(property, ready.back());
    ready.pop_back();
    if (at.truth == Truth::kTrue) continue;
    at.truth = Truth::kTrue;
    at.needs = {};
    for (const uint32_t wait : std::exchange(at.waiting, {})) {
      if (--s.waits[wait].missing == 0) ready.push_back(s.waits[wait].owner);
    }
  }
}

size_t Instances::bytes() const {
  size_t bytes = ids_.bytes();
  for (const Solution* s : {&nullable_, &productive_}) bytes += s->nodes.bytes() + s->waits.bytes();
  return bytes;
}

}  // namespace cfgmask
