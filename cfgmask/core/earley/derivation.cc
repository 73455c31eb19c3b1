#include "earley/derivation.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace cfgmask {

void Derivation::begin(const Parser& parser, Chart& chart) {
  chart.nodes.push_back({parser.unskipped_start_, 0, {}});
  if (parser.start_ != parser.unskipped_start_)
    chart.nodes.push_back({parser.start_, 0, {{0, Lexer::no_slots(), DistinctRegister::no_text()}}});
}

void Derivation::run(uint32_t node, Item item) {
  node_ = node;
  item_ = item;
  next_begin_ = chart_.nodes[node].position;
  do {
    climb();
  } while (descend());
  if (node_ != 0) throw std::logic_error("a text without a derivation");
}

const Parser::Trace& Derivation::trace(ItemSetId items) {
  const auto [found, is_new] = traces_.try_emplace(items.value);
  if (is_new) {
    std::vector<uint64_t> kernel = parser_.kernel_of(items);
    parser_.close(kernel, parser_.at(items).clock, &found->second);
    found->second.kernel = std::move(kernel);
  }
  return found->second;
}

// ---- inside of one item set

// From the item to one of the kernel that it was predicted for, leaving the rules that begin here. The nearest one:
// breadth first, since left recursion goes in circles where nothing is known of what waits.
void Derivation::climb() {
  const Parser::Trace& closure = trace(chart_.nodes[node_].items);
  std::vector<Step> steps{{item_.packed(), stack_.size()}};
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step here = steps[i];
    if (std::binary_search(closure.kernel.begin(), closure.kernel.end(), here.item)) {
      item_ = Item::unpack(here.item);
      leave(here.depth);
      return;
    }
    predecessors(Item::unpack(here.item), here.depth, closure, steps);
  }
}

// Appends the items that may have led to one by prediction.
void Derivation::predecessors(const Item& item, size_t depth, const Parser::Trace& closure,
                              std::vector<Step>& steps) const {
  auto add = [&](uint64_t word, size_t at_depth) {
    const Step step{word, at_depth};
    if (suits(Item::unpack(word), at_depth) && std::find(steps.begin(), steps.end(), step) == steps.end())
      steps.push_back(step);
  };
  const uint64_t word = item.packed();
  for (const auto& turn : closure.turns) {
    if (turn.once == word) add(turn.repeat, depth);
  }
  // Behind a symbol that may be empty.
  for (uint64_t other : closure.items) {
    const Item before = Item::unpack(other);
    const Parser::Rest& rest = parser_.rests_[before.rest.value];
    if (before.continuation == item.continuation && rest.tail == item.rest && parser_.nullable(rest.head))
      add(other, depth);
  }
  // At the beginning of a nonterminal's alternative.
  for (const auto& expansion : closure.expansions) {
    if (expansion.continuation != item.continuation) continue;
    if (!is_alternative(item.rest, expansion.nonterminal)) continue;
    const bool restores = parser_.instances_.nonterminal(expansion.nonterminal).restores_set();
    for (const auto& call : closure.calls) {
      if (call.nonterminal != expansion.nonterminal || call.deadline != parser_.deadline_of(item)) continue;
      const Item caller = Item::unpack(call.caller);
      if (!restores && seen_of(caller) != seen_of(item)) continue;
      const ContinuationId kept =
          restores ? caller.continuation : parser_.with_seen(caller.continuation, DistinctRegister::none());
      const uint64_t member = Item{call.tail, kept}.packed();
      if (call.is_tail_call || !waits(item.continuation, member)) {
        add(call.caller, depth);
      } else if (depth == 0 || stack_[depth - 1].caller == member) {
        add(call.caller, depth == 0 ? 0 : depth - 1);
      }
    }
  }
}

RegisterId Derivation::seen_of(const Item& item) const { return parser_.continuations_[item.continuation.value].seen; }

bool Derivation::is_alternative(RestId rest, uint32_t nonterminal) const {
  const auto& alternatives = *parser_.alternatives_[nonterminal];  // it was asked for when something called it
  return std::find(alternatives.begin(), alternatives.end(), rest) != alternatives.end();
}

bool Derivation::waits(ContinuationId continuation, uint64_t caller) const {
  const auto& members = parser_.continuations_[continuation.value].members;
  return std::binary_search(members.begin(), members.end(), caller);
}

// Whether what is on the stack can wait for the rule that the item is in.
bool Derivation::suits(const Item& item, size_t depth) const {
  return depth == 0 || waits(item.continuation, stack_[depth - 1].caller);
}

void Derivation::leave(size_t depth) {
  for (; stack_.size() > depth; stack_.pop_back()) {
    auto& capture = stack_.back().capture;
    if (!capture) continue;
    capture->begin = std::min(next_begin_, capture->end);
    spans_.push_back(*capture);
  }
}

// ---- from one item set to the one before

bool Derivation::descend() {
  for (const Chart::Lexeme& lexeme : chart_.nodes[node_].incoming) {
    if (descend(lexeme)) return true;
  }
  return false;
}

bool Derivation::descend(const Chart::Lexeme& lexeme) {
  if (item_.gap != Gap::kFresh) return unskip(lexeme);
  const ItemSet& set = parser_.at(chart_.nodes[lexeme.from].items);
  if (lexeme.token != Chart::kNoToken) {
    const bool is_indent = lexeme.token == kIndent || lexeme.token == kDedent;
    for (const auto& edge : is_indent ? set.indent_edges : set.token_edges) {
      const auto& ids = grammar_.token_sets[edge.token_set].ids;
      if (!std::binary_search(ids.begin(), ids.end(), lexeme.token)) continue;
      const Item after{parser_.rests_[edge.item.rest.value].tail, edge.item.continuation};
      if (descend(lexeme, edge.item, after, std::nullopt)) return true;
    }
    return false;
  }
  const Words slots = parser_.lexer_.slots(lexeme.matched);
  int32_t best = INT32_MIN;
  for (uint32_t slot : slots) best = std::max(best, set.slot(slot).priority);
  for (uint32_t number : slots) {
    const ItemSet::Slot& slot = set.slot(number);
    if (slot.priority != best) continue;
    for (uint32_t i = slot.first_edge; i < slot.last_edge; ++i) {
      const ItemSet::Edge& edge = set.edges[i];
      if (edge.is_ignore()) continue;
      const Item after = parser_.after(edge, number - slot.first_number, lexeme.text);
      if (descend(lexeme, edge.item, after, edge.source)) return true;
    }
  }
  return false;
}

// Ignored text keeps items as they stood.
bool Derivation::unskip(const Chart::Lexeme& lexeme) {
  const ItemSet& set = parser_.at(chart_.nodes[lexeme.from].items);
  auto goes_on = [&](const Item& before) {
    if (before.rest != item_.rest || before.continuation != item_.continuation) return false;
    item_ = before;
    node_ = lexeme.from;
    return true;
  };
  for (const auto& edge : set.edges) {
    if (!edge.is_ignore() && goes_on(edge.item)) return true;
  }
  for (const auto* edges : {&set.token_edges, &set.indent_edges}) {
    for (const auto& edge : *edges) {
      if (goes_on(edge.item)) return true;
    }
  }
  return std::any_of(set.accepts.begin(), set.accepts.end(), goes_on);
}

// Whether completing rules has led to the item at hand. The root completes to the item that accepts.
bool Derivation::is_at_hand(const Item& item) const {
  if (item.continuation != item_.continuation) return false;
  const bool accepts = item.continuation == Parser::kRoot && item_.rest == Parser::kNil;
  return item.rest == item_.rest || (accepts && parser_.rests_[item.rest.value].nullable);
}

// If `after`, what a lexeme makes of `before`, leads to the item at hand by completing rules: enters these at their
// ends and goes on with `before`.
bool Derivation::descend(const Chart::Lexeme& lexeme, const Item& before, Item after,
                         std::optional<uint32_t> terminal) {
  struct Completion {
    Item item;
    uint64_t member;  // as it waited
    size_t from;
  };
  const size_t end = chart_.nodes[node_].position;
  std::vector<Completion> ways{{after, 0, 0}};
  HashTable completed;
  for (size_t i = 0; i < ways.size(); ++i) {
    const Item at = ways[i].item;
    if (is_at_hand(at)) {
      // From the outermost of the completed rules to the innermost.
      for (size_t way = i; way != 0; way = ways[way].from) {
        const ContinuationId ended = ways[ways[way].from].item.continuation;
        const uint32_t marked = parser_.continuations_[ended.value].marked;
        Frame frame{ways[way].member, std::nullopt};
        if (marked != Parser::kUnmarked && parser_.instances_.nonterminal(marked).is_captured())
          frame.capture = Span{parser_.instances_.origin(marked),
                               is_alternative(before.rest, marked) ? terminal : std::nullopt, 0, end};
        stack_.push_back(frame);
      }
      item_ = before;
      node_ = lexeme.from;
      next_begin_ = chart_.nodes[lexeme.from].position;
      if (terminal && grammar_.terminals[*terminal].suffix) ended_lexemes_.push_back({*terminal, next_begin_, end});
      return true;
    }
    if (!parser_.rests_[at.rest.value].nullable || completed.find(at.continuation.value)) continue;
    completed.insert(at.continuation.value, 0);
    const Parser::Continuation& ended = parser_.continuations_[at.continuation.value];
    for (uint64_t member : ended.enough.empty() ? ended.members : ended.enough) {
      const auto item = parser_.go_on(member, ended);
      if (item) ways.push_back({*item, member, i});
    }
  }
  return false;
}

}  // namespace cfgmask
