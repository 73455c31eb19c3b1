#include "earley/instances.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace cfgmask {

Instances::Instances(const Grammar& grammar, TokenCounts& counts, const Limits& limits)
    : grammar_(grammar),
      counts_(counts),
      rules_{"max_rules", limits.max_rules},
      max_search_steps_(limits.max_search_steps) {}

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
  const auto n = static_cast<uint32_t>(grammar_.nonterminals.size());
  if (const auto known = ids_.find(words)) return n + *known;
  rules_.charge();
  return n + ids_.intern(words).first;
}

Symbol Instances::resolved(Symbol symbol, uint32_t instance) {
  if (symbol.kind() != SymbolKind::kCall) return symbol;
  const Call& call = grammar_.calls[symbol.index()];
  const uint64_t argument = call.argument.apply(value(instance));
  if (const auto terminal = only_terminal(grammar_.nonterminals[call.nonterminal], argument)) return *terminal;
  return Symbol::make(SymbolKind::kNonterminal, instance_of(call.nonterminal, argument));
}

std::optional<Symbol> Instances::only_terminal(const Nonterminal& called, uint64_t argument) {
  if (!called.chooses_terminal) return std::nullopt;
  std::optional<Symbol> found;
  for (const Alternative& alternative : called.alternatives) {
    if (!alternative.condition.empty() && !holds(alternative.condition, argument)) continue;
    if (found) return std::nullopt;
    found = alternative.symbols[0];
  }
  return found;
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
  if (n.is_deferred) return true;
  return !n.alternatives.empty() && (!n.conditional || (is_closed(instance) && solve(Property::kProductive, instance)));
}

// Depth first, one alternative after the other: where most values lead to an end, the first ways do.
bool Instances::solve(Property property, uint32_t instance) {
  if (truth(property, instance) != Truth::kOpen) return truth(property, instance) == Truth::kTrue;
  const uint32_t search = ++solution(property).n_searches;
  std::vector<uint32_t> visited;
  std::vector<uint32_t> stack{instance};
  while (!stack.empty() && truth(property, instance) == Truth::kOpen) {
    const uint32_t at = stack.back();
    Solution::Node& here = node(property, at);
    if (here.truth != Truth::kOpen) {
      stack.pop_back();
    } else if (here.search != search) {
      here.search = search;
      visited.push_back(at);
      if (visited.size() > max_search_steps_) throw LimitExceeded("max_search_steps", max_search_steps_);
      stack.insert(stack.end(), here.needs.rbegin(), here.needs.rend());
    } else {
      const size_t n_known = here.needs.size();
      if (!enter_next(property, at)) stack.pop_back();
      for (size_t i = here.needs.size(); i-- > n_known;) stack.push_back(here.needs[i]);
    }
  }
  if (truth(property, instance) == Truth::kTrue) return true;
  // All that it leads to was looked at, and nothing more follows.
  for (const uint32_t seen : visited) {
    if (truth(property, seen) == Truth::kOpen) node(property, seen).truth = Truth::kFalse;
  }
  return false;
}

bool Instances::enter_next(Property property, uint32_t instance) {
  Solution::Node& here = node(property, instance);
  const auto& alternatives = nonterminal(instance).alternatives;
  while (here.n_entered < alternatives.size()) {
    const Alternative& alternative = alternatives[here.n_entered];
    std::vector<uint32_t> needs;
    // Counted only then: a bound that is crossed in the middle leaves the alternative to be looked at again.
    const bool possible =
        applies(alternative, instance) && std::all_of(alternative.symbols.begin(), alternative.symbols.end(),
                                                      [&](Symbol s) { return may_have(property, s, instance, needs); });
    ++here.n_entered;
    if (!possible) continue;
    if (needs.empty()) {
      mark(property, instance);
      return true;
    }
    Solution& s = solution(property);
    const auto wait = static_cast<uint32_t>(s.waits.size());
    s.waits.push_back({instance, static_cast<uint32_t>(needs.size())});
    for (const uint32_t needed : needs) node(property, needed).waiting.push_back(wait);
    here.needs.insert(here.needs.end(), needs.begin(), needs.end());
    return true;
  }
  return false;
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
  symbol = resolved(symbol, instance);
  if (symbol.kind() == SymbolKind::kTerminal) return !nullable;
  const uint32_t needed = symbol.index();
  if (!nullable && !is_closed(needed)) return false;
  if (truth(property, needed) == Truth::kOpen) needs.push_back(needed);
  return truth(property, needed) != Truth::kFalse;
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

bool Instances::is_closed(uint32_t instance) {
  return nonterminal(instance).max_tokens == kUnbounded || closing_tokens(instance) != kUnbounded;
}

uint32_t Instances::closing_tokens(uint32_t instance) {
  const Nonterminal& n = nonterminal(instance);
  // What cannot be closed whatever the conditions say, or is the same for all values.
  if (!n.conditional || n.closing_tokens == kUnbounded) return n.closing_tokens;
  if (!closings_.find(instance)) find_closings(instance);
  return *closings_.find(instance);
}

// As `find_closing_tokens` does for a grammar, over the instances that this one leads to and that are not known yet.
void Instances::find_closings(uint32_t from) {
  std::unordered_map<uint32_t, uint32_t> least{{from, kUnbounded}};
  std::vector<uint32_t> order{from};
  const auto is_open = [&](Symbol symbol) {
    if (symbol.kind() != SymbolKind::kNonterminal) return false;
    const Nonterminal& n = nonterminal(symbol.index());
    return n.conditional && n.closing_tokens != kUnbounded && !closings_.find(symbol.index());
  };
  const auto tokens = [&](Symbol symbol, uint32_t caller) -> uint64_t {
    uint64_t times = 1;
    if (symbol.kind() == SymbolKind::kRepeat) {
      const Repeat& repeat = grammar_.repeats[symbol.index()];
      times = repeat.minimum;
      symbol = repeat.body;
    }
    if (times == 0) return 0;
    symbol = resolved(symbol, caller);
    if (is_open(symbol)) {
      const auto [place, is_new] = least.try_emplace(symbol.index(), kUnbounded);
      if (is_new) order.push_back(symbol.index());
      return saturated(times * place->second);
    }
    if (symbol.kind() == SymbolKind::kNonterminal) return saturated(times * closing_tokens(symbol.index()));
    if (symbol.kind() == SymbolKind::kTokenSet) {
      const TokenSet& set = grammar_.token_sets[symbol.index()];
      return set.is_indent() ? 0 : set.ids.empty() ? kUnbounded : times;
    }
    const Terminal& t = grammar_.terminals[symbol.index()];
    if (t.nullable) return 0;
    return t.regex == RegexStore::nothing() ? kUnbounded : saturated(times * counts_.needed(t.regex));
  };
  const auto look_at = [&](uint32_t instance) {
    const Nonterminal& n = nonterminal(instance);
    uint64_t best = kUnbounded;
    for (const Alternative& alternative : n.alternatives) {
      if (!applies(alternative, instance)) continue;
      uint64_t sum = 0;
      for (const Symbol symbol : alternative.symbols) sum = saturated(sum + tokens(symbol, instance));
      best = std::min(best, sum);
    }
    if (best > n.max_tokens) best = kUnbounded;
    return std::exchange(least[instance], static_cast<uint32_t>(best)) != best;
  };
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > max_search_steps_) throw LimitExceeded("max_search_steps", max_search_steps_);
    look_at(order[i]);
  }
  // Callees come behind the callers that led to them.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size(); i-- > 0;) changed = look_at(order[i]) || changed;
  }
  for (const auto& [instance, needed] : least) closings_.insert(instance, needed);
}

size_t Instances::bytes() const {
  size_t bytes = ids_.bytes() + closings_.bytes();
  for (const Solution* s : {&nullable_, &productive_}) bytes += s->nodes.bytes() + s->waits.bytes();
  return bytes;
}

}  // namespace cfgmask
