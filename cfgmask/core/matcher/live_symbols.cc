#include <algorithm>

#include "earley/deferred_rules.h"
#include "matcher/compiled_grammar.h"

namespace cfgmask {

namespace {

using LiveSymbols = std::vector<CompiledGrammar::LiveSymbol>;

using Kind = CompiledGrammar::LiveSymbol::Kind;

template <typename Symbol>
void add(Kind kind, uint32_t index, const Symbol& symbol, RestId rest, LiveSymbols& live) {
  const auto known = std::find_if(live.begin(), live.end(), [&](const CompiledGrammar::LiveSymbol& other) {
    return other.kind == kind && other.index == index;
  });
  if (known == live.end()) {
    live.push_back({kind, index, symbol.name, symbol.place, {rest}});
  } else {
    known->rests.push_back(rest);
  }
}

void add_ignored(uint32_t scope, const std::string& name, LiveSymbols& ignored) {
  const auto is_known = [&](const auto& symbol) { return symbol.index == scope && symbol.name == name; };
  if (std::any_of(ignored.begin(), ignored.end(), is_known)) return;
  ignored.push_back({Kind::kIgnored, scope, name, kNoPlace, {}});
}

// Of what a scope ignores in a slot.
const std::string& name_of_ignored(const Grammar& grammar, uint32_t scope, const ItemSet::Slot& slot) {
  if (slot.role == LineRole::kSkippedNewline) return grammar.indenter->name;
  const auto& ignored = grammar.scopes[scope].ignored;
  return std::find_if(ignored.begin(), ignored.end(), [&](const auto& i) { return i.around == slot.around; })->name;
}

}  // namespace

LiveSymbols CompiledGrammar::live_symbols(StateId state) {
  LiveSymbols live;
  LiveSymbols ignored;
  RegexStore& regexes = store_->regexes;
  const auto add_terminal = [&](uint32_t terminal, RestId rest) {
    add(Kind::kTerminal, terminal, grammar_.terminals[terminal], rest, live);
  };
  const auto add_edge = [&](const ItemSet::Edge& edge, RegexId residual, uint32_t number) {
    const uint32_t index = grammar_.terminals[edge.source].choice;
    if (index == kNoChoice) return add_terminal(edge.source, edge.item.rest);
    const Choice choice = grammar_.choices[index];
    const auto add_key = [&](uint32_t key) {
      add_terminal(grammar_.deferred->terminal_of_key(choice.object, choice.first + key, grammar_, regexes),
                   edge.item.rest);
    };
    if (!regexes.is_numbered(residual)) return add_key(number);
    regexes.for_each_number(residual, [&](uint32_t key, uint32_t) { add_key(key); });
  };
  const auto add_terminals = [&](const ItemSet& set, Words residuals) {
    for (size_t i = 0; i < residuals.size(); i += 2) {
      const ItemSet::Slot& slot = set.slot(residuals[i]);
      for (uint32_t e = slot.first_edge; e < slot.last_edge; ++e) {
        const ItemSet::Edge& edge = set.edges[e];
        if (edge.is_ignore()) {
          add_ignored(edge.source, name_of_ignored(grammar_, edge.source, slot), ignored);
        } else {
          add_edge(edge, RegexId(residuals[i + 1]), residuals[i] - slot.first_number);
        }
      }
    }
  };
  for (const Configuration& at : configurations(state)) {
    add_terminals(parser_.at(at.items), store_->lexer.residuals(at.lexer));
  }
  for (const Boundary& end : ends(state)) {
    const ItemSet& set = parser_.at(end.items);
    add_terminals(set, store_->lexer.residuals(stepper_.at_boundary(end).lexer));
    for (const auto& edge : set.token_edges)
      add(Kind::kTokenSet, edge.token_set, grammar_.token_sets[edge.token_set], edge.item.rest, live);
  }
  return live.empty() && !accepting(state) ? ignored : live;
}

std::vector<std::string> CompiledGrammar::expected(StateId state) {
  std::vector<std::string> names;
  for (const LiveSymbol& symbol : live_symbols(state)) {
    if (std::find(names.begin(), names.end(), symbol.name) == names.end()) names.push_back(symbol.name);
  }
  return names;
}

}  // namespace cfgmask
