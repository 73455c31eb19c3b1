// A grammar bound to a vocabulary, with everything that its matchers have learnt.
//
// The state of a matcher is a StateId: an interned set of configurations. Equal texts, and most texts that leave the
// same things open, have the same id; what is remembered about a state (its mask, whether it accepts) serves every
// matcher.
//
// Threads: hold a Guard while calling anything below it, but for what is said to need none. The store's mutex is the
// only lock; nothing here calls out.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "earley/grammar.h"
#include "earley/parser.h"
#include "mask/conditional_walk.h"
#include "mask/configuration.h"
#include "mask/key_endings.h"
#include "mask/known_steps.h"
#include "mask/mask.h"
#include "mask/shared_store.h"
#include "matcher/mask_counts.h"
#include "matcher/position.h"
#include "regex/begun_string.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"
#include "util/interner.h"
#include "util/limits.h"
#include "util/pause.h"
#include "util/readers.h"
#include "util/seqlock.h"
#include "vocab/vocabulary.h"

namespace cfgmask {

class BudgetMasks;
class Completions;
class KeySteps;

class CompiledGrammar {
 public:
  // `grammar` was analysed and its regexes belong to `store`. The caller holds store->mutex.
  CompiledGrammar(Grammar grammar, std::shared_ptr<const Vocabulary> vocabulary, std::shared_ptr<SharedStore> store,
                  const Limits& limits);
  CompiledGrammar(const CompiledGrammar&) = delete;
  CompiledGrammar& operator=(const CompiledGrammar&) = delete;
  ~CompiledGrammar();

  // Locks the store and charges what is created to this grammar.
  class Guard {
   public:
    explicit Guard(CompiledGrammar& grammar);
    ~Guard();
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    CompiledGrammar& grammar_;
    LockSlowly lock_;
  };

  // While it lives, half of what is left of each limit cannot be used: a question, which may take any amount, leaves
  // the text something to go on with. One at a time.
  class HalfKept {
   public:
    explicit HalfKept(CompiledGrammar& grammar);
    ~HalfKept();
    HalfKept(const HalfKept&) = delete;
    HalfKept& operator=(const HalfKept&) = delete;

   private:
    CompiledGrammar& grammar_;
  };

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  // What its lock is that of; other stores' masks may be found at the same time.
  const SharedStore* store() const { return store_.get(); }
  uint64_t max_search_steps() const { return max_search_steps_; }

  StateId start() const { return start_; }
  // The state after one more byte of text, or after a whole text; nullopt if the grammar does not allow it.
  std::optional<StateId> step(StateId state, unsigned b);
  std::optional<StateId> step_text(StateId state, std::string_view text, size_t* n_taken = nullptr);
  // The state where a token ends that was read by its bytes; nullopt if some limit forbids it to end there.
  std::optional<StateId> end_token(StateId state);
  // How many bytes of a text that fits but for its end are a token that may end there.
  size_t longest_token(StateId state, std::string_view text);
  // The state after a token: by its bytes, by its id where the grammar names it, or both.
  std::optional<StateId> step_token(StateId state, TokenId token);
  // The same for a text whose keys are known; matcher/positions.cc.
  std::optional<Position> step(const Position& at, unsigned b) {
    const auto byte = static_cast<char>(b);
    return step_text(at, {&byte, 1});
  }
  std::optional<Position> step_text(const Position& at, std::string_view text, size_t* n_taken = nullptr);
  std::optional<Position> end_token(const Position& at);
  size_t longest_token(const Position& at, std::string_view text);
  std::optional<Position> step_token(const Position& at, TokenId token);
  // The same, where `known_step` has nothing, for whoever asks for no more than masks and steps.
  std::optional<OffsetPosition> new_step(const OffsetPosition& at, TokenId token);
  // The position that has a state of its own.
  Position materialized(const OffsetPosition& at);
  // Tokens, among them those of the state's mask, that do not fit because of the keys.
  std::vector<TokenId> repeated_keys(const Position& at, const Mask& mask);
  // Whether there may be some. Needs no guard but a pin, if the mask was found under one.
  bool asks_for_keys(const Position& at, const Mask& mask) const;
  // Not 0; equal for positions with the same masks from here on. Remembered for as long as the grammar lives: what is
  // not a state's own number is charged to max_item_sets by its size.
  uint64_t number_of(const Position& at);
  // Whether the next lexeme may be a key of an object that has some: the one that is pending, or if that is incomplete
  // (a comma with blanks), the one behind it.
  bool may_repeat_key(const Position& at);
  // Whether the next lexeme, in the same sense, may be a key of an object whose keys stand with the position. For
  // states of one configuration.
  bool may_begin_key(StateId state);

  // Whether the text so far is in the language.
  bool accepting(StateId state);
  // Where a token leads that was taken here before; nullopt where it was not, or where that has to be asked. Needs no
  // guard.
  std::optional<OffsetPosition> known_step(const OffsetPosition& at, TokenId token) const;
  // Who reads masks without a guard.
  Readers& readers() const { return store_->readers; }
  // What is remembered of a state. Needs no guard but a pin of `readers()`, under which the mask stays.
  struct KnownMask {
    const Mask* mask = nullptr;  // null: not all is known
    bool accepting = false;
  };
  KnownMask known_mask(StateId state) const;
  // Whether some token set may match here.
  bool expects_token_set(StateId state);
  // Whether some text of the grammar may have this token by its id.
  bool names_token(TokenId token) const;
  // The mask without end tokens, remembered. It is immutable and outlives its being forgotten, so it may be read when
  // the guard is gone: its 16 KB for 128k tokens are copied by threads side by side.
  std::shared_ptr<const Mask> mask(StateId state);
  std::vector<std::string> expected(StateId state);
  // What may begin or go on here, each once; matcher/live_symbols.cc.
  struct LiveSymbol {
    enum class Kind : uint8_t { kTerminal, kTokenSet, kIgnored };
    Kind kind;
    uint32_t index;  // of the terminal or token set; of the scope that ignores it
    std::string name;
    uint32_t place;             // or kNoPlace
    std::vector<RestId> rests;  // of its items
  };
  std::vector<LiveSymbol> live_symbols(StateId state);
  // The places of the rules in which it stands here, ascending. Linear in the grammar.
  std::vector<uint32_t> rules(const LiveSymbol& symbol) const { return parser_.places_at(symbol.rests); }

  // Whether it matters where tokens end: some terminal or nonterminal has a limit on them.
  bool counts_tokens() const { return grammar_.counts_tokens(); }

  // Whether so much was learnt since it was compiled that the next text had better begin in a grammar compiled anew:
  // the caches have grown as large as they may, or half of what is left of a limit is used up. Masks do not count, as
  // they are forgotten one by one.
  bool has_learnt_much() const;

  // Made when first asked for.
  Completions& completions();
  BudgetMasks& budget_masks();

  struct Stats {
    size_t states, item_sets, items, lexer_states, regex_nodes, masks, masks_computed, mask_bytes, tables, bytes;
    size_t regex_bytes, lexer_bytes, table_bytes;  // of all grammars of the store
    LexerTables::Made tables_made;
  };
  Stats stats() const;
  void clear_masks();
  size_t n_masks_computed() const { return n_masks_computed_; }
  // Need no guard. `count_in`: goes on with the counts of another; before there are matchers.
  const std::shared_ptr<MaskCounts>& counts() const { return counts_; }
  void count_in(std::shared_ptr<MaskCounts> counts) { counts_ = std::move(counts); }

  // What a text consists of: a token, or bytes without one.
  struct Consumed {
    static constexpr TokenId kBytes = UINT32_MAX;
    TokenId token;
    std::string_view text;
  };
  struct Capture {
    std::string name;
    std::string text;
  };
  // The captures of a text that the grammar allows; matcher/captures.cc. Linear in the text and
  // in what is captured, which captures inside of each other make quadratic in the text: LimitExceeded.
  std::vector<Capture> captures(std::span<const Consumed> consumed);
  bool has_captures() const;
  // What the grammar asks for where the next token comes; the highest where readings differ.
  std::optional<double> temperature(StateId state) const;

 private:
  friend class BudgetMasks;
  friend class Completions;
  friend class Segments;

  // What a mask and a step need most often lies together: they are asked for in turn. Guarded, but for what is atomic.
  struct StateInfo {
    enum Accepting : uint8_t { kUnknown, kNo, kYes };

    std::shared_ptr<const Mask> mask;
    std::atomic<const Mask*> published = nullptr;  // the same, for readers without a guard
    SeqLock<KnownStep> last;                       // of those from here that are known
    std::atomic<uint16_t> loops = 0;               // of KnownLoops: these tokens lead back here, or ahead
    std::atomic<bool> in_key = false;              // whether a key goes on then; set before them
    std::atomic<Accepting> accepting = kUnknown;
    std::atomic<uint32_t> room = 0;  // how far the loops lead ahead; 0: back; set before them
  };

  // What grows with the texts that are met.
  struct Learnt {
    size_t shared_bytes, own_bytes;
    uint64_t regex_nodes, lexer_states, item_sets;
  };
  Learnt learnt() const;

  StateId intern(std::vector<Configuration> configurations);
  StateId intern(const Configuration& only);
  StateId intern_words(Words words);
  std::vector<Configuration> configurations(StateId state) const;
  // Of a grammar with keys.
  Configuration sole_configuration(StateId state) const;
  KeySteps key_steps(const Position& at, const Configuration& from);
  bool steps_alone() const { return !grammar_.complete && !grammar_.has_context() && grammar_.token_sets.empty(); }
  // Whether what a text leads to from there is one configuration each time, by its bytes alone.
  bool steps_alone(StateId state) const {
    return grammar_.token_sets.empty() && has_one_way(state_ids_.at(state.value));
  }
  // The same but for tokens that are taken by their ids.
  bool has_one_way(Words configurations) const;
  std::optional<Position> settled_step(const Position& at, TokenId token);
  std::optional<Position> new_step_apart(const Position& at, TokenId token, std::string_view text);
  std::optional<Position> step_with_keys(const Position& at, const Configuration& from, const Configuration& to,
                                         TokenId token, size_t n_inside);
  Position step_inside(const Position& at, const Configuration& from, const Configuration& to, TokenId token);
  bool leads_back(StateId state, const Configuration& from, TokenId token);
  std::optional<OffsetPosition> step_ahead(const OffsetPosition& at, const Configuration& from, TokenId token);
  Position inside(const Position& at, StateId next, TokenId token, bool in_key) const;
  static std::optional<BegunString> begun_key(const Position& at);
  bool may_end_key(const Configuration& at) const { return parser_.at(at.items).has_keys; }
  void learn_step(StateId state, const KnownStep& step);
  std::optional<Position> repeat(const KnownStep& step, const Position& at, std::string_view text) const;
  std::vector<Boundary> ends(StateId state);
  std::vector<Configuration> step_by_id(StateId state, TokenId token);
  std::optional<StateId> step_longest(StateId state, unsigned b);
  std::optional<StateId> step_text_alone(Configuration at, std::string_view text, size_t* n_taken);
  std::optional<StateId> step_complete(StateId state, unsigned b);
  std::shared_ptr<const Mask> new_mask(StateId state);
  bool leads_on_alike(const Configuration& at, const LexerTable::Essence& essence,
                      const AlikeMasks::Entry& entry) const;
  std::shared_ptr<const Mask> compute_mask(StateId state);
  void add_whole_keys(StateId state, Mask& mask);
  bool is_in_string(const Configuration& at) const;
  void add_longest(Configuration at, const LexerTable& table, std::vector<TokenId>& out,
                   ConditionalWalk::Tables& tables);
  void add_exits(Configuration at, uint64_t reached, const LexerTable& table, std::vector<TokenId>& out,
                 std::vector<WalkPart>& later);
  bool begins_many(const Configuration& at);
  void add_after_values(Configuration at, const LexerTable& table, std::vector<TokenId>& out);
  void add_conditional(Configuration at, std::vector<TokenId>& out, ConditionalWalk::Tables& tables);
  bool begins(Configuration boundary, const LexerTable::Exit& exit) const;
  static void add_inside(std::span<const std::shared_ptr<const LexerTable>> tables, std::span<uint32_t> bits);
  void add_complete(StateId state, std::vector<TokenId>& out);
  void add_token_sets(StateId state, std::vector<TokenId>& out);
  template <class F>
  void for_each_account(F f);

  Grammar grammar_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<SharedStore> store_;
  uint64_t number_;  // in its store
  uint64_t mask_cache_bytes_;
  uint64_t shared_cache_bytes_;
  uint64_t max_search_steps_;
  uint64_t max_item_sets_;
  uint64_t max_capture_bytes_;
  Account regex_account_;
  Account lexer_account_;
  Parser parser_;
  Surroundings surroundings_;
  Indentation indentation_;
  Stepper stepper_;
  ParserWalk walk_;

  Interner state_ids_;  // words (item set, lexer state, text, surroundings, indentation) of each configuration
  ChunkedVector<StateInfo, LastingDirectory<StateInfo>> states_;
  Interner position_ids_;  // words of what number_of() tells apart
  Account position_account_;
  HashTable steps_;  // lexer: complete only; (state, byte) -> state + 1, 0 for none
  size_t n_masks_ = 0;
  size_t n_masks_computed_ = 0;  // those forgotten included
  size_t mask_bytes_ = 0;
  StateId start_;
  std::unique_ptr<Completions> completions_;
  std::unique_ptr<BudgetMasks> budget_masks_;
  std::shared_ptr<MaskCounts> counts_ = std::make_shared<MaskCounts>();
  Learnt learnt_at_first_;
};

}  // namespace cfgmask
