#include "mask/segment_walk.h"

#include <algorithm>

namespace cfgmask {

namespace {

// Every byte of [first, last] leads from each of the states to somewhere; the distinct places.
bool step_all(Lexer& lexer, const std::vector<LexerStateId>& from, unsigned first, unsigned last,
              std::vector<LexerStateId>& to) {
  to.clear();
  for (LexerStateId state : from) {
    for (unsigned b = first; b <= last; ++b) {
      const LexerStateId next = lexer.next(state, b);
      if (next == Lexer::dead()) return false;
      if (std::find(to.begin(), to.end(), next) == to.end()) to.push_back(next);
    }
  }
  return true;
}

struct Bytes {
  unsigned first;
  unsigned last;
};

bool stays_beyond_ascii(Lexer& lexer, LexerStateId state) {
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
  for (const auto& sequence : kSequences) {
    std::vector<LexerStateId> at{state};
    std::vector<LexerStateId> next;
    for (const Bytes& bytes : sequence) {
      if (!step_all(lexer, at, bytes.first, bytes.last, next)) return false;
      at.swap(next);
    }
    if (at.size() != 1 || at[0] != state) return false;
  }
  return true;
}

}  // namespace

bool stays(Lexer& lexer, LexerStateId state, const Segment& segment) {
  if (segment.is_rest || lexer.is_boundary(state)) return false;
  for (unsigned b = 0; b < 0x80; ++b) {
    if (segment.ascii.has(b) && lexer.next(state, b) != state) return false;
  }
  return !segment.multibyte || stays_beyond_ascii(lexer, state);
}

void SegmentAnswers::clear() {
  known_ = HashTable();
  answers_ = ChunkedVector<Answer>();
  looping_ = {};
}

bool SegmentAnswers::takes_all(LexerStateId state, const Segment& segment, uint32_t height) {
  if (lexer_.is_limited(state)) return false;  // each token counts
  if (segment.is_rest || lexer_.is_boundary(state)) return false;
  if (height == 0) return true;
  if (height >= Trie::kTallest) height = kAnyHeight;
  if (!lexer_.first(state).holds(segment.ascii)) return false;
  Answer& known = answer(state, segment);
  if (height <= known.taken) return true;
  if (height >= known.refused) return false;
  if (known.taken == 0 && loops(state, segment)) {
    known.taken = kAnyHeight;
    return true;
  }
  // Beyond ASCII a character has too many first bytes to try them all at each step.
  const bool taken = !segment.multibyte && takes_step_by_step(state, segment, height);
  if (taken) {
    known.taken = height;
  } else {
    known.refused = height;
  }
  return taken;
}

SegmentAnswers::Answer& SegmentAnswers::answer(LexerStateId state, const Segment& segment) {
  const auto index = static_cast<uint64_t>(&segment - trie_.segments().data());
  const uint64_t key = (index << 32) | state.value;
  if (auto known = known_.find(key)) return answers_[*known];
  known_.insert(key, static_cast<uint32_t>(answers_.size()));
  return answers_.push_back({});
}

std::span<const uint32_t> SegmentAnswers::bits(const Segment& segment) {
  bits_.resize(trie_.segments().size());
  std::vector<uint32_t>& bits = bits_[static_cast<size_t>(&segment - trie_.segments().data())];
  const auto tokens = trie_.tokens_between(segment.first, segment.last);
  if (bits.empty() && !tokens.empty()) {
    bits.resize(*std::max_element(tokens.begin(), tokens.end()) / 32 + 1);
    for (TokenId token : tokens) bits[token >> 5] |= 1U << (token & 31);
    bits_bytes_ += bits.size() * sizeof(uint32_t);
  }
  return bits;
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

// As in /[a-z]{0,61}[a-z0-9]/, or where a text is bounded, each character leads to another state, but all of them to
// the same. No deeper than the longest token.
bool SegmentAnswers::takes_step_by_step(LexerStateId state, const Segment& segment, uint32_t height) {
  if (height == kAnyHeight || steps_left_ == 0) return false;
  --steps_left_;
  const auto next = successors(state, segment);
  if (!next) return false;
  return std::all_of(next->begin(), next->end(), [&](LexerStateId to) { return takes_all(to, segment, height - 1); });
}

// The states after one character of the class; nullopt if one is dead, or if they are many.
std::optional<std::vector<LexerStateId>> SegmentAnswers::successors(LexerStateId state, const Segment& segment) {
  std::vector<LexerStateId> found;
  for (ByteSet rest = segment.ascii; !rest.empty();) {
    const unsigned b = rest.lowest();
    rest -= lexer_.alike(state, b);
    const LexerStateId next = lexer_.next(state, b);
    if (next == Lexer::dead()) return std::nullopt;
    if (std::find(found.begin(), found.end(), next) != found.end()) continue;
    if (found.size() == kMostSuccessors) return std::nullopt;
    found.push_back(next);
  }
  return found;
}

}  // namespace cfgmask
