// For each state a way to complete the text, in few tokens, and how many it takes.
//
// A state's *closing text* is its shortest completion in bytes, the smallest of the shortest bytewise, among those that
// the vocabulary can spell; its *number* is the fewest tokens that spell it. The closing text of a state on the way is
// what is left of the closing text, so following the tokens the number falls by one each time, and it does not depend
// on which states were asked for before. It is not always the fewest tokens of all: a longer text may take fewer. (That
// minimum takes a search over all tokens of all states within its distance; this takes one look at each byte.)
//
// A token that a grammar takes by its id is one byte long here, and of a token set its first member stands for all.
// Such a token leads to more readings than its bytes alone, with a closing text that may be shorter in bytes and longer
// in tokens; there a number is handed down along the tokens instead, and numbers may depend on the order of questions.
//
// Where terminals are limited to a number of tokens, where a token ends matters: there texts are searched token by
// token and spelled as they are found, by the longest tokens that stay within the limits.
//
// The search is iterative deepening A* (Korf 1985) over bytes with the lower bounds of earley/remaining.h, which are
// exact nearly everywhere, so it goes straight to the end. What it finds out, that a state has no completion of a
// length or that it has one, is kept with the state and true for all later searches (Korf 1990).
//
// Where values must not come twice, or must, the bounds are far from exact: of three keys that must differ two are
// longer than the shortest, and which key is written makes another state. So a search that comes to such a state gives
// way to one from lexeme to lexeme, with one text for each terminal, or a few keys: depth first for any end, to where
// the bounds and what registers still ask for (earley/pending_bytes.h) are least, and then, as long as that is cheap,
// for a shorter one. What that finds is kept as the closing text, though shorter ones may exist, and which one it is
// may then depend on the order of questions; numbers fall along it all the same.
//
// A mask must not depend on that. So of such a state there is a second number, the *own* one: of the way that a search
// finds which takes no other search's ways over, only what is proved. It is asked of all states that a token leads to.
// The state that a text is at has its own way among those that are kept, so that numbers fall along that, too. Which
// budgets are too small depends on own ways alone, and a longer search from the start is made before one is.
//
// Inside of such a value each text is another state. As long as no value begins like it that registers tell apart from
// others there, it is completed as any other such is: one search, of the state of some other text
// (DistinctRegister::other_text), serves all. The way that it finds is tried where it is taken over. Where there is
// time for a search of its own, a shorter way is looked for that only this text has, since it may come again.
//
// Positions hold the keys of most objects (matcher/position.h), and states don't, so a way may repeat a key. The
// shortest way writes only members that the grammar asks for. A search from lexeme to lexeme looks for such ways first.
//
// What a search makes counts against the limits of its grammar and stays, so searches that find nothing are bounded in
// that, each and together.
//
// Threads: guarded by the owner, the CompiledGrammar.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "earley/pending_bytes.h"
#include "earley/remaining.h"
#include "earley/scalar_values.h"
#include "matcher/compiled_grammar.h"
#include "util/byte_set.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"

namespace cfgmask {

class Completions {
 public:
  // `grammar` outlives this. The caller holds a Guard of it, here and below.
  explicit Completions(CompiledGrammar& grammar);

  enum class Effort : uint8_t { kNone, kLittle, kFull };

  // The tokens that it takes from here to a complete text; nullopt if there is no completion or none was found within
  // the steps that the effort allows. A state that was given up on is searched again only with more effort. The number
  // of a state never rises.
  std::optional<uint32_t> number(StateId state, Effort effort);
  // The same where the keys are known: of some way that repeats none of them, not always of the shortest.
  std::optional<uint32_t> number(const Position& at, Effort effort);
  // The tokens of that way.
  std::optional<std::vector<TokenId>> way(const Position& at, Effort effort);
  // The own number, with little effort; where nothing has to differ, that of `number`.
  std::optional<uint32_t> own_number(StateId state);
  // The same where the keys are known: the tokens of a way that repeats none of them.
  std::optional<std::vector<TokenId>> own_way(const Position& at);
  // Of the way of that number its first token, and its bytes. For states that have one, which is above 0.
  TokenId own_next(StateId state);
  std::string own_text(StateId state);
  // The fewest tokens of a budget that is accepted at the start: those of the own way, or, if that takes more than
  // `max_tokens`, those of the shortest way that a longer search finds, once for all. What other texts did has no say
  // in it, but for a number that full effort alone finds. nullopt as for `number`.
  std::optional<uint32_t> least_budget(uint32_t max_tokens);
  // The first token of what is left here of the way that the longer search found, if that is at most `left` tokens.
  std::optional<TokenId> next_from_start(StateId state, uint32_t left) const;
  // Takes over for `state` the own way of `like`, as `adopt` does.
  bool adopt_own(StateId state, StateId like);
  // Whether it is known that the text can no longer be completed.
  bool hopeless(StateId state) const;
  // The first token of the way; the state after it has a smaller number. For states with a number above 0.
  TokenId next(StateId state) const;
  // The number of `after`, the state after a token whose bytes alone lead to `by_bytes`.
  std::optional<uint32_t> number_after(StateId after, std::optional<StateId> by_bytes, Effort effort);
  // Takes over for `state` the way of `like`, where it may be unknown which texts stood before, if it fits here.
  // Whether it does. Cost: one step for each of its tokens.
  bool adopt(StateId state, StateId like);
  // Whether a text of n bytes takes at most n tokens. (Bytes that are not of UTF-8 and no tokens are not looked for.)
  bool spells_all() const { return spells_all_; }

  size_t bytes() const;

 private:
  // A state, and how far the vocabulary's trie has read the token under way: 0 between tokens. Where every byte is a
  // token, texts are searched without regard to tokens, and it is always 0.
  struct Place {
    StateId state;
    uint32_t node = 0;
    uint64_t packed() const { return (uint64_t{node} << 32) | state.value; }
  };
  // A byte, or 256 + a token taken by its id.
  using Step = uint32_t;
  static constexpr Step kFirstToken = 256;
  struct Edge {
    Step step;
    Place to;
  };
  // What is known of the closing text from a place: its length, exactly or at least, and how it begins. If only a way
  // to some end is known, the length of that, and how it begins.
  struct Fact {
    uint32_t length = 0;
    bool exact = false;
    bool is_overapproximate = false;  // little effort does not find the exact length
    Effort given_up = Effort::kNone;
    uint32_t way = kNoLength;
    Edge first{};

    bool has_end() const { return exact || way < kNoLength; }
    uint32_t to_end() const { return exact ? length : way; }
  };
  struct Number {
    uint32_t tokens = 0;
    TokenId next = 0;
  };
  struct OwnWay {
    std::string text;
    uint32_t tokens = kNoLength;
    TokenId next = 0;
  };
  struct Frame;

  uint32_t estimate(StateId state);
  uint32_t inside_lexeme(const Configuration& at);
  uint32_t fact_of(Place place);
  std::vector<Edge> edges(Place place);
  void add_byte_edges(StateId state, std::vector<Edge>& out);
  bool is_up_to_lexer(const Configuration& at);
  bool is_up_to_lexer_inside(const Configuration& at) const;
  std::optional<Configuration> behind_lexeme(const Configuration& at);
  bool tries_all(Place place);
  void add_lexer_edges(const Configuration& at, StateId state, std::vector<Edge>& out);
  void add_edge(StateId state, unsigned b, std::vector<Edge>& out);
  void add_trie_edges(Place place, std::vector<Edge>& out);
  void add_token_edges(StateId state, std::vector<Edge>& out);
  bool settle(Place place, Effort effort);
  struct Search {
    uint64_t most_steps;
    uint64_t most_made;  // of n_made()
    uint64_t steps = 0;
    bool goes_anywhere = false;       // also to places where bounds are vague
    bool is_alone = false;            // takes no ways over that other searches have found
    bool is_overapproximate = false;  // it has come to one: each byte leads to another state, or registers ask for more
    bool adds_members = false;        // also to objects that may end instead, and whose keys positions hold
  };
  // How many states and regexes there are.
  uint64_t n_made() const;
  bool may_go_on(Place at, Search& search);
  bool prove(Place place);
  bool deepen(Place place, Search& search);
  bool descend(Place from, Search& search);
  bool asks_for_more(StateId state);
  uint32_t distance(StateId state);
  struct NextText {
    std::string text;
    bool is_wanted;  // by a register
  };
  std::vector<NextText> next_texts(StateId state);
  struct Reached;
  struct Passed {
    uint32_t fact;
    Edge by;
  };
  // To a place whose closing text is known; that counts in the length.
  struct Way {
    std::vector<Passed> passed;
    uint32_t length = 0;
  };
  bool approach(StateId from, const Search& limits);
  std::optional<Way> find_ways(StateId from, const Search& limits);
  void shorten(std::optional<Way>& way, StateId from, Search& search);
  uint32_t search_from_start();
  template <class Rank>
  std::optional<Way> find_way(StateId from, Search& search, uint32_t most, Rank rank);
  Way way_to(const std::vector<Reached>& reached, size_t end);
  void keep(const Way& way);
  void prove(const Way& way);
  void rule_out(Place from);
  const Number* known(StateId state) const;
  void set(StateId state, Number number);
  void spell(StateId state);
  void spell_as_found(StateId state);
  void set_by_token(StateId from, TokenId token, StateId to);
  void inherit(StateId state, StateId from);
  bool find_near(StateId state, uint32_t most);
  std::optional<StateId> with_other_text(StateId state);
  bool has_own_ways() const;
  const OwnWay& own_way(StateId state);
  OwnWay find_own_way(StateId state);
  std::string text_of(const Way& way, Place at);
  std::optional<std::string> nearer(StateId state, size_t most);
  std::vector<TokenId> own_tokens(StateId state);
  std::vector<Number> spelled(std::string_view text) const;
  void take_own(StateId state);
  bool fits(const Position& at, std::span<const TokenId> way);
  std::vector<TokenId> way_of(StateId state);
  std::optional<std::vector<TokenId>> detour(const Position& from, Effort effort);

  CompiledGrammar& grammar_;
  Remaining remaining_;
  PendingBytes pending_bytes_;
  uint64_t max_steps_;
  ByteSet single_bytes_;  // those that are tokens
  bool spells_all_ = false;
  uint64_t made_in_vain_ = 0;
  std::optional<std::pair<ItemSetId, ScalarSet>> scalars_;  // those of a set that are told apart from others
  HashTable fact_ids_;                                      // by place
  ChunkedVector<Fact> facts_;
  HashTable number_ids_;  // by state
  ChunkedVector<Number> numbers_;
  HashTable own_ids_;  // by state
  ChunkedVector<OwnWay> own_ways_;
  size_t own_text_bytes_ = 0;
  std::optional<uint32_t> least_at_start_;           // of the longer search; kNoLength if that found none shorter
  std::unordered_map<uint32_t, Number> from_start_;  // by state: those on its way
};

}  // namespace cfgmask
