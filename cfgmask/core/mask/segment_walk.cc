#include "mask/segment_walk.h"

#include <algorithm>

#include "util/in_step.h"

namespace cfgmask {

namespace {

void add(std::vector<LexerStateId>& states, LexerStateId state) {
  if (std::find(states.begin(), states.end(), state) == states.end()) states.push_back(state);
}

// Every byte of [first, last] leads from each of the states to somewhere; the distinct places.
bool step_all(Lexer& lexer, const std::vector<LexerStateId>& from, unsigned first, unsigned last,
              std::vector<LexerStateId>& to) {
  to.clear();
  for (LexerStateId state : from) {
    for (unsigned b = first; b <= last; ++b) {
      const LexerStateId next = lexer.next(state, b);
      if (next == Lexer::dead()) return false;
      add(to, next);
    }
  }
  return true;
}

// Of the well-formed sequences of UTF-8.
const ByteSet kLeadsBeyondAscii = ByteSet::range(0xC2, 0xF4);

struct Bytes {
  unsigned first;
  unsigned last;
};

// The states after one character beyond ASCII; nullopt if one is dead.
std::optional<std::vector<LexerStateId>> after_beyond_ascii(Lexer& lexer, LexerStateId state) {
  // The well-formed sequences of UTF-8 (Unicode Standard, table 3-7) without ASCII and white space; see Segment.
  static constexpr Bytes kTail{0x80, 0xBF};
  static const std::vector<std::vector<Bytes>> kSequences = {
      {{0xC2, 0xC2}, {0x80, 0x84}},
      {{0xC2, 0xC2}, {0x86, 0x9F}},
      {{0xC2, 0xC2}, {0xA1, 0xBF}},
      {{0xC3, 0xDF}, kTail},
      {{0xE0, 0xE0}, {0xA0, 0xBF}, kTail},
      {{0xE1, 0xE1}, {0x80, 0x99}, kTail},
      {{0xE1, 0xE1}, {0x9A, 0x9A}, {0x81, 0xBF}},
      {{0xE1, 0xE1}, {0x9B, 0xBF}, kTail},
      {{0xE2, 0xE2}, {0x80, 0x80}, {0x8B, 0xA7}},
      {{0xE2, 0xE2}, {0x80, 0x80}, {0xAA, 0xAE}},
      {{0xE2, 0xE2}, {0x80, 0x80}, {0xB0, 0xBF}},
      {{0xE2, 0xE2}, {0x81, 0x81}, {0x80, 0x9E}},
      {{0xE2, 0xE2}, {0x81, 0x81}, {0xA0, 0xBF}},
      {{0xE2, 0xE2}, {0x82, 0xBF}, kTail},
      {{0xE3, 0xE3}, {0x80, 0x80}, {0x81, 0xBF}},
      {{0xE3, 0xE3}, {0x81, 0xBF}, kTail},
      {{0xE4, 0xEC}, kTail, kTail},
      {{0xED, 0xED}, {0x80, 0x9F}, kTail},
      {{0xEE, 0xEE}, kTail, kTail},
      {{0xEF, 0xEF}, {0x80, 0xBA}, kTail},
      {{0xEF, 0xEF}, {0xBB, 0xBB}, {0x80, 0xBE}},
      {{0xEF, 0xEF}, {0xBC, 0xBF}, kTail},
      {{0xF0, 0xF0}, {0x90, 0xBF}, kTail, kTail},
      {{0xF1, 0xF3}, kTail, kTail, kTail},
      {{0xF4, 0xF4}, {0x80, 0x8F}, kTail, kTail},
  };
  std::vector<LexerStateId> ends;
  for (const auto& sequence : kSequences) {
    std::vector<LexerStateId> at{state};
    std::vector<LexerStateId> next;
    for (const Bytes& bytes : sequence) {
      if (!step_all(lexer, at, bytes.first, bytes.last, next)) return std::nullopt;
      at.swap(next);
    }
    for (LexerStateId end : at) add(ends, end);
  }
  return ends;
}

}  // namespace

bool stays(Lexer& lexer, LexerStateId state, const Segment& segment) {
  if (segment.is_rest || lexer.is_boundary(state)) return false;
  for (unsigned b = 0; b < 0x80; ++b) {
    if (segment.ascii.has(b) && lexer.next(state, b) != state) return false;
  }
  if (!segment.multibyte) return true;
  const auto ends = after_beyond_ascii(lexer, state);
  return ends && ends->size() == 1 && ends->front() == state;
}

void SegmentAnswers::clear() {
  known_ = HashTable();
  answers_ = ChunkedVector<Answer>();
  moves_ids_ = HashTable();
  moves_ = ChunkedVector<Moves>();
  n_moves_ = 0;
  looping_ = {};
}

bool SegmentAnswers::takes_all(LexerStateId state, const Segment& segment, uint32_t height) {
  if (segment.is_rest || lexer_.is_boundary(state)) return false;
  if (height == 0) return true;
  if (height >= Trie::kTallest) height = kAnyHeight;
  const ByteSet& first = lexer_.first(state);
  if (!first.holds(segment.ascii) || (segment.multibyte && !first.holds(kLeadsBeyondAscii))) return false;
  Answer& known = answer(state, segment);
  if (height <= known.taken) return true;
  if (height >= known.refused) return false;
  if (known.taken == 0 && loops(state, segment)) {
    known.taken = kAnyHeight;
    return true;
  }
  // Else each character of a name within 63 leads to another state.
  const LexerStateId loose = height == kAnyHeight ? state : lexer_.without_bounds_beyond(state, height);
  if (loose == state) {
    explore(state, segment, height);
  } else if (takes_all(loose, segment, height)) {
    known.taken = height;
  }
  if (height > known.taken) known.refused = height;
  return height <= known.taken;
}

SegmentAnswers::Answer& SegmentAnswers::answer(LexerStateId state, const Segment& segment) {
  const auto index = static_cast<uint64_t>(&segment - trie_.segments().data());
  const uint64_t key = (index << 32) | state.value;
  if (auto known = known_.find(key)) return answers_[*known];
  return answers_[insert_with(known_, key, answers_, Answer())];
}

// Whether the state holds a residual that leads back to itself, or does so as a whole.
bool SegmentAnswers::loops(LexerStateId state, const Segment& segment) {
  if (state != looping_.state) {
    looping_ = {state, {}};
    const Words live = lexer_.residuals(state);
    for (size_t i = 1; i < live.size(); i += 2) {
      for (RegexId loop : regexes_.leading_loops(RegexId(live[i]))) looping_.loops.push_back(lexer_.inside(0, loop));
    }
  }
  return std::any_of(looping_.loops.begin(), looping_.loops.end(),
                     [&](LexerStateId loop) { return stays_alone(loop, segment); }) ||
         stays(lexer_, state, segment);
}

// `stays`, remembered: many states hold the same loop.
bool SegmentAnswers::stays_alone(LexerStateId loop, const Segment& segment) {
  Answer& known = answer(loop, segment);
  if (known.taken == kAnyHeight || known.refused <= kAnyHeight) return known.taken == kAnyHeight;
  const bool stays_there = stays(lexer_, loop, segment);
  (stays_there ? known.taken : known.refused) = kAnyHeight;
  return stays_there;
}

// For how many characters a state and those that texts lead to from there are alive, whatever the characters. Breadth
// first, no deeper than `height`; what was not looked at may be dead. As in /[a-z]{0,61}[a-z0-9]/, where each character
// leads to another state but most to the same, or in a search, where all texts lead to few states.
void SegmentAnswers::explore(LexerStateId state, const Segment& segment, uint32_t height) {
  struct Reached {
    LexerStateId state;
    uint32_t depth;
    uint32_t alive = kAnyHeight;
    std::vector<uint32_t> from = {};
  };
  std::vector<Reached> reached{{state, 0}};
  std::vector<std::vector<uint32_t>> by_alive;
  const auto is_alive_for = [&](uint32_t i, uint32_t n_characters) {
    if (reached[i].alive <= n_characters) return;
    reached[i].alive = n_characters;
    if (n_characters >= by_alive.size()) by_alive.resize(n_characters + 1);
    by_alive[n_characters].push_back(i);
  };
  HashTable index;
  index.insert(state.value, 0);
  const auto lead_to = [&](uint32_t i, const std::optional<std::vector<LexerStateId>>& next) {
    if (!next) return is_alive_for(i, 0);
    for (const LexerStateId bound : *next) {
      // Else each character of a text within 2,048 leads to another state.
      const LexerStateId to = lexer_.without_far_bounds(bound);
      auto at = index.find(to.value);
      if (!at) {
        at = static_cast<uint32_t>(reached.size());
        index.insert(to.value, *at);
        reached.push_back({to, reached[i].depth + 1});
      }
      reached[*at].from.push_back(i);
    }
  };
  // From those that are alive for so long to those before them, which are for one character more at most.
  const auto spread = [&] {
    for (uint32_t n = 0; n < by_alive.size(); ++n) {
      for (size_t k = 0; k < by_alive[n].size(); ++k) {
        const uint32_t i = by_alive[n][k];
        if (reached[i].alive < n) continue;
        for (uint32_t before : reached[i].from) is_alive_for(before, n + 1);
      }
    }
  };
  // Beyond ASCII a character has so many first bytes that they are tried only where the states are few anyway, and
  // where ASCII is taken: of a string of 12 characters 160 states took 34 million instructions.
  bool few = segment.multibyte;
  for (uint32_t ascii = 0, beyond = 0; ascii < reached.size() || (few && beyond < reached.size());) {
    if (ascii == reached.size()) {
      if (beyond == 0) spread();
      if (reached[0].alive < height) return;
      const uint32_t i = beyond++;
      const bool is_known = reached[i].alive == 0 || answer(reached[i].state, segment).taken == kAnyHeight;
      if (!is_known) lead_to(i, after_beyond_ascii(lexer_, reached[i].state));
      continue;
    }
    const uint32_t i = ascii++;
    const uint32_t known = answer(reached[i].state, segment).taken;
    if (known == kAnyHeight) continue;
    if (known > 0 && reached[i].depth + known >= height) {
      is_alive_for(i, known);
    } else if (reached[i].depth == height || steps_left_ == 0) {
      is_alive_for(i, 0);
      few = false;
    } else {
      --steps_left_;
      lead_to(i, successors(reached[i].state, segment));
    }
    few = few && reached.size() <= kFewStates;
  }
  if (segment.multibyte && !few) return;
  spread();
  for (const Reached& at : reached) {
    Answer& known = answer(at.state, segment);
    known.taken = std::max(known.taken, at.alive);
    // The next state of a name within 60 characters is asked next, and as far from the longest token.
    if (steps_left_ > 0 && at.alive < height - at.depth) known.refused = std::min(known.refused, height - at.depth);
  }
}

// The states after one character of the class's ASCII; nullopt if one is dead, or if they are many.
std::optional<std::vector<LexerStateId>> SegmentAnswers::successors(LexerStateId state, const Segment& segment) {
  if (!lexer_.first(state).holds(segment.ascii)) return std::nullopt;
  Moves& known = moves(state);
  ByteSet fresh = segment.ascii;
  fresh -= known.known;
  // Byte by byte: the lexer knows most of them, and to ask which lead alike takes longer than to look all up.
  for (unsigned b = fresh.lowest(); b < 256; fresh.remove(b), b = fresh.lowest()) {
    const size_t n = known.moves.size();
    if (n > kMostSuccessors) return std::nullopt;
    const LexerStateId next = lexer_.next(state, b);
    known.known.add(b);
    if (next == Lexer::dead()) {
      known.dead.add(b);
      return std::nullopt;
    }
    known.add(b, next);
    n_moves_ += known.moves.size() - n;
  }
  const auto meets = [&](const ByteSet& bytes) { return bytes.meets(segment.ascii); };
  if (meets(known.dead)) return std::nullopt;
  std::vector<LexerStateId> found;
  for (const Moves::Move& move : known.moves) {
    if (meets(move.bytes)) found.push_back(move.to);
  }
  if (found.size() > kMostSuccessors) return std::nullopt;
  return found;
}

SegmentAnswers::Moves& SegmentAnswers::moves(LexerStateId state) {
  if (const auto known = moves_ids_.find(state.value)) return moves_[*known];
  return moves_[insert_with(moves_ids_, state.value, moves_, Moves())];
}

void SegmentAnswers::Moves::add(unsigned b, LexerStateId to) {
  // Neighbours mostly lead to the same state.
  for (size_t i = moves.size(); i-- > 0;) {
    if (moves[i].to == to) return moves[i].bytes.add(b);
  }
  moves.push_back({ByteSet::only(b), to});
}

}  // namespace cfgmask
