#include <algorithm>

#include "earley/deferred_rules.h"
#include "earley/parser.h"

namespace cfgmask {

// One pass over all alternatives that a text has met, for people who ask why: items do not know their nonterminal, and
// need not.
std::vector<uint32_t> Parser::places_at(std::span<const RestId> rests) const {
  std::vector<uint32_t> found;
  const auto add = [&](uint32_t nonterminal) {
    const uint32_t place = grammar_.nonterminals[nonterminal].place;
    if (place != kNoPlace) found.push_back(place);
  };
  for (uint32_t nonterminal = 0; nonterminal < alternatives_.size(); ++nonterminal) {
    if (!alternatives_[nonterminal]) continue;
    const auto& alternatives = *alternatives_[nonterminal];
    if (std::none_of(alternatives.begin(), alternatives.end(), [&](RestId at) { return passes(at, rests); })) continue;
    const uint32_t origin = instances_.origin(nonterminal);
    add(grammar_.deferred == nullptr ? origin : grammar_.deferred->first_of(origin));
  }
  for (size_t i = 0; i < after_keys_.size(); ++i) {
    const auto& [object, rest] = after_keys_[i];
    if (passes(rest, rests)) add(grammar_.deferred->first_of_object(object));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// Whether one of the rests is what is left of the alternative that begins at `at` after some of its symbols.
bool Parser::passes(RestId at, std::span<const RestId> rests) const {
  for (; at != kNil; at = rests_[at.value].tail) {
    for (RestId rest : rests) {
      if (rest == at || is_within(rest, at)) return true;
    }
  }
  return false;
}

// Whether `rest` is one turn of the repeat that `whole` begins with, however many turns came before.
bool Parser::is_within(RestId rest, RestId whole) const {
  const Rest& repeated = rests_[whole.value];
  if (repeated.head.kind() != SymbolKind::kRepeat) return false;
  const Symbol body{repeat_ids_.at(repeated.head.index())[0]};
  const Rest& turn = rests_[rest.value];
  if (turn.head != body) return false;
  if (turn.tail == repeated.tail) return true;
  const Rest& after = rests_[turn.tail.value];
  return turn.tail != kNil && after.tail == repeated.tail && after.head.kind() == SymbolKind::kRepeat &&
         Symbol{repeat_ids_.at(after.head.index())[0]} == body;
}

}  // namespace cfgmask
