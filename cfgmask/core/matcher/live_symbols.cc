#include <algorithm>

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

void add_terminals(const ItemSet& set, Words residuals, LiveSymbols& live) {
  for (size_t i = 0; i < residuals.size(); i += 2) {
    const ItemSet::Slot& slot = set.slots[residuals[i]];
    for (uint32_t e = slot.first_edge; e < slot.last_edge; ++e) {
      const ItemSet::Edge& edge = set.edges[e];
      if (!edge.is_ignore()) add(false, edge.source, edge.item.rest, live);
    }
  }
}

}  // namespace

LiveSymbols CompiledGrammar::live_symbols(StateId state) {
  LiveSymbols live;
  for (const Configuration& at : configurations(state)) {
    add_terminals(parser_.at(at.items), store_->lexer.residuals(at.lexer), live);
  }
  for (const Boundary& end : ends(state)) {
    const ItemSet& set = parser_.at(end.items);
    add_terminals(set, store_->lexer.residuals(stepper_.at_boundary(end).lexer), live);
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
