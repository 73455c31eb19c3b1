// What a lexer state does to all tokens of a segment at once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lexer/lexer.h"
#include "regex/regex.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"
#include "vocab/trie.h"

namespace cfgmask {

// Whether `state` takes all texts of the segment's class and is the same after them. At most a hundred look-ups for
// ASCII, some hundreds beyond it.
bool stays(Lexer& lexer, LexerStateId state, const Segment& segment);

// Whether states take all texts of a segment's class that are as long as its tokens, to whatever states: then its
// tokens stay inside the lexeme, and so do those of a subtree on the way to which the lexer came to such a state.
// Remembered: a walk comes to few states by many subtrees, and the next position of a text to the same states one
// character on.
class SegmentAnswers {
 public:
  SegmentAnswers(const Trie& trie, RegexStore& regexes, Lexer& lexer) : trie_(trie), regexes_(regexes), lexer_(lexer) {}

  // Before each walk: where a text has many readings, so much is looked for at most.
  void begin_walk() { steps_left_ = kMostSteps; }
  // All texts of at most `height` bytes, of any length if that is Trie::kTallest or more.
  bool takes_all(LexerStateId state, const Segment& segment, uint32_t height);
  // The same where the lexeme may also go on after each of them.
  bool takes_more(LexerStateId state, const Segment& segment, uint32_t height) {
    return takes_all(state, segment, height + 1);
  }
  // All texts, and to the same state. Not remembered.
  bool keeps(LexerStateId state, const Segment& segment) { return stays(lexer_, state, segment); }
  void clear();
  size_t bytes() const {
    return known_.bytes() + answers_.bytes() + moves_ids_.bytes() + moves_.bytes() + n_moves_ * sizeof(Moves::Move);
  }

 private:
  // Trie::kTallest or more.
  static constexpr uint32_t kAnyHeight = UINT32_MAX - 1;
  struct Answer {
    uint32_t taken = 0;             // all texts of so many bytes are taken
    uint32_t refused = UINT32_MAX;  // some text of so many is not, as far as was looked
  };
  // Different states after one character; where there are more, the question would take longer than a walk.
  static constexpr size_t kMostSuccessors = 4;
  static constexpr uint32_t kMostSteps = 1024;
  // States that are stepped from by characters beyond ASCII as well.
  static constexpr size_t kFewStates = 32;

  // Where the bytes of ASCII lead from a state, as far as they were asked for: segments ask for nearly the same ones.
  struct Moves {
    struct Move {
      ByteSet bytes;
      LexerStateId to;
    };
    ByteSet known;
    ByteSet dead;
    std::vector<Move> moves;  // to different states
    void add(unsigned b, LexerStateId to);
  };

  // A state, and those of the loops that its residuals begin with: asked for one segment after the other.
  struct Looping {
    LexerStateId state = Lexer::dead();
    std::vector<LexerStateId> loops;
  };

  Answer& answer(LexerStateId state, const Segment& segment);
  bool stays_alone(LexerStateId loop, const Segment& segment);
  bool loops(LexerStateId state, const Segment& segment);
  void explore(LexerStateId state, const Segment& segment, uint32_t height);
  std::optional<std::vector<LexerStateId>> successors(LexerStateId state, const Segment& segment);
  Moves& moves(LexerStateId state);

  const Trie& trie_;
  RegexStore& regexes_;
  Lexer& lexer_;
  HashTable known_;  // (state, segment) -> index into answers_
  ChunkedVector<Answer> answers_;
  HashTable moves_ids_;  // state -> index into moves_
  ChunkedVector<Moves> moves_;
  size_t n_moves_ = 0;
  Looping looping_;
  uint32_t steps_left_ = 0;
};

}  // namespace cfgmask
