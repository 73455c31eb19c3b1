#include "earley/remaining.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "util/in_step.h"

namespace cfgmask {

Remaining::Remaining(const Grammar& grammar, const Parser& parser, MinimumLengths& lengths)
    : grammar_(grammar), parser_(parser), lengths_(lengths) {
  for (const Terminal& terminal : grammar.terminals)
    terminals_.push_back(terminal.nullable ? 0 : lengths.of(terminal.regex));
  find_nonterminals();
}

// Conditions on parameters are taken to hold, which leaves a lower bound. Nonterminals become known shortest first; an
// alternative counts once all of its nonterminals are.
void Remaining::find_nonterminals() {
  struct Open {
    uint32_t owner;
    uint32_t length;
    uint32_t missing;
  };
  struct Use {
    size_t alternative;
    uint32_t times;
  };
  // Choices come behind the nonterminals.
  const auto n_nonterminals = static_cast<uint32_t>(grammar_.nonterminals.size());
  nonterminals_.assign(n_nonterminals + grammar_.choices.size(), kNoLength);
  std::vector<Open> alternatives;
  std::vector<std::vector<Use>> uses(nonterminals_.size());
  using Found = std::pair<uint32_t, uint32_t>;  // length, nonterminal
  std::priority_queue<Found, std::vector<Found>, std::greater<>> found;
  const auto wait = [&](uint32_t node, uint32_t times, Open& alternative) {
    ++alternative.missing;
    uses[node].push_back({alternatives.size(), times});
  };
  const auto add_symbol = [&](Symbol symbol, uint32_t times, Open& alternative) {
    if (times == 0) return;
    symbol = grammar_.skeleton(symbol);
    const bool is_terminal = symbol.kind() == SymbolKind::kTerminal;
    if (symbol.kind() == SymbolKind::kNonterminal) {
      wait(symbol.index(), times, alternative);
    } else if (is_terminal && grammar_.terminals[symbol.index()].choice != kNoChoice) {
      wait(n_nonterminals + grammar_.terminals[symbol.index()].choice, times, alternative);
    } else {
      alternative.length = add_lengths(alternative.length, multiply_lengths(of(symbol), times));
    }
  };
  const auto add_alternative = [&](const Open& alternative) {
    if (alternative.missing == 0) found.emplace(alternative.length, alternative.owner);
    alternatives.push_back(alternative);
  };
  for (uint32_t n = 0; n < n_nonterminals; ++n) {
    for (const Alternative& written : grammar_.nonterminals[n].alternatives) {
      Open alternative{n, 0, 0};
      for (Symbol symbol : written.symbols) {
        uint32_t times = 1;
        if (symbol.kind() == SymbolKind::kRepeat) {
          const Repeat& repeat = grammar_.repeats[symbol.index()];
          times = repeat.minimum;
          symbol = repeat.body;
        }
        add_symbol(symbol, times, alternative);
      }
      add_alternative(alternative);
    }
  }
  const std::vector<uint32_t> shorter = shorter_choices();
  for (uint32_t c = 0; c < grammar_.choices.size(); ++c) {
    const Choice& choice = grammar_.choices[c];
    const auto add_key = [&](uint32_t number) {
      const uint32_t quotes = choice.are_strings ? 2 : 0;
      Open alternative{n_nonterminals + c, parser_.regexes_.numbered_key_length(choice.list, number) + quotes, 0};
      for (RestId at = rest_after(choice, number); at != Parser::kNil; at = parser_.rests_[at.value].tail)
        add_symbol(parser_.rests_[at.value].head, 1, alternative);
      add_alternative(alternative);
    };
    const bool is_last = shorter[c] == kNone;
    const uint32_t end = is_last ? choice.to : grammar_.choices[shorter[c]].from;
    for (uint32_t number = choice.from; number < end; ++number) {
      if (parser_.regexes_.has_number(choice.list, number)) add_key(number);
    }
    if (is_last) continue;
    Open alternative{n_nonterminals + c, 0, 0};
    wait(n_nonterminals + shorter[c], 1, alternative);
    add_alternative(alternative);
  }
  while (!found.empty()) {
    const auto [length, n] = found.top();
    found.pop();
    if (nonterminals_[n] <= length) continue;
    nonterminals_[n] = length;
    for (const Use& use : uses[n]) {
      Open& alternative = alternatives[use.alternative];
      alternative.length = add_lengths(alternative.length, multiply_lengths(length, use.times));
      if (--alternative.missing == 0) found.emplace(alternative.length, alternative.owner);
    }
  }
}

RestId Remaining::rest_after(const Choice& choice, uint32_t number) const {
  return RestId(parser_.chosen_.find(choice.key(number)).value());
}

// For each choice, the largest among its last keys.
std::vector<uint32_t> Remaining::shorter_choices() const {
  const std::vector<Choice>& choices = grammar_.choices;
  std::vector<uint32_t> order(choices.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto key = [&](uint32_t c) {
    const Choice& choice = choices[c];
    return std::tuple(choice.object, choice.first, choice.list, choice.from);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  std::vector<uint32_t> shorter(choices.size(), kNone);
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    const Choice& a = choices[order[i]];
    const Choice& b = choices[order[i + 1]];
    if (a.has_end_of(b)) shorter[order[i]] = order[i + 1];
  }
  return shorter;
}

uint32_t Remaining::of(Symbol symbol) const {
  switch (symbol.kind()) {
    case SymbolKind::kTerminal: {
      const uint32_t choice = grammar_.terminals[symbol.index()].choice;
      return choice == kNoChoice ? terminals_[symbol.index()] : nonterminals_[grammar_.nonterminals.size() + choice];
    }
    case SymbolKind::kNonterminal:
      return nonterminals_[parser_.instances_.origin(symbol.index())];
    case SymbolKind::kTokenSet:
      return grammar_.token_sets[symbol.index()].is_indent() ? 0 : 1;
    case SymbolKind::kRepeat: {
      const Words r = parser_.repeat_ids_.at(symbol.index());
      return multiply_lengths(of(Symbol{r[0]}), r[1]);
    }
    case SymbolKind::kCall:
      return of(grammar_.skeleton(symbol));
  }
  return kNoLength;
}

// A rest is made after its tail, so its id is larger.
uint32_t Remaining::of(RestId rest) {
  if (rests_.empty()) rests_.push_back(0);
  while (rests_.size() <= rest.value) {
    const Parser::Rest& next = parser_.rests_[rests_.size()];
    rests_.push_back(add_lengths(of(next.head), rests_[next.tail.value]));
  }
  return rests_[rest.value];
}

uint32_t Remaining::of(ContinuationId continuation) {
  const bool known = continuation.value < continuations_.size() && continuations_[continuation.value] != kUnknown;
  if (!known) find_continuations(continuation);
  return continuations_[continuation.value];
}

uint32_t Remaining::member_length(uint64_t member) {
  const Item item = Item::unpack(member);
  return add_lengths(of(item.rest), continuations_[item.continuation.value]);
}

// Callees come before their callers in the list of those that are not known, but in the loops of left recursion, for
// which it is gone through until nothing changes.
void Remaining::find_continuations(ContinuationId from) {
  continuations_.resize(parser_.continuations_.size(), kUnknown);
  continuations_[Parser::kRoot.value] = 0;
  if (from == Parser::kRoot) return;
  std::vector<uint32_t> unknown{from.value};
  continuations_[from.value] = kNoLength;
  for (size_t i = 0; i < unknown.size(); ++i) {
    for (uint64_t member : parser_.continuations_[unknown[i]].members) {
      const uint32_t above = Item::unpack(member).continuation.value;
      if (continuations_[above] != kUnknown) continue;
      continuations_[above] = kNoLength;
      unknown.push_back(above);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = unknown.size(); i-- > 0;) {
      uint32_t& length = continuations_[unknown[i]];
      for (uint64_t member : parser_.continuations_[unknown[i]].members) {
        const uint32_t by_member = member_length(member);
        if (by_member >= length) continue;
        length = by_member;
        changed = true;
      }
    }
  }
}

uint32_t Remaining::of_rules(ItemSetId set) {
  uint32_t least = kNoLength;
  for (const uint64_t word : parser_.kernel_of(set)) {
    const Item item = Item::unpack(word);
    least = std::min(least, add_lengths(of(item.rest), of(item.continuation)));
  }
  return least;
}

const Remaining::Ends& Remaining::ends(ItemSetId id) {
  if (auto known = ends_ids_.find(id.value)) return ends_[*known];
  Ends computed = compute_ends(parser_.at(id));
  n_slots_ += computed.after_slots.size();
  return ends_[insert_with(ends_ids_, id.value, ends_, std::move(computed))];
}

Remaining::Ends Remaining::compute_ends(const ItemSet& set) {
  Ends out;
  auto tail = [&](const Item& item) { return parser_.rests_[item.rest.value].tail; };
  // After a skip, what is left of the scope that skipped.
  std::vector<uint32_t> by_scope(grammar_.scopes.size(), kNoLength);
  auto see = [&](uint32_t scope, uint32_t length) {
    by_scope[scope] = std::min(by_scope[scope], length);
    out.at_boundary = std::min(out.at_boundary, length);
  };
  if (set.accepting()) see(grammar_.start_scope, 0);
  set.for_each_token_edge([&](const auto& edge) {
    const TokenSet& tokens = grammar_.token_sets[edge.token_set];
    const uint32_t after = add_lengths(of(tail(edge.item)), of(edge.item.continuation));
    see(tokens.scope, add_lengths(tokens.is_indent() ? 0 : 1, after));
  });
  const Words regexes = parser_.lexer_.residuals(set.start);
  for (size_t slot = 0; slot < set.slots.size(); ++slot) {
    const RegexId regex(regexes[2 * slot + 1]);
    for (uint32_t e = set.slots[slot].first_edge; e < set.slots[slot].last_edge; ++e) {
      const ItemSet::Edge& edge = set.edges[e];
      if (edge.is_ignore()) continue;
      const bool chooses = parser_.regexes_.is_numbered(regex);
      const uint32_t whole = chooses ? of(edge.item.rest) : add_lengths(lengths_.of(regex), of(tail(edge.item)));
      see(parser_.scope_of(edge), add_lengths(whole, of(edge.item.continuation)));
    }
  }
  for (size_t i = 0; i < set.slots.size(); ++i) {
    const ItemSet::Slot& slot = set.slots[i];
    const RegexId regex(regexes[2 * i + 1]);
    out.after_slots.resize(slot.first_number + parser_.regexes_.n_numbers(regex), kNoLength);
    for (uint32_t e = slot.first_edge; e < slot.last_edge; ++e) {
      const ItemSet::Edge& edge = set.edges[e];
      const auto see_slot = [&](uint32_t number, uint32_t length) {
        uint32_t& least = out.after_slots[slot.first_number + number];
        least = std::min(least, length);
      };
      if (edge.is_ignore()) {
        see_slot(0, by_scope[edge.source]);
      } else if (parser_.regexes_.is_numbered(regex)) {
        const Choice& choice = grammar_.choices[grammar_.terminals[edge.source].choice];
        const uint32_t above = of(edge.item.continuation);
        parser_.regexes_.for_each_number(regex, [&](uint32_t number, uint32_t) {
          see_slot(number, add_lengths(of(rest_after(choice, number)), above));
        });
      } else {
        see_slot(0, add_lengths(of(tail(edge.item)), of(edge.item.continuation)));
      }
    }
  }
  return out;
}

size_t Remaining::bytes() const {
  return (terminals_.size() + nonterminals_.size() + rests_.capacity() + continuations_.capacity() + n_slots_) *
             sizeof(uint32_t) +
         ends_ids_.bytes() + ends_.bytes();
}

}  // namespace cfgmask
