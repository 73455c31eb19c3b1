#include "mask/difference_table.h"

#include <algorithm>

namespace cfgmask {

namespace {

// A residual that so many first bytes may begin is worth a difference to a table that is shared.
constexpr uint32_t kDenseFirstBytes = 32;

// Asked for each residual on a walk. `std::popcount`, without an instruction for it, which not all processors have, is
// a call for each word: of 364 million instructions of masks 20 were in it, and 9 are saved here.
bool is_dense(const ByteSet& bytes) {
  uint32_t counts = 0;  // in its four bytes, which hold 64 at most
  for (uint32_t word : bytes.words) {
    word -= (word >> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >> 2) & 0x33333333);
    counts += (word + (word >> 4)) & 0x0F0F0F0F;
  }
  counts = (counts & 0x00FF00FF) + ((counts >> 8) & 0x00FF00FF);
  return (counts & 0xFFFF) + (counts >> 16) >= kDenseFirstBytes;
}

// Whether every text that keeps the base alive keeps the state alive, too; see leading_loops. One residual is live in
// the base.
bool lives_with(RegexStore& regexes, Lexer& lexer, LexerStateId state, LexerStateId base) {
  const RegexId loop(lexer.residuals(base)[1]);
  const Words live = lexer.residuals(state);
  for (size_t i = 1; i < live.size(); i += 2) {
    const std::vector<RegexId> loops = regexes.leading_loops(RegexId(live[i]));
    if (std::find(loops.begin(), loops.end(), loop) != loops.end()) return true;
  }
  return false;
}

}  // namespace

std::optional<SimplerState> simpler_state(RegexStore& regexes, Lexer& lexer, LexerStateId state) {
  const Words live = lexer.residuals(state);
  const bool is_one_inside = live.size() == 2 && !lexer.is_boundary(state);
  if (is_one_inside && regexes.without_exceptions(RegexId(live[1])).node == RegexId(live[1])) return std::nullopt;
  size_t dense = live.size();
  ByteSet differs;
  for (size_t i = 0; i < live.size(); i += 2) {
    const ByteSet& first = regexes.first(RegexId(live[i + 1]));
    if (!is_dense(first) || regexes.is_numbered(RegexId(live[i + 1]))) {
      differs |= first;
    } else if (dense == live.size()) {
      dense = i;
    } else {
      return std::nullopt;
    }
  }
  if (dense == live.size()) return std::nullopt;
  const RegexStore::Simpler simpler = regexes.without_exceptions(RegexId(live[dense + 1]));
  const LexerStateId simpler_state = lexer.inside(live[dense], simpler.node);
  if (simpler_state == state) return std::nullopt;
  differs |= simpler.differs;
  // Where nearly every byte may tell the two apart, as in a search, they hardly ever meet.
  ByteSet shared = regexes.first(simpler.node);
  shared -= differs;
  if (!is_dense(shared)) return std::nullopt;
  return SimplerState{simpler_state, differs};
}

void DifferenceWalk::run(LexerStateId state, LexerStateId base) {
  push(trie_.n_nodes(), state, base);
  const bool with_base = !room_ && lives_with(regexes_, lexer_, state, base);
  for (const Segment& segment : trie_.segments()) {
    ByteSet told_apart = stack_.front().differs;
    told_apart &= segment.first_bytes;
    if (!room_ && told_apart.empty()) continue;
    same_for_ = room_in(segment);
    // Where all tokens stay inside from both there is no difference; so names differ where quotes are, which end them.
    const bool same = room_ ? segment.height <= same_for_
                            : answers_.takes_all(base, segment, segment.height) &&
                                  (with_base || answers_.takes_all(state, segment, segment.height));
    if (same) continue;
    for (uint32_t node = segment.first; node < segment.last;) {
      while (stack_.back().end <= node) stack_.pop_back();
      if (!room_) {
        node = visit(node);
      } else if (const uint32_t height = trie_.height(node);
                 height < Trie::kTallest && stack_.size() + height <= same_for_) {
        node = trie_.end(node);
      } else {
        node = visit_near_bounds(node);
      }
    }
  }
}

// Texts of so many bytes, and so at most as many characters, do the same to both.
uint32_t DifferenceWalk::room_in(const Segment& segment) const {
  if (!room_ || room_->maximum < room_->farthest) return 0;
  // One that is too short must not end yet, and reach the least length some time.
  const bool may_end = !room_->in_json || segment.is_rest || segment.ascii.has('"');
  return room_->minimum == 0 || (room_->grows && !may_end) ? room_->maximum - room_->farthest : 0;
}

// The same for two states on the way, where the text has become long enough.
bool DifferenceWalk::has_room(LexerStateId state, LexerStateId base, uint32_t height) const {
  if (room_->minimum == 0 || height >= Trie::kTallest) return false;
  const Words live = lexer_.residuals(state);
  const Words loose = lexer_.residuals(base);
  if (live.size() != 2 || loose.size() != 2) return false;
  const auto bounded = regexes_.bounded(RegexId(live[1]));
  return bounded && bounded->without == RegexId(loose[1]) && bounded->minimum == 0 &&
         bounded->maximum >= height + room_->farthest;
}

void DifferenceWalk::push(uint32_t end, LexerStateId state, LexerStateId base) {
  // Bounds tell the two apart whatever the byte.
  Frame frame{end, state, base};
  if (room_) return stack_.push_back(frame);
  frame.differs = ByteSet::all();
  if (base != Lexer::dead()) {
    const auto simpler = simpler_state(regexes_, lexer_, state);
    // Both must leave alike what neither can take: a complete lexeme ends there, one that is not dies.
    const bool same_end = lexer_.matched(state) == lexer_.matched(base);
    if (simpler && simpler->state == base && same_end) frame.differs = simpler->differs;
  }
  stack_.push_back(frame);
}

// Returns the node to go on with.
uint32_t DifferenceWalk::visit(uint32_t node) {
  const uint8_t byte = trie_.byte(node);
  if (!stack_.back().differs.has(byte)) return trie_.end(node);
  return compare(node, lexer_.next(stack_.back().state, byte));
}

// Long tokens alone come near the bounds, and on their way the characters are counted, not read.
uint32_t DifferenceWalk::visit_near_bounds(uint32_t node) {
  const uint32_t end = trie_.end(node);
  const Frame& at = stack_.back();
  const uint8_t byte = trie_.byte(node);
  // Each byte on the way down has its frame.
  if (stack_.size() <= same_for_ && at.base != Lexer::dead()) {
    const LexerStateId base = lexer_.next(at.base, byte);
    if (base == Lexer::dead()) return end;
    if (base == at.base && node + 1 != end && loops(at.state, byte)) {
      stack_.push_back({end, at.state, base, at.n_loops + 1});
      return node + 1;
    }
  }
  // Each place of a long token has a state of its own, and many bytes lead from one to the next.
  return compare(node, lexer_.next_of_many(state_here(), byte));
}

// Whether a character leads to the same state, but that one fewer may come.
bool DifferenceWalk::loops(LexerStateId state, unsigned b) {
  const Words live = lexer_.residuals(state);
  if (live.size() != 2) return false;
  const RegexId node(live[1]);
  if (looping_.node != node) looping_ = {node, {}, {}};
  if (!looping_.asked.has(b)) {
    looping_.asked.add(b);
    if (regexes_.loops_within_bounds(node, b)) looping_.loops.add(b);
  }
  return looping_.loops.has(b);
}

// That of the node's parent.
LexerStateId DifferenceWalk::state_here() {
  Frame& at = stack_.back();
  if (at.n_loops > 0) {
    const Words live = lexer_.residuals(at.state);
    at.state = lexer_.inside(live[0], regexes_.after_loops(RegexId(live[1]), at.n_loops));
    at.n_loops = 0;
  }
  return at.state;
}

// Writes what a node that leads to `next` does unlike the base. Returns the node to go on with.
uint32_t DifferenceWalk::compare(uint32_t node, LexerStateId next) {
  const uint32_t end = trie_.end(node);
  const LexerStateId state = stack_.back().state;
  const LexerStateId base_here = stack_.back().base;
  const bool base_above = base_here != Lexer::dead();
  const LexerStateId base = base_above ? lexer_.next(base_here, trie_.byte(node)) : Lexer::dead();
  const bool base_takes = base != Lexer::dead();
  if (next == base && base_takes) return end;

  const bool base_below = base_takes && lexer_.can_continue(base);
  const bool below = next != Lexer::dead() && lexer_.can_continue(next);
  // Only where both go on may they still meet; elsewhere the base's exits are replaced.
  if (base_above && !(below && base_below)) table_.replaced_.push_back({node, end});

  if (next == Lexer::dead()) {
    if (base_takes) drop_base(node, end);
    if (lexer_.matched(state) != Lexer::no_slots()) table_.exits_.push_back({lexer_.matched(state), node, end});
    return end;
  }
  if (!base_takes) {
    const auto tokens = trie_.tokens(node);
    table_.more_.insert(table_.more_.end(), tokens.begin(), tokens.end());
  }
  if (!below) {
    if (base_below) drop_base(node + 1, end);
    if (node + 1 != end) table_.exits_.push_back({lexer_.matched(next), node + 1, end});
    return end;
  }
  if (node + 1 == end || (room_ && base_below && has_room(next, base, trie_.height(node)))) return end;
  push(end, next, base_below ? base : Lexer::dead());
  return node + 1;
}

// What stayed inside from the base does not.
void DifferenceWalk::drop_base(uint32_t first, uint32_t last) {
  if (base_inside_.empty()) {
    base_inside_.resize(n_words_);
    table_.base_->write_inside(base_inside_);
  }
  for (TokenId token : trie_.tokens_between(first, last)) {
    if (has_bit(base_inside_, token)) table_.less_.push_back(token);
  }
}

}  // namespace cfgmask
