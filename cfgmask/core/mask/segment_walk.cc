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

bool SegmentAnswers::takes_all(LexerStateId state, const Segment& segment) {
  if (lexer_.is_limited(state)) return false;  // each token counts
  const auto index = static_cast<uint64_t>(&segment - trie_.segments().data());
  const uint64_t key = (index << 32) | state.value;
  if (auto known = known_.find(key)) return *known != 0;
  const bool answer = ask(state, segment);
  known_.insert(key, answer ? 1 : 0);
  return answer;
}

bool SegmentAnswers::ask(LexerStateId state, const Segment& segment) {
  if (segment.is_rest || lexer_.is_boundary(state)) return false;
  if (stays(lexer_, state, segment)) return true;
  const Words live = lexer_.residuals(state);
  for (size_t i = 1; i < live.size(); i += 2) {
    for (RegexId loop : regexes_.leading_loops(RegexId(live[i]))) {
      if (stays(lexer_, lexer_.inside(0, loop), segment)) return true;
    }
  }
  return false;
}

}  // namespace cfgmask
