// An Earley parser whose item sets are interned values.
//
// An item is (rest, continuation): what is left of an alternative, and what goes on after it. There are no input
// positions.
//   - Equal tails of alternatives share one rest.
//   - A continuation is the interned *set* of the items that await one nonterminal, so that many callers of a
//   nonterminal
//     share one item and ambiguity merges. (One continuation per caller is exponential on `s: "a" s "b" | "a" s "c" |
//     "d"`.)
//   - A call in tail position does not wait: its callers' callers wait instead. Right recursion stays in one state.
//   Calls of marked nonterminals, which have a capture or a temperature, and calls inside of them do wait.
//   - Content alone would never end for left recursion, so the nonterminals of a left-recursive component share a loop
//     continuation: its identity is the set of callers from outside the component.
//   - Counts stay in the items: a repeat counts down, it is never unrolled.
//   - Nullable symbols are skipped where they are predicted (Aycock, Horspool 2002).
// Equal contexts thus get equal ids however they were reached, and everything learnt about a state serves all of them.
//
// A nonterminal with a parameter is as many nonterminals as it is called with different values, made when they are
// called; "nonterminal" means such an instance below.
//
// Continuations are well ordered only if all callers of a nonterminal are known when it is expanded: item sets are
// closed component by component in the order that analyse() gives.
//
// A continuation also holds the register of its items: the values that distinct terminals have matched since the
// innermost set was opened. A nonterminal hands its register on to its caller when it is complete, unless it opened the
// set: then the caller goes on with its own, to which the set comes as one more value if it is one. The members of a
// continuation that hands on are kept without a register.
//
// It holds the deadline of its items, too: see earley/deadlines.cc.
//
// After a skip (%ignore) only the terminals of the scope that skipped may follow. Their items are kept as they stood,
// each for its first symbol alone, and marked with whether another skip may follow in the same gap.
//
// Threads: guarded by the owner.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "earley/closings.h"
#include "earley/distinct_register.h"
#include "earley/grammar.h"
#include "earley/instances.h"
#include "lexer/lexer.h"
#include "lexer/token_counts.h"
#include "util/chunked_vector.h"
#include "util/fixed_array.h"
#include "util/ids.h"
#include "util/interner.h"
#include "util/limits.h"

namespace cfgmask {

using RestId = Id<struct RestTag>;
using ContinuationId = Id<struct ContinuationTag>;
using ItemSetId = Id<struct ItemSetTag>;

enum class Gap : uint32_t { kFresh, kSkippedMayAgain, kSkippedOnce };

struct Item {
  RestId rest;
  ContinuationId continuation;
  Gap gap = Gap::kFresh;

  uint64_t packed() const {
    return (uint64_t{rest.value} << 34) | (uint64_t{static_cast<uint32_t>(gap)} << 32) | continuation.value;
  }
  static Item unpack(uint64_t word) {
    return {RestId(static_cast<uint32_t>(word >> 34)), ContinuationId(static_cast<uint32_t>(word)),
            static_cast<Gap>((word >> 32) & 3)};
  }
};

inline constexpr uint32_t kNoSlot = UINT32_MAX;
inline constexpr uint8_t kFarReach = UINT8_MAX;

// How many tokens may have bytes of a lexeme, from the clock of its set on.
struct TokenLimit {
  uint32_t tokens = kUnbounded;
  bool is_own = false;  // of the terminal: what closes the lexeme must fit in; else a deadline of some rule around it
  friend auto operator<=>(const TokenLimit&, const TokenLimit&) = default;
};

// The set of items after some input, closed under prediction. Immutable, but for `reach`.
struct ItemSet {
  // An item that goes on with a terminal, or a scope that may skip.
  struct Edge {
    uint32_t source = 0;  // index of a terminal; or of a scope if is_ignore()
    Item item;            // none for a scope

    bool is_ignore() const { return item.rest == RestId(); }
  };
  struct TokenEdge {
    uint32_t token_set;
    Item item;
  };
  // Terminals that are told apart by the lexer; one of numbered keys is as many as its list has numbers.
  struct Slot {
    uint32_t first_number;  // that the lexer has for it
    uint32_t first_edge;
    uint32_t last_edge;
    int32_t priority;
    Conditions around;
    LineRole role;
    KeyRole key_role;
    bool tracks;  // its lexemes' texts count
    TokenLimit limit;
  };

  FixedArray<Edge> edges;  // grouped by slot
  FixedArray<Slot> slots;
  FixedArray<TokenEdge> token_edges;
  FixedArray<TokenEdge> indent_edges;  // for what an indenter puts behind a newline
  FixedArray<Item> accepts;            // the items that stand for the end of the start symbol, if it may be here
  LexerStateId start;        // the lexer's state before the next lexeme, if every condition on what is before it holds
  bool asks_before = false;  // there is such a condition
  bool asks_lines = false;   // some slot has a role that brackets forbid, or their absence
  uint32_t newline_slot = kNoSlot;
  bool tracks = false;          // a distinct terminal may come: the text of the next lexeme counts for its slots
  bool excludes = false;        // and must not be one before it
  bool has_key_roles = false;   // some slot has one
  bool has_keys = false;        // a key may come
  uint32_t clock = 0;           // at which its deadlines are counted; 0 if its kernel has none
  bool is_timed = false;        // its kernel has deadlines
  bool has_deadlines = false;   // something that may come has one
  bool has_limits = false;      // some slot has a limit
  bool leads_to_limit = false;  // something that may come, now or later, has a deadline or a limit

  bool is_overapproximate = false;  // what may come is a superset, see DistinctRegister::is_overapproximate
  bool has_choices = false;         // some slot has several numbers
  uint8_t reach = 0;                // of the scans that led here, see Parser::reached(); kFarReach: further than that

  bool accepting() const { return !accepts.empty(); }
  // The slot that the lexer has a number for.
  const Slot& slot(uint32_t number) const {
    if (!has_choices) return slots[number];
    const auto after = std::upper_bound(slots.begin(), slots.end(), number,
                                        [](uint32_t n, const Slot& slot) { return n < slot.first_number; });
    return *(after - 1);
  }
  // Calls f(edge) for token_edges and indent_edges.
  template <class F>
  void for_each_token_edge(F f) const {
    for (const auto& edge : token_edges) f(edge);
    for (const auto& edge : indent_edges) f(edge);
  }
};

class Parser {
 public:
  // `grammar` was analysed, and its deferred rules are made here; it and the lexer outlive the parser.
  Parser(Grammar& grammar, RegexStore& regexes, Lexer& lexer, TokenCounts& counts, const Limits& limits);

  ItemSetId start() const { return start_; }
  const ItemSet& at(ItemSetId id) const { return sets_[id.value]; }

  // After a lexeme that the terminals of these slots matched; of them only those of highest priority count. Remembered.
  // `text` is the lexeme's where the set tracks it; without it, no value is added to a register. `clock` is the set's,
  // and one more for each token that has ended since.
  ItemSetId scan(ItemSetId set, SlotSetId matched, TextId text, uint32_t clock);
  // After a token taken by id in any of these sets, which have one clock; nullopt if none takes it.
  std::optional<ItemSetId> scan_token(std::span<const ItemSetId> sets, uint32_t token);
  // After what an indenter puts behind a newline, kIndent or kDedent; nullopt if no item takes it. Remembered.
  std::optional<ItemSetId> scan_indent(ItemSetId set, uint32_t token);
  // The set after a token that ends there.
  ItemSetId end_token(ItemSetId set);
  // Where a token ends inside of a lexeme, the clock being what it is then: what is left of `residuals`, pairs as the
  // lexer has them, of which those that have no tokens left take no more bytes.
  std::vector<uint32_t> after_token(ItemSetId set, uint32_t clock, Words residuals);
  // Whether some item can be closed before its deadlines, where a token has ended; earley/deadlines.cc. `residuals` are
  // those of the lexer inside of a lexeme or at a boundary.
  bool fits(ItemSetId set, uint32_t clock, Words residuals, bool at_boundary);
  // Whether a token may end wherever the lexeme goes on to from these residuals, if the clock is what it is then. False
  // where that takes long to tell.
  bool has_room(ItemSetId set, uint32_t clock, Words residuals);
  // The union of item sets reached at one position, which have one clock.
  ItemSetId unite(std::span<const ItemSetId> sets);

  // Makes all rules that were deferred, and what follows each key of a choice.
  void define_all();

  // The places of the rules with an alternative of which one of the rests is left, ascending; of deferred rules that of
  // their part. Linear in the grammar.
  std::vector<uint32_t> places_at(std::span<const RestId> rests) const;

  // The highest of the temperatures that the innermost rules ask for which these items are inside of, if any.
  std::optional<double> temperature(std::span<const Item> items) const;

  DistinctRegister& distinct_register() { return distinct_register_; }
  // Adds the scalars of all registers that are open in a set. Linear in its rules that are open and in what they hold.
  void add_scalars(ItemSetId set, ScalarSet& out) const;
  // Whether what may come is a superset; see ItemSet. Most grammars open no sets of values.
  bool is_overapproximate(ItemSetId id) const { return has_sets() && at(id).is_overapproximate; }
  // Whether something in the grammar must not come twice.
  bool has_sets() const { return !grammar_.set_bounds.empty(); }
  // How many levels scans have looked out of the sets that they began in, those of all scans together;
  // earley/alike.cc. By what is added to it, scans one after the other are alike from sets that are.
  uint64_t reached() const { return reached_; }
  // Equal for sets that may be alike.
  uint64_t shape(ItemSetId set) const;
  // Whether two sets without deadlines are the same to some depth, so that scans which look no further lead to sets of
  // the same slots. Cost: linear in what is compared; false where that is much.
  bool alike(ItemSetId a, ItemSetId b, uint32_t depth) const;

  size_t n_item_sets() const { return sets_.size(); }
  // What was charged to max_item_sets, by whoever was charged the most.
  uint64_t n_charged() const { return std::max(item_set_account_.used, distinct_register_.n_charged()); }
  std::array<Account*, 3> accounts() {
    return {&item_set_account_, &distinct_register_.account(), &instances_.account()};
  }
  size_t n_items() const { return n_items_; }
  size_t bytes() const;

 private:
  friend class Derivation;
  friend class Marks;
  friend class Remaining;
  friend class PendingBytes;

  static constexpr RestId kNil{0U};
  static constexpr ContinuationId kRoot{0U};

  struct Rest {
    Symbol head;
    RestId tail;
    bool nullable = true;
    bool leads_to_limit = false;  // something in it has a limit on its tokens
  };
  enum class ContinuationKind : uint32_t {
    kPlain,
    kLoop,      // of a left-recursive component
    kRestores,  // of a nonterminal that opened a set, or hides one
  };
  static constexpr uint32_t kUnmarked = UINT32_MAX;
  struct Continuation {
    ContinuationKind kind = ContinuationKind::kPlain;
    RegisterId seen;              // the register of the items that have this continuation
    uint32_t marked = kUnmarked;  // the nonterminal that it awaits, if that is marked
    uint32_t deadline =
        kUnbounded;  // no item that has this continuation takes a byte at this time of its clock or later
    std::vector<uint64_t> members;  // packed items, sorted
    // Where completion leads to if nothing on the way has more to do: captured right recursion nests without end, and
    // each lexeme may be its last.
    ContinuationId ends_with;
    std::vector<uint64_t> enough;  // of the members, for complete(); none: all of them. See earley/complete.cc
  };
  // How a closure came about, for those who ask.
  struct Trace {
    // `caller` goes on with `nonterminal` and then with `tail`; of a tail call, the callers of the caller wait.
    struct Call {
      uint32_t nonterminal;
      RestId tail;
      uint64_t caller;
      uint32_t deadline;  // of what is called
      bool is_tail_call;
    };
    struct Expansion {
      uint32_t nonterminal;
      ContinuationId continuation;
    };
    struct Turn {
      uint64_t once;
      uint64_t repeat;
    };
    std::vector<uint64_t> kernel;  // sorted
    std::vector<uint64_t> items;
    std::vector<Call> calls;
    std::vector<Expansion> expansions;
    std::vector<Turn> turns;
  };
  // Nonterminals are expanded apart for each register.
  struct Callee {
    uint32_t order;
    RegisterId seen;
    uint32_t hurry;  // kUnbounded - deadline: items call others of an earlier deadline only
    uint32_t deadline() const { return kUnbounded - hurry; }
    friend auto operator<=>(const Callee&, const Callee&) = default;
  };
  static constexpr Callee kClosed{UINT32_MAX, DistinctRegister::none(), 0};
  // An edge of the set that is being closed, and what makes it of one slot with others.
  struct OpenEdge {
    RegexId regex;
    int32_t priority = 0;
    Conditions around = {};
    TokenLimit limit = {};
    LineRole role = LineRole::kNone;
    KeyRole key_role = KeyRole::kNone;
    bool tracks = false;
    ItemSet::Edge edge = {};
  };
  // The working memory of one closure. Kept from one to the next, since most are small.
  struct Closing {
    void clear();
    static constexpr size_t kKept = 1'000;

    std::vector<OpenEdge> edges;
    std::vector<ItemSet::TokenEdge> token_edges;
    std::vector<ItemSet::TokenEdge> indent_edges;
    std::vector<Item> accepts;
    bool tracks = false;
    bool excludes = false;
    bool is_overapproximate = false;
    HashTable seen;
    size_t n_items = 0;
    // Nonterminals with callers that are not expanded yet, a heap: those of the component of lowest order come first.
    std::vector<std::pair<Callee, uint32_t>> waiting;
    // The left-recursive component being expanded, and those of its members that still are to be.
    Callee open = kClosed;
    std::vector<uint32_t> open_members;
    // Callers of nonterminals that are called where a set is open, or before a deadline.
    std::map<std::tuple<uint32_t, RegisterId, uint32_t>, std::vector<uint64_t>> tracked_callers;
    uint32_t clock = 0;
    bool has_deadlines = false;
    Trace* trace = nullptr;
    std::vector<bool> may_skip;  // by scope
    // What is made of `edges`; of each slot its terminal.
    std::vector<ItemSet::Edge> made_edges;
    std::vector<ItemSet::Slot> made_slots;
    std::vector<RegexId> terminals;
  };

  // Whether a limit on tokens is still to come.
  enum class Leads : uint8_t { kNotKnown, kNowhere, kToLimit };
  bool leads_to_limit(Symbol symbol) const;
  bool leads_to_limit(const Item& item);
  bool leads_to_limit(ContinuationId continuation);

  RestId rest(Symbol head, RestId tail);
  RestId rest_of(const Alternative& alternative, uint32_t nonterminal);
  Symbol repeat(Symbol body, uint32_t minimum, uint32_t maximum);
  bool nullable(Symbol symbol);
  void define(uint32_t nonterminal);
  const Terminal& terminal(uint32_t index);
  // What follows a key of a choice.
  RestId rest_after(Choice choice, uint32_t number);
  // What the alternatives of a nonterminal begin with, those aside that are empty or cannot end. May add to the
  // grammar, so that references into that are lost.
  const std::vector<RestId>& alternatives(uint32_t nonterminal);

  // earley/places_at.cc
  bool passes(RestId at, std::span<const RestId> rests) const;
  bool is_within(RestId rest, RestId whole) const;

  // Kernels: the items that a lexeme leads to, before prediction, with every completion that they entail.
  struct Kernel {
    std::vector<uint64_t> items;
    HashTable completed;  // continuations
    uint8_t depth = 0;    // of those inside of each other; kFarReach: deeper
  };
  // An empty one, until the next call.
  Kernel& new_kernel();
  void advance(const Item& item, Kernel& kernel);
  // The item after a lexeme of an edge's terminal, which has this number among those of its slot.
  Item after(const ItemSet::Edge& edge, uint32_t number, TextId text);
  ItemSetId known_scan(ItemSetId from, SlotSetId matched, TextId text, uint32_t clock);
  ItemSetId compute_scan(ItemSetId from, SlotSetId matched, TextId text, uint32_t clock);
  void insert(Item item, Kernel& kernel);

  // earley/complete.cc
  struct Completing {
    ContinuationId continuation;
    uint8_t depth;
  };
  struct Reached {
    HashTable items;
    HashTable continuations;
    uint64_t n_looks = 0;  // at items
  };
  void complete(ContinuationId continuation, Kernel& kernel);
  bool is_sifted(const Continuation& continuation) const;
  void sift(ContinuationId id, ContinuationId oldest);
  bool reach(uint64_t member, ContinuationId oldest, Reached& reached);
  std::optional<Item> go_on(uint64_t member, const Continuation& ended);
  bool may_end(ContinuationId continuation);
  // earley/alike.cc
  bool is_plain(ContinuationId continuation) const;

  void add_skipped(const ItemSet& set, uint32_t scope, Kernel& kernel) const;
  ItemSetId intern_kernel(Kernel& kernel, uint32_t clock);
  std::vector<uint64_t> kernel_of(ItemSetId set) const;

  // Closure: prediction of a kernel's items.
  ItemSet close(std::span<const uint64_t> kernel, uint32_t clock, Trace* trace = nullptr);
  void predict(const Item& item, Closing& closing);
  void predict_head(RestId at, const Item& item, Closing& closing);
  void call(uint32_t nonterminal, RestId tail, const Item& caller, Closing& closing);
  void expand_loop(const Callee& callee, Closing& closing);
  static void take_waiting(Closing& closing);
  void expand_plain(uint32_t nonterminal, const Callee& callee, Closing& closing);
  std::vector<uint64_t>& callers_of(uint32_t nonterminal, const Callee& callee, Closing& closing);
  ContinuationId continuation_of(std::vector<uint64_t>& callers, const Callee& callee, uint32_t nonterminal);
  template <class Make>
  ContinuationId intern_continuation(Words key, Make make);
  // The same continuation with another register.
  ContinuationId with_seen(ContinuationId continuation, RegisterId seen);

  // earley/dead_ends.cc
  // What has to be so where something may begin after values of which some are a new_text.
  enum class IfNew : uint8_t { kSome, kAny };  // for some value that it stands for, or whichever it is
  enum class Ahead : uint8_t { kNothing, kOnlyPlain, kSomething };
  void drop_dead_ends(Closing& closing);
  bool may_close(ContinuationId continuation);
  bool may_go_on(const Item& item, IfNew values);
  Ahead ahead(RestId rest, RegisterId seen, IfNew values);
  Ahead find_ahead(RestId rest, RegisterId seen, IfNew values);
  bool may_come(const Terminal& terminal, RegisterId seen, IfNew values);

  // earley/deadlines.cc
  uint32_t deadline_of(const Item& item) const { return continuations_[item.continuation.value].deadline; }
  static TokenLimit limit_at(const Terminal& terminal, uint32_t deadline, uint32_t clock);
  uint64_t closing_tokens(Symbol symbol, RegisterId seen);
  uint64_t closing_tokens(RestId rest, RegisterId seen);
  int64_t latest(ContinuationId continuation);
  void find_latest(ContinuationId from);
  bool fits(const Item& item, uint64_t tokens, uint32_t clock);
  bool fits_behind_ignored(const ItemSet& set, uint32_t scope, uint64_t skipping, uint32_t clock);
  template <class Needed>
  bool slot_fits(const ItemSet& set, const ItemSet::Slot& slot, bool at_boundary, uint32_t clock, Needed needed);
  uint32_t drop_late(std::vector<uint64_t>& kernel, uint32_t clock) const;

  void add_ignores(Closing& closing) const;
  void end_at_lazy(std::vector<OpenEdge>& edges);
  void make_slots(Closing& closing, ItemSet& set);
  uint32_t scope_of(const ItemSet::Edge& edge) const { return grammar_.terminals[edge.source].scope; }

  Grammar& grammar_;
  RegexStore& regexes_;
  Lexer& lexer_;
  TokenCounts& counts_;
  Closings closings_;  // in grammars with limits on the tokens of nonterminals
  uint64_t max_items_;
  Account item_set_account_;
  DistinctRegister distinct_register_;
  Instances instances_;
  ChunkedVector<std::optional<std::vector<RestId>>> alternatives_;  // per nonterminal, once it was asked for

  ChunkedVector<Rest> rests_;
  HashTable rest_ids_;
  Interner repeat_ids_;
  Interner continuation_ids_;
  ChunkedVector<Continuation> continuations_;
  Interner outside_callers_;
  Interner kernel_ids_;
  ChunkedVector<ItemSet> sets_;
  HashTable chosen_;  // (object, member) -> what follows its key
  // The same with the objects alone, in a list.
  struct AfterKey {
    uint32_t object;
    RestId rest;
  };
  ChunkedVector<AfterKey> after_keys_;
  std::array<HashTable, 2> ahead_;  // by IfNew: (rest, register) -> Ahead
  HashTable scans_;
  HashTable indented_;         // (set, token) -> set + 1, 0 for none
  Interner tracked_scan_ids_;  // words (set, slots, text)
  ChunkedVector<ItemSetId> tracked_scans_;
  size_t n_items_ = 0;
  uint64_t reached_ = 0;
  std::vector<std::vector<uint64_t>> callers_;  // per nonterminal, while closing
  Closing closing_;
  std::vector<uint32_t> continuation_key_;
  Kernel kernel_;
  std::vector<Completing> completing_;
  ChunkedVector<int64_t> latest_;   // by continuation
  std::vector<Leads> leads_;        // by continuation
  bool callers_left_over_ = false;  // a bound was crossed in the middle of a closure
  ItemSetId unskipped_start_;       // before ignored text at the start was ruled out
  ItemSetId start_;
};

}  // namespace cfgmask
