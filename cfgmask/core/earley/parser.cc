#include "earley/parser.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_set>

#include "earley/deferred_rules.h"
#include "util/in_step.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// Sorts, drops duplicates, and gives the words that identify the list.
std::span<const uint32_t> normalise(std::vector<uint64_t>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return {reinterpret_cast<const uint32_t*>(items.data()), items.size() * 2};
}

// In what identifies a set, of a word that is no item but its clock. No rest has this number.
constexpr uint64_t kClockMark = uint64_t{UINT32_MAX} << 32;

}  // namespace

Parser::Parser(Grammar& grammar, RegexStore& regexes, Lexer& lexer, TokenCounts& counts, const Limits& limits)
    : grammar_(grammar),
      regexes_(regexes),
      lexer_(lexer),
      counts_(counts),
      closings_(grammar, regexes, counts, &distinct_register_, limits.max_search_steps),
      max_items_(limits.max_items),
      item_set_account_{"max_item_sets", limits.max_item_sets},
      distinct_register_(regexes, grammar.set_bounds, limits.max_item_sets),
      instances_(grammar, counts, limits),
      callers_(grammar.nonterminals.size()) {
  rests_.push_back(Rest{});
  // The root: nothing awaits the start symbol.
  continuations_.push_back({ContinuationKind::kLoop, DistinctRegister::none(), kUnmarked, kUnbounded, {}, kRoot, {}});
  continuation_ids_.intern({});
  Kernel& kernel = new_kernel();
  insert({rest(grammar.start, kNil), kRoot}, kernel);
  unskipped_start_ = start_ = intern_kernel(kernel, 0);
  if (!grammar.ignore_initial) {
    const ItemSet& set = at(start_);
    Kernel& suppressed = new_kernel();
    for (const auto& edge : set.edges) {
      if (!edge.is_ignore())
        suppressed.items.push_back(Item{edge.item.rest, edge.item.continuation, Gap::kSkippedOnce}.packed());
    }
    set.for_each_token_edge([&](const auto& edge) {
      suppressed.items.push_back(Item{edge.item.rest, edge.item.continuation, Gap::kSkippedOnce}.packed());
    });
    for (const Item& item : set.accepts) {
      suppressed.items.push_back(Item{item.rest, item.continuation, Gap::kSkippedOnce}.packed());
    }
    start_ = intern_kernel(suppressed, 0);
  }
}

size_t Parser::bytes() const {
  return rests_.bytes() + rest_ids_.bytes() + repeat_ids_.bytes() + continuation_ids_.bytes() * 2 +
         continuations_.bytes() + outside_callers_.bytes() + kernel_ids_.bytes() + sets_.bytes() +
         n_items_ * sizeof(ItemSet::Edge) + chosen_.bytes() + after_keys_.bytes() + scans_.bytes() + indented_.bytes() +
         ahead_[0].bytes() + ahead_[1].bytes() + tracked_scan_ids_.bytes() + tracked_scans_.bytes() +
         distinct_register_.bytes() + instances_.bytes() + closings_.bytes() + alternatives_.bytes() +
         (grammar_.deferred == nullptr ? 0 : grammar_.deferred->bytes());
}

RestId Parser::rest(Symbol head, RestId tail) {
  const uint64_t key = (uint64_t{head.value} << 32) | tail.value;
  if (auto known = rest_ids_.find(key)) return RestId(*known);
  const bool leads = grammar_.counts_tokens() && (leads_to_limit(head) || rests_[tail.value].leads_to_limit);
  const Rest made{head, tail, nullable(head) && rests_[tail.value].nullable, leads};
  return RestId(insert_with(rest_ids_, key, rests_, made));
}

RestId Parser::rest_of(const Alternative& alternative, uint32_t nonterminal) {
  RestId tail = kNil;
  for (size_t i = alternative.symbols.size(); i-- > 0;) {
    Symbol symbol = alternative.symbols[i];
    if (symbol.kind() == SymbolKind::kRepeat) {
      const Repeat& r = grammar_.repeats[symbol.index()];
      const Symbol body = instances_.resolved(r.body, nonterminal);
      // A body that cannot end need not occur, or the alternative were not live.
      if (body.kind() == SymbolKind::kNonterminal && !instances_.productive(body.index())) continue;
      symbol = repeat(body, r.minimum, r.maximum);
    } else {
      symbol = instances_.resolved(symbol, nonterminal);
    }
    tail = rest(symbol, tail);
  }
  return tail;
}

// Only grammars without parameters have deferred rules, so an instance is its nonterminal.
void Parser::define(uint32_t nonterminal) {
  if (!instances_.nonterminal(nonterminal).is_deferred) return;
  grammar_.deferred->define(nonterminal, grammar_, regexes_);
}

void Parser::define_all() {
  if (grammar_.deferred == nullptr) return;
  uint32_t n = 0;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> done_from;  // by object, first member and list
  for (uint32_t t = 0; t < grammar_.terminals.size() || n < grammar_.nonterminals.size();) {
    if (n < grammar_.nonterminals.size()) {
      define(n++);
      continue;
    }
    const uint32_t index = terminal(t++).choice;
    if (index == kNoChoice) continue;
    // Choices of one object are the last keys of each other.
    const Choice choice = grammar_.choices[index];
    uint32_t& end = done_from.try_emplace({choice.object, choice.first, choice.list}, choice.to).first->second;
    for (uint32_t number = choice.from; number < end; ++number) {
      if (regexes_.has_number(choice.list, number)) rest_after(choice, number);
    }
    end = std::min(end, choice.from);
  }
}

RestId Parser::rest_after(Choice choice, uint32_t number) {
  const uint64_t key = choice.key(number);
  if (const auto known = chosen_.find(key)) return RestId(*known);
  const std::vector<Symbol> follows =
      grammar_.deferred->after_key(choice.object, choice.first + number, grammar_, regexes_);
  RestId tail = kNil;
  for (size_t i = follows.size(); i-- > 0;) tail = rest(follows[i], tail);
  after_keys_.push_back({choice.object, tail});
  chosen_.insert(key, tail.value);
  return tail;
}

const Terminal& Parser::terminal(uint32_t index) {
  if (grammar_.terminals[index].is_deferred) grammar_.deferred->define_terminal(index, grammar_, regexes_);
  return grammar_.terminals[index];
}

const std::vector<RestId>& Parser::alternatives(uint32_t nonterminal) {
  while (alternatives_.size() <= nonterminal) alternatives_.push_back(std::nullopt);
  if (!alternatives_[nonterminal]) {
    define(nonterminal);
    std::vector<RestId> rests;
    for (const Alternative& alternative : instances_.nonterminal(nonterminal).alternatives) {
      if (!instances_.is_live(alternative, nonterminal)) continue;
      const RestId all = rest_of(alternative, nonterminal);
      if (all != kNil) rests.push_back(all);  // an empty alternative is skipped where its nonterminal is predicted
    }
    alternatives_[nonterminal] = std::move(rests);
  }
  return *alternatives_[nonterminal];
}

Symbol Parser::repeat(Symbol body, uint32_t minimum, uint32_t maximum) {
  const uint32_t words[] = {body.value, minimum, maximum};
  return Symbol::make(SymbolKind::kRepeat, repeat_ids_.intern(words).first);
}

bool Parser::nullable(Symbol symbol) {
  if (symbol.kind() == SymbolKind::kRepeat) {
    const Words r = repeat_ids_.at(symbol.index());
    if (r[1] == 0) return true;
    symbol = Symbol{r[0]};
  }
  return symbol.kind() == SymbolKind::kNonterminal ? instances_.nullable(symbol.index()) : grammar_.nullable(symbol);
}

// ---- kernels

Parser::Kernel& Parser::new_kernel() {
  kernel_.items.clear();
  kernel_.completed.clear();
  kernel_.depth = 0;
  return kernel_;
}

void Parser::advance(const Item& item, Kernel& kernel) {
  insert({rests_[item.rest.value].tail, item.continuation}, kernel);
}

void Parser::insert(Item item, Kernel& kernel) {
  if (item.rest != kNil) kernel.items.push_back(item.packed());
  if (rests_[item.rest.value].nullable) complete(item.continuation, kernel);
}

Item Parser::after(const ItemSet::Edge& edge, uint32_t number, TextId text) {
  const uint32_t choice = grammar_.terminals[edge.source].choice;
  const RestId tail =
      choice == kNoChoice ? rests_[edge.item.rest.value].tail : rest_after(grammar_.choices[choice], number);
  Item after{tail, edge.item.continuation};
  const Terminal& terminal = grammar_.terminals[edge.source];
  const RegisterId seen = continuations_[after.continuation.value].seen;
  if (seen == DistinctRegister::none()) return after;
  RegisterId now = seen;
  if (choice != kNoChoice) {
    const Choice& keys = grammar_.choices[choice];
    if (terminal.distinct) now = distinct_register_.add_key(seen, keys.list, keys.are_strings, number);
  } else if (!terminal.distinct) {
    if (terminal.step.place != 0) now = distinct_register_.pass(seen, terminal.step);
  } else if (text != DistinctRegister::no_text()) {
    now = distinct_register_.add(seen, text, terminal.step);
  }
  if (now != seen) after.continuation = with_seen(after.continuation, now);
  return after;
}

// The items that go on with the scope's own terminals stay, marked; see the head of parser.h.
void Parser::add_skipped(const ItemSet& set, uint32_t scope, Kernel& kernel) const {
  const Gap after = grammar_.scopes[scope].ignore_once ? Gap::kSkippedOnce : Gap::kSkippedMayAgain;
  auto keep = [&](const Item& item) {
    if (item.gap != Gap::kSkippedOnce) kernel.items.push_back(Item{item.rest, item.continuation, after}.packed());
  };
  for (const auto& edge : set.edges) {
    if (!edge.is_ignore() && scope_of(edge) == scope) keep(edge.item);
  }
  set.for_each_token_edge([&](const auto& edge) {
    if (grammar_.token_sets[edge.token_set].scope == scope) keep(edge.item);
  });
  if (scope == grammar_.start_scope && grammar_.ignore_final) {
    for (const Item& item : set.accepts) keep(item);
  }
}

ItemSetId Parser::intern_kernel(Kernel& kernel, uint32_t clock) {
  clock = grammar_.counts_tokens() ? drop_late(kernel.items, clock) : 0;
  Words key = normalise(kernel.items);
  const size_t n_items = kernel.items.size();
  if (clock != 0) {
    kernel.items.push_back(kClockMark | clock);
    key = {reinterpret_cast<const uint32_t*>(kernel.items.data()), kernel.items.size() * 2};
  }
  if (auto known = kernel_ids_.find(key)) return ItemSetId(*known);
  // Closed before it is entered: a bound that is crossed leaves no half-made set behind.
  item_set_account_.charge();
  Pause::tick();
  ItemSet set = close(std::span(kernel.items).first(n_items), clock);
  const size_t n_edges = set.edges.size() + set.token_edges.size() + set.indent_edges.size();
  const ItemSetId made(add_with(kernel_ids_, key, sets_, std::move(set)));
  n_items_ += n_edges;
  return made;
}

// The items of a set before prediction.
std::vector<uint64_t> Parser::kernel_of(ItemSetId set) const {
  const Words words = kernel_ids_.at(set.value);
  std::vector<uint64_t> kernel(words.size() / 2);
  if (!words.empty()) std::memcpy(kernel.data(), words.data(), words.size_bytes());
  if (at(set).clock != 0) kernel.pop_back();
  return kernel;
}

void Parser::add_scalars(ItemSetId set, ScalarSet& out) const {
  if (grammar_.set_bounds.empty()) return;
  std::vector<ContinuationId> open;
  std::unordered_set<uint32_t> known;
  const auto see = [&](uint64_t item) {
    const ContinuationId continuation = Item::unpack(item).continuation;
    if (known.insert(continuation.value).second) open.push_back(continuation);
  };
  for (const uint64_t item : kernel_of(set)) see(item);
  for (const ItemSet::Edge& edge : at(set).edges) {
    if (!edge.is_ignore()) see(edge.item.packed());
  }
  std::unordered_set<uint32_t> registers;
  while (!open.empty()) {
    const Continuation& here = continuations_[open.back().value];
    open.pop_back();
    if (registers.insert(here.seen.value).second) distinct_register_.add_scalars(here.seen, out);
    for (const uint64_t item : here.members) see(item);
  }
}

ItemSetId Parser::end_token(ItemSetId set) {
  if (!at(set).is_timed) return set;
  const uint32_t clock = at(set).clock + 1;
  Kernel& kernel = new_kernel();
  kernel.items = kernel_of(set);
  return intern_kernel(kernel, clock);
}

ItemSetId Parser::scan(ItemSetId from, SlotSetId matched, TextId text, uint32_t clock) {
  const ItemSetId to = known_scan(from, matched, text, clock);
  reached_ += at(to).reach;
  return to;
}

ItemSetId Parser::known_scan(ItemSetId from, SlotSetId matched, TextId text, uint32_t clock) {
  if (text != DistinctRegister::no_text() || clock != 0) {
    const uint32_t words[] = {from.value, matched.value, text.value, clock};
    if (auto known = tracked_scan_ids_.find(words)) return tracked_scans_[*known];
    const ItemSetId to = compute_scan(from, matched, text, clock);
    add_with(tracked_scan_ids_, words, tracked_scans_, to);
    return to;
  }
  const uint64_t key = (uint64_t{from.value} << 32) | matched.value;
  if (auto known = scans_.find(key)) return ItemSetId(*known);
  const ItemSetId to = compute_scan(from, matched, text, clock);
  scans_.insert(key, to.value);
  return to;
}

ItemSetId Parser::compute_scan(ItemSetId from, SlotSetId matched, TextId text, uint32_t clock) {
  const ItemSet& set = at(from);
  const Words slots = lexer_.slots(matched);
  int32_t best = INT32_MIN;
  for (uint32_t slot : slots) best = std::max(best, set.slot(slot).priority);
  Kernel& kernel = new_kernel();
  for (uint32_t slot : slots) {
    const ItemSet::Slot& s = set.slot(slot);
    if (s.priority != best) continue;
    for (uint32_t i = s.first_edge; i < s.last_edge; ++i) {
      const ItemSet::Edge& edge = set.edges[i];
      if (edge.is_ignore()) {
        add_skipped(set, edge.source, kernel);
      } else {
        insert(after(edge, slot - s.first_number, text), kernel);
      }
    }
  }
  const uint8_t depth = kernel.depth;
  const ItemSetId to = intern_kernel(kernel, clock);
  const auto reach = static_cast<uint8_t>(std::min<unsigned>(depth + 1U, kFarReach));
  sets_[to.value].reach = std::max(sets_[to.value].reach, reach);
  return to;
}

std::optional<ItemSetId> Parser::scan_token(std::span<const ItemSetId> sets, uint32_t token) {
  Kernel& kernel = new_kernel();
  bool taken = false;
  for (ItemSetId id : sets) {
    for (const auto& edge : at(id).token_edges) {
      const auto& ids = grammar_.token_sets[edge.token_set].ids;
      if (!std::binary_search(ids.begin(), ids.end(), token)) continue;
      taken = true;
      advance(edge.item, kernel);
    }
  }
  if (!taken) return std::nullopt;
  return intern_kernel(kernel, at(sets[0]).clock + 1);
}

std::optional<ItemSetId> Parser::scan_indent(ItemSetId set, uint32_t token) {
  const uint64_t key = (uint64_t{set.value} << 32) | token;
  if (auto known = indented_.find(key)) return *known == 0 ? std::nullopt : std::optional(ItemSetId(*known - 1));
  Kernel& kernel = new_kernel();
  bool taken = false;
  for (const auto& edge : at(set).indent_edges) {
    if (grammar_.token_sets[edge.token_set].ids[0] != token) continue;
    taken = true;
    advance(edge.item, kernel);
  }
  std::optional<ItemSetId> to;
  if (taken) to = intern_kernel(kernel, at(set).clock);
  indented_.insert(key, to ? to->value + 1 : 0);
  return to;
}

ItemSetId Parser::unite(std::span<const ItemSetId> sets) {
  if (sets.size() == 1) return sets[0];
  Kernel& kernel = new_kernel();
  for (ItemSetId id : sets) {
    const std::vector<uint64_t> items = kernel_of(id);
    kernel.items.insert(kernel.items.end(), items.begin(), items.end());
  }
  return intern_kernel(kernel, at(sets[0]).clock);
}

// ---- closure

void Parser::Closing::clear() {
  const auto empty = [](auto& used) {
    if (used.capacity() > kKept) used = {};
    used.clear();
  };
  empty(edges);
  empty(token_edges);
  empty(indent_edges);
  empty(accepts);
  empty(made_edges);
  empty(made_slots);
  empty(terminals);
  tracks = false;
  excludes = false;
  is_overapproximate = false;
  seen.clear();
  n_items = 0;
  waiting.clear();
  open = kClosed;
  open_members.clear();
  tracked_callers.clear();
  has_deadlines = false;
}

ItemSet Parser::close(std::span<const uint64_t> kernel, uint32_t clock, Trace* trace) {
  if (callers_left_over_) {
    for (auto& callers : callers_) callers.clear();
  }
  callers_left_over_ = true;
  Closing& closing = closing_;
  closing.clear();
  closing.trace = trace;
  closing.clock = clock;
  for (uint64_t word : kernel) {
    const Item item = Item::unpack(word);
    if (item.rest == kNil) {
      closing.accepts.push_back(item);
    } else if (item.gap != Gap::kFresh) {
      predict_head(item.rest, item, closing);
    } else {
      predict(item, closing);
    }
  }
  while (!closing.waiting.empty()) {
    closing.open = closing.waiting.front().first;
    take_waiting(closing);
    const Callee callee = closing.open;
    if (instances_.nonterminal(closing.open_members[0]).left_recursive) {
      expand_loop(callee, closing);
    } else {
      for (size_t i = 0; i < closing.open_members.size(); ++i) expand_plain(closing.open_members[i], callee, closing);
    }
    closing.open_members.clear();
    closing.open = kClosed;
  }
  callers_left_over_ = false;
  if (!grammar_.set_bounds.empty()) drop_dead_ends(closing);
  add_ignores(closing);
  if (!grammar_.complete) end_at_lazy(closing.edges);
  // No limit is too small for the terminal, but it may be for what lazy ones leave of it.
  std::erase_if(closing.edges, [&](const OpenEdge& edge) {
    return edge.limit.is_own && counts_.needed(edge.regex) > edge.limit.tokens;
  });
  ItemSet set;
  make_slots(closing, set);
  set.token_edges = FixedArray<ItemSet::TokenEdge>(closing.token_edges);
  set.indent_edges = FixedArray<ItemSet::TokenEdge>(closing.indent_edges);
  set.accepts = FixedArray<Item>(closing.accepts);
  set.tracks = closing.tracks;
  set.excludes = closing.excludes;
  set.is_overapproximate = closing.is_overapproximate;
  set.clock = clock;
  set.has_deadlines = closing.has_deadlines;
  set.is_timed = std::any_of(kernel.begin(), kernel.end(),
                             [&](uint64_t word) { return deadline_of(Item::unpack(word)) != kUnbounded; });
  set.leads_to_limit = grammar_.counts_tokens() && std::any_of(kernel.begin(), kernel.end(), [&](uint64_t word) {
                         return leads_to_limit(Item::unpack(word));
                       });
  return set;
}

// The nonterminals of the component that is open.
void Parser::take_waiting(Closing& closing) {
  auto& waiting = closing.waiting;
  while (!waiting.empty() && waiting.front().first == closing.open) {
    closing.open_members.push_back(waiting.front().second);
    std::pop_heap(waiting.begin(), waiting.end(), std::greater<>());
    waiting.pop_back();
  }
}

// Adds the item and, as long as its first symbol may be empty, the items behind it.
void Parser::predict(const Item& item, Closing& closing) {
  RestId at = item.rest;
  while (at != kNil) {
    const Item here{at, item.continuation, item.gap};
    const uint64_t key = here.packed();
    if (closing.seen.find(key)) return;
    closing.seen.insert(key, 0);
    if (++closing.n_items > max_items_) throw LimitExceeded("max_items", max_items_);
    if (closing.trace != nullptr) closing.trace->items.push_back(key);
    const Symbol head = rests_[at.value].head;
    predict_head(at, here, closing);
    if (!nullable(head)) return;
    at = rests_[at.value].tail;
  }
}

// What the first symbol of `at` allows next.
void Parser::predict_head(RestId at, const Item& item, Closing& closing) {
  const Rest here = rests_[at.value];
  const uint32_t deadline = deadline_of(item);
  const bool takes = here.head.kind() == SymbolKind::kTerminal || here.head.kind() == SymbolKind::kTokenSet;
  const bool is_indent =
      here.head.kind() == SymbolKind::kTokenSet && grammar_.token_sets[here.head.index()].is_indent();
  if (deadline <= closing.clock && (!grammar_.indenter || (takes && !is_indent))) return;
  closing.has_deadlines = closing.has_deadlines || (takes && deadline != kUnbounded);
  switch (here.head.kind()) {
    case SymbolKind::kTerminal: {
      const RegisterId seen = continuations_[item.continuation.value].seen;
      bool tracks = false;
      RegexId regex = terminal(here.head.index()).regex;
      const Terminal& terminal = grammar_.terminals[here.head.index()];
      if (seen != DistinctRegister::none() && terminal.distinct) {
        if (terminal.choice == kNoChoice) {
          tracks = closing.tracks = true;
          closing.excludes = closing.excludes || distinct_register_.excludes(seen);
          closing.is_overapproximate = closing.is_overapproximate || distinct_register_.is_overapproximate(seen);
        }
        regex = distinct_register_.addable(regex, seen, terminal.step);
      }
      if (regex == RegexStore::nothing()) return;
      closing.edges.push_back({regex,
                               terminal.priority,
                               terminal.around,
                               limit_at(terminal, deadline, closing.clock),
                               terminal.role,
                               terminal.key_role,
                               tracks,
                               {here.head.index(), {at, item.continuation, item.gap}}});
      return;
    }
    case SymbolKind::kTokenSet: {
      auto& edges = is_indent ? closing.indent_edges : closing.token_edges;
      edges.push_back({here.head.index(), {at, item.continuation, item.gap}});
      return;
    }
    case SymbolKind::kNonterminal:
      call(here.head.index(), here.tail, {at, item.continuation, item.gap}, closing);
      return;
    case SymbolKind::kRepeat: {
      // One more of the body, then the repeat with its counts down by one.
      const Words r = repeat_ids_.at(here.head.index());
      const uint32_t minimum = r[1] == 0 ? 0 : r[1] - 1;
      const uint32_t maximum = r[2] == kUnbounded ? kUnbounded : r[2] - 1;
      const RestId after = maximum == 0 ? here.tail : rest(repeat(Symbol{r[0]}, minimum, maximum), here.tail);
      const RestId once = rest(Symbol{r[0]}, after);
      const uint64_t key = Item{once, item.continuation, item.gap}.packed();
      if (closing.seen.find(key)) return;
      if (closing.trace != nullptr)
        closing.trace->turns.push_back({key, Item{at, item.continuation, item.gap}.packed()});
      // A body that may be empty makes the whole repeat so; what follows it is predicted from the repeat.
      predict_head(once, item, closing);
      return;
    }
    case SymbolKind::kCall:
      return;  // what is left of an alternative has instances in place of calls
  }
}

std::vector<uint64_t>& Parser::callers_of(uint32_t nonterminal, const Callee& callee, Closing& closing) {
  if (callee.seen != DistinctRegister::none() || callee.hurry != 0)
    return closing.tracked_callers[{nonterminal, callee.seen, callee.hurry}];
  if (callers_.size() <= nonterminal) callers_.resize(nonterminal + 1);
  return callers_[nonterminal];
}

void Parser::call(uint32_t nonterminal, RestId tail, const Item& caller, Closing& closing) {
  const ContinuationId continuation = caller.continuation;
  const Nonterminal& callee = instances_.nonterminal(nonterminal);
  const Continuation& awaiting = continuations_[continuation.value];
  if (callee.opens_set && !distinct_register_.may_open(*callee.opens_set, awaiting.seen)) return;
  const bool hides = callee.hides_set && awaiting.seen != DistinctRegister::none();
  RegisterId seen = hides ? DistinctRegister::none() : awaiting.seen;
  if (callee.opens_set) seen = distinct_register_.open(*callee.opens_set, awaiting.seen);
  if (callee.opens_set && distinct_register_.is_value(seen) && distinct_register_.is_overapproximate(awaiting.seen))
    closing.is_overapproximate = true;
  const uint32_t own = callee.max_tokens == kUnbounded ? kUnbounded : closing.clock + callee.max_tokens;
  const Callee key{callee.order, seen, kUnbounded - std::min(awaiting.deadline, own)};
  std::vector<uint64_t>& callers = callers_of(nonterminal, key, closing);
  const bool first_call = callers.empty();
  // Tail call: whoever awaits the caller awaits the callee. A loop's members are not all known yet while it is open.
  const bool is_tail_call = tail == kNil && awaiting.kind == ContinuationKind::kPlain && awaiting.marked == kUnmarked &&
                            !callee.opens_set && !hides && callee.mark == nullptr;
  if (closing.trace != nullptr)
    closing.trace->calls.push_back({nonterminal, tail, caller.packed(), key.deadline(), is_tail_call});
  if (is_tail_call) {
    callers.insert(callers.end(), awaiting.members.begin(), awaiting.members.end());
  } else {
    const ContinuationId kept =
        callee.restores_set() ? continuation : with_seen(continuation, DistinctRegister::none());
    callers.push_back(Item{tail, kept}.packed());
  }
  if (!first_call) return;
  if (key == closing.open) {
    closing.open_members.push_back(nonterminal);
  } else {
    closing.waiting.emplace_back(key, nonterminal);
    std::push_heap(closing.waiting.begin(), closing.waiting.end(), std::greater<>());
  }
}

void Parser::expand_plain(uint32_t nonterminal, const Callee& callee, Closing& closing) {
  std::vector<uint64_t>& callers = callers_of(nonterminal, callee, closing);
  const ContinuationId continuation = continuation_of(callers, callee, nonterminal);
  callers.clear();
  if (closing.trace != nullptr) closing.trace->expansions.push_back({nonterminal, continuation});
  for (RestId alternative : alternatives(nonterminal)) predict({alternative, continuation}, closing);
}

template <class Make>
ContinuationId Parser::intern_continuation(Words key, Make make) {
  const uint32_t hash = Interner::hash(key);
  if (auto known = continuation_ids_.find(key, hash)) return ContinuationId(*known);
  Continuation continuation = make();
  const auto id = static_cast<uint32_t>(continuation_ids_.size());
  continuation.ends_with = ContinuationId(id);
  if (continuation.kind == ContinuationKind::kPlain && continuation.seen == DistinctRegister::none() &&
      continuation.members.size() == 1) {
    const Item only = Item::unpack(continuation.members[0]);
    if (only.rest == kNil) continuation.ends_with = continuations_[only.continuation.value].ends_with;
  }
  add_with(continuation_ids_, key, hash, continuations_, std::move(continuation));
  sift(ContinuationId(id), ContinuationId(id));
  return ContinuationId(id);
}

// A set of one caller that has nothing left to do is that caller's continuation.
ContinuationId Parser::continuation_of(std::vector<uint64_t>& callers, const Callee& as, uint32_t nonterminal) {
  const Words items = normalise(callers);
  const Nonterminal& callee = instances_.nonterminal(nonterminal);
  if (!callee.opens_set && callee.mark == nullptr && callers.size() == 1) {
    const Item only = Item::unpack(callers[0]);
    const bool hides = callee.hides_set && continuations_[only.continuation.value].seen != as.seen;
    if (only.rest == kNil && deadline_of(only) == as.deadline() && !hides) return with_seen(only.continuation, as.seen);
  }
  const ContinuationKind kind = callee.restores_set() ? ContinuationKind::kRestores : ContinuationKind::kPlain;
  const uint32_t marked = callee.mark != nullptr ? nonterminal : kUnmarked;
  std::vector<uint32_t>& key = continuation_key_;
  key = {static_cast<uint32_t>(kind), as.seen.value, marked, as.hurry};
  key.insert(key.end(), items.begin(), items.end());
  return intern_continuation(key, [&] { return Continuation{kind, as.seen, marked, as.deadline(), callers, {}, {}}; });
}

ContinuationId Parser::with_seen(ContinuationId continuation, RegisterId seen) {
  const Continuation& known = continuations_[continuation.value];
  if (known.seen == seen) return continuation;
  const Words words = continuation_ids_.at(continuation.value);
  std::vector<uint32_t> key(words.begin(), words.end());
  key[1] = seen.value;
  return intern_continuation(
      key, [&] { return Continuation{known.kind, seen, known.marked, known.deadline, known.members, {}, {}}; });
}

// All members of a left-recursive component that are called, from outside or from within.
void Parser::expand_loop(const Callee& callee, Closing& closing) {
  const RegisterId seen = callee.seen;
  std::vector<uint32_t> outside;
  std::sort(closing.open_members.begin(), closing.open_members.end());
  for (uint32_t nonterminal : closing.open_members) {
    std::vector<uint64_t>& callers = callers_of(nonterminal, callee, closing);
    const Words items = normalise(callers);
    outside.push_back(nonterminal);
    outside.push_back(static_cast<uint32_t>(callers.size()));
    outside.insert(outside.end(), items.begin(), items.end());
  }
  const uint32_t identity = outside_callers_.intern(outside).first;
  auto continuation_for = [&](uint32_t nonterminal, RegisterId register_) {
    const uint32_t key[] = {static_cast<uint32_t>(ContinuationKind::kLoop), register_.value, identity, nonterminal,
                            callee.hurry};
    const uint32_t marked = instances_.nonterminal(nonterminal).mark != nullptr ? nonterminal : kUnmarked;
    return intern_continuation(
        key, [&] { return Continuation{ContinuationKind::kLoop, register_, marked, callee.deadline(), {}, {}, {}}; });
  };
  for (size_t i = 0; i < closing.open_members.size(); ++i) {
    const uint32_t nonterminal = closing.open_members[i];
    const ContinuationId continuation = continuation_for(nonterminal, seen);
    if (closing.trace != nullptr) closing.trace->expansions.push_back({nonterminal, continuation});
    for (RestId alternative : alternatives(nonterminal)) predict({alternative, continuation}, closing);
  }
  // Now the callers from within are known too. They depend on the identity alone, so each time gives the same members.
  std::vector<ContinuationId> closed;
  for (uint32_t nonterminal : closing.open_members) {
    std::vector<uint64_t>& callers = callers_of(nonterminal, callee, closing);
    normalise(callers);
    for (RegisterId each : {seen, DistinctRegister::none()}) {
      closed.push_back(continuation_for(nonterminal, each));
      continuations_[closed.back().value].members = callers;
    }
    callers.clear();
  }
  const ContinuationId oldest = *std::min_element(closed.begin(), closed.end());
  for (const ContinuationId loop : closed) sift(loop, oldest);
}

// A scope may skip where one of its items may go on and has not skipped its last.
void Parser::add_ignores(Closing& closing) const {
  std::vector<bool>& may_skip = closing.may_skip;
  may_skip.assign(grammar_.scopes.size(), false);
  auto see = [&](uint32_t scope, const Item& item) {
    if (item.gap != Gap::kSkippedOnce) may_skip[scope] = true;
  };
  for (const OpenEdge& open : closing.edges) see(scope_of(open.edge), open.edge.item);
  for (const auto* edges : {&closing.token_edges, &closing.indent_edges}) {
    for (const auto& edge : *edges) see(grammar_.token_sets[edge.token_set].scope, edge.item);
  }
  if (grammar_.ignore_final) {
    for (const Item& item : closing.accepts) see(grammar_.start_scope, item);
  }
  for (uint32_t scope = 0; scope < may_skip.size(); ++scope) {
    if (!may_skip[scope]) continue;
    for (const Scope::Ignored& ignored : grammar_.scopes[scope].ignored) {
      closing.edges.push_back({.regex = ignored.regex, .around = ignored.around, .edge = {scope, {}}});
    }
    if (grammar_.indenter && grammar_.indenter->scope == scope) {
      const RegexId newline = grammar_.indenter->newline;
      closing.edges.push_back({.regex = newline, .role = LineRole::kSkippedNewline, .edge = {scope, {}}});
    }
  }
}

// Where a lazy terminal is complete the lexeme ends, so nothing else may go beyond a text of it, and only what is lazy
// may match with it.
void Parser::end_at_lazy(std::vector<OpenEdge>& edges) {
  auto is_lazy = [&](const OpenEdge& e) { return !e.edge.is_ignore() && grammar_.terminals[e.edge.source].lazy; };
  std::vector<RegexId> lazy;
  for (const OpenEdge& edge : edges) {
    if (is_lazy(edge)) lazy.push_back(edge.regex);
  }
  if (lazy.empty()) return;
  const RegexId ends = regexes_.alternation(std::move(lazy));
  for (OpenEdge& edge : edges) {
    edge.regex =
        is_lazy(edge) ? regexes_.not_longer_than(edge.regex, ends) : regexes_.not_beginning_with(edge.regex, ends);
  }
  std::erase_if(edges, [&](const OpenEdge& edge) { return regexes_.is_empty(edge.regex); });
}

// Edges of equal regex, priority, conditions, limit and roles are one slot, in an order that depends on the regexes
// alone, so that equal sets of live regexes are one lexer state whatever the grammar around them.
void Parser::make_slots(Closing& closing, ItemSet& set) {
  std::vector<OpenEdge>& open = closing.edges;
  std::vector<ItemSet::Slot>& slots = closing.made_slots;
  auto key = [](const OpenEdge& e) {
    return std::tuple(e.priority, e.around, e.limit, e.role, e.key_role, e.tracks, e.edge.source, e.edge.item.packed());
  };
  // Choices come first: what is left of one key is then in the same slot in all states of an object. Most sets have
  // each regex once.
  auto is_single = [&](const OpenEdge& e) {
    return e.edge.is_ignore() || grammar_.terminals[e.edge.source].choice == kNoChoice;
  };
  auto less = [&](const auto& a, const auto& b) {
    if (a.regex == b.regex) return key(a) < key(b);
    if (!grammar_.choices.empty() && is_single(a) != is_single(b)) return is_single(b);
    return a.regex < b.regex;
  };
  auto same = [&](const auto& a, const auto& b) { return a.regex == b.regex && key(a) == key(b); };
  std::sort(open.begin(), open.end(), less);
  open.erase(std::unique(open.begin(), open.end(), same), open.end());
  auto slot = [](const OpenEdge& e) {
    return std::tuple(e.regex, e.priority, e.around, e.limit, e.role, e.key_role, e.tracks);
  };
  uint32_t n_numbers = 0;
  for (uint32_t i = 0; i < open.size(); ++i) {
    const OpenEdge& edge = open[i];
    if (i == 0 || slot(open[i - 1]) != slot(edge)) {
      if (edge.role == LineRole::kNewline) set.newline_slot = n_numbers;
      slots.push_back({n_numbers, i, i, edge.priority, edge.around, edge.role, edge.key_role, edge.tracks, edge.limit});
      set.has_key_roles = set.has_key_roles || edge.key_role != KeyRole::kNone;
      set.has_keys = set.has_keys || edge.key_role == KeyRole::kKey;
      set.asks_before = set.asks_before || edge.around.before != kNoCondition;
      set.asks_lines = set.asks_lines || (edge.role != LineRole::kNone && edge.role != LineRole::kOpen);
      set.has_limits = set.has_limits || edge.limit.tokens != kUnbounded;
      closing.terminals.push_back(edge.regex);
      const uint32_t numbers = regexes_.n_numbers(edge.regex);
      set.has_choices = set.has_choices || numbers > 1;
      n_numbers += numbers;
    }
    slots.back().last_edge = i + 1;
    closing.made_edges.push_back(edge.edge);
  }
  set.edges = FixedArray<ItemSet::Edge>(closing.made_edges);
  set.slots = FixedArray<ItemSet::Slot>(slots);
  set.start = lexer_.start(closing.terminals);
}

}  // namespace cfgmask
