#include "mask/table_walk.h"

#include <algorithm>

namespace cfgmask {

// Above nodes of that depth, which need not be under the root.
void TableWalk::start_in(LexerStateId state, uint32_t depth) {
  nodes_above_[depth] = kRoot;
  places_above_[depth] = place_of(state);
}

size_t TableWalk::run(LexerStateId state) {
  start_in(state);
  for (const Segment& segment : trie_.segments()) {
    if (segment.first == segment.last) continue;
    if (apart_) last_parent_ = kNoParent;  // the exits of one segment are not joined with those of another
    if (!kept_at_once(state, segment)) walk(segment);
  }
  return n_inside_;
}

void TableWalk::run(LexerStateId state, const ByteSet& first_bytes) {
  start_in(state);
  trie_.for_each_top(first_bytes, [&](uint32_t node, const Segment& segment) { walk(node, trie_.end(node), segment); });
}

void TableWalk::run_apart(LexerStateId state, const MayEnd& may_end) {
  apart_ = true;
  may_end_ = may_end;
  run(state);
}

void TableWalk::run_apart(LexerStateId state, uint32_t first, uint32_t last, const Segment& segment) {
  apart_ = true;
  run(state, first, last, segment);
}

void TableWalk::run(LexerStateId state, uint32_t first, uint32_t last, const Segment& segment) {
  start_in(state, trie_.nodes()[first].depth);
  walk(first, last, segment);
}

// Most segments stay in the state to the last byte, or leave it with the first.
bool TableWalk::kept_at_once(LexerStateId state, const Segment& segment) {
  ByteSet taken = lexer_.first(state);
  taken &= segment.first_bytes;
  if (taken.empty() || !takes_all(places_above_[0], segment, segment.height)) return false;
  keep(segment);
  return true;
}

// Whether all texts of the segment's class that are no higher stay inside, and a token may end after each.
bool TableWalk::takes_all(uint32_t place, const Segment& segment, uint32_t height) {
  const LexerStateId state = memory_.places[place].state;
  if (may_end_ != nullptr) return memory_.places[place].may_end && answers_.keeps(state, segment);
  return apart_ ? answers_.takes_more(state, segment, height) : answers_.takes_all(state, segment, height);
}

// What lies between the bytes that are taken leaves with its first byte, hundreds of siblings far apart in memory:
// where each was looked at, that was a fifth of the second mask of a sum.
void TableWalk::walk(const Segment& segment) {
  const Frame root{kRoot, places_above_[0]};
  const SlotSetId matched = memory_.places[root.place].matched;
  const ByteSet taken = lexer_.first(memory_.places[root.place].state);
  uint32_t reached = segment.first;
  const auto leave_before = [&](uint32_t node) {
    if (matched != Lexer::no_slots() && reached != node) leave(matched, reached, node, root);
  };
  Trie::for_each_top(segment, taken, [&](uint32_t node) {
    leave_before(node);
    reached = trie_.end(node);
    walk(node, reached, segment);
  });
  leave_before(segment.last);
}

// The siblings [first, last), under the root or in a part of the trie, and what is below them.
void TableWalk::walk(uint32_t first, uint32_t last, const Segment& segment) {
  uint32_t inside = first;  // the nodes from here on stay inside, and are kept together
  // In registers: as far as a compiler knows, what is written below might change what the vectors point to.
  const Trie::Node* const nodes = trie_.nodes();
  uint32_t* const places_above = places_above_.data();
  uint32_t* const nodes_above = nodes_above_.data();
  const Steps* steps = memory_.steps.data();
  const uint32_t large = segment.is_rest ? UINT32_MAX : kLargeSubtree;
  const Segment& below = trie_.below(segment);
  further_down_.clear();
  for (uint32_t node = first; node < last;) {
    const Trie::Node at = nodes[node];
    const uint32_t from = at.depth < Trie::kDeepest ? places_above[at.depth] : parent_of(node).place;
    uint16_t next = steps[from][at.byte];
    if (next == kUnknown) {
      next = step(from, at.byte);
      steps = memory_.steps.data();
    }
    if (next >= kFirstPlace) {
      const uint32_t place = next - kFirstPlace;
      if (at.end - node > large && takes_all(place, below, at.height)) {
        node = at.end;
      } else if (at.depth < Trie::kDeepest) {
        // As `enter` does, without another look at the node.
        nodes_above[at.depth + 1] = node;
        places_above[at.depth + 1] = place;
        ++node;
      } else {
        enter(node++, place);
      }
      continue;
    }
    keep(inside, node);
    if (next == kOther) {
      node = other(node);
      steps = memory_.steps.data();
    } else {
      node = next == kDead ? at.end : std::min(nodes[parent_of(node).node].end, last);
    }
    inside = node;
  }
  keep(inside, last);
}

TableWalk::Frame TableWalk::parent_of(uint32_t node) {
  const uint32_t depth = trie_.nodes()[node].depth;
  if (depth < Trie::kDeepest) return {nodes_above_[depth], places_above_[depth]};
  while (!further_down_.empty() && trie_.end(further_down_.back().node) <= node) further_down_.pop_back();
  if (further_down_.empty()) return {nodes_above_[Trie::kDeepest], places_above_[Trie::kDeepest]};
  return further_down_.back();
}

// What is below the node begins in this place.
void TableWalk::enter(uint32_t node, uint32_t place) {
  const uint32_t depth = trie_.nodes()[node].depth;
  if (depth < Trie::kDeepest) {
    nodes_above_[depth + 1] = node;
    places_above_[depth + 1] = place;
  } else {
    further_down_.push_back({node, place});
  }
}

// What a byte does, looked up once.
uint16_t TableWalk::step(uint32_t at, unsigned byte) {
  const Place place = memory_.places[at];
  const LexerStateId next = lexer_.next(place.state, byte);
  uint16_t found = kOther;
  if (next == Lexer::dead()) {
    // Siblings stand in the order of their bytes.
    if (place.matched == Lexer::no_slots()) found = byte > place.last_byte ? kDeadFurther : kDead;
  } else if (apart_ ? lexer_.goes_on(next) : lexer_.can_continue(next)) {
    // Else each character of a text within 400 leads to another place.
    const uint32_t to = place_of(apart_ ? next : lexer_.without_far_bounds(next));
    if (to < kMostPlaces && memory_.places[to].may_end) found = static_cast<uint16_t>(kFirstPlace + to);
  }
  return memory_.steps[at][byte] = found;
}

// The node ends the lexeme. Returns the node to go on with.
uint32_t TableWalk::other(uint32_t node) {
  const Frame parent = parent_of(node);
  const uint32_t end = trie_.end(node);
  const SlotSetId matched = memory_.places[parent.place].matched;
  const LexerStateId next = lexer_.next(memory_.places[parent.place].state, trie_.byte(node));
  if (next == Lexer::dead()) {
    leave(matched, node, end, parent);
    return end;
  }
  if (apart_ && !lexer_.goes_on(next)) {
    leave(Lexer::no_slots(), node, end, parent);
    return end;
  }
  if (!apart_ || memory_.places[place_of(next)].may_end) keep(node, node + 1);
  if (!lexer_.can_continue(next)) {
    // Whatever comes: what is below begins a new lexeme.
    if (node + 1 != end) leave(lexer_.matched(next), node + 1, end, {kNoParent, parent.place});
    return end;
  }
  if (node + 1 != end) enter(node, place_of(next));
  return node + 1;
}

uint32_t TableWalk::place_of(LexerStateId state) {
  if (const auto known = memory_.known_places.find(state.value)) return *known;
  const auto place = static_cast<uint32_t>(memory_.places.size());
  memory_.known_places.insert(state.value, place);
  const bool may_end = may_end_ == nullptr || lexer_.is_boundary(state) || may_end_(state);
  memory_.places.push_back({state, lexer_.matched(state), lexer_.first(state).highest(), may_end});
  memory_.steps.emplace_back();
  return place;
}

// The tokens of the nodes [first, last) stay inside. Many are allowed at once, few are listed.
void TableWalk::keep(uint32_t first, uint32_t last) {
  if (first == last) return;
  const auto tokens = trie_.tokens_between(first, last);
  if (tokens.size() > n_words_ / 8 && table_.base_ == nullptr) table_.bits_.resize(n_words_);
  if (table_.bits_.empty()) {
    table_.more_.insert(table_.more_.end(), tokens.begin(), tokens.end());
  } else {
    for (TokenId token : tokens) set_bit(table_.bits_, token);
  }
  n_inside_ += last - first;
}

void TableWalk::keep(const Segment& segment) {
  if (trie_.tokens_between(segment.first, segment.last).size() <= n_words_ / 8)
    return keep(segment.first, segment.last);
  table_.bits_.resize(n_words_);
  for (size_t i = 0; i < segment.bits.size(); ++i) table_.bits_[i] |= segment.bits[i];
  n_inside_ += segment.last - segment.first;
}

// Neighbouring siblings that leave alike are one exit.
void TableWalk::leave(SlotSetId matched, uint32_t first, uint32_t last, const Frame& parent) {
  auto& exits = table_.exits_;
  const bool joins = !exits.empty() && exits.back().matched == matched && exits.back().last == first &&
                     last_parent_ == parent.node && parent.node != kNoParent;
  if (joins) {
    exits.back().last = last;
  } else {
    exits.push_back({matched, first, last});
    if (apart_) table_.exit_states_.push_back(memory_.places[parent.place].state);
  }
  last_parent_ = parent.node;
}

}  // namespace cfgmask
