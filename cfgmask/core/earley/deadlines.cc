// Limits on the tokens of a nonterminal's text and of a terminal's lexeme.
//
// Time is counted in tokens that have ended. A set has a clock, which goes on while something has a deadline and stands
// at 0 where nothing has, so that equal contexts have equal ids whenever they come. What is called gets as its deadline
// the time at which its limit runs out, or that of the rules around it if that is earlier: from then on none of its
// terminals takes a byte. A token that begins before a rule or goes on behind it counts, as the clock ticks at its end.
//
// That alone would lead into dead ends. So where a token ends, some item must be able to close all rules around it that
// have deadlines before those, one terminal after the other, each by its closing text (mask/closing_counts.h). Items
// that cannot are kept: a longer token may close more at once. So what is allowed does not depend on which items have
// been merged, and nothing is remembered but the deadlines.
//
// A terminal's own limit begins with its lexeme, and drops it as soon as its closing text does not fit. Of either kind
// a slot of an item set has the one that ends first. Where its tokens are used up inside of a lexeme, it is complete or
// dropped, and in the lexer's state its residual becomes the empty text: so lexer states, and tables of them, are the
// same whatever is left.
#include <algorithm>
#include <unordered_map>

#include "earley/parser.h"

namespace cfgmask {

namespace {

constexpr int64_t kAlways = INT64_MAX;
constexpr int64_t kNever = INT64_MIN;
constexpr int64_t kNotKnown = INT64_MIN + 1;

// The nonterminals with a limit and those that they lead to, callees towards the front.
std::vector<uint32_t> within_limits(const Grammar& grammar) {
  std::vector<uint32_t> limited;
  for (uint32_t i = 0; i < grammar.nonterminals.size(); ++i) {
    if (grammar.nonterminals[i].max_tokens != kUnbounded) limited.push_back(i);
  }
  std::vector<uint32_t> reached = reached_from(grammar, limited);
  std::reverse(reached.begin(), reached.end());
  return reached;
}

}  // namespace

std::vector<uint32_t> reached_from(const Grammar& grammar, std::span<const uint32_t> nonterminals) {
  std::vector<uint32_t> reached;
  std::vector<bool> seen(grammar.nonterminals.size());
  const auto reach = [&](uint32_t index) {
    if (!seen[index]) reached.push_back(index);
    seen[index] = true;
  };
  for (const uint32_t index : nonterminals) reach(index);
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Alternative& alternative : grammar.nonterminals[reached[i]].alternatives) {
      for (Symbol symbol : alternative.symbols) {
        if (symbol.kind() == SymbolKind::kRepeat) symbol = grammar.repeats[symbol.index()].body;
        symbol = grammar.skeleton(symbol);
        if (symbol.kind() == SymbolKind::kNonterminal) reach(symbol.index());
      }
    }
  }
  return reached;
}

// Knuth's generalisation of Dijkstra's algorithm would be faster; but few grammars have such limits, and this is as
// many rounds as rules are nested. A terminal that no limited rule leads to is not looked at: a closing text may take a
// long search.
std::vector<uint32_t> find_closing_tokens(Grammar& grammar, const std::function<uint32_t(RegexId)>& needed) {
  const std::vector<uint32_t> reached = within_limits(grammar);
  std::unordered_map<uint32_t, uint32_t> terminals;
  const auto of_terminal = [&](uint32_t index) {
    const auto [known, is_new] = terminals.try_emplace(index, 0);
    const Terminal& t = grammar.terminals[index];
    if (is_new && !t.nullable) known->second = t.regex == RegexStore::nothing() ? kUnbounded : needed(t.regex);
    return known->second;
  };
  const std::function<uint64_t(Symbol)> tokens = [&](Symbol symbol) -> uint64_t {
    switch (symbol.kind()) {
      case SymbolKind::kTerminal:
        return of_terminal(symbol.index());
      case SymbolKind::kTokenSet: {
        const TokenSet& set = grammar.token_sets[symbol.index()];
        return set.is_indent() ? 0 : set.ids.empty() ? kUnbounded : 1;
      }
      case SymbolKind::kNonterminal: {
        const Nonterminal& n = grammar.nonterminals[symbol.index()];
        return n.is_deferred ? 1 : n.closing_tokens;
      }
      case SymbolKind::kCall:
        return grammar.nonterminals[grammar.calls[symbol.index()].nonterminal].closing_tokens;
      case SymbolKind::kRepeat: {
        const Repeat& repeat = grammar.repeats[symbol.index()];
        return repeat.minimum == 0 ? 0 : saturated(tokens(repeat.body) * repeat.minimum);
      }
    }
    return kUnbounded;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const uint32_t index : reached) {
      Nonterminal& n = grammar.nonterminals[index];
      for (const Alternative& alternative : n.alternatives) {
        uint64_t sum = 0;
        for (const Symbol symbol : alternative.symbols) sum = saturated(sum + tokens(symbol));
        if (sum >= n.closing_tokens || sum > n.max_tokens) continue;
        n.closing_tokens = static_cast<uint32_t>(sum);
        changed = true;
      }
    }
  }
  // Nothing else is left out for its tokens: of a rule that some text of fits, the others may fit by longer tokens.
  for (Nonterminal& n : grammar.nonterminals) {
    if (n.closing_tokens == kUnbounded && n.max_tokens != kUnbounded) n.alternatives.clear();
  }
  return reached;
}

// The earlier of a terminal's own limit and the deadline of the rules around it.
TokenLimit Parser::limit_at(const Terminal& terminal, uint32_t deadline, uint32_t clock) {
  const uint32_t left = deadline == kUnbounded ? kUnbounded : deadline - clock;
  if (terminal.max_tokens == kUnbounded || terminal.max_tokens > left) return {left, false};
  return {terminal.max_tokens, true};
}

// Drops the items whose time is over, and gives the clock of a set without them. What an indenter puts behind a newline
// takes no time.
uint32_t Parser::drop_late(std::vector<uint64_t>& kernel, uint32_t clock) const {
  bool is_timed = false;
  std::erase_if(kernel, [&](uint64_t word) {
    const uint32_t deadline = deadline_of(Item::unpack(word));
    const bool is_late = deadline <= clock && !grammar_.indenter;
    is_timed = is_timed || (deadline != kUnbounded && !is_late);
    return is_late;
  });
  return is_timed ? clock : 0;
}

uint64_t Parser::closing_tokens(Symbol symbol, RegisterId seen) {
  switch (symbol.kind()) {
    case SymbolKind::kTerminal:
      return closings_.of_terminal(symbol.index(), seen);
    case SymbolKind::kTokenSet:
      return grammar_.token_sets[symbol.index()].is_indent() ? 0 : 1;
    case SymbolKind::kNonterminal:
    case SymbolKind::kCall: {
      const bool is_open = seen != DistinctRegister::none() || grammar_.deferred != nullptr;
      if (is_open && !instances_.nonterminal(symbol.index()).conditional) return closings_.of(symbol.index(), seen);
      return instances_.closing_tokens(symbol.index());
    }
    case SymbolKind::kRepeat: {
      const Words r = repeat_ids_.at(symbol.index());
      return r[1] == 0 ? 0 : saturated(closing_tokens(Symbol{r[0]}, seen) * r[1]);
    }
  }
  return kUnbounded;
}

uint64_t Parser::closing_tokens(RestId rest, RegisterId seen) {
  uint64_t tokens = 0;
  for (; rest != kNil; rest = rests_[rest.value].tail)
    tokens = saturated(tokens + closing_tokens(rests_[rest.value].head, seen));
  return tokens;
}

// The last time at which what a continuation awaits may end, so that the rules around it can still be closed.
int64_t Parser::latest(ContinuationId continuation) {
  if (continuations_[continuation.value].deadline == kUnbounded) return kAlways;
  while (latest_.size() < continuations_.size()) latest_.push_back(kNotKnown);
  if (latest_[continuation.value] == kNotKnown) find_latest(continuation);
  return latest_[continuation.value];
}

// As in earley/remaining.cc: in the loops of left recursion, gone through until nothing changes.
void Parser::find_latest(ContinuationId from) {
  std::vector<uint32_t> unknown{from.value};
  latest_[from.value] = kNever;
  for (size_t i = 0; i < unknown.size(); ++i) {
    for (uint64_t member : continuations_[unknown[i]].members) {
      const Item item = Item::unpack(member);
      if (deadline_of(item) == kUnbounded || latest_[item.continuation.value] != kNotKnown) continue;
      latest_[item.continuation.value] = kNever;
      unknown.push_back(item.continuation.value);
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = unknown.size(); i-- > 0;) {
      const Continuation& continuation = continuations_[unknown[i]];
      int64_t best = kNever;
      for (uint64_t member : continuation.members) {
        const Item item = Item::unpack(member);
        if (deadline_of(item) == kUnbounded) {
          best = kAlways;
          break;
        }
        const int64_t end = latest_[item.continuation.value];
        const uint64_t tokens = closing_tokens(item.rest, continuations_[item.continuation.value].seen);
        if (end != kNever && tokens != kUnbounded) best = std::max(best, end - static_cast<int64_t>(tokens));
      }
      best = std::min<int64_t>(best, continuation.deadline);
      if (best == latest_[unknown[i]]) continue;
      latest_[unknown[i]] = best;
      changed = true;
    }
  }
}

bool Parser::leads_to_limit(Symbol symbol) const {
  if (symbol.kind() == SymbolKind::kRepeat) symbol = Symbol{repeat_ids_.at(symbol.index())[0]};
  switch (symbol.kind()) {
    case SymbolKind::kTerminal:
      return grammar_.terminals[symbol.index()].max_tokens != kUnbounded;
    case SymbolKind::kNonterminal:
      return instances_.nonterminal(symbol.index()).leads_to_limit;
    default:
      return false;
  }
}

bool Parser::leads_to_limit(const Item& item) {
  return rests_[item.rest.value].leads_to_limit || leads_to_limit(item.continuation);
}

// What awaits it, and what awaits that.
bool Parser::leads_to_limit(ContinuationId from) {
  if (leads_.size() < continuations_.size()) leads_.resize(continuations_.size());
  if (leads_[from.value] != Leads::kNotKnown) return leads_[from.value] == Leads::kToLimit;
  std::vector<uint32_t> seen{from.value};
  // So that each is seen once; if nothing is found, it stays so.
  leads_[from.value] = Leads::kNowhere;
  bool found = false;
  for (size_t i = 0; i < seen.size() && !found; ++i) {
    const Continuation& at = continuations_[seen[i]];
    found = at.deadline != kUnbounded;
    for (size_t k = 0; k < at.members.size() && !found; ++k) {
      const Item member = Item::unpack(at.members[k]);
      Leads& above = leads_[member.continuation.value];
      found = rests_[member.rest.value].leads_to_limit || above == Leads::kToLimit;
      if (above != Leads::kNotKnown) continue;
      above = Leads::kNowhere;
      seen.push_back(member.continuation.value);
    }
  }
  if (found) {
    for (const uint32_t one : seen) leads_[one] = Leads::kNotKnown;
    leads_[from.value] = Leads::kToLimit;
  }
  return found;
}

// Whether the item's rules can be closed in time, where so many tokens come first and then all but its first symbol.
bool Parser::fits(const Item& item, uint64_t tokens, uint32_t clock) {
  const int64_t last = latest(item.continuation);
  if (last == kAlways) return true;
  const RegisterId seen = continuations_[item.continuation.value].seen;
  tokens = saturated(tokens + closing_tokens(rests_[item.rest.value].tail, seen));
  return tokens != kUnbounded && static_cast<int64_t>(clock + tokens) <= last;
}

// Whether what a scope may take behind its ignored text can be closed, so many tokens later.
bool Parser::fits_behind_ignored(const ItemSet& set, uint32_t scope, uint64_t skipping, uint32_t clock) {
  const auto may_skip = [](const Item& item) { return item.gap != Gap::kSkippedOnce; };
  if (scope == grammar_.start_scope && grammar_.ignore_final &&
      std::any_of(set.accepts.begin(), set.accepts.end(), may_skip))
    return true;
  const auto terminal_fits = [&](const ItemSet::Edge& edge) {
    if (edge.is_ignore() || scope_of(edge) != scope || !may_skip(edge.item)) return false;
    if (deadline_of(edge.item) == kUnbounded) return true;
    return fits(edge.item, skipping + counts_.needed(grammar_.terminals[edge.source].regex), clock);
  };
  const auto token_fits = [&](const ItemSet::TokenEdge& edge, uint64_t tokens) {
    return grammar_.token_sets[edge.token_set].scope == scope && may_skip(edge.item) && fits(edge.item, tokens, clock);
  };
  return std::any_of(set.edges.begin(), set.edges.end(), terminal_fits) ||
         std::any_of(set.token_edges.begin(), set.token_edges.end(),
                     [&](const ItemSet::TokenEdge& edge) { return token_fits(edge, skipping + 1); }) ||
         std::any_of(set.indent_edges.begin(), set.indent_edges.end(),
                     [&](const ItemSet::TokenEdge& edge) { return token_fits(edge, skipping); });
}

// Whether some item of a slot can be closed in time, where the lexeme takes `needed()` more tokens: a search that is
// left out where nothing has a deadline. Before a lexeme, ignored text is looked at only for terminals with conditions,
// which may hold behind it alone: of others, what may follow it may come.
template <class Needed>
bool Parser::slot_fits(const ItemSet& set, const ItemSet::Slot& slot, bool at_boundary, uint32_t clock, Needed needed) {
  const std::span<const ItemSet::Edge> edges(set.edges.begin() + slot.first_edge, slot.last_edge - slot.first_edge);
  return std::any_of(edges.begin(), edges.end(), [&](const ItemSet::Edge& edge) {
    if (edge.is_ignore()) {
      const bool counts = !at_boundary || grammar_.has_conditions;
      return counts && fits_behind_ignored(set, edge.source, needed(), clock);
    }
    return deadline_of(edge.item) == kUnbounded || fits(edge.item, needed(), clock);
  });
}

bool Parser::fits(ItemSetId id, uint32_t clock, Words residuals, bool at_boundary) {
  const ItemSet& set = at(id);
  if (!set.has_deadlines)
    return set.accepting() || !residuals.empty() || !set.token_edges.empty() || !set.indent_edges.empty();
  if (at_boundary && set.accepting()) return true;
  for (size_t i = 0; i < residuals.size(); i += 2) {
    const auto needed = [&] { return counts_.needed(RegexId(residuals[i + 1])); };
    if (slot_fits(set, set.slot(residuals[i]), at_boundary, clock, needed)) return true;
  }
  const auto token_fits = [&](const ItemSet::TokenEdge& edge) { return fits(edge.item, 1, clock); };
  const auto indent_fits = [&](const ItemSet::TokenEdge& edge) { return fits(edge.item, 0, clock); };
  return at_boundary && (std::any_of(set.token_edges.begin(), set.token_edges.end(), token_fits) ||
                         std::any_of(set.indent_edges.begin(), set.indent_edges.end(), indent_fits));
}

std::vector<uint32_t> Parser::after_token(ItemSetId id, uint32_t clock, Words residuals) {
  const ItemSet& set = at(id);
  std::vector<uint32_t> kept;
  for (size_t i = 0; i < residuals.size(); i += 2) {
    const TokenLimit limit = set.slot(residuals[i]).limit;
    RegexId residual(residuals[i + 1]);
    const uint32_t used = clock - set.clock;
    const bool is_late = limit.tokens <= used;
    if (is_late ? !regexes_.nullable(residual) : limit.is_own && counts_.needed(residual) > limit.tokens - used)
      continue;
    if (is_late) residual = RegexStore::empty_text();
    kept.insert(kept.end(), {residuals[i], residual.value});
  }
  return kept;
}

bool Parser::has_room(ItemSetId id, uint32_t clock, Words residuals) {
  const ItemSet& set = at(id);
  for (size_t i = 0; i < residuals.size(); i += 2) {
    const ItemSet::Slot& slot = set.slot(residuals[i]);
    const uint32_t used = clock - set.clock;
    if (slot.limit.tokens <= used) return false;
    const auto most = [&] { return counts_.most_needed(RegexId(residuals[i + 1])); };
    if (slot.limit.is_own && most() > slot.limit.tokens - used) return false;
    if (set.has_deadlines && !slot_fits(set, slot, false, clock, most)) return false;
  }
  return true;
}

}  // namespace cfgmask
