// The table of a lexer state as what differs from the table of another.
//
// Where the two states meet on the way down the trie, the other's answers hold for the whole subtree; only what lies
// above is walked. Right for any two states, cheap where they soon meet.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lexer/lexer.h"
#include "mask/lexer_table.h"
#include "mask/segment_walk.h"
#include "regex/regex.h"
#include "util/byte_set.h"
#include "vocab/trie.h"

namespace cfgmask {

// A state whose tables many others can build on, and the bytes after which it and the given state may differ (elsewhere
// both have the same successor).
struct SimplerState {
  LexerStateId state;
  ByteSet differs;
};
// The state in which, of all residuals, only the one that takes nearly everything is live, without its exceptions;
// nullopt if there is no such residual, or if `state` is that already.
std::optional<SimplerState> simpler_state(RegexStore& regexes, Lexer& lexer, LexerStateId state);

// What the state has and the base has not: bounds on the characters of the text (RegexStore::bounded). They matter only
// near them: texts do the same to both if even the longest leaves room for a way to an end.
struct Room {
  uint32_t minimum;
  uint32_t maximum;
  uint32_t farthest;  // bytes from anywhere inside the base's text to an end
  bool grows;         // a text that is too short yet can always grow to any length
  bool in_json;       // so that only a quote ends it
};

class DifferenceWalk {
 public:
  // n_words: of a mask. Writes more_, less_, exits_ and replaced_ of `table`, whose base_ is set.
  DifferenceWalk(const Trie& trie, size_t n_words, RegexStore& regexes, Lexer& lexer, SegmentAnswers& answers,
                 LexerTable& table, std::optional<Room> room = {})
      : trie_(trie),
        n_words_(n_words),
        regexes_(regexes),
        lexer_(lexer),
        answers_(answers),
        table_(table),
        room_(room) {}

  void run(LexerStateId state, LexerStateId base);

 private:
  struct Frame {
    uint32_t end;
    LexerStateId state;
    LexerStateId base;     // dead() once the base's lexeme has ended: it has nothing to say below
    uint32_t n_loops = 0;  // characters since `state`, after each of which one fewer may come, and nothing else changes
    ByteSet differs = {};  // bytes after which the two may differ; not within bounds
  };
  // The node that `loops` was last asked about, and what it was told.
  struct Looping {
    RegexId node;
    ByteSet asked;
    ByteSet loops;
  };
  void push(uint32_t end, LexerStateId state, LexerStateId base);
  uint32_t visit(uint32_t node);
  uint32_t visit_near_bounds(uint32_t node);
  uint32_t compare(uint32_t node, LexerStateId next);
  uint32_t room_in(const Segment& segment) const;
  bool has_room(LexerStateId state, LexerStateId base, uint32_t height) const;
  bool loops(LexerStateId state, unsigned b);
  LexerStateId state_here();
  void drop_base(uint32_t first, uint32_t last);

  const Trie& trie_;
  size_t n_words_;
  RegexStore& regexes_;
  Lexer& lexer_;
  SegmentAnswers& answers_;
  LexerTable& table_;
  std::optional<Room> room_;
  std::vector<uint32_t> base_inside_;  // the base's mask, once it is asked for
  std::vector<Frame> stack_;
  uint32_t same_for_ = 0;  // texts of so many bytes, all of one segment, do the same to both
  Looping looping_;
};

}  // namespace cfgmask
