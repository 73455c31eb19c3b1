#include "json_schema/rules/rule_expansion.h"

#include <utility>
#include <vector>

#include "earley/deferred_rules.h"
#include "json_schema/layouts/schema_form.h"
#include "json_schema/rules/indented_rules.h"
#include "json_schema/rules/schema_rules.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

std::shared_ptr<DeferredPart> part_of(std::shared_ptr<const SchemaWithLayout> parts,
                                      std::shared_ptr<const SchemaForm> form, Grammar& grammar, uint32_t n_tokens) {
  constexpr uint32_t kScope = 0;
  if (parts->layout->indent || parts->layout->yaml) return std::make_shared<IndentedRules>(std::move(parts), kScope);
  std::vector<uint32_t> tokens;
  for (uint32_t i = 0; i < n_tokens; ++i) {
    // Some id, as one without any would match nothing.
    grammar.token_sets.emplace_back().ids = {i};
    tokens.push_back(Symbol::make(SymbolKind::kTokenSet, i).value);
  }
  return std::make_shared<SchemaRules>(std::move(parts), kScope, std::move(form), std::move(tokens));
}

}  // namespace

RuleExpansion expand(std::shared_ptr<const SchemaWithLayout> parts, std::shared_ptr<const SchemaForm> form,
                     uint32_t n_tokens, const Limits& limits, uint64_t max_nonterminals) {
  RuleExpansion made{
      std::make_unique<RegexStore>(limits.max_nesting * RegexData::kHeightPerNesting, limits.max_search_steps),
      {},
      true};
  Grammar& grammar = made.grammar;
  RegexStore& regexes = *made.regexes;
  Account nodes{"max_regex_nodes", limits.max_regex_nodes};
  regexes.charge_to(&nodes);
  for (const auto& strings : parts->schema->all_outside()) {
    if (strings->height() > limits.max_nesting * RegexData::kHeightPerNesting)
      throw LimitExceeded("max_nesting", limits.max_nesting);
  }
  Scope& scope = grammar.scopes.emplace_back();
  scope.ignore_once = parts->layout->ignore_once;
  if (parts->layout->ignored)
    scope.ignored.push_back({parts->layout->ignored->in(regexes), {}, parts->layout->ignored_name});
  grammar.nonterminals.emplace_back().is_deferred = true;
  grammar.start = Symbol::make(SymbolKind::kNonterminal, 0);
  DeferredRules deferred;
  deferred.add(0, part_of(std::move(parts), std::move(form), grammar, n_tokens));
  deferred.set_account({"max_rules", limits.max_rules});
  deferred.spell_out();
  // Those that rules name, in the order in which they do.
  std::vector<uint32_t> named{0};
  std::vector<bool> is_named{true};
  const auto name = [&](Symbol symbol) {
    if (symbol.kind() == SymbolKind::kRepeat) symbol = grammar.repeats[symbol.index()].body;
    if (symbol.kind() == SymbolKind::kTerminal && grammar.terminals[symbol.index()].is_deferred)
      deferred.define_terminal(symbol.index(), grammar, regexes);
    if (symbol.kind() != SymbolKind::kNonterminal) return;
    is_named.resize(grammar.nonterminals.size());
    if (!is_named[symbol.index()]) named.push_back(symbol.index());
    is_named[symbol.index()] = true;
  };
  for (size_t i = 0; i < named.size(); ++i) {
    Pause::tick();
    if (grammar.nonterminals[named[i]].is_deferred) {
      if (grammar.nonterminals.size() > max_nonterminals) {
        made.is_whole = false;
        continue;
      }
      deferred.define(named[i], grammar, regexes);
    }
    for (size_t a = 0; a < grammar.nonterminals[named[i]].alternatives.size(); ++a) {
      const std::vector<Symbol> symbols = grammar.nonterminals[named[i]].alternatives[a].symbols;
      for (const Symbol symbol : symbols) name(symbol);
    }
  }
  analyse(grammar);
  regexes.charge_to(nullptr);
  return made;
}

}  // namespace cfgmask
