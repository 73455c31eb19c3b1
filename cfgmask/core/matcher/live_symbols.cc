#include <algorithm>

#include "earley/deferred_rules.h"
#include "matcher/compiled_grammar.h"

namespace cfgmask {

namespace {

using LiveSymbols = std::vector<CompiledGrammar::LiveSymbol>;

void add(bool is_token_set, uint32_t index, RestId rest, LiveSymbols& live) {
  const auto known = std::find_if(live.begin(), live.end(), [&](const CompiledGrammar::LiveSymbol& symbol) {
    return symbol.is_token_set == is_token_set && symbol.index == index;
  });
  if (known == live.end()) {
    live.push_back({is_token_set, index, {rest}});
  } else {
    known->rests.push_back(rest);
  }
}

}  // namespace

LiveSymbols CompiledGrammar::live_symbols(StateId state) {
  LiveSymbols live;
  RegexStore& regexes = store_->regexes;
  const auto add_edge = [&](const ItemSet::Edge& edge, RegexId residual, uint32_t number) {
    if (edge.is_ignore()) return;
    const uint32_t index = grammar_.terminals[edge.source].choice;
    if (index == kNoChoice) return add(false, edge.source, edge.item.rest, live);
    const Choice choice = grammar_.choices[index];
    const auto add_key = [&](uint32_t key) {
      add(false, grammar_.deferred->terminal_of_key(choice.object, choice.first + key, grammar_, regexes),
          edge.item.rest, live);
    };
    if (!regexes.is_numbered(residual)) return add_key(number);
    regexes.for_each_number(residual, [&](uint32_t key, uint32_t) { add_key(key); });
  };
  const auto add_terminals = [&](const ItemSet& set, Words residuals) {
    for (size_t i = 0; i < residuals.size(); i += 2) {
      const ItemSet::Slot& slot = set.slot(residuals[i]);
      for (uint32_t e = slot.first_edge; e < slot.last_edge; ++e)
        add_edge(set.edges[e], RegexId(residuals[i + 1]), residuals[i] - slot.first_number);
    }
  };
  for (const Configuration& at : configurations(state)) {
    add_terminals(parser_.at(at.items), store_->lexer.residuals(at.lexer));
  }
  for (const Boundary& end : ends(state)) {
    const ItemSet& set = parser_.at(end.items);
    add_terminals(set, store_->lexer.residuals(stepper_.at_boundary(end).lexer));
    for (const auto& edge : set.token_edges) add(true, edge.token_set, edge.item.rest, live);
  }
  return live;
}

const std::string& CompiledGrammar::name(const LiveSymbol& symbol) const {
  return symbol.is_token_set ? grammar_.token_sets[symbol.index].name : grammar_.terminals[symbol.index].name;
}

std::vector<std::string> CompiledGrammar::expected(StateId state) {
  std::vector<std::string> names;
  for (const LiveSymbol& symbol : live_symbols(state)) {
    if (std::find(names.begin(), names.end(), name(symbol)) == names.end()) names.push_back(name(symbol));
  }
  return names;
}

}  // namespace cfgmask
