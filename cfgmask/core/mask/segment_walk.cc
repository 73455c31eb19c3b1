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
  // The well-formed sequences of UTF-8 (Unicode Standard, table 3-7).
  static const std::vector<std::vector<Bytes>> kSequences = {
      {{0xC2, 0xDF}, {0x80, 0xBF}},
      {{0xE0, 0xE0}, {0xA0, 0xBF}, {0x80, 0xBF}},
      {{0xE1, 0xEC}, {0x80, 0xBF}, {0x80, 0xBF}},
      {{0xED, 0xED}, {0x80, 0x9F}, {0x80, 0xBF}},
      {{0xEE, 0xEF}, {0x80, 0xBF}, {0x80, 0xBF}},
      {{0xF0, 0xF0}, {0x90, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}},
      {{0xF1, 0xF3}, {0x80, 0xBF}, {0x80, 0xBF}, {0x80, 0xBF}},
      {{0xF4, 0xF4}, {0x80, 0x8F}, {0x80, 0xBF}, {0x80, 0xBF}},
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

}  // namespace cfgmask
