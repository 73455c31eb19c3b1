#include "mask/table_walk.h"

#include <algorithm>

namespace cfgmask {

size_t TableWalk::run(LexerStateId state) {
  memory_.stack.assign(trie_.max_depth() + 1, {kRootEnd, place_of(state)});
  for (const Segment& segment : trie_.segments()) {
    if (segment.first == segment.last) continue;
    depth_ = 0;
    if (apart_) last_parent_end_ = kNoParent;  // the exits of one segment are not joined with those of another
    if (!answered_at_once(state, segment)) walk(segment);
  }
  return n_inside_;
}

void TableWalk::run(LexerStateId state, const ByteSet& first_bytes) {
  memory_.stack.assign(trie_.max_depth() + 1, {kRootEnd, place_of(state)});
  trie_.for_each_top(first_bytes, [&](uint32_t node, const Segment& segment) { walk(node, trie_.end(node), segment); });
}

void TableWalk::run_apart(LexerStateId state, const MayEnd& may_end) {
  apart_ = true;
  may_end_ = may_end;
  run(state);
}

void TableWalk::run_apart(LexerStateId state, uint32_t first, uint32_t last, const Segment& segment) {
  apart_ = true;
  memory_.stack.assign(trie_.max_depth() + 1, {kRootEnd, place_of(state)});
  walk(first, last, segment);
}

// Most segments either stay in the state to the last byte, or leave it with the first.
bool TableWalk::answered_at_once(LexerStateId state, const Segment& segment) {
  ByteSet taken = lexer_.first(state);
  taken &= segment.first_bytes;
  if (taken.empty()) {
    const SlotSetId matched = lexer_.matched(state);
    if (matched != Lexer::no_slots()) leave(matched, segment.first, segment.last, kRootEnd);
    return true;
  }
  if (!takes_all(memory_.stack[0].place, segment, segment.height)) return false;
  keep(segment);
  return true;
}

// Whether all texts of the segment's class that are no higher stay inside, and a token may end after each.
bool TableWalk::takes_all(uint32_t place, const Segment& segment, uint32_t height) {
  const LexerStateId state = memory_.places[place].state;
  if (may_end_ != nullptr) return memory_.places[place].may_end && answers_.keeps(state, segment);
  return apart_ ? answers_.takes_more(state, segment, height) : answers_.takes_all(state, segment, height);
}

void TableWalk::walk(const Segment& segment) {
  const Place& top = memory_.places[memory_.stack[0].place];
  if (top.matched != Lexer::no_slots()) return walk(segment.first, segment.last, segment);
  const ByteSet taken = lexer_.first(top.state);
  Trie::for_each_top(segment, taken, [&](uint32_t node) { walk(node, trie_.end(node), segment); });
}

// The siblings [first, last) under the root, and what is below them.
void TableWalk::walk(uint32_t first, uint32_t last, const Segment& segment) {
  depth_ = 0;
  uint32_t inside = first;  // the nodes from here on stay inside, and are kept together
  // In registers: as far as a compiler knows, what is written below might change what the vectors point to.
  const Trie::Node* const nodes = trie_.nodes();
  Frame* const stack = memory_.stack.data();
  const Steps* steps = memory_.steps.data();
  const uint32_t large = segment.is_rest ? UINT32_MAX : kLargeSubtree;
  size_t depth = 0;  // for `depth_`
  Frame at = stack[0];
  for (uint32_t node = first; node < last;) {
    const unsigned byte = nodes[node].byte;
    uint16_t next = steps[at.place][byte];
    if (next == kUnknown) {
      next = step(at.place, byte);
      steps = memory_.steps.data();
    }
    const uint32_t end = nodes[node].end;
    if (next >= kFirstPlace) {
      const uint32_t place = next - kFirstPlace;
      if (end - node > large && takes_all(place, segment, nodes[node].height)) {
        node = end;
        while (stack[depth].end <= node) --depth;
        at = stack[depth];
        continue;
      }
      const uint32_t closed = nodes[++node].closed_before;
      if (closed == 0) {
        at = stack[++depth] = {end, place};
        continue;
      }
      // A leaf, below which nothing is entered. The last one may close what stands above the first.
      if (node >= last) break;
      if (closed == Trie::kManyClosed) {
        while (stack[depth].end <= node) --depth;
      } else {
        depth -= closed - 1;
      }
      at = stack[depth];
      continue;
    }
    depth_ = depth;
    keep(inside, node);
    if (next == kOther) {
      node = other(node);
    } else {
      node = next == kDead ? end : std::min(at.end, last);
    }
    inside = node;
    skip_to(node);
    depth = depth_;
    at = stack[depth];
    steps = memory_.steps.data();
  }
  keep(inside, last);
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
    const uint32_t to = place_of(next);
    if (to < kMostPlaces && memory_.places[to].may_end) found = static_cast<uint16_t>(kFirstPlace + to);
  }
  return memory_.steps[at][byte] = found;
}

// The node ends the lexeme. Returns the node to go on with.
uint32_t TableWalk::other(uint32_t node) {
  const Frame at = memory_.stack[depth_];
  const uint32_t end = trie_.end(node);
  const SlotSetId matched = memory_.places[at.place].matched;
  const LexerStateId next = lexer_.next(memory_.places[at.place].state, trie_.byte(node));
  if (next == Lexer::dead()) {
    leave(matched, node, end, at.end);
    return end;
  }
  if (apart_ && !lexer_.goes_on(next)) {
    leave(Lexer::no_slots(), node, end, at.end);
    return end;
  }
  if (!apart_ || memory_.places[place_of(next)].may_end) keep(node, node + 1);
  if (!lexer_.can_continue(next)) {
    // Whatever comes: what is below begins a new lexeme.
    if (node + 1 != end) leave(lexer_.matched(next), node + 1, end, kNoParent);
    return end;
  }
  if (node + 1 != end) enter(end, place_of(next));
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

// Neighbouring siblings that leave alike are one exit. A parent is known by where it ends.
void TableWalk::leave(SlotSetId matched, uint32_t first, uint32_t last, uint32_t parent_end) {
  auto& exits = table_.exits_;
  const bool joins = !exits.empty() && exits.back().matched == matched && exits.back().last == first &&
                     last_parent_end_ == parent_end && parent_end != kNoParent;
  if (joins) {
    exits.back().last = last;
  } else {
    exits.push_back({matched, first, last});
    if (apart_) table_.exit_states_.push_back(memory_.places[memory_.stack[depth_].place].state);
  }
  last_parent_end_ = parent_end;
}

}  // namespace cfgmask
