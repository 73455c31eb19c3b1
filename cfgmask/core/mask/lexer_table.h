// What every token of the vocabulary does to a lexer state, before any parser is asked.
//
// From a lexer state, a token either stays inside the lexeme to its last byte, or dies in it, or leaves it: the bytes
// so far complete a lexeme and the next byte cannot go on. The first kind is a set of tokens; the last is a list of
// exits, each a range of sibling subtrees of the trie that begin a new lexeme once the parser has scanned the matched
// slots. Both depend on the residuals alone, so a table serves every parser state and every grammar in which the same
// residuals are live: a mask is a table's inside, and the walks of its exits from the parser's answers.
//
// Threads: guarded by the store that owns it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "lexer/lexer.h"
#include "mask/closing_counts.h"
#include "vocab/trie.h"

namespace cfgmask {

// Bits of a mask: token i is bit i % 32 of word i / 32, 1 = allowed.
inline void set_bit(std::span<uint32_t> bits, TokenId token) { bits[token >> 5] |= 1U << (token & 31); }
inline void clear_bit(std::span<uint32_t> bits, TokenId token) { bits[token >> 5] &= ~(1U << (token & 31)); }

class LexerTable {
 public:
  // Siblings in [first, last) and what is below them, from the boundary after `matched`.
  struct Exit {
    SlotSetId matched;
    uint32_t first;
    uint32_t last;
    friend bool operator==(const Exit&, const Exit&) = default;
  };

  // Overwrites `out` with the tokens that stay inside.
  void write_inside(std::span<uint32_t> out) const;
  // Calls f(exit) for each exit, in the order of the trie.
  template <class F>
  void for_each_exit(F f) const {
    const LexerTable* table = this;
    while (table->renames_exits_) table = table->base_.get();
    for (Exit exit : table->exits_) {
      if (renames_exits_) exit.matched = matched_;
      f(exit);
    }
  }
  // Not counting the base, which has other users.
  size_t bytes() const {
    return sizeof(*this) + (more_.capacity() + less_.capacity() + bits_.capacity()) * 4 +
           exits_.capacity() * sizeof(Exit);
  }

 private:
  friend class LexerTables;
  friend class TableWalk;
  friend class DifferenceWalk;

  // Inside is the base's, without `less`, with `more`; or, if they are many, `bits`.
  std::shared_ptr<const LexerTable> base_;
  std::vector<TokenId> more_;
  std::vector<TokenId> less_;
  std::vector<uint32_t> bits_;
  std::vector<Exit> exits_;
  // Exits are the base's but with these slots.
  bool renames_exits_ = false;
  SlotSetId matched_;
};

// What whole segments of the vocabulary do to a lexer state; see segment_walk.h.
class SegmentAnswers;
// How a token goes through the unbounded form of a counted residual; see counted_table.cc.
struct CountedTable;

class LexerTables {
 public:
  // n_words: 32-bit words of a mask.
  LexerTables(std::shared_ptr<const Trie> trie, size_t n_words, RegexStore& regexes, ClosingCounts& counts,
              Lexer& lexer);
  ~LexerTables();

  // The table of a state, remembered. The result outlives its being forgotten. Cost of a first call: see the ways
  // below.
  std::shared_ptr<const LexerTable> get(LexerStateId state);
  // By a plain walk whatever the state, and not remembered; what the other ways are tested against.
  std::shared_ptr<const LexerTable> walk(LexerStateId state);
  SegmentAnswers& segment_answers() { return *segment_answers_; }
  // Forgets all tables if they have grown over the bound.
  void trim(size_t max_bytes);
  void clear();

  size_t size() const { return tables_.size(); }
  size_t bytes() const;
  // How many tables were made so far by each way, those that were since forgotten included. One by another's way, such
  // as a renamed one of a walk, counts as both.
  struct Made {
    size_t renamed, counted, difference, clipped, walked;
  };
  const Made& made() const { return made_; }

 private:
  bool has_plenty(LexerStateId state);
  std::shared_ptr<const LexerTable> make(LexerStateId state);
  std::shared_ptr<const LexerTable> renamed(LexerStateId state);
  std::shared_ptr<const LexerTable> counted(LexerStateId state);
  std::shared_ptr<const LexerTable> difference(LexerStateId state);
  std::shared_ptr<const LexerTable> clipped(LexerStateId state);
  std::shared_ptr<const CountedTable> counted_table(RegexId unbounded);
  std::shared_ptr<const LexerTable> common_table(RegexId smaller, RegexId larger);
  void settle(LexerTable& table) const;

  std::shared_ptr<const Trie> trie_;
  size_t n_words_;
  RegexStore& regexes_;
  ClosingCounts& counts_;
  Lexer& lexer_;
  std::unique_ptr<SegmentAnswers> segment_answers_;
  std::unordered_map<uint32_t, std::shared_ptr<const LexerTable>> tables_;            // by lexer state
  std::unordered_map<uint32_t, std::shared_ptr<const CountedTable>> counted_tables_;  // by residual
  std::unordered_map<uint64_t, std::shared_ptr<const LexerTable>> common_tables_;     // by a pair of residuals, or null
  size_t bytes_ = 0;
  Made made_{};
};

}  // namespace cfgmask
