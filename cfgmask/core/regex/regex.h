// Regexes over bytes: hash-consed nodes moved by Brzozowski derivatives.
//
// A node denotes a set of byte strings. Equal nodes have equal ids, so an automaton state is a node and its transition
// a derivative (Brzozowski 1964; Owens, Reppy, Turon 2009). Nodes are simplified where they are made: similar nodes
// become one, which is what keeps the number of residuals finite and small.
//
// Counted repetition is a node (`x{0,100000}` is one), a set of keys is a node (a range of a sorted table and a depth),
// so is a place in the automaton of a text's substrings, and a JSON string literal is a node around the regex of its
// decoded text. None is ever unrolled.
//
// Threads: none of this is safe for concurrent use; the owner of a RegexStore guards it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "regex/key_list.h"
#include "regex/key_table.h"
#include "regex/lengths.h"
#include "regex/long_sequence.h"
#include "regex/multiples.h"
#include "regex/prefixed_parts.h"
#include "regex/substring_automaton.h"
#include "util/byte_set.h"
#include "util/chunked_vector.h"
#include "util/ids.h"
#include "util/interner.h"
#include "util/limits.h"

namespace cfgmask {

inline constexpr uint32_t kUnbounded = UINT32_MAX;

enum class RegexKind : uint32_t {
  kNothing,        // no string
  kEmptyText,      // the empty string
  kBytes,          // one byte out of a set
  kConcatenation,  // head, tail; the head is never itself a concatenation
  kAlternation,    // sorted distinct parts
  kIntersection,   // sorted distinct parts
  kComplement,     // every byte string but those of the body
  kRepetition,     // body, minimum, maximum
  kKeySet,         // keys [low, high) of a table, of which `depth` bytes were read
  kNumberedKeys,   // the same of those whose numbers are in [from, to), but for some that are left out; at least two
  kJsonString,     // body over the decoded text, and where in the literal we are
  kDivisible,      // modulus, remainder of the digits read so far
  kMultiples,      // a table of cases and a position in a decimal; see regex/multiples.h
  kPrefixed,       // parts [low, high) of a list, of whose texts `depth` bytes were read, from some owner on
  kSequence,       // the parts of a long sequence from one on; at least two
  kSubstring,      // edges [low, high) of a state of an automaton, of whose chunks `depth` bytes were read
};

// Which spellings of a character a JSON string may use; see JsonString in cfgmask/grammar/regex_tree.py.
enum class JsonEscapes : uint32_t { kAny, kLiteral, kCanonical, kYaml };

struct CodePointRange {
  uint32_t low;
  uint32_t high;
};
// All characters: the halves of surrogate pairs are none.
inline constexpr std::array<CodePointRange, 2> kCharacters{{{0, 0xD7FF}, {0xE000, 0x10FFFF}}};

class MinimumLengths;

class RegexStore {
 public:
  explicit RegexStore(uint64_t max_depth, uint64_t max_search_steps);
  ~RegexStore();
  RegexStore(const RegexStore&) = delete;
  RegexStore& operator=(const RegexStore&) = delete;

  // New nodes are charged to this account until the next call; null: to nobody.
  void charge_to(Account* account) { account_ = account; }

  static constexpr RegexId nothing() { return RegexId(0U); }
  static constexpr RegexId empty_text() { return RegexId(1U); }
  static constexpr RegexId all() { return RegexId(2U); }  // every byte string

  RegexId literal(std::string_view data);
  RegexId bytes(const ByteSet& set);
  RegexId char_class(std::vector<CodePointRange> ranges);  // sorted, disjoint; as UTF-8
  RegexId concatenation(RegexId head, RegexId tail);
  RegexId alternation(std::vector<RegexId> parts);
  RegexId intersection(std::vector<RegexId> parts);
  RegexId complement(RegexId body);
  RegexId repetition(RegexId body, uint32_t minimum, uint32_t maximum);
  // So many characters, whatever they are, in valid UTF-8.
  RegexId any_text(uint32_t minimum = 0, uint32_t maximum = kUnbounded) {
    return repetition(char_class({kCharacters.begin(), kCharacters.end()}), minimum, maximum);
  }
  RegexId key_set(std::vector<std::string_view> keys);
  RegexId key_set(const std::vector<std::string>& keys) {
    return key_set(std::vector<std::string_view>(keys.begin(), keys.end()));
  }
  RegexId key_set(const std::shared_ptr<const KeyList>& keys);
  // Keys that have numbers. Which it is is known where it is the only one left, so that one residual serves thousands
  // of keys with a different future each. By themselves, none of them begins with another; or they are the body of a
  // JSON string, which ends with its quote. Never a part of any other node.
  struct NumberedKey {
    std::string_view key;
    uint32_t number;
  };
  // A list of different keys and numbers, for `numbered_keys`.
  static std::shared_ptr<const KeyList> numbered_list(std::vector<NumberedKey> keys);
  uint32_t number_keys(const std::shared_ptr<const KeyList>& list);
  // Those of a list with numbers in [from, to). Linear in these or in the list, whichever is less.
  RegexId numbered_keys(uint32_t list, uint32_t from, uint32_t to) {
    return numbered(list, 0, UINT32_MAX, 0, from, to, kNoneLeftOut);
  }
  // The same as JSON strings, which may be spelled with escapes.
  RegexId numbered_strings(uint32_t list, uint32_t from, uint32_t to) {
    return json_string(numbered_keys(list, from, to), JsonEscapes::kLiteral);
  }
  // Numbered keys, by themselves or as JSON strings, without those of some numbers; nothing() if none is left. Linear
  // in the list.
  RegexId without_numbers(RegexId node, std::span<const uint32_t> numbers);
  // The same with those alone.
  RegexId only_numbers(RegexId node, std::span<const uint32_t> numbers);
  // The list of numbered keys, by themselves or as JSON strings.
  uint32_t list_of(RegexId node) const {
    return operands(kind(node) == RegexKind::kJsonString ? json_body(node) : node)[0];
  }
  // Calls f(number, key) for each of a list.
  template <class F>
  void for_each_in_list(uint32_t list, F f) const {
    const NumberedTable table = numbered_table(list);
    for (uint32_t place = 0; place < table.keys.size(); ++place) f(table.numbers[place], table.keys[place]);
  }
  // Whether the node is numbered keys, by themselves or as JSON strings.
  bool is_numbered(RegexId node) const {
    return kind(node) == RegexKind::kNumberedKeys ||
           (kind(node) == RegexKind::kJsonString && kind(json_body(node)) == RegexKind::kNumberedKeys);
  }
  // One more than the largest number in the list of numbered keys; 1 for other nodes.
  uint32_t n_numbers(RegexId node) const;
  // Of numbered keys: the only one that is left and the rest of it, as of a set of one.
  struct OnlyKey {
    uint32_t number;
    RegexId rest;
  };
  std::optional<OnlyKey> only_key(RegexId node);
  bool has_number(uint32_t list, uint32_t number) const {
    return numbered_table(list).places[number] != NumberedTable::kNoPlace;
  }
  uint32_t numbered_key_length(uint32_t list, uint32_t number) const {
    const NumberedTable table = numbered_table(list);
    return static_cast<uint32_t>(table.keys[table.places[number]].size());
  }
  // Of numbered keys: calls f(number, how many bytes of it are left, at least) for each that may be written from here.
  template <class F>
  void for_each_number(RegexId node, F f) const;
  // Whether the node is a set of keys, numbered or not; no more than how many it has; calls f(what is left of a key,
  // its number or 0) for each, sorted but where few of a list are left.
  bool is_set_of_texts(RegexId node) const {
    return kind(node) == RegexKind::kKeySet || kind(node) == RegexKind::kNumberedKeys;
  }
  size_t most_texts(RegexId node) const { return operands(node)[2] - operands(node)[1]; }
  template <class F>
  void for_each_text(RegexId node, F f) const;
  RegexId json_string(RegexId body, JsonEscapes escapes);
  // The JSON strings of `node` but those that decode to a text of `unwanted`. `node` is json_string(...).
  RegexId json_string_without(RegexId node, RegexId unwanted);
  // Digits, points anywhere among them, which without the points are a multiple of `modulus`. No digits are zero.
  RegexId divisible(uint32_t modulus) { return divisible(modulus, 0); }
  // Decimals that are multiples of some numbers and not of others; `words` as in `Multiples::of_words`.
  RegexId multiples(Words words);
  // The regex over decoded text of a JSON string, whose opening quote is still to come.
  RegexId json_body(RegexId node) const { return operand(node, 0); }
  // Any of the parts whose owners are not before one.
  RegexId prefixed(const std::shared_ptr<const PrefixedParts>& parts, uint32_t first_owner = 0);
  // All parts from one on, one after the other.
  RegexId sequence(const std::shared_ptr<const LongSequence>& parts, uint32_t first = 0);
  // Any run of consecutive chunks, the empty run included.
  RegexId substring(const std::vector<std::string>& chunks);
  // `node` without the empty string.
  RegexId without_empty_text(RegexId node);
  // The strings of `node` that do not begin with one of `starts`.
  RegexId not_beginning_with(RegexId node, RegexId starts);
  // The strings of `node` that begin with no shorter one of `starts`.
  RegexId not_longer_than(RegexId node, RegexId starts);
  // The parts of an alternation or intersection.
  std::vector<RegexId> parts(RegexId node) const;
  RegexKind kind(RegexId node) const { return props_[node.value].kind; }
  bool nullable(RegexId node) const { return props_[node.value].nullable; }

  // The residual after byte b. One recursion over the node the first time, then one probe.
  RegexId derivative(RegexId node, unsigned b);
  // How many derivatives were worked out so far, those of parts counted as well.
  size_t n_derived() const { return n_derived_; }
  // The residual after several bytes, if it takes no residuals between them: of keys, of runs of whole characters, of
  // these before a tail that none of the bytes begins, of loops with exceptions, within bounds on the characters, and
  // of JSON strings of such in whose text the bytes stand for themselves.
  std::optional<RegexId> after(RegexId node, std::string_view text);
  // A superset of the bytes that strings of the node start with; exact but for intersections and complements.
  const ByteSet& first(RegexId node) {
    const uint32_t known = props_[node.value].first;
    return known != 0 ? first_sets_[known] : find_first(node);
  }
  // Bytes, b among them, that all lead to the residual that b leads to; not always all of them. Cost: one visit of the
  // nodes that `derivative` would visit, each once.
  ByteSet alike(RegexId node, unsigned b) {
    ++n_asked_;
    return alike_here(node, b);
  }
  // Whether the node denotes no string. Constant but for intersections and complements, which search their residuals,
  // those first that seem nearest to an end, at most max_search_steps derivatives (else LimitExceeded). Answers are
  // remembered.
  bool is_empty(RegexId node);
  // The derivatives of all searches so far.
  uint64_t n_search_steps() const { return n_search_steps_; }
  // Whether no string of the node begins with another one; false where that takes more than a look at its parts. Linear
  // in the keys of a set.
  bool is_prefix_free(RegexId node);
  // Whether the node denotes infinitely many strings. Searches its residuals depth first, as `is_empty` does.
  bool is_infinite(RegexId node);
  // Whether it is plain that whatever begins a string of the node begins infinitely many: all of its ways end in an
  // unbounded repetition, a few texts apart. Bounded by a hundred thousand visits.
  bool is_endless_at_sight(RegexId node) const;
  // A shortest string, the smallest of the shortest; nullopt for the empty set. Breadth-first search.
  std::optional<std::string> shortest(RegexId node);
  // Shortest strings, each of which leaves something else, as each of numbered keys does; one of a set of others. Fewer
  // than `most` also if more take more derivatives, which are no steps of a search.
  std::vector<std::string> shortest_within(RegexId node, size_t most, size_t most_derivatives);

  // node = x{minimum,maximum}, the same before a tail that is never empty and begins with other bytes, or a JSON string
  // between characters with that to come. x is a class of characters (so that a text tells how many it holds) and the
  // counts bound something; `unbounded` is the same with x*.
  struct Counted {
    RegexId unbounded;
    uint32_t minimum;
    uint32_t maximum;
  };
  std::optional<Counted> counted(RegexId node);
  // The bytes that end the run of characters in an `unbounded`; none if the run is all there is.
  ByteSet after_run(RegexId unbounded);
  // node = without & D{minimum,maximum}, the same inside a JSON string between characters or in an escape, where D is a
  // class that has all characters of `without`: bounds on how many they are, and nothing else. C{m,n} is C* with
  // bounds.
  //
  // Or such bounds without a minimum are on what some of its texts begin with, as in (C{0,60} d|) t. `without` is the
  // node without all of these bounds, and `maximum` the least of them. The low minimum of a run, as in C{1,63} d, stays
  // in `without`.
  struct Bounded {
    RegexId run;  // D{minimum,maximum}; of several, one
    RegexId without;
    uint32_t minimum;
    uint32_t maximum;
    uint32_t farthest;  // bytes from anywhere inside of what the bounds are on to an end of that, decoded in JSON
    bool grows;         // there is a minimum, and whatever begins a text of `without` goes on to one of every length
                        // from the shortest on
  };
  std::optional<Bounded> bounded(RegexId node);
  // The same of a JSON string between characters, if there is no minimum and each character counts as one up to the
  // string's end; `farthest` from between characters. What n of them lead to which lead `without` back to itself is
  // `after_loops(node, n)`.
  std::optional<Bounded> bounded_string(RegexId node);
  // The node without such bounds on all of it or its first part, if no text of so many bytes comes near them: until
  // then all is as with them. Not of alternatives, which may be many.
  RegexId without_far_bounds(RegexId node, uint32_t longest);
  // Whether anything in the node may come more often than matters to so many characters.
  bool has_far_bounds(RegexId node, uint32_t longest) const;
  // Nearer maxima are not worth it: too many texts meet them.
  static constexpr uint32_t kNearBound = 16;
  // Of a node with bounds on all of it or on its first part: whether a character of ASCII leads to the same, but that
  // one character fewer may come; and what many such characters lead to, no more than the maximum.
  bool loops_within_bounds(RegexId node, unsigned b);
  RegexId after_loops(RegexId node, uint32_t n);
  // Bounds of the node's language that do not count far: every maximum that is far off, as `{0,5000}`, is near in
  // `smaller` and none in `larger`. nullopt if there is no such maximum, or only under a complement. `longest`: the
  // most characters that matter.
  struct Clipped {
    RegexId smaller;
    RegexId larger;
  };
  std::optional<Clipped> clipped(RegexId node, uint32_t longest);
  // Residuals x* (x a class), or JSON strings between characters with that to come, such that whatever text keeps one
  // of them alive keeps `node` alive: those that the alternatives of `node` begin with. So any text may go before what
  // a search looks for. Such a residual without a few texts is one, too.
  std::vector<RegexId> leading_loops(RegexId node);
  // For an intersection (also inside a JSON string between characters) of something with complements: that something,
  // and the bytes after which the two may differ. A node of another kind is itself.
  struct Simpler {
    RegexId node;
    ByteSet differs;
  };
  Simpler without_exceptions(RegexId node);

  // The nodes of regexes as data (regex/regex_data.h), by the numbers of these.
  std::optional<RegexId> portable(uint64_t number) const {
    const auto known = portable_.find(number);
    return known ? std::optional(RegexId(*known)) : std::nullopt;
  }
  void remember_portable(uint64_t number, RegexId node) { portable_.insert(number, node.value); }

  MinimumLengths& lengths() { return *lengths_; }
  size_t size() const { return nodes_.size(); }
  size_t bytes() const;

 private:
  friend class HeldBytes;
  friend class MinimumLengths;
  friend class RegexAsData;

  enum class Emptiness : uint8_t { kUnknown, kEmpty, kNonempty };
  enum class Known : uint8_t { kNotYet, kNo, kYes };
  struct Props {
    RegexKind kind = RegexKind::kNothing;
    bool nullable = false;
    bool may_be_empty = false;  // holds an intersection or a complement
    Emptiness emptiness = Emptiness::kUnknown;
    Known is_class = Known::kNotYet;
    uint8_t n_counted = 0;  // repetitions with counts inside each other, 255 if there are more
    uint32_t depth = 0;
    uint32_t first = 0;  // index into first_sets_, 0: not asked yet
    // The greatest maximum of C{0,n} or C{1,n} for a class C, and of x{0,n} or x{1,n} for anything else, among the
    // parts that has_far_bounds looks at.
    uint32_t most_characters = 0;
    uint32_t most_rounds = 0;
    uint64_t asked = 0;  // the last question to `alike` that came by here
  };

  // regex/regex.cc
  void charge(size_t n_words);
  void charge_node(const Props& p, size_t n_operands);
  // What it takes to look at many parts, which may come to no new node; so many are free.
  static constexpr size_t kFreeWork = 64;
  void charge_work(size_t n_parts);
  // What it takes to make, sort and look up many parts, each of which takes as long as half of a node does.
  void charge_parts(size_t n_parts);
  Words operands(RegexId node) const { return nodes_.at(node.value).subspan(1); }
  RegexId operand(RegexId node, size_t i) const { return RegexId(operands(node)[i]); }
  RegexId intern(RegexKind kind, std::span<const uint32_t> operands);
  Props properties(RegexKind kind, std::span<const uint32_t> operands);

  // regex/char_class.cc
  RegexId build_char_class(std::span<const CodePointRange> ranges);
  void add_sequences(std::span<const CodePointRange> ranges, uint32_t low, uint32_t high, unsigned byte, int n_more,
                     std::vector<RegexId>& parts);
  RegexId any_continuation(int n_bytes);
  // Whether the node is one character: sequences of byte sets, no one a prefix of another. Remembered.
  bool is_class(RegexId node);
  bool compute_is_class(RegexId alternation);
  static constexpr uint32_t kNoCommonClass = UINT32_MAX;
  std::optional<RegexId> common_class(RegexId a, RegexId b);
  std::optional<RegexId> compute_common_class(RegexId a, RegexId b);
  bool is_run(RegexId node);
  bool begins_apart(RegexId run, RegexId tail);
  // Whether all texts of the node are characters of `one`; false as well where `one` is no class, and where that takes
  // more than a look at the node's parts. Remembered.
  bool is_within(RegexId node, RegexId one);
  bool compute_within(RegexId node, RegexId one);
  bool is_class_within(RegexId node, RegexId one);
  bool are_keys_within(RegexId node, RegexId one);
  // Whether the node is C* for a class C.
  bool is_loop(RegexId node);

  // regex/operators.cc
  void merge_repetitions(std::vector<RegexId>& parts);
  void merge_counted_classes(std::vector<RegexId>& parts);
  void merge_json_strings(std::vector<RegexId>& parts, bool intersect);
  void drop_within_loops(std::vector<RegexId>& parts);
  void drop_needless_loops(std::vector<RegexId>& parts);
  void drop_needless_bounds(std::vector<RegexId>& parts);
  bool is_contradiction(const std::vector<RegexId>& sorted_parts);

  // regex/texts.cc
  RegexId keys_of_table(uint32_t table);
  uint32_t intern_list(Interner& tables, const std::shared_ptr<const KeyList>& list);
  KeyTable key_table(uint32_t table) const { return KeyTable(key_tables_.at(table)); }
  NumberedTable numbered_table(uint32_t list) const { return NumberedTable(numbered_tables_.at(list)); }
  bool is_prefix_free_set(Words set) const;
  RegexId divisible(uint32_t modulus, uint32_t remainder);
  RegexId multiples_at(uint32_t table, const std::optional<Multiples::Position>& position);
  const Multiples& multiples_of(Words o) const { return *multiples_[o[0]]; }
  static Multiples::Position position_of(Words o);
  RegexId substring_from(uint32_t automaton, uint32_t state);
  std::span<const SubstringAutomaton::Edge> substring_edges(RegexId node) const;
  RegexId derive_key_set(RegexId node, unsigned b);
  RegexId keys_after(RegexId node, std::string_view text);
  RegexId derive_substring(RegexId node, unsigned b);
  // `left_out`: the number of a set of places.
  static constexpr uint32_t kNoneLeftOut = 0;
  RegexId numbered(uint32_t table, uint32_t low, uint32_t high, uint32_t depth, uint32_t from, uint32_t to,
                   uint32_t left_out);
  RegexId with_left_out(RegexId node, const std::vector<bool>& left_out);
  uint32_t left_out_within(uint32_t left_out, uint32_t low, uint32_t high);
  bool is_left_out(uint32_t left_out, uint32_t place) const {
    if (left_out == kNoneLeftOut) return false;
    const Words set = left_out_.at(left_out);
    const uint32_t word = place / 32;
    return word >= set[0] && word - set[0] + 1 < set.size() && ((set[word - set[0] + 1] >> (place % 32)) & 1) != 0;
  }
  RegexId derive_numbered_keys(RegexId node, unsigned b);
  // Of numbered keys: the one that ends here, if there is one.
  RegexId ended_key(RegexId node);
  template <class F>
  void for_each_place(const NumberedTable& table, uint32_t low, uint32_t high, uint32_t from, uint32_t to,
                      uint32_t left_out, F f) const;
  // Of numbered keys by themselves.
  template <class F>
  void for_each_place(Words operands, F f) const {
    for_each_place(numbered_table(operands[0]), operands[1], operands[2], operands[4], operands[5], operands[6], f);
  }
  uint32_t shortest_key(RegexId node) const;
  uint32_t longest_key(RegexId node) const;

  // regex/prefixed_parts.cc
  RegexId prefixed_from(uint32_t parts, uint32_t low, uint32_t high, uint32_t depth, uint32_t owner);
  RegexId prefixed_part(uint32_t parts, uint32_t place, uint32_t depth);
  RegexId derive_prefixed(RegexId node, unsigned b);
  ByteSet first_of_prefixed(RegexId node);
  uint32_t shortest_prefixed(RegexId node);

  // regex/long_sequence.cc
  RegexId sequence_from(uint32_t sequence, uint32_t first);
  template <class F>
  void for_each_beginning(RegexId node, F f);
  RegexId derive_sequence(RegexId node, unsigned b);
  ByteSet first_of_sequence(RegexId node);

  // regex/derivative.cc
  RegexId derive(RegexId node, unsigned b);
  RegexId derive_concatenation(RegexId node, unsigned b);
  void add_rests(RegexId node, unsigned b, std::vector<RegexId>& rests);
  RegexId derive_head(RegexId node, unsigned b);
  bool has_counted_head(RegexId node) const;
  RegexId derive_alternation(Words parts, unsigned b);
  std::optional<RegexId> derive_excepting(Words parts, unsigned b);
  std::optional<RegexId> excepting_after(Words parts, std::string_view text);
  std::optional<uint32_t> n_rounds(RegexId run, std::string_view text);
  RegexId fewer(RegexId run, uint32_t n);
  std::optional<RegexId> run_after(RegexId run, std::string_view text);
  std::optional<RegexId> head_after(RegexId node, std::string_view text);
  std::optional<RegexId> within_bounds_after(RegexId node, std::string_view text);
  bool loops_over(RegexId node, std::string_view text);
  const ByteSet& find_first(RegexId node);
  void set_first(RegexId node, const ByteSet& set);
  ByteSet compute_first(RegexId node);
  ByteSet alike_here(RegexId node, unsigned b);

  // regex/search.cc
  bool is_infinite_at_sight(RegexId node) const;
  bool search_empty(RegexId node);
  bool is_too_short(RegexId node);

  // regex/bounds.cc
  // D{m,n} among the parts of an intersection, where the rest has no characters but those of D.
  struct RunAndRest {
    RegexId run;
    RegexId rest;
  };
  std::optional<RunAndRest> bounding_run(RegexId node);
  RegexId without_part(RegexId node, RegexId part);
  // What a run counts, if each text of its class is one byte or one character.
  std::optional<LengthUnit> unit_of(RegexId run);
  // Whether the node ends in C*, in each of its alternatives, where each text of C has the length 1.
  bool ends_in_loop(RegexId node, std::optional<LengthUnit> unit);
  std::optional<Bounded> bounded_whole(RegexId body);
  std::optional<Bounded> bounded_beginning(RegexId body);
  std::optional<Bounded> bounded_alternatives(RegexId body);
  std::optional<Bounded> compute_bounded_alternatives(RegexId body);
  uint32_t farthest_within(RegexId head, uint32_t maximum);
  // How long texts of the rest are by what the run counts.
  LengthRange range_of_rest(const RunAndRest& parts);
  // Whether the pattern of one within bounds has no text of such a length, if its structure tells.
  std::optional<bool> is_empty_by_lengths(RegexId node);
  // That pattern, if it has a text within the bounds wherever it has one at all.
  std::optional<RegexId> with_room_for_an_end(RegexId node);

  // regex/approximations.cc
  template <class Key, class Change>
  std::optional<RegexId> with_parts(RegexId node, HashTable& known, Key key, Change change);
  RegexId uncounted(RegexId node);
  RegexId clip(RegexId node, uint32_t longest, bool smaller);
  RegexId without_few_texts(RegexId node) const;

  // regex/json_string.cc
  struct JsonState;
  JsonState json_state(RegexId node) const;
  RegexId json_node(const JsonState& state);
  JsonState without_digits(JsonState state);
  bool json_between_characters(RegexId node) const;
  // Between characters or in an escape: what its body begins with comes next.
  bool json_inside_text(RegexId node) const;
  RegexId json_with_body(RegexId node, RegexId body);
  RegexId derive_json_string(RegexId node, unsigned b);
  std::optional<RegexId> json_string_after(RegexId node, std::string_view text);
  // The least length of a literal, or of the rest of one, whose text has at least `text` bytes to come.
  uint32_t shortest_json(RegexId node, uint32_t text) const;
  ByteSet first_of_json_string(RegexId node);
  ByteSet alike_in_json_string(RegexId node, unsigned b);
  RegexId after_character(const JsonState& state, uint32_t code_point);
  RegexId as_itself_in_yaml(RegexId left, unsigned b);
  template <class F>
  bool may_spell_some(const JsonState& state, F f) const;
  bool can_complete_escape(const JsonState& state);
  // Whether what is left of a JSON string may spell `text`, with which its body goes on: half an escape may not.
  bool may_spell(RegexId node, std::string_view text) const;
  bool can_take(RegexId node, uint32_t low, uint32_t high);
  template <class Count>
  std::vector<std::string> find_shortest(RegexId node, size_t most, Count count);
  std::optional<std::string> follow_lengths(RegexId node, size_t& most_derivatives);
  void count_step(RegexId from, uint64_t& steps);
  std::optional<RegexId> after_any_of(RegexId node, uint32_t low, uint32_t high);
  template <class F>
  bool after_some(RegexId node, uint32_t low, uint32_t high, F f);
  template <class F>
  bool after_some_bytes(RegexId node, unsigned lead, int n_more, uint32_t low, uint32_t high, F& f);

  uint64_t max_depth_;
  uint64_t max_search_steps_;
  uint64_t n_search_steps_ = 0;
  uint64_t n_asked_ = 0;  // questions to `alike`
  size_t n_derived_ = 0;  // derivatives
  Account* account_ = nullptr;
  std::unique_ptr<MinimumLengths> lengths_;
  Interner nodes_;
  ChunkedVector<Props> props_;
  ChunkedVector<ByteSet> first_sets_;
  HashTable derivatives_;
  HashTable uncounted_;
  HashTable clipped_;         // (node, longest, whether it is the smaller one) -> what `clip` makes of it
  HashTable within_;          // (node, class) -> whether is_within
  HashTable common_classes_;  // two classes -> their common one, kNoCommonClass if they have none
  HashTable ends_in_loop_;    // (alternation, unit) -> whether ends_in_loop
  HashTable bounded_ids_;     // of alternations, in bounded_
  ChunkedVector<std::optional<Bounded>> bounded_;
  Interner class_keys_;  // ranges of char_class; grammars ask for the same few again and again
  ChunkedVector<RegexId> class_nodes_;
  HashTable portable_;
  Interner key_tables_;
  ChunkedVector<std::shared_ptr<const KeyList>> kept_lists_;
  size_t kept_bytes_ = 0;
  Interner numbered_tables_;
  Interner left_out_;  // sets of places: the number of the first word of bits, and these
  Interner automaton_ids_;
  ChunkedVector<std::unique_ptr<const SubstringAutomaton>> automata_;
  size_t automaton_bytes_ = 0;
  Interner multiples_ids_;
  ChunkedVector<std::unique_ptr<const Multiples>> multiples_;
  size_t multiples_bytes_ = 0;
  HashTable prefixed_ids_;  // by the numbers of parts
  ChunkedVector<std::shared_ptr<const PrefixedParts>> prefixed_;
  size_t prefixed_bytes_ = 0;
  HashTable sequence_ids_;  // by their numbers
  ChunkedVector<std::shared_ptr<const LongSequence>> sequences_;
  size_t sequence_bytes_ = 0;
};

template <class F>
void RegexStore::for_each_place(const NumberedTable& table, uint32_t low, uint32_t high, uint32_t from, uint32_t to,
                                uint32_t left_out, F f) const {
  if (to - from < high - low) {
    for (uint32_t number = from; number < to; ++number) {
      const uint32_t place = table.places[number];
      if (place >= low && place < high && !is_left_out(left_out, place)) f(place);
    }
  } else {
    for (uint32_t place = low; place < high; ++place) {
      if (table.numbers[place] >= from && table.numbers[place] < to && !is_left_out(left_out, place)) f(place);
    }
  }
}

template <class F>
void RegexStore::for_each_number(RegexId node, F f) const {
  const bool is_string = kind(node) == RegexKind::kJsonString;
  const Words o = operands(is_string ? json_body(node) : node);
  const NumberedTable table = numbered_table(o[0]);
  for_each_place(o, [&](uint32_t place) {
    const std::string_view left = table.keys[place].substr(o[3]);
    const auto length = static_cast<uint32_t>(left.size());
    if (!is_string) return f(table.numbers[place], length);
    if (may_spell(node, left)) f(table.numbers[place], shortest_json(node, length));
  });
}

template <class F>
void RegexStore::for_each_text(RegexId node, F f) const {
  const Words o = operands(node);
  const auto left = [&](std::string_view key) { return key.substr(o[3]); };
  if (kind(node) == RegexKind::kKeySet) {
    const KeyTable keys = key_table(o[0]);
    for (uint32_t place = o[1]; place < o[2]; ++place) f(left(keys[place]), 0U);
    return;
  }
  const NumberedTable table = numbered_table(o[0]);
  for_each_place(o, [&](uint32_t place) { f(left(table.keys[place]), table.numbers[place]); });
}

// What a JSON string literal decodes to, as UTF-8. `literal` is one; lone surrogates are none.
std::string decode_json_string(std::string_view literal);

}  // namespace cfgmask
