#include "earley/grammar.h"

#include <algorithm>
#include <optional>

#include "util/components.h"
#include "util/lists.h"

namespace cfgmask {

namespace {

// The nonterminals that a pass looks at: all; or those from `first` on and one besides, and the others are known to
// derive something.
class Part {
 public:
  explicit Part(const Grammar& g) : size_(static_cast<uint32_t>(g.nonterminals.size())) {}
  Part(const Grammar& g, uint32_t first, uint32_t besides)
      : first_(first), size_(static_cast<uint32_t>(g.nonterminals.size()) - first + 1), besides_(besides) {}

  uint32_t size() const { return size_; }
  uint32_t operator[](uint32_t i) const { return besides_ && i + 1 == size_ ? *besides_ : first_ + i; }
  std::optional<uint32_t> index(uint32_t nonterminal) const {
    if (nonterminal >= first_) return nonterminal - first_;
    return nonterminal == besides_ ? std::optional(size_ - 1) : std::nullopt;
  }

 private:
  uint32_t first_ = 0;
  uint32_t size_;
  std::optional<uint32_t> besides_;
};

// Marks the symbols that reach a property upwards: a nonterminal has it when all symbols of one alternative have it.
// Counts, per alternative, the symbols still missing (Dowling, Gallier 1984), so it is linear in the grammar.
class Closure {
 public:
  // deferred_have_it  whether deferred nonterminals have the property
  template <class HasIt>
  Closure(const Grammar& g, const Part& part, bool deferred_have_it, HasIt has_it) : has_(part.size(), false) {
    struct Missing {
      uint32_t owner;
      uint32_t missing;
    };
    constexpr uint32_t kImpossible = UINT32_MAX;
    std::vector<Missing> alternatives;
    std::vector<uint32_t> ready;
    auto mark = [&](uint32_t index) {
      if (has_[index]) return;
      has_[index] = true;
      ready.push_back(index);
    };
    const Lists waiting(part.size(), [&](const auto& add) {
      alternatives.clear();
      for (uint32_t n = 0; n < part.size(); ++n) {
        for (const Alternative& alternative : g.nonterminals[part[n]].alternatives) {
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
              const auto needed = part.index(symbol.index());
              if (g.nonterminals[symbol.index()].is_deferred) {
                possible = possible && deferred_have_it;
              } else if (needed) {
                ++missing;
                add(*needed, index);
              }
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
      const uint32_t known = ready.back();
      ready.pop_back();
      for (uint32_t index : waiting[known]) {
        Missing& a = alternatives[index];
        if (a.missing != kImpossible && --a.missing == 0) mark(a.owner);
      }
    }
  }

  bool operator[](uint32_t index) const { return has_[index]; }

 private:
  std::vector<bool> has_;
};

bool productive(const Grammar& g, Symbol symbol) {
  switch (symbol.kind()) {
    case SymbolKind::kTerminal: {
      const Terminal& terminal = g.terminals[symbol.index()];
      return terminal.is_deferred || terminal.nullable || terminal.regex != RegexStore::nothing();
    }
    case SymbolKind::kTokenSet:
      return !g.token_sets[symbol.index()].ids.empty();
    default:
      return true;
  }
}

void prune(Grammar& g, const Part& part) {
  const Closure derives(g, part, true, [&](Symbol s) { return productive(g, s); });
  auto is_productive = [&](Symbol s) {
    s = g.skeleton(s);
    if (s.kind() != SymbolKind::kNonterminal) return productive(g, s);
    const auto index = part.index(s.index());
    return !index || derives[*index] || g.nonterminals[s.index()].is_deferred;
  };
  for (uint32_t i = 0; i < part.size(); ++i) {
    Nonterminal& n = g.nonterminals[part[i]];
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

// For each nonterminal, those with an alternative in which it stands.
Lists users_of(const Grammar& g) {
  return Lists(g.nonterminals.size(), [&](const auto& add) {
    for (uint32_t n = 0; n < g.nonterminals.size(); ++n) {
      for (const Alternative& alternative : g.nonterminals[n].alternatives) {
        for (const Symbol symbol : alternative.symbols) {
          const Symbol head = called(g, symbol);
          if (head.kind() == SymbolKind::kNonterminal) add(head.index(), n);
        }
      }
    }
  });
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
  const Lists users = users_of(g);
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

// Marks what has a limit on its tokens, and what leads there.
void mark_limits(Grammar& g) {
  std::vector<uint32_t> ready;
  const auto is_limited = [&](const Alternative& alternative) {
    return std::any_of(alternative.symbols.begin(), alternative.symbols.end(), [&](Symbol symbol) {
      const Symbol head = called(g, symbol);
      return head.kind() == SymbolKind::kTerminal && g.terminals[head.index()].max_tokens != kUnbounded;
    });
  };
  for (uint32_t n = 0; n < g.nonterminals.size(); ++n) {
    const Nonterminal& made = g.nonterminals[n];
    if (made.max_tokens != kUnbounded || std::any_of(made.alternatives.begin(), made.alternatives.end(), is_limited))
      ready.push_back(n);
  }
  const Lists users = users_of(g);
  while (!ready.empty()) {
    const uint32_t n = ready.back();
    ready.pop_back();
    if (g.nonterminals[n].leads_to_limit) continue;
    g.nonterminals[n].leads_to_limit = true;
    const auto used_by = users[n];
    ready.insert(ready.end(), used_by.begin(), used_by.end());
  }
}

void mark_choices_of_terminals(Grammar& g) {
  const auto is_terminal = [&](const Alternative& alternative) {
    const std::vector<Symbol>& symbols = alternative.symbols;
    return symbols.size() == 1 && symbols[0].kind() == SymbolKind::kTerminal &&
           !g.terminals[symbols[0].index()].nullable;
  };
  for (Nonterminal& n : g.nonterminals) {
    n.chooses_terminal = n.conditional && !n.opens_set && n.mark == nullptr && n.max_tokens == kUnbounded &&
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

// Components of the left-corner graph: callers come first.
void order_components(Grammar& g) {
  const auto n = static_cast<uint32_t>(g.nonterminals.size());
  const Lists edges(n, [&](const auto& add) {
    for (uint32_t i = 0; i < n; ++i) left_corners(g, g.nonterminals[i], [&](uint32_t j) { add(i, j); });
  });
  for_each_in_components(edges, [&](uint32_t nonterminal, uint32_t order, bool loops) {
    g.nonterminals[nonterminal].order = order;
    g.nonterminals[nonterminal].left_recursive = loops;
  });
  // What is deferred begins with none of these, and is made in the order in which the grammar names it: whoever asks
  // what may come is told in that order.
  for (uint32_t i = 0; i < n; ++i) {
    if (g.nonterminals[i].is_deferred) g.nonterminals[i].order = n + i;
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
  prune(grammar, Part(grammar));
  const Closure nullable(grammar, Part(grammar), false, [&](Symbol s) {
    return s.kind() == SymbolKind::kTerminal && grammar.terminals[s.index()].nullable;
  });
  for (uint32_t i = 0; i < grammar.nonterminals.size(); ++i) grammar.nonterminals[i].nullable = nullable[i];
  mark_conditional(grammar);
  if (grammar.counts_tokens()) mark_limits(grammar);
  mark_choices_of_terminals(grammar);
  order_components(grammar);
  if (grammar.start.kind() != SymbolKind::kNonterminal) return false;
  const Nonterminal& start = grammar.nonterminals[grammar.start.index()];
  return start.is_deferred || !start.alternatives.empty();
}

void prune_since(Grammar& grammar, uint32_t first, uint32_t besides) { prune(grammar, Part(grammar, first, besides)); }

void fit(Grammar& grammar) {
  grammar.terminals.shrink_to_fit();
  grammar.nonterminals.shrink_to_fit();
  grammar.repeats.shrink_to_fit();
  for (Nonterminal& n : grammar.nonterminals) n.alternatives.shrink_to_fit();
}

}  // namespace cfgmask
