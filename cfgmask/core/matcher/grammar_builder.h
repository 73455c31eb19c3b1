// Takes a grammar apart into symbols and rules, checks what it is given, and makes a CompiledGrammar.
//
// Threads: a builder belongs to one thread; it locks the store that it shares with compiled grammars.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "earley/deferred_rules.h"
#include "earley/grammar.h"
#include "lexer/automaton.h"
#include "mask/shared_store.h"
#include "matcher/compiled_grammar.h"
#include "regex/held_bytes.h"
#include "regex/regex.h"
#include "regex/regex_data.h"
#include "util/limits.h"
#include "util/pause.h"
#include "vocab/vocabulary.h"

namespace cfgmask {

// A vocabulary and the stores that grammars compiled for it share, one for each shard of them. Grammars of one shard
// share what they learn and a lock; the masks of several shards are found side by side.
//
// Threads: `acquire` may be called from any.
class VocabularyStores {
 public:
  using Regexes = std::vector<std::shared_ptr<const PortableRegex>>;

  // common: what most grammars have, known in each store from the beginning. Works out which tokens end keys, a look at
  // each node of the trie; else the first grammar with keys would wait.
  explicit VocabularyStores(std::shared_ptr<const Vocabulary> vocabulary, Regexes common = {})
      : vocabulary_(std::move(vocabulary)),
        key_endings_(std::make_shared<const KeyEndings>(*vocabulary_)),
        common_(std::move(common)) {}

  const std::shared_ptr<const Vocabulary>& vocabulary() const { return vocabulary_; }
  static constexpr uint32_t kMostShards = 256;
  // The current generation of a shard, below kMostShards; a new one if that has grown large or its limits differ.
  std::shared_ptr<SharedStore> acquire(uint32_t shard, const Limits& limits);

 private:
  struct Generation {
    std::shared_ptr<SharedStore> store;
    uint64_t max_nesting = 0;
    uint64_t max_search_steps = 0;
  };

  std::shared_ptr<SharedStore> new_store(const Limits& limits) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::shared_ptr<const KeyEndings> key_endings_;
  Regexes common_;
  std::mutex mutex_;
  std::map<uint32_t, Generation> current_;  // by shard
};

// Regex nodes of one store, and questions about them.
class RegexBuilder {
 public:
  // For questions only: a store of its own.
  explicit RegexBuilder(const Limits& limits);
  RegexBuilder(std::shared_ptr<SharedStore> store, const Limits& limits);

  // Runs `f(RegexStore&)` with the store locked and new nodes charged to this builder.
  template <class F>
  auto with(F f) {
    const LockSlowly lock(store_->mutex);
    store_->regexes.charge_to(&account_);
    const Uncharge at_exit{store_->regexes};
    return f(store_->regexes);
  }
  // A node that was given out by this builder's store; throws std::out_of_range otherwise. Locks the store: not for
  // use inside `with`.
  RegexId node(uint32_t id) const {
    const LockSlowly lock(store_->mutex);
    if (id >= store_->regexes.size()) throw std::out_of_range("no such regex node");
    return RegexId(id);
  }
  // The node of a regex. Throws LimitExceeded.
  RegexId portable(const PortableRegex& regex) {
    check_height(regex);
    return with([&](RegexStore& r) { return regex.in(r); });
  }
  // Throws LimitExceeded for one that may nest deeper than the limits say.
  void check_height(const PortableRegex& regex) const {
    if (regex.height() > limits_.max_nesting * RegexData::kHeightPerNesting)
      throw LimitExceeded("max_nesting", limits_.max_nesting);
  }
  // The joint automaton of some nodes, without the empty text; nullopt where it has more than `max_states`.
  std::optional<Automaton> automaton(std::span<const uint32_t> ids, size_t max_states);
  std::vector<RegexId> nodes(std::span<const uint32_t> ids) const {
    std::vector<RegexId> out;
    for (uint32_t id : ids) out.push_back(node(id));
    return out;
  }

 protected:
  struct Uncharge {
    RegexStore& store;
    ~Uncharge() { store.charge_to(nullptr); }
  };

  std::shared_ptr<SharedStore> store_;
  Limits limits_;
  Account account_;
};

class GrammarBuilder : public RegexBuilder {
 public:
  GrammarBuilder(VocabularyStores& stores, const Limits& limits, uint32_t shard = 0);
  GrammarBuilder(const GrammarBuilder&) = delete;
  GrammarBuilder& operator=(const GrammarBuilder&) = delete;

  // Regexes over all of the text before a lexeme and all of the text after it; none: anything.
  struct Around {
    std::optional<uint32_t> before;
    std::optional<uint32_t> after;
  };

  const Limits& limits() const { return limits_; }

  uint32_t scope(bool ignore_once);
  // What the scope ignores; once for the same conditions.
  void ignore(uint32_t scope, uint32_t regex, std::string name, const Around& around);
  uint32_t terminal(uint32_t regex, uint32_t scope, int32_t priority, std::string name, bool distinct = false,
                    bool closes_set = false, bool lazy = false, const Around& around = {},
                    std::optional<uint32_t> max_tokens = std::nullopt, uint32_t place = kNoPlace);
  // A terminal stands in another place, too: it has the least of them.
  void also_at(uint32_t terminal, uint32_t place);
  // Whether a terminal matches some text that is not empty, within its limit.
  bool matches_text(uint32_t terminal) const;
  uint32_t token_set(std::vector<uint32_t> ids, uint32_t scope, std::string name, uint32_t place = kNoPlace);
  // What an indenter puts behind a newline.
  uint32_t indent(bool is_dedent, uint32_t scope, std::string name, uint32_t place = kNoPlace);
  void role(uint32_t terminal, LineRole role);
  // See Terminal; of a distinct terminal.
  void endless(uint32_t terminal, Endless what);
  void step(uint32_t terminal, Step step);
  // `newline` is the regex of the terminals with that role; inside of brackets it is ignored text of the scope.
  void indenter(uint32_t newline, uint32_t scope, uint32_t tab_len, std::string name);
  uint32_t nonterminal(uint32_t place = kNoPlace, std::optional<SetBounds> opens_set = std::nullopt);
  // Its texts are captured under a name, if that is not empty; inside, the grammar asks for a temperature.
  void mark(uint32_t nonterminal, std::string capture, std::optional<double> temperature);
  // Each text of it has bytes of so many tokens at most.
  void limit(uint32_t nonterminal, uint32_t max_tokens);
  // Whether its limit holds some text of it. After a build() that found no text of the grammar.
  bool is_closed(uint32_t nonterminal) const;
  // Why `build` failed, if it is not that the grammar has no text.
  enum class Failure : uint8_t {
    kNone,
    kNeedsRules,  // parts within limits on tokens have to be rules of the grammar
    kDistinct,    // within such limits values have to differ that have to be there
  };
  Failure failure() const { return failure_; }
  // Then the places of these limits, ascending.
  const std::vector<uint32_t>& limits_around_distinct() const { return distinct_; }
  // The texts of a terminal fall into a body and an end, which is captured under a name, if that is not empty.
  void suffix(uint32_t terminal, uint32_t body, uint32_t end, std::string capture);
  uint32_t repeat(uint32_t symbol, uint32_t minimum, uint32_t maximum);
  // A nonterminal with what it is given for its parameter.
  uint32_t call(uint32_t nonterminal, const Argument& argument);
  void alternative(uint32_t nonterminal, std::span<const uint32_t> symbols, Condition condition = {});
  // A nonterminal for a part of the grammar that is made when a text first comes to it. Such a grammar has no
  // parameters, and no nonterminal with a limit leads to a part.
  uint32_t defer(std::shared_ptr<DeferredPart> part, uint32_t place = kNoPlace);

  // In the symbols of variants: the places of a row's text and part. No symbols have these numbers.
  static constexpr uint32_t kText = UINT32_MAX;
  static constexpr uint32_t kPart = UINT32_MAX - 1;
  // So many alternatives: the symbols, with a text and a part for each row in their places. Throws std::out_of_range.
  void variants(uint32_t nonterminal, std::span<const uint32_t> symbols, std::span<const uint32_t> texts,
                std::span<const uint32_t> parts);
  // Null if the start symbol derives nothing. The builder is spent.
  std::shared_ptr<CompiledGrammar> build(uint32_t start, uint32_t start_scope, bool complete, bool ignore_initial,
                                         bool ignore_final);

 private:
  Symbol symbol(uint32_t value) const;
  void check_scope(uint32_t scope) const;
  void keep_keys_apart();
  bool has_one_reading() const;
  // Whether the start symbol derives anything.
  bool analyse_rules();
  Failure close_within_limits(const std::vector<uint32_t>& limited, RegexStore& regexes);
  bool find_distinct(const std::vector<uint32_t>& limited);
  void count_rule();
  // The texts of the regex that can be written, without the empty one; nothing() if there are none, or not under these
  // conditions.
  RegexId visible(RegexId regex, const Conditions& around);
  // The texts of the regex that consist of bytes which tokens hold.
  RegexId writable(RegexId regex);
  Conditions conditions(const Around& around);

  std::shared_ptr<const Vocabulary> vocabulary_;
  Grammar grammar_;
  std::map<Call, uint32_t> calls_;
  Account rules_;
  std::optional<HeldBytes> held_;  // none: tokens hold all bytes
  bool lacks_texts_ = false;       // some terminal has texts of bytes that no token holds
  Failure failure_ = Failure::kNone;
  std::vector<uint32_t> distinct_;
};

}  // namespace cfgmask
