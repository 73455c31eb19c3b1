// One sequence: where it is, and the steps that led there.
//
// States are immutable, so forks share the history: a fork copies one pointer, a rollback of n follows n of them.
//
// Threads: a matcher belongs to one thread at a time; forks of it may live in others.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "matcher/compiled_grammar.h"
#include "util/shared_blocks.h"

namespace cfgmask {

// The steps so far.
class History {
 public:
  // `text`: of a step without a token. `narrowed`: whether its mask was.
  void push(OffsetPosition at, bool finished, TokenId token, bool narrowed, std::string_view text = {}) {
    const auto n = static_cast<uint32_t>(size() + 1);
    const auto n_then_narrowed = static_cast<uint32_t>(n_narrowed() + (narrowed ? 1 : 0));
    auto own_text = text.empty() ? nullptr : std::make_unique<const std::string>(text);
    steps_.push(uint8_t{0}, finished, token, n, n_then_narrowed, std::move(at), std::move(own_text));
  }
  void pop(size_t n) { steps_.pop(n); }
  bool is_empty() const { return steps_.is_empty(); }
  size_t size() const { return is_empty() ? 0 : top().size; }
  // How many steps were pushed as narrowed.
  size_t n_narrowed() const { return is_empty() ? 0 : top().n_narrowed; }
  const OffsetPosition& position() const { return top().position; }
  bool finished() const { return !is_empty() && top().finished; }
  // Calls f(token, text) for each step that did not finish the text, from the last to the first, until it gives false.
  template <class F>
  void for_each_back(F f) const {
    steps_.for_each_back([&](const Step& step) { return step.finished || f(step.token, step.written()); });
  }
  // The same for all steps, those that finished the text included.
  template <class F>
  void for_each_step_back(F f) const {
    steps_.for_each_back([&](const Step& step) { return f(step.token, step.written()); });
  }
  // What `answer` says of the steps so far, asked once for all that share them. There is a step.
  template <class F>
  bool remember(F answer) const {
    uint8_t known = top().remembered.load(std::memory_order_relaxed);
    if (known == 0) {
      known = answer() ? 2 : 1;
      top().remembered.store(known, std::memory_order_relaxed);
    }
    return known == 2;
  }
  // The position before the last n steps, of which there are more.
  const OffsetPosition& position_before(size_t n) const {
    const OffsetPosition* found = nullptr;
    steps_.for_each_back([&](const Step& step) {
      found = &step.position;
      return n-- > 0;
    });
    return *found;
  }

 private:
  struct Step {
    mutable std::atomic<uint8_t> remembered;  // 0: not asked, 1: no, 2: yes
    bool finished;
    TokenId token;
    uint32_t size;
    uint32_t n_narrowed;
    OffsetPosition position;
    std::unique_ptr<const std::string> text;  // of a step without a token; null if it has none

    std::string_view written() const { return text == nullptr ? std::string_view() : *text; }
  };

  const Step& top() const { return steps_.top(); }

  SharedBlocks<Step> steps_;
};

// Tokens that end a text beside the vocabulary's end tokens, ascending; null for none. What they write is ignored.
using StopTokens = std::shared_ptr<const std::vector<TokenId>>;

// What may come next, as found under the grammar's lock; written without it, so that threads copy masks side by side.
class NextMask {
 public:
  // Overwrites `bits`, of vocabulary.n_words() words.
  void write(const Vocabulary& vocabulary, std::span<uint32_t> bits) const;
  const MaskCost& cost() const { return cost_; }

 private:
  friend class Matcher;

  std::shared_ptr<const Mask> mask_;    // or null, for nothing
  std::vector<TokenId> repeated_keys_;  // none of those, whether they are in the mask or not
  StopTokens stops_;
  bool may_end_ = false;
  MaskCost cost_;
};

// A budget that the shortest text found does not fit.
struct BudgetTooSmall {
  uint32_t max_tokens;
  std::optional<uint32_t> needed;  // none: there is no text
};

class Matcher {
 public:
  explicit Matcher(std::shared_ptr<CompiledGrammar> grammar)
      : grammar_(std::move(grammar)), start_{{grammar_->start(), {}, {}}} {}
  // With a budget: after `max_tokens` steps that are no end tokens, whichever were allowed, the text is complete.
  // With a guard: where the last `stall_after` steps have only repeated a text and the way to the end has not become
  // shorter, only tokens are allowed that make it shorter, but in free text. 0: none. Throws BudgetTooSmall, and
  // LimitExceeded where the search for a text was cut short.
  Matcher(std::shared_ptr<CompiledGrammar> grammar, std::optional<uint32_t> max_tokens, uint32_t stall_after);
  // The stop tokens; none of them the grammar or the vocabulary's text has, where there is a budget or a guard.
  void stop_at(StopTokens stops) { stops_ = std::move(stops); }
  const StopTokens& stops() const { return stops_; }
  // Whether it is one of the stop tokens.
  bool is_stop(TokenId token) const;
  std::optional<uint32_t> max_tokens() const { return max_tokens_; }
  uint32_t stall_after() const { return stall_after_; }
  const History& history() const { return history_; }

  CompiledGrammar& grammar() const { return *grammar_; }
  const std::shared_ptr<CompiledGrammar>& shared_grammar() const { return grammar_; }

  // Writes the mask of the next token, grammar().vocabulary().n_words() words, without a lock. False, and nothing was
  // written, where it has to be asked for.
  bool fill_known_mask(std::span<uint32_t> bits) const;
  // The mask of the next token. It stays as it is whatever becomes of the matcher.
  NextMask next_mask();
  // What is left when `next_mask` throws LimitExceeded: end tokens, where the text is complete.
  NextMask next_mask_over_limit();
  // Writes grammar().vocabulary().n_words() words, those of `next_mask_over_limit` where it throws LimitExceeded, and
  // zeros where it throws anything else.
  MaskCost fill_mask(std::span<uint32_t> bits);
  // Whether the token fits; if so, the matcher has taken it.
  bool advance(TokenId token);
  // How many of the tokens fit. All are taken if all fit and `consume`; else none.
  size_t try_advance(std::span<const TokenId> tokens, bool consume);
  size_t advance_bytes(std::string_view text);
  // False (and nothing happens) if there are fewer steps.
  bool rollback(size_t n);
  void reset() { history_ = History(); }
  // The same in the same grammar compiled anew.
  void reset(std::shared_ptr<CompiledGrammar> anew);

  bool is_accepting();
  bool is_finished() const { return history_.finished(); }
  size_t n_steps() const { return history_.size(); }
  // Equal for matchers of one grammar that have the same masks from here on; 0 once an end token was consumed. Has so
  // many bits.
  uint64_t state_number();
  static constexpr int kStateBits = 34;
  std::string forced_bytes(size_t max_bytes);
  // What is forced, in the text that a tokenizer needs to choose its tokens; matcher/forced.cc.
  struct ForcedText {
    std::string text;  // what the last steps wrote, then what is forced
    size_t n_written = 0;
    std::vector<TokenId> steps;  // that wrote it; Consumed::kBytes for one without a token
    // If a tokenizer encodes any text that begins with this one and goes on as the grammar allows, the last of its
    // tokens that ends within this text at the end of a character ends at one of these. Descending.
    std::vector<size_t> ends;
  };
  ForcedText forced_text(size_t max_bytes);
  // The tokens of a short way to a complete text; nullopt if there is none. Throws LimitExceeded(max_search_steps), and
  // std::invalid_argument where it would write a stop token.
  std::optional<std::vector<TokenId>> completion();
  // Steps that the budget has left; nullopt without one.
  std::optional<uint32_t> tokens_left() const;
  // Whether the guard narrows the mask here, and how many steps were taken under one that it had narrowed.
  bool is_stalled();
  size_t n_stalled() const { return history_.n_narrowed(); }
  std::vector<std::string> expected();
  // What the named rules have matched so far, in the order in which they end. Reads the whole text again.
  std::vector<CompiledGrammar::Capture> captures();
  // The sampling temperature that the grammar asks for here.
  std::optional<double> temperature();
  // What becomes of a token, and what the grammar expects at the place that decides it; matcher/token_fate.cc.
  struct Expectation {
    CompiledGrammar::LiveSymbol symbol;
    std::vector<uint32_t> rules;  // their places
  };
  struct TokenFate {
    bool allowed = false;
    bool too_far = false;               // the grammar can take it, but a budget or a guard refuses it
    size_t n_bytes = 0;                 // of its text the grammar can take
    bool may_end = false;               // whether the text may end after these bytes
    std::vector<Expectation> expected;  // what may follow them
  };
  TokenFate fate(TokenId token);

 private:
  // Valid until the next step.
  const OffsetPosition& place() const { return history_.is_empty() ? start_ : history_.position(); }
  // The caller holds a guard.
  Position position() const { return grammar_->materialized(place()); }
  // Before the last n steps.
  Position position_before(size_t n) const {
    return grammar_->materialized(n == n_steps() ? start_ : history_.position_before(n));
  }
  struct Bound {
    std::optional<uint32_t> steps;
    bool stalled = false;
  };
  NextMask find_next_mask(bool& is_new);
  // Whether masks may be narrower than the grammar's.
  bool is_bounded() const { return max_tokens_.has_value() || stall_after_ != 0; }
  // The steps that a completion may take from here, the next one included.
  Bound bound() { return is_bounded() ? compute_bound() : Bound{}; }
  Bound compute_bound();
  std::optional<uint32_t> stalled_number();
  bool is_free();
  size_t steps_in_character() const;
  bool only_repeats() const;
  std::vector<uint32_t> last_symbols(size_t most) const;
  bool advance_end(TokenId token);
  size_t fitting_bytes(std::string_view text, uint32_t left);
  // What is forced, and the state after it.
  std::pair<std::string, Position> force(size_t max_bytes);
  void add_written(ForcedText& forced) const;

  std::shared_ptr<CompiledGrammar> grammar_;
  OffsetPosition start_;
  History history_;
  std::optional<uint32_t> max_tokens_;
  uint32_t stall_after_ = 0;
  StopTokens stops_;
};

}  // namespace cfgmask
