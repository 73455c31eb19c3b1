// Terminals that lead nowhere where a set of values is open: a comma after which every value has been seen, a bracket
// that closes too early.
//
// What comes next is asked of terminals that a register looks at: those that are distinct, have a step or close a set.
// Of any other, a plain one, and of a token set the answer is that of what may follow it: of the first such terminals
// that are met behind it, past further plain ones, in what is left of its rule and of those around it, up to the one
// that opened the set. What follows the keys of a choice is not looked at, nor is what hides the set.
#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "earley/parser.h"

namespace cfgmask {

namespace {

bool is_passed_by(const Terminal& terminal) {
  return !terminal.distinct && !terminal.closes_set && terminal.step.place == 0 && terminal.choice == kNoChoice &&
         terminal.key_role != KeyRole::kKey;
}

}  // namespace

// Once all is predicted: while a left-recursive component is open, what awaits its members is not known.
void Parser::drop_dead_ends(Closing& closing) {
  const auto leads_nowhere = [&](const Item& item) {
    if (!may_go_on(item, IfNew::kSome)) return true;
    closing.is_overapproximate = closing.is_overapproximate ||
                                 (distinct_register_.is_overapproximate(continuations_[item.continuation.value].seen) &&
                                  !may_go_on(item, IfNew::kAny));
    return false;
  };
  std::erase_if(closing.token_edges, [&](const ItemSet::TokenEdge& edge) {
    return continuations_[edge.item.continuation.value].seen != DistinctRegister::none() && leads_nowhere(edge.item);
  });
  std::erase_if(closing.edges, [&](const OpenEdge& open) {
    const Item& item = open.edge.item;
    const RegisterId seen = continuations_[item.continuation.value].seen;
    const Terminal& terminal = grammar_.terminals[open.edge.source];
    if (seen == DistinctRegister::none() || terminal.distinct || terminal.choice != kNoChoice) return false;
    if (terminal.step.place != 0) return !distinct_register_.may_pass(seen, terminal.step);
    if (terminal.closes_set && !may_close(item.continuation)) return true;
    return leads_nowhere(item);
  });
}

// Whether the set that is open where items have this continuation may be closed.
bool Parser::may_close(ContinuationId continuation) {
  const RegisterId seen = continuations_[continuation.value].seen;
  return distinct_register_.may_close(seen) && (!distinct_register_.is_value(seen) || may_end(continuation));
}

// Whether something may come behind the item's first symbol, past plain terminals; the end of the set may.
bool Parser::may_go_on(const Item& item, IfNew values) {
  const RegisterId seen = continuations_[item.continuation.value].seen;
  std::vector<Item> todo{{rests_[item.rest.value].tail, item.continuation}};
  std::unordered_set<uint32_t> known;
  while (!todo.empty()) {
    const Item at = todo.back();
    todo.pop_back();
    const Ahead found = ahead(at.rest, seen, values);
    if (found == Ahead::kSomething) return true;
    if (found == Ahead::kNothing) continue;
    const Continuation& awaiting = continuations_[at.continuation.value];
    if (at.continuation == kRoot || awaiting.kind == ContinuationKind::kRestores) return true;
    if (!known.insert(at.continuation.value).second) continue;
    for (const uint64_t word : awaiting.members) todo.push_back(Item::unpack(word));
  }
  return false;
}

// Whether something may come in what is left of an alternative, past plain terminals; or whether those may be all of
// it. Remembered: the item sets of objects in each other ask the same of their members again and again.
Parser::Ahead Parser::ahead(RestId rest, RegisterId seen, IfNew values) {
  HashTable& known = ahead_[static_cast<size_t>(values)];
  const uint64_t key = (uint64_t{rest.value} << 32) | seen.value;
  if (const auto found = known.find(key)) return static_cast<Ahead>(*found);
  const Ahead found = find_ahead(rest, seen, values);
  known.insert(key, static_cast<uint32_t>(found));
  return found;
}

// A search with a stack of its own: each nonterminal is looked into once for each register, whoever calls it.
Parser::Ahead Parser::find_ahead(RestId rest, RegisterId seen, IfNew values) {
  struct Place {
    RestId rest;
    RegisterId seen;
    size_t call;
  };
  struct Call {
    bool is_part = false;  // of an item: what it comes to is not looked at
    bool may_be_plain = false;
    std::vector<Place> behind;
  };
  std::vector<Call> calls(1);  // the first is of what is left
  std::map<std::pair<uint32_t, RegisterId>, size_t> known;
  std::vector<Place> todo{{rest, seen, 0}};
  while (!todo.empty()) {
    const Place at = todo.back();
    todo.pop_back();
    if (at.rest == kNil) {
      Call& over = calls[at.call];
      if (over.is_part) return Ahead::kSomething;
      if (!over.may_be_plain) todo.insert(todo.end(), over.behind.begin(), over.behind.end());
      over.may_be_plain = true;
      continue;
    }
    const Rest here = rests_[at.rest.value];
    const Place behind{here.tail, at.seen, at.call};
    Symbol head = here.head;
    if (nullable(head)) todo.push_back(behind);
    if (head.kind() == SymbolKind::kRepeat) head = Symbol{repeat_ids_.at(head.index())[0]};
    if (head.kind() == SymbolKind::kTokenSet) {
      todo.push_back(behind);
      continue;
    }
    if (head.kind() == SymbolKind::kTerminal) {
      const Terminal& first = terminal(head.index());
      if (is_passed_by(first)) {
        todo.push_back(behind);
      } else if (may_come(first, at.seen, values)) {
        return Ahead::kSomething;
      }
      continue;
    }
    const auto& opens = instances_.nonterminal(head.index()).opens_set;
    if (opens && !distinct_register_.may_open(*opens, at.seen)) continue;
    if (opens && !DistinctRegister::is_part(grammar_.set_bounds[*opens])) return Ahead::kSomething;
    if (instances_.nonterminal(head.index()).hides_set && at.seen != DistinctRegister::none()) return Ahead::kSomething;
    const RegisterId within = opens ? distinct_register_.open(*opens, at.seen) : at.seen;
    const auto [call, is_new] = known.try_emplace({head.index(), within}, calls.size());
    if (is_new) {
      calls.emplace_back().is_part = opens.has_value();
      for (const RestId alternative : alternatives(head.index())) todo.push_back({alternative, within, call->second});
    }
    Call& called = calls[call->second];
    called.behind.push_back(behind);
    if (called.may_be_plain) todo.push_back(behind);
  }
  return calls[0].may_be_plain ? Ahead::kOnlyPlain : Ahead::kNothing;
}

bool Parser::may_come(const Terminal& terminal, RegisterId seen, IfNew values) {
  if (terminal.key_role == KeyRole::kKey && !terminal.distinct) return true;
  if (values == IfNew::kAny) {
    if (terminal.distinct && terminal.choice == kNoChoice)
      return distinct_register_.is_addable_beside_new(terminal.regex, seen, terminal.step);
    if (terminal.step.place != 0 && distinct_register_.is_overapproximate(seen)) return false;
  }
  if (terminal.distinct)
    return distinct_register_.addable(terminal.regex, seen, terminal.step) != RegexStore::nothing();
  if (terminal.step.place != 0) return distinct_register_.may_pass(seen, terminal.step);
  return !terminal.closes_set || (distinct_register_.may_close(seen) && distinct_register_.may_be_over(seen));
}

}  // namespace cfgmask
