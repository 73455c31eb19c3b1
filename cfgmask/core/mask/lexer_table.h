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

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lexer/lexer.h"
#include "mask/bits.h"
#include "util/recent_values.h"
#include "vocab/trie.h"

namespace cfgmask {

// A few tokens that many others are looked for among: most are told by one bit. Immutable.
class FewTokens {
 public:
  explicit FewTokens(std::vector<TokenId> tokens) : tokens_(std::move(tokens)) {
    std::sort(tokens_.begin(), tokens_.end());
    for (TokenId token : tokens_) may_hold_.set(token % kBits);
  }
  bool has(TokenId token) const {
    return may_hold_[token % kBits] && std::binary_search(tokens_.begin(), tokens_.end(), token);
  }
  auto begin() const { return tokens_.begin(); }
  auto end() const { return tokens_.end(); }

 private:
  static constexpr size_t kBits = 4096;

  std::vector<TokenId> tokens_;  // sorted
  std::bitset<kBits> may_hold_;
};

// Appends those of a few tokens whose bits are set.
inline void add_set(std::span<const uint32_t> bits, const FewTokens& few, std::vector<TokenId>& out) {
  for (TokenId token : few) {
    if (has_bit(bits, token)) out.push_back(token);
  }
}
// Appends those of some tokens that are among a few.
inline void add_common(std::span<const TokenId> tokens, const FewTokens& few, std::vector<TokenId>& out) {
  for (TokenId token : tokens) {
    if (few.has(token)) out.push_back(token);
  }
}

class ExitTrie;

class LexerTable {
 public:
  // Nodes of the trie.
  struct Range {
    uint32_t first;
    uint32_t last;
    friend bool operator==(const Range&, const Range&) = default;
  };
  // Siblings in [first, last) and what is below them, from the boundary after `matched`.
  struct Exit {
    SlotSetId matched;
    uint32_t first;
    uint32_t last;
    friend bool operator==(const Exit&, const Exit&) = default;
  };

  // The exits of a table are its own, and those of another one but for what it replaces. A layer is what is left here
  // of one table's own.
  struct Layer {
    const LexerTable* table;
    std::span<const Range> replaced = {};   // sorted, apart
    SlotSetId renamed = Lexer::no_slots();  // to these, if there are any

    SlotSetId matched(SlotSetId own) const { return renamed == Lexer::no_slots() ? own : renamed; }
    bool holds(uint32_t node) const;
    // Calls f(exit) for each exit, in the order of the trie.
    template <class F>
    void for_each_exit(F f) const;
  };
  template <class F>
  void for_each_layer(F f) const;
  template <class F>
  void for_each_exit(F f) const {
    for_each_layer([&](const Layer& layer) { layer.for_each_exit(f); });
  }

  // What a table says: where it says nothing of its own, as within bounds that no token reaches, the table that does.
  // Valid while that lives. Two that are alike say the same; not all that say the same are.
  class Essence {
   public:
    explicit Essence(const LexerTable& table);
    bool is_like(const Essence& other) const;
    // Equal for those that are alike.
    uint64_t hash() const;

   private:
    const LexerTable* table_;
    SlotSetId renamed_ = Lexer::no_slots();
  };

  // Of a table by LexerTables::apart: calls f(exit, state of the lexer before it), in the order of the trie.
  template <class F>
  void for_each_exit_apart(F f) const {
    for (size_t i = 0; i < exits_.size(); ++i) f(exits_[i], exit_states_[i]);
  }

  // Appends the tokens that stay inside, if they are listed.
  bool add_few_inside(std::vector<TokenId>& out) const {
    if (base_ != nullptr || !bits_.empty()) return false;
    out.insert(out.end(), more_.begin(), more_.end());
    return true;
  }
  // Overwrites `out` with the tokens that stay inside.
  void write_inside(std::span<uint32_t> out) const;
  // Appends those of a few tokens that stay inside. Linear in them and in what differs from the base.
  void add_inside(const FewTokens& few, std::vector<TokenId>& out) const;
  // Not counting other tables, which have other users.
  size_t bytes() const {
    return sizeof(*this) + (more_.capacity() + less_.capacity() + bits_.capacity()) * 4 +
           exits_.capacity() * sizeof(Exit) + exit_states_.capacity() * sizeof(LexerStateId) +
           replaced_.capacity() * sizeof(Range);
  }

 private:
  friend class LexerTables;
  friend class TableWalk;
  friend class TextWalk;
  friend class DifferenceWalk;

  // Whether it is its base but for what is listed, and how much that is.
  bool is_of_base() const { return base_ != nullptr && exits_base_ == base_ && bits_.empty(); }
  size_t n_listed() const { return more_.size() + less_.size() + exits_.size() + replaced_.size(); }

  // Inside is the base's, without `less`, with `more`; or, if they are many, `bits`.
  std::shared_ptr<const LexerTable> base_;
  std::vector<TokenId> more_;
  std::vector<TokenId> less_;
  std::vector<uint32_t> bits_;
  std::vector<Exit> exits_;
  std::vector<LexerStateId> exit_states_;
  uint32_t last_ = 0;  // of a table of some siblings, one past the last node
  // Those of this table are exits as well, but for what lies in `replaced_`, and with these slots if there are any.
  std::shared_ptr<const LexerTable> exits_base_;
  std::vector<Range> replaced_;
  SlotSetId renamed_ = Lexer::no_slots();
  // What LexerTables::below_exits knows. Guarded like it, so that it may change while others copy masks.
  mutable uint32_t n_walks_ = 0;
  mutable std::shared_ptr<const ExitTrie> below_exits_;
};

inline bool LexerTable::Layer::holds(uint32_t node) const {
  const auto after =
      std::upper_bound(replaced.begin(), replaced.end(), node, [](uint32_t n, const Range& r) { return n < r.last; });
  return after == replaced.end() || node < after->first;
}

// An exit of several siblings is cut around those that are replaced.
template <class F>
void LexerTable::Layer::for_each_exit(F f) const {
  size_t next = 0;
  for (Exit exit : table->exits_) {
    exit.matched = matched(exit.matched);
    while (next < replaced.size() && replaced[next].last <= exit.first) ++next;
    for (size_t i = next; i < replaced.size() && replaced[i].first < exit.last; ++i) {
      if (replaced[i].first > exit.first) f(Exit{exit.matched, exit.first, replaced[i].first});
      exit.first = std::max(exit.first, replaced[i].last);
    }
    if (exit.first < exit.last) f(exit);
  }
}

// The ranges of both lists, sorted and apart.
std::vector<LexerTable::Range> united(std::span<const LexerTable::Range> a, std::span<const LexerTable::Range> b);

template <class F>
void LexerTable::for_each_layer(F f) const {
  std::vector<Range> replaced;
  Layer layer{this};
  while (true) {
    f(layer);
    const LexerTable& table = *layer.table;
    if (table.exits_base_ == nullptr) return;
    if (layer.renamed == Lexer::no_slots()) layer.renamed = table.renamed_;
    if (layer.replaced.empty()) {
      layer.replaced = table.replaced_;
    } else if (!table.replaced_.empty()) {
      replaced = united(layer.replaced, table.replaced_);
      layer.replaced = replaced;
    }
    layer.table = table.exits_base_.get();
  }
}

// What whole segments of the vocabulary do to a lexer state; see segment_walk.h.
class SegmentAnswers;
class TableWalk;
struct TableWalkMemory;
// How a token goes through the unbounded form of a counted residual; see counted_table.cc.
struct CountedTable;

class LexerTables {
 public:
  // n_words: 32-bit words of a mask.
  LexerTables(std::shared_ptr<const Trie> trie, size_t n_words, RegexStore& regexes, Lexer& lexer);
  ~LexerTables();

  // The table of a state, remembered. The result outlives its being forgotten. Cost of a first call: see the ways
  // below.
  std::shared_ptr<const LexerTable> get(LexerStateId state);
  // What is below a table's own exits, if it is little and was asked for often enough to be put together; else null.
  const ExitTrie* below_exits(const LexerTable& table);
  // For lexemes that something else than the lexer ends or begins, or whose tokens are counted: what stays inside goes
  // on, and an exit of no slots is a byte that ends the lexeme. Remembered.
  std::shared_ptr<const LexerTable> apart(LexerStateId state);
  // The same with only those tokens inside after which one may end, which is asked once for each state.
  LexerTable apart(LexerStateId state, const std::function<bool(LexerStateId)>& may_end);
  // The same for the siblings [first, last) alone, which stand in one segment, and what is below them. Remembered.
  std::shared_ptr<const LexerTable> apart(LexerStateId state, uint32_t first, uint32_t last, const Segment& segment);
  // As `get` has it, for such siblings alone. Remembered.
  std::shared_ptr<const LexerTable> part(LexerStateId state, uint32_t first, uint32_t last, const Segment& segment);
  // By a plain walk whatever the state, and not remembered; what the other ways are tested against.
  std::shared_ptr<const LexerTable> walk(LexerStateId state);
  SegmentAnswers& segment_answers() { return *segment_answers_; }
  // Forgets tables that were not asked for in a while if all have grown to the bound. Constant but for freeing a few.
  void trim(size_t max_bytes);

  size_t size() const { return tables_.size() + tables_apart_.size() + parts_.size(); }
  size_t bytes() const;
  // How many tables were made so far by each way, those that were since forgotten included. One by another's way, such
  // as a renamed one of a walk, counts as both.
  struct Made {
    size_t texts, renamed, counted, bounded, difference, clipped, patched, walked;
  };
  const Made& made() const { return made_; }

 private:
  std::shared_ptr<const LexerTable> make(LexerStateId state);
  bool takes_long_walk(LexerStateId state) const;
  std::shared_ptr<const LexerTable> texts(LexerStateId state);
  std::shared_ptr<const LexerTable> renamed(LexerStateId state);
  std::shared_ptr<const LexerTable> counted(LexerStateId state);
  std::shared_ptr<const LexerTable> bounded(LexerStateId state);
  std::shared_ptr<const LexerTable> some_bounded(LexerStateId state);
  std::shared_ptr<const LexerTable> difference(LexerStateId state);
  std::shared_ptr<const LexerTable> clipped(LexerStateId state);
  std::shared_ptr<const LexerTable> patched(LexerStateId state);
  std::optional<ByteSet> told_apart(LexerStateId a, LexerStateId b, uint32_t most_nodes);
  bool take_far_bounds(const RegexStore::Counted& parts, LexerTable& table) const;
  void drop_tops(const ByteSet& bytes, LexerTable& table) const;
  std::shared_ptr<const CountedTable> counted_table(RegexId unbounded);
  std::shared_ptr<const LexerTable> common_table(RegexId smaller, RegexId larger);
  void settle(LexerTable& table) const;
  TableWalk table_walk(LexerTable& table);
  template <class Walk>
  std::shared_ptr<const LexerTable> of_siblings(RecentValues<LexerTable>& all, LexerStateId state, uint32_t first,
                                                uint32_t last, Walk walk);

  // Nodes below which there is nothing to save.
  static constexpr uint32_t kLongWalk = 1024;
  // To put the exits of a JSON string together takes as long as to walk them ten times.
  static constexpr uint32_t kManyWalks = 8;

  std::shared_ptr<const Trie> trie_;
  size_t n_words_;
  RegexStore& regexes_;
  Lexer& lexer_;
  std::unique_ptr<SegmentAnswers> segment_answers_;
  std::unique_ptr<TableWalkMemory> walk_memory_;
  RecentValues<LexerTable> tables_;            // by lexer state
  RecentValues<LexerTable> tables_apart_;      // by lexer state, and the first node if it is not of all nodes
  RecentValues<LexerTable> parts_;             // by lexer state and first node
  RecentValues<CountedTable> counted_tables_;  // by residual
  RecentValues<LexerTable> common_tables_;     // by a pair of residuals, or null
  Made made_{};
  std::array<LexerStateId, 4> walked_{};  // whose tables took long walks, the last ones
  size_t n_walked_ = 0;
};

}  // namespace cfgmask
