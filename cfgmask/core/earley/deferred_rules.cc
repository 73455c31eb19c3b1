#include "earley/deferred_rules.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cfgmask {

template <class F>
auto DeferredRules::in_part(uint32_t part, Grammar& grammar, RegexStore& regexes, F act) {
  // Where a limit is crossed, too, something may have been added.
  struct Added {
    DeferredRules& rules;
    uint32_t part;
    const Grammar& grammar;
    size_t n_nonterminals = grammar.nonterminals.size();
    size_t n_terminals = grammar.terminals.size();

    ~Added() {
      extend(rules.nonterminals_, part, n_nonterminals, grammar.nonterminals.size());
      extend(rules.terminals_, part, n_terminals, grammar.terminals.size());
    }
  };
  // Room for it.
  for (std::vector<Run>* runs : {&nonterminals_, &terminals_}) {
    runs->push_back({});
    runs->pop_back();
  }
  const Added at_exit{*this, part, grammar};
  const bool has_choices = parts_[part].has_choices && !is_spelled_out_;
  return act(*parts_[part].rules, DeferredAdditions{grammar, regexes, rules_, part * n_objects(), n_objects(),
                                                    has_key_roles_, has_choices, !is_spelled_out_});
}

void DeferredRules::add(uint32_t nonterminal, std::shared_ptr<DeferredPart> part) {
  parts_.push_back({nonterminal, std::move(part)});
}

bool DeferredRules::has_keys() const {
  return has_key_roles_ &&
         std::any_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.rules->has_keys(); });
}

bool DeferredRules::limit(uint32_t nonterminal) {
  Part& part = parts_[part_from(nonterminal)];
  part.has_choices = false;
  return part.rules->fits_in_limits();
}

uint32_t DeferredRules::part_from(uint32_t nonterminal) const {
  const auto found = std::ranges::lower_bound(parts_, nonterminal, {}, &Part::nonterminal);
  return static_cast<uint32_t>(found - parts_.begin());
}

void DeferredRules::define(uint32_t nonterminal, Grammar& grammar, RegexStore& regexes) {
  if (is_of_part(nonterminal)) {
    in_part(part_at(nonterminals_, nonterminal), grammar, regexes,
            [&](DeferredPart& part, const DeferredAdditions& to) { part.define(nonterminal, to); });
    return;
  }
  const Symbol start = in_part(part_from(nonterminal), grammar, regexes,
                               [](DeferredPart& part, const DeferredAdditions& to) { return part.start(to); });
  Nonterminal& begin = grammar.nonterminals[nonterminal];
  begin.alternatives.push_back({{start}, {}});
  begin.is_deferred = false;
}

void DeferredRules::define_terminal(uint32_t terminal, Grammar& grammar, RegexStore& regexes) {
  in_part(part_at(terminals_, terminal), grammar, regexes,
          [&](DeferredPart& part, const DeferredAdditions& to) { part.define_terminal(terminal, to); });
}

std::vector<Symbol> DeferredRules::after_key(uint32_t object, uint32_t member, Grammar& grammar, RegexStore& regexes) {
  return in_part(object / n_objects(), grammar, regexes,
                 [&](DeferredPart& part, const DeferredAdditions& to) { return part.after_key(object, member, to); });
}

uint32_t DeferredRules::terminal_of_key(uint32_t object, uint32_t member, Grammar& grammar, RegexStore& regexes) {
  return in_part(object / n_objects(), grammar, regexes, [&](DeferredPart& part, const DeferredAdditions& to) {
    return part.terminal_of_key(object, member, to);
  });
}

uint32_t DeferredRules::first_of(uint32_t nonterminal) const {
  return is_of_part(nonterminal) ? parts_[part_at(nonterminals_, nonterminal)].nonterminal : nonterminal;
}

size_t DeferredRules::bytes() const {
  size_t bytes = parts_.capacity() * sizeof(Part) + (nonterminals_.capacity() + terminals_.capacity()) * sizeof(Run);
  for (const Part& part : parts_) bytes += part.rules->bytes();
  return bytes;
}

uint32_t DeferredRules::part_at(const std::vector<Run>& runs, uint32_t number) {
  const auto behind = std::upper_bound(runs.begin(), runs.end(), number,
                                       [](uint32_t wanted, const Run& run) { return wanted < run.first; });
  return std::prev(behind)->part;
}

void DeferredRules::extend(std::vector<Run>& runs, uint32_t part, size_t before, size_t after) {
  if (before < after && (runs.empty() || runs.back().part != part))
    runs.push_back({static_cast<uint32_t>(before), part});
}

}  // namespace cfgmask
