#include "earley/marks.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "util/in_step.h"

namespace cfgmask {

Marks::Marks(Parser& parser, const Grammar& grammar) : parser_(parser), grammar_(grammar) {
  add_with(event_ids_, {}, events_, Event{kNothing, false, nullptr, 0, Parser::kRoot, kNothing, 0, 0});
  stacks_.intern({});
}

Marks::Place Marks::start() {
  Place first{parser_.unskipped_start_, 0, 0, {{kNothing, {}, {}}}};
  if (parser_.start_ == parser_.unskipped_start_) return first;
  const Lexeme nothing{&first, Lexer::no_slots(), DistinctRegister::no_text()};
  return lead({&nothing, 1}, parser_.start_, 0);
}

// ---- what continuations tell

bool Marks::is_captured(ContinuationId continuation) const {
  const uint32_t marked = parser_.continuations_[continuation.value].marked;
  return marked != Parser::kUnmarked && parser_.instances_.nonterminal(marked).is_captured();
}

// Each continuation on the way is remembered too: asked at each depth of a nest anew, walks would add up to the square
// of the depth. Continuations of left recursion may hold themselves.
const std::vector<ContinuationId>& Marks::innermost(ContinuationId continuation) {
  if (const auto known = innermost_.find(continuation.value); known != innermost_.end()) return known->second;
  std::unordered_map<uint32_t, std::vector<ContinuationId>> found;  // kept once all of it is right
  std::vector<ContinuationId> on_the_way;
  std::vector<ContinuationId> todo{continuation};
  while (!todo.empty()) {
    const ContinuationId at = todo.back();
    todo.pop_back();
    if (innermost_.contains(at.value) || found.contains(at.value)) continue;
    std::vector<ContinuationId>& own = found[at.value];
    if (at == Parser::kRoot) {
      own.push_back(at);
    } else if (is_captured(at)) {
      own.push_back(base(at));
    } else {
      on_the_way.push_back(at);
      for (uint64_t member : parser_.continuations_[at.value].members)
        todo.push_back(Item::unpack(member).continuation);
    }
  }
  // From the far end on, so that one round is enough without left recursion.
  for (bool is_changed = true; is_changed;) {
    is_changed = false;
    for (size_t i = on_the_way.size(); i-- > 0;) {
      std::vector<ContinuationId> all;
      for (uint64_t member : parser_.continuations_[on_the_way[i].value].members) {
        const uint32_t beyond = Item::unpack(member).continuation.value;
        const auto known = innermost_.find(beyond);
        const std::vector<ContinuationId>& its = known != innermost_.end() ? known->second : found[beyond];
        all.insert(all.end(), its.begin(), its.end());
      }
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      std::vector<ContinuationId>& own = found[on_the_way[i].value];
      if (own == all) continue;
      own = std::move(all);
      is_changed = true;
    }
  }
  innermost_.merge(found);
  return innermost_.at(continuation.value);
}

bool Marks::is_inside(ContinuationId continuation, ContinuationId frame) {
  const auto& rules = innermost(continuation);
  return std::binary_search(rules.begin(), rules.end(), frame);
}

// Whether a rule that begins with this continuation may stand directly in that frame.
bool Marks::is_around(ContinuationId begun, ContinuationId frame) {
  const auto& members = parser_.continuations_[begun.value].members;
  return std::any_of(members.begin(), members.end(),
                     [&](uint64_t member) { return is_inside(Item::unpack(member).continuation, frame); });
}

std::optional<ContinuationId> Marks::sole_rule(ItemSetId items) {
  if (const auto known = sole_rules_.find(items.value); known != sole_rules_.end()) return known->second;
  std::optional<ContinuationId> sole;
  bool is_sole = true;
  const auto see = [&](const Item& item) {
    if (!is_sole) return;
    const auto& rules = innermost(item.continuation);
    is_sole = rules.size() == 1 && (!sole || *sole == rules[0]);
    if (is_sole) sole = rules[0];
  };
  for (uint64_t word : parser_.kernel_of(items)) see(Item::unpack(word));
  const ItemSet& set = parser_.at(items);
  for (const auto& edge : set.edges) {
    if (!edge.is_ignore()) see(edge.item);
  }
  set.for_each_token_edge([&](const auto& edge) { see(edge.item); });
  if (!is_sole) sole.reset();
  return sole_rules_.emplace(items.value, sole).first->second;
}

const std::vector<uint32_t>& Marks::terminals_with_ends(ItemSetId items) {
  const auto [found, is_new] = terminals_with_ends_.try_emplace(items.value);
  if (is_new) {
    std::vector<uint32_t>& terminals = found->second;
    for (const auto& edge : parser_.at(items).edges) {
      if (!edge.is_ignore() && grammar_.terminals[edge.source].suffix) terminals.push_back(edge.source);
    }
    std::sort(terminals.begin(), terminals.end());
    terminals.erase(std::unique(terminals.begin(), terminals.end()), terminals.end());
  }
  return found->second;
}

// ---- which edges the items of a kernel lead to

const std::vector<Marks::Link>& Marks::links(ItemSetId items) {
  if (const auto known = links_.find(items.value); known != links_.end()) return known->second;
  return links_.emplace(items.value, find_links(items)).first->second;
}

std::vector<Marks::Link> Marks::find_links(ItemSetId items) {
  Parser::Trace trace;
  const std::vector<uint64_t> kernel = parser_.kernel_of(items);
  parser_.close(kernel, parser_.at(items).clock, &trace);
  std::unordered_map<uint64_t, std::vector<const Parser::Trace::Call*>> calls;
  for (const auto& call : trace.calls) calls[call.caller].push_back(&call);
  std::unordered_map<uint32_t, std::vector<ContinuationId>> expansions;
  for (const auto& expansion : trace.expansions) expansions[expansion.nonterminal].push_back(expansion.continuation);
  std::unordered_set<uint64_t> edges;
  const ItemSet& set = parser_.at(items);
  for (const auto& edge : set.edges) {
    if (!edge.is_ignore()) edges.insert(edge.item.packed());
  }
  set.for_each_token_edge([&](const auto& edge) { edges.insert(edge.item.packed()); });

  using Step = std::pair<uint64_t, std::vector<ContinuationId>>;
  std::vector<Link> found;
  for (uint64_t from : kernel) {
    std::vector<Step> todo{{from, {}}};
    std::set<Step> known{todo[0]};
    const auto add = [&](const Item& item, const std::vector<ContinuationId>& begun) {
      if (Step step{item.packed(), begun}; known.insert(step).second) todo.push_back(std::move(step));
    };
    const auto enter = [&](const Item& caller, const Parser::Trace::Call& call,
                           const std::vector<ContinuationId>& begun) {
      const Nonterminal& callee = parser_.instances_.nonterminal(call.nonterminal);
      for (const ContinuationId into : expansions[call.nonterminal]) {
        const Parser::Continuation& awaiting = parser_.continuations_[into.value];
        if (awaiting.deadline != call.deadline) continue;
        const RegisterId around = parser_.continuations_[caller.continuation.value].seen;
        if (callee.opens_set || (callee.hides_set && around != DistinctRegister::none())) {
          const uint64_t member = Item{call.tail, caller.continuation}.packed();
          if (!std::binary_search(awaiting.members.begin(), awaiting.members.end(), member)) continue;
        } else if (awaiting.seen != around) {
          continue;
        }
        std::vector<ContinuationId> inside = begun;
        if (callee.is_captured()) {
          const ContinuationId frame = base(into);
          if (std::find(begun.begin(), begun.end(), frame) == begun.end()) inside.push_back(frame);
        } else if (!begun.empty() && !is_inside(into, begun.back())) {
          continue;
        }
        for (RestId alternative : *parser_.alternatives_[call.nonterminal]) add({alternative, into}, inside);
      }
    };
    while (!todo.empty()) {
      const auto [word, begun] = std::move(todo.back());
      todo.pop_back();
      const Item item = Item::unpack(word);
      if (item.rest == Parser::kNil || edges.contains(word)) found.push_back({from, word, begun});
      if (item.rest == Parser::kNil) continue;
      const Parser::Rest here = parser_.rests_[item.rest.value];
      if (here.head.kind() == SymbolKind::kRepeat) {
        const Words counts = parser_.repeat_ids_.at(here.head.index());
        const Symbol body{counts[0]};
        const uint32_t minimum = counts[1] == 0 ? 0 : counts[1] - 1;
        const uint32_t maximum = counts[2] == kUnbounded ? kUnbounded : counts[2] - 1;
        const RestId after = maximum == 0 ? here.tail : parser_.rest(parser_.repeat(body, minimum, maximum), here.tail);
        add({parser_.rest(body, after), item.continuation, item.gap}, begun);
      }
      if (const auto called = calls.find(word); called != calls.end()) {
        for (const auto* call : called->second) enter(item, *call, begun);
      }
      if (item.gap == Gap::kFresh && here.tail != Parser::kNil && parser_.nullable(here.head))
        add({here.tail, item.continuation}, begun);
    }
  }
  return found;
}

// ---- histories

ContinuationId Marks::frame_of(HistoryId history) const { return events_[events_[history].open].frame; }

Marks::HistoryId Marks::add(Event event) {
  const auto position = static_cast<uint64_t>(event.position);
  const auto name = reinterpret_cast<uintptr_t>(event.name);
  const uint32_t words[] = {event.before,
                            event.begins ? 1U : 0U,
                            event.frame.value,
                            static_cast<uint32_t>(position),
                            static_cast<uint32_t>(position >> 32),
                            static_cast<uint32_t>(name),
                            static_cast<uint32_t>(uint64_t{name} >> 32)};
  const uint32_t hash = Interner::hash(words);
  if (auto known = event_ids_.find(words, hash)) return *known;
  event.depth = events_[event.before].depth + 1;
  return add_with(event_ids_, words, hash, events_, event);
}

Marks::HistoryId Marks::begin(HistoryId history, ContinuationId frame, size_t position) {
  const uint32_t marked = parser_.continuations_[frame.value].marked;
  const uint32_t words[] = {events_[history].stack, frame.value};
  Event event{history,
              true,
              &parser_.instances_.nonterminal(marked).mark->capture,
              position,
              frame,
              kNothing,
              stacks_.intern(words).first,
              0};
  const HistoryId id = add(event);
  events_[id].open = id;
  return id;
}

Marks::HistoryId Marks::begin_all(HistoryId history, std::span<const ContinuationId> frames, size_t position) {
  for (const ContinuationId frame : frames) history = begin(history, frame, position);
  return history;
}

// The innermost rule ends.
Marks::HistoryId Marks::end(HistoryId history, size_t position) {
  const Event begun = events_[events_[history].open];
  const HistoryId outer = events_[begun.before].open;
  return add({history, false, begun.name, position, begun.frame, outer, events_[begun.before].stack, 0});
}

Marks::HistoryId Marks::add_end_capture(HistoryId history, const AtEnd& at) {
  if (at.suffix == nullptr || at.suffix->capture.empty()) return history;
  const Event last = events_[history];
  const std::string* name = &at.suffix->capture;
  history = add({history, true, name, at.body_end, Parser::kRoot, last.open, last.stack, 0});
  return add({history, false, name, at.position, Parser::kRoot, last.open, last.stack, 0});
}

Marks::HistoryId Marks::at_end(const Place& place) const {
  for (const Way& way : place.ways) {
    const auto accepts = [&](uint64_t word) {
      const Item item = Item::unpack(word);
      return item.rest == Parser::kNil && item.continuation == Parser::kRoot;
    };
    if (way.items.empty() || std::any_of(way.items.begin(), way.items.end(), accepts)) return way.history;
  }
  throw std::logic_error("an end without a reading");
}

// ---- from place to place

bool Marks::suits(const Way& way, const Link& link) {
  if (!way.items.empty() && !std::binary_search(way.items.begin(), way.items.end(), link.kernel)) return false;
  const ContinuationId frame = frame_of(way);
  return link.begun.empty() ? is_inside(Item::unpack(link.edge).continuation, frame)
                            : is_around(link.begun.front(), frame);
}

std::vector<Marks::Taken> Marks::edges_taken(const Lexeme& lexeme) {
  const ItemSet& set = parser_.at(lexeme.from->items);
  std::vector<Taken> out;
  const auto skip = [&](const Item& item, Gap gap) {
    if (item.gap != Gap::kSkippedOnce) out.push_back({item, {item.rest, item.continuation, gap}, std::nullopt, true});
  };
  if (lexeme.token != kNoToken) {
    const bool is_indent = lexeme.token == kIndent || lexeme.token == kDedent;
    for (const auto& edge : is_indent ? set.indent_edges : set.token_edges) {
      const auto& ids = grammar_.token_sets[edge.token_set].ids;
      if (!std::binary_search(ids.begin(), ids.end(), lexeme.token)) continue;
      const RestId tail = parser_.rests_[edge.item.rest.value].tail;
      out.push_back({edge.item, {tail, edge.item.continuation}, std::nullopt, false});
    }
    return out;
  }
  if (lexeme.matched == Lexer::no_slots()) {
    // Ignored text at the start is ruled out.
    for (const auto& edge : set.edges) {
      if (!edge.is_ignore()) skip(edge.item, Gap::kSkippedOnce);
    }
    set.for_each_token_edge([&](const auto& edge) { skip(edge.item, Gap::kSkippedOnce); });
    for (const Item& item : set.accepts) skip(item, Gap::kSkippedOnce);
    return out;
  }
  const Words slots = parser_.lexer_.slots(lexeme.matched);
  int32_t best = INT32_MIN;
  for (uint32_t slot : slots) best = std::max(best, set.slot(slot).priority);
  for (uint32_t number : slots) {
    const ItemSet::Slot& slot = set.slot(number);
    if (slot.priority != best) continue;
    for (uint32_t i = slot.first_edge; i < slot.last_edge; ++i) {
      const ItemSet::Edge& edge = set.edges[i];
      if (!edge.is_ignore()) {
        out.push_back({edge.item, parser_.after(edge, number - slot.first_number, lexeme.text), edge.source, false});
        continue;
      }
      const uint32_t scope = edge.source;
      const Gap gap = grammar_.scopes[scope].ignore_once ? Gap::kSkippedOnce : Gap::kSkippedMayAgain;
      for (const auto& other : set.edges) {
        if (!other.is_ignore() && parser_.scope_of(other) == scope) skip(other.item, gap);
      }
      set.for_each_token_edge([&](const auto& other) {
        if (grammar_.token_sets[other.token_set].scope == scope) skip(other.item, gap);
      });
      if (scope != grammar_.start_scope || !grammar_.ignore_final) continue;
      for (const Item& item : set.accepts) skip(item, gap);
    }
  }
  return out;
}

Marks::Place Marks::lead(std::span<const Lexeme> incoming, ItemSetId items, size_t position) {
  Place to{items, position, position, {}};
  Adding adding;
  for (const Lexeme& lexeme : incoming) {
    const Place& from = *lexeme.from;
    const std::vector<Taken> edges = edges_taken(lexeme);
    const bool is_ignored = std::any_of(edges.begin(), edges.end(), [](const Taken& t) { return t.is_ignored; });
    if (is_ignored) to.solid = std::min(to.solid, from.solid);
    const auto rule = sole_rule(from.items);
    const bool is_sole = rule && from.ways.size() == 1 && from.ways[0].items.empty();
    const auto has_end = [&](const Taken& taken) {
      return taken.terminal && grammar_.terminals[*taken.terminal].suffix;
    };
    if (is_sole && incoming.size() == 1 && from.ways[0].begun.empty() && sole_rule(items) == rule &&
        std::none_of(edges.begin(), edges.end(), has_end)) {
      to.ways = from.ways;
      return to;
    }
    if (is_sole) {
      for (const Taken& taken : edges) advance(from.ways[0], {}, taken, lexeme, position, adding);
      continue;
    }
    std::unordered_map<uint64_t, std::vector<const Taken*>> by_item;
    for (const Taken& taken : edges) by_item[taken.edge.packed()].push_back(&taken);
    for (const Way& way : from.ways) {
      for (const Link& link : links(from.items)) {
        const auto found = by_item.find(link.edge);
        if (found == by_item.end() || !suits(way, link)) continue;
        for (const Taken* taken : found->second) advance(way, link.begun, *taken, lexeme, position, adding);
      }
    }
  }
  if (adding.ways.empty()) throw std::logic_error("a place without a reading");
  to.ways = std::move(adding.ways);
  for (Way& way : to.ways) std::sort(way.items.begin(), way.items.end());
  if (to.ways.size() == 1 && to.ways[0].items == parser_.kernel_of(items)) to.ways[0].items.clear();
  return to;
}

void Marks::advance(const Way& way, std::span<const ContinuationId> begun, const Taken& taken, const Lexeme& lexeme,
                    size_t position, Adding& out) {
  if (taken.is_ignored) {
    std::vector<ContinuationId> all = way.begun;
    all.insert(all.end(), begun.begin(), begun.end());
    keep(taken.after.packed(), way.history, events_[way.history].stack, std::move(all), out);
    return;
  }
  HistoryId history = begin_all(way.history, way.begun, lexeme.from->position);
  history = begin_all(history, begun, lexeme.from->position);
  AtEnd at{position, nullptr, position, taken.edge.rest, taken.terminal};
  if (taken.terminal) at.suffix = grammar_.terminals[*taken.terminal].suffix.get();
  if (at.suffix != nullptr) {
    for (const BodyEnd& end : lexeme.body_ends) {
      if (end.terminal == *taken.terminal) at.body_end = end.position;
    }
  }
  complete(taken.after, history, at, out);
}

// Keeps an item behind a lexeme, and all that becomes complete with it.
void Marks::complete(Item item, HistoryId history, const AtEnd& at, Adding& out) {
  struct Step {
    Item item;
    HistoryId history;
    bool is_behind_end;  // what ends the lexeme is in the history, if it is captured
  };
  std::vector<Step> todo{{item, history, at.suffix == nullptr}};
  std::set<std::pair<uint64_t, HistoryId>> known;
  while (!todo.empty()) {
    const Step step = todo.back();
    todo.pop_back();
    if (!known.emplace(step.item.packed(), step.history).second) continue;
    const HistoryId behind = step.is_behind_end ? step.history : add_end_capture(step.history, at);
    const uint32_t stack = events_[step.history].stack;
    if (step.item.rest != Parser::kNil) keep(step.item.packed(), behind, stack, {}, out);
    if (!parser_.rests_[step.item.rest.value].nullable) continue;
    const ContinuationId continuation = step.item.continuation;
    if (continuation == Parser::kRoot) {
      keep(Item{Parser::kNil, Parser::kRoot}.packed(), behind, stack, {}, out);
      continue;
    }
    const Parser::Continuation& ended = parser_.continuations_[continuation.value];
    const HistoryId goes_on = behind;
    HistoryId closed = behind;
    const bool is_rule = is_captured(continuation);
    if (is_rule) {
      if (frame_of(step.history) != base(continuation)) continue;
      const auto& alternatives = *parser_.alternatives_[ended.marked];
      const bool is_alone = at.suffix != nullptr && !step.is_behind_end &&
                            std::find(alternatives.begin(), alternatives.end(), at.edge) != alternatives.end();
      closed = is_alone ? add_end_capture(end(step.history, at.body_end), at) : end(behind, at.position);
    }
    std::vector<Step> next;
    for (uint64_t member : ended.enough.empty() ? ended.members : ended.enough) {
      const auto after = parser_.go_on(member, ended);
      if (!after) continue;
      if (is_rule && is_inside(after->continuation, frame_of(goes_on)))
        next.push_back({*after, goes_on, true});  // left recursion
      if (is_inside(after->continuation, frame_of(closed))) next.push_back({*after, closed, true});
    }
    // Depth first, in order.
    todo.insert(todo.end(), next.rbegin(), next.rend());
  }
}

void Marks::keep(uint64_t item, HistoryId history, uint32_t stack, std::vector<ContinuationId> begun, Adding& out) {
  if (!out.known.emplace(item, stack, begun).second) return;
  for (Way& way : out.ways) {
    if (way.history == history && way.begun == begun) {
      way.items.push_back(item);
      return;
    }
  }
  out.ways.push_back({history, std::move(begun), {item}});
}

}  // namespace cfgmask
