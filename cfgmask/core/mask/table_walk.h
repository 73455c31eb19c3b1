// One walk of the trie with the lexer alone, which makes a table.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "lexer/lexer.h"
#include "mask/lexer_table.h"
#include "mask/segment_walk.h"
#include "util/hash_table.h"
#include "vocab/trie.h"

namespace cfgmask {

// Working memory of walks, one after the other: what was written to lately is near.
struct TableWalkMemory {
  // What each byte does in a place; 0: it was not asked for.
  using Steps = std::array<uint16_t, 256>;
  // A lexer state that the walk came to.
  struct Place {
    LexerStateId state;
    SlotSetId matched;
    unsigned last_byte;
    bool may_end;
  };
  static constexpr size_t kMostKept = 256;

  void clear() {
    places.clear();
    if (steps.size() > kMostKept) steps = {};
    steps.clear();
    known_places.clear();
  }

  std::vector<Place> places;
  std::vector<Steps> steps;
  HashTable known_places;  // by state
};

// Some microseconds where few bytes fit or whole segments do; a millisecond for each 300,000 nodes where they do not,
// and what the lexer takes for states that are new.
class TableWalk {
 public:
  // A walk that begins inside of another one finds no memory, and has its own.
  TableWalk(const Trie& trie, size_t n_words, Lexer& lexer, SegmentAnswers& answers, TableWalkMemory& memory,
            LexerTable& table)
      : trie_(trie),
        n_words_(n_words),
        lexer_(lexer),
        answers_(answers),
        table_(table),
        lent_(memory),
        memory_(std::exchange(memory, {})) {}
  ~TableWalk() {
    memory_.clear();
    lent_ = std::move(memory_);
  }
  TableWalk(const TableWalk&) = delete;
  TableWalk& operator=(const TableWalk&) = delete;

  // Returns how many nodes stay inside.
  size_t run(LexerStateId state);
  // Of the tokens alone that begin with one of the bytes; those that stay inside are listed, for a table with a base.
  void run(LexerStateId state, const ByteSet& first_bytes);
  // Only the tokens that leave the lexeme unfinished stay inside, of these only those after which a token may end,
  // where `may_end` is asked once for each state; null: all of them. What ends the lexeme with its byte is an exit of
  // no slots, with the state before that.
  using MayEnd = std::function<bool(LexerStateId)>;
  void run_apart(LexerStateId state, const MayEnd& may_end);
  // Of the siblings [first, last) alone, which stand in one segment, and what is below them.
  void run(LexerStateId state, uint32_t first, uint32_t last, const Segment& segment);
  void run_apart(LexerStateId state, uint32_t first, uint32_t last, const Segment& segment);

 private:
  // What a byte does in a place: to go on takes a look at this alone, since most nodes of a walk do.
  enum Step : uint16_t {
    kUnknown,
    kDead,         // below this node nothing stays inside or leaves
    kDeadFurther,  // nor below those after it, which have greater bytes
    kOther,        // anything else; see `other`
    kFirstPlace,   // and more: the token stays inside, in the place of that number
  };
  static constexpr size_t kMostPlaces = UINT16_MAX - kFirstPlace;
  using Place = TableWalkMemory::Place;
  // A node that the walk went through, and where it came to there.
  struct Frame {
    uint32_t node;
    uint32_t place;
  };
  using Steps = TableWalkMemory::Steps;
  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kNoParent = UINT32_MAX;
  // Nodes below which a walk is cheaper than the question whether it is needed.
  static constexpr uint32_t kLargeSubtree = 48;

  void start_in(LexerStateId state, uint32_t depth = 0);
  bool kept_at_once(LexerStateId state, const Segment& segment);
  bool takes_all(uint32_t place, const Segment& segment, uint32_t height);
  void walk(const Segment& segment);
  void walk(uint32_t first, uint32_t last, const Segment& segment);
  uint16_t step(uint32_t place, unsigned byte);
  uint32_t other(uint32_t node);
  uint32_t place_of(LexerStateId state);
  Frame parent_of(uint32_t node);
  void enter(uint32_t node, uint32_t place);
  void keep(uint32_t first, uint32_t last);
  void keep(const Segment& segment);
  void leave(SlotSetId matched, uint32_t first, uint32_t last, const Frame& parent);

  const Trie& trie_;
  size_t n_words_;
  Lexer& lexer_;
  SegmentAnswers& answers_;
  LexerTable& table_;
  TableWalkMemory& lent_;
  TableWalkMemory memory_;
  // The root, then the node of each depth that was gone through last: those above a node, and further down others. So
  // to come to a node takes no look at what ended before it, which no processor foresees. Apart, for a frame that is
  // stored by halves and loaded as a whole stalls.
  std::array<uint32_t, Trie::kDeepest + 1> nodes_above_;
  std::array<uint32_t, Trie::kDeepest + 1> places_above_;
  std::vector<Frame> further_down_;   // each below the one before it
  uint32_t last_parent_ = kNoParent;  // of the last exit
  size_t n_inside_ = 0;
  bool apart_ = false;
  MayEnd may_end_;
};

}  // namespace cfgmask
