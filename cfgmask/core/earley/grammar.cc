#include "earley/grammar.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace cfgmask {

namespace {

// A list for each of some numbers, one after the other in one block: a large grammar has a hundred thousand of them.
class Lists {
 public:
  // `each(add)` calls `add(list, item)` for all items, and is called twice.
  template <class Each>
  Lists(size_t n_lists, Each each) : ends_(n_lists + 1, 0) {
    each([&](uint32_t list, uint32_t) { ++ends_[list + 1]; });
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    items_.resize(ends_.back());
    std::vector<uint32_t> next(ends_.begin(), ends_.end() - 1);
    each([&](uint32_t list, uint32_t item) { items_[next[list]++] = item; });
  }

  std::span<const uint32_t> operator[](uint32_t list) const {
    return std::span(items_).subspan(ends_[list], ends_[list + 1] - ends_[list]);
  }

 private:
  std::vector<uint32_t> ends_;
  std::vector<uint32_t> items_;
};

// Marks the symbols that reach a property upwards: a nonterminal has it when all symbols of one alternative have it.
// Counts, per alternative, the symbols still missing (Dowling, Gallier 1984), so it is linear in the grammar.
class Closure {
 public:
  template <class HasIt>
  Closure(const Grammar& g, HasIt has_it) : has_(g.nonterminals.size(), false) {
    struct Missing {
      uint32_t owner;
      uint32_t missing;
    };
    constexpr uint32_t kImpossible = UINT32_MAX;
    std::vector<Missing> alternatives;
    std::vector<uint32_t> ready;
    auto mark = [&](uint32_t nonterminal) {
      if (has_[nonterminal]) return;
      has_[nonterminal] = true;
      ready.push_back(nonterminal);
    };
    const Lists waiting(g.nonterminals.size(), [&](const auto& add) {
      alternatives.clear();
      for (uint32_t n = 0; n < g.nonterminals.size(); ++n) {
        for (const Alternative& alternative : g.nonterminals[n].alternatives) {
          const auto index = static_cast<uint32_t>(alternatives.size());
          uint32_t missing = 0;
          bool possible = true;
          for (Symbol symbol : alternative.symbols) {
            if (symbol.kind() == SymbolKind::kRepeat) {
              const Repeat& repeat = g.repeats[symbol.index()];
              if (repeat.minimum == 0) continue;
              symbol = repeat.body;
            }
            symbol = g.skeleton(symbol);
            if (symbol.kind() == SymbolKind::kNonterminal) {
              ++missing;
              add(symbol.index(), index);
            } else {
              possible = possible && has_it(symbol);
            }
          }
          alternatives.push_back({n, possible ? missing : kImpossible});
        }
      }
    });
    for (const Missing& a : alternatives) {
      if (a.missing == 0) mark(a.owner);
    }
    while (!ready.empty()) {
      const uint32_t nonterminal = ready.back();
      ready.pop_back();
      for (uint32_t index : waiting[nonterminal]) {
        Missing& a = alternatives[index];
        if (a.missing != kImpossible && --a.missing == 0) mark(a.owner);
      }
    }
  }

  bool operator[](uint32_t nonterminal) const { return has_[nonterminal]; }

 private:
  std::vector<bool> has_;
};

bool productive(const Grammar& g, Symbol symbol) {
  switch (symbol.kind()) {
    case SymbolKind::kTerminal:
      return g.terminals[symbol.index()].nullable || g.terminals[symbol.index()].regex != RegexStore::nothing();
    case SymbolKind::kTokenSet:
      return !g.token_sets[symbol.index()].ids.empty();
    default:
      return true;
  }
}

void prune(Grammar& g) {
  const Closure derives(g, [&](Symbol s) { return productive(g, s); });
  auto is_productive = [&](Symbol s) {
    s = g.skeleton(s);
    return s.kind() == SymbolKind::kNonterminal ? derives[s.index()] : productive(g, s);
  };
  for (Nonterminal& n : g.nonterminals) {
    for (Alternative& alternative : n.alternatives) {
      // An unproductive body that need not occur is taken no times.
      std::erase_if(alternative.symbols, [&](Symbol s) {
        if (s.kind() != SymbolKind::kRepeat) return false;
        const Repeat& r = g.repeats[s.index()];
        return r.maximum == 0 || (r.minimum == 0 && !is_productive(r.body));
      });
    }
    std::erase_if(n.alternatives, [&](const Alternative& alternative) {
      return !std::all_of(alternative.symbols.begin(), alternative.symbols.end(), [&](Symbol s) {
        return is_productive(s.kind() == SymbolKind::kRepeat ? g.repeats[s.index()].body : s);
      });
    });
  }
}

// What a symbol consists of, without count and argument.
Symbol called(const Grammar& g, Symbol symbol) {
  return g.skeleton(symbol.kind() == SymbolKind::kRepeat ? g.repeats[symbol.index()].body : symbol);
}

// Marks what has a condition or an argument, and what leads there.
void mark_conditional(Grammar& g) {
  std::vector<uint32_t> ready;
  for (uint32_t n = 0; n < g.nonterminals.size(); ++n) {
    const auto& alternatives = g.nonterminals[n].alternatives;
    if (std::any_of(alternatives.begin(), alternatives.end(), [](const auto& a) { return !a.condition.empty(); }))
      ready.push_back(n);
  }
  for (const Call& call : g.calls) ready.push_back(call.nonterminal);
  if (ready.empty()) return;
  const Lists users(g.nonterminals.size(), [&](const auto& add) {
    for (uint32_t n = 0; n < g.nonterminals.size(); ++n) {
      for (const Alternative& alternative : g.nonterminals[n].alternatives) {
        for (const Symbol symbol : alternative.symbols) {
          const Symbol head = called(g, symbol);
          if (head.kind() == SymbolKind::kNonterminal) add(head.index(), n);
        }
      }
    }
  });
  while (!ready.empty()) {
    const uint32_t n = ready.back();
    ready.pop_back();
    if (g.nonterminals[n].conditional) continue;
    g.nonterminals[n].conditional = true;
    const auto used_by = users[n];
    ready.insert(ready.end(), used_by.begin(), used_by.end());
  }
  // What depends on nothing comes first: a search for a way to the end then finds it before it goes deeper.
  const auto is_plain = [&](const Alternative& alternative) {
    return std::none_of(alternative.symbols.begin(), alternative.symbols.end(), [&](Symbol symbol) {
      const Symbol head = called(g, symbol);
      return head.kind() == SymbolKind::kNonterminal && g.nonterminals[head.index()].conditional;
    });
  };
  for (Nonterminal& n : g.nonterminals) {
    if (n.conditional) std::stable_partition(n.alternatives.begin(), n.alternatives.end(), is_plain);
  }
}

void mark_choices_of_terminals(Grammar& g) {
  const auto is_terminal = [&](const Alternative& alternative) {
    const std::vector<Symbol>& symbols = alternative.symbols;
    return symbols.size() == 1 && symbols[0].kind() == SymbolKind::kTerminal &&
           !g.terminals[symbols[0].index()].nullable;
  };
  for (Nonterminal& n : g.nonterminals) {
    n.chooses_terminal = n.conditional && !n.opens_set && n.mark == nullptr &&
                         std::all_of(n.alternatives.begin(), n.alternatives.end(), is_terminal);
  }
}

// The nonterminals that an alternative of `n` may begin with.
template <class Visit>
void left_corners(const Grammar& g, const Nonterminal& n, Visit visit) {
  for (const Alternative& alternative : n.alternatives) {
    for (Symbol symbol : alternative.symbols) {
      const Symbol head = called(g, symbol);
      if (head.kind() == SymbolKind::kNonterminal) visit(head.index());
      if (!g.nullable(symbol)) break;
    }
  }
}

// Tarjan's strongly connected components of the left-corner graph, without recursion. Components are found callees
// first; the order is counted down, so that callers come first.
void order_components(Grammar& g) {
  const auto n = static_cast<uint32_t>(g.nonterminals.size());
  const Lists edges(n, [&](const auto& add) {
    for (uint32_t i = 0; i < n; ++i) left_corners(g, g.nonterminals[i], [&](uint32_t j) { add(i, j); });
  });
  struct Frame {
    uint32_t node;
    size_t edge;
  };
  constexpr uint32_t kNew = UINT32_MAX;
  std::vector<uint32_t> index(n, kNew);
  std::vector<uint32_t> low(n, 0);
  std::vector<bool> on_stack(n, false);
  std::vector<uint32_t> stack;
  uint32_t counter = 0;
  uint32_t order = n;
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
        g.nonterminals[w].order = order;
        g.nonterminals[w].left_recursive = loops;
      }
    }
  }
}

}  // namespace

bool Grammar::nullable(Symbol symbol) const {
  switch (symbol.kind()) {
    case SymbolKind::kTerminal:
      return terminals[symbol.index()].nullable;
    case SymbolKind::kTokenSet:
      return false;
    case SymbolKind::kNonterminal:
      return nonterminals[symbol.index()].nullable;
    case SymbolKind::kCall:
      return nonterminals[calls[symbol.index()].nonterminal].nullable;
    case SymbolKind::kRepeat: {
      const Repeat& repeat = repeats[symbol.index()];
      return repeat.minimum == 0 || nullable(repeat.body);
    }
  }
  return false;
}

bool analyse(Grammar& grammar) {
  prune(grammar);
  const Closure nullable(
      grammar, [&](Symbol s) { return s.kind() == SymbolKind::kTerminal && grammar.terminals[s.index()].nullable; });
  for (uint32_t i = 0; i < grammar.nonterminals.size(); ++i) grammar.nonterminals[i].nullable = nullable[i];
  mark_conditional(grammar);
  mark_choices_of_terminals(grammar);
  order_components(grammar);
  return grammar.start.kind() == SymbolKind::kNonterminal &&
         !grammar.nonterminals[grammar.start.index()].alternatives.empty();
}

void fit(Grammar& grammar) {
  grammar.terminals.shrink_to_fit();
  grammar.nonterminals.shrink_to_fit();
  grammar.repeats.shrink_to_fit();
  for (Nonterminal& n : grammar.nonterminals) n.alternatives.shrink_to_fit();
}

}  // namespace cfgmask
