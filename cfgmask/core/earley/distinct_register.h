// Registers of values: the scalars of a list, or the keys of an object, in which no value may come twice, as JSON or
// YAML spells them.
//
// A register is an interned set of values and the bounds of that set, so equal sets are one id whatever the order they
// came in. Values are compared as JSON Schema does: strings by what they decode to, numbers by what they are worth.
// Bounds leave no set that cannot be completed: once only the required values have room, nothing else fits.
//
// Arrays and objects that must be told from others have registers too, of all that is written in them so far; see
// Holds. What such a register comes to is a value of the one around it.
//
// Of an item that register is the one around it and a node of a trie: the steps that were taken, each a place in the
// item's rules and what was written there. The items before it are nodes of the same trie. If there are as many of them
// below a step as there are ways to go on after it, the step would end in one of them, so it must not be taken.
//
// A part of an item may be an item by itself: of the items before it those count that are alike around it, each for
// what it has in that place, and what may follow the part is what ends there are besides. That is for parts whose end
// is not written, as in YAML, which are known by what they came to. A list, an array without equal items, is such a
// part, too. What stands in it already is none of the ways to go on with its next item.
//
// Members of an object in an item that come in any order are no steps: of these the register is the one of the item and
// the set of keys with their values. How many ways there are to go on is found from what the other keys may be, and the
// items that may be meant are those of which the object has all that was written.
//
// Of a value that must have come before, the register is the one around it, and the value once it was written. What is
// open in it copies such a value: its register has the one around it, too, and nothing comes next but what does in some
// value that came and has all that is written.
//
// Threads: guarded by the owner.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "earley/grammar.h"
#include "earley/scalar_values.h"
#include "regex/regex.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"
#include "util/ids.h"
#include "util/interner.h"
#include "util/limits.h"

namespace cfgmask {

using RegisterId = Id<struct RegisterTag>;
using TextId = Id<struct TextTag>;

class DistinctRegister {
 public:
  // Registers and texts are charged as item sets, of which each may begin one. `bounds` outlives this; required values
  // are met.
  DistinctRegister(RegexStore& regexes, const std::vector<SetBounds>& bounds, uint64_t max_item_sets);

  // No set is open.
  static constexpr RegisterId none() { return RegisterId(0U); }
  // A set with bounds[i] is, inside of `around`, and nothing has been seen in it.
  RegisterId open(uint32_t i, RegisterId around);
  // Whether it may be opened there: a copy only where some value that came goes on with one like it.
  bool may_open(uint32_t i, RegisterId around);
  // The register with the value of a lexeme, which stands at that step of an item.
  RegisterId add(RegisterId seen, TextId text, Step step);
  // The register with a numbered key of a list, which `are_strings` tells how to read as in Choice.
  RegisterId add_key(RegisterId seen, uint32_t list, bool are_strings, uint32_t number);
  // Of numbered keys, those that the register asks for and has not; nothing() if it does of none of them.
  RegexId missing_keys(RegisterId seen, RegexId keys);
  // The register of an item after a lexeme of which no other value may stand at that step, and whether it may come.
  // Where nothing else may stand, it is the same.
  RegisterId pass(RegisterId seen, Step step);
  bool may_pass(RegisterId seen, Step step);
  // The register with what `ended`, which was opened inside of it, came to; nullopt if that must not come again.
  std::optional<RegisterId> add_ended(RegisterId seen, RegisterId ended);
  // Whether add_ended() would give one.
  bool admits(RegisterId seen, RegisterId ended);
  // Whether a set is what is written of an item, or of a list or members in one.
  static bool is_part(const SetBounds& of) { return is_item(of) || of.holds == Holds::kMembers; }
  // Whether such a part may end as it is.
  bool may_be_over(RegisterId seen) { return seen == none() || !is_part(bounds(seen)) || admits(around(seen), seen); }
  // Whether what it comes to is a value.
  bool is_value(RegisterId seen) const { return bounds(seen).holds != Holds::kValues; }
  // Adds the scalars that a register tells apart from others: all that are written in it or in what it holds, and the
  // names that its bounds know.
  void add_scalars(RegisterId seen, ScalarSet& out) const;
  // About how many bytes what it still asks for takes.
  uint32_t bytes_to_close(RegisterId seen);
  // What may be left of a text so that its value is one of the required values that are missing.
  RegexId missing_lexemes(RegisterId seen, TextId text);
  // The lexemes of `regex` whose values may be added to the register: those that are not in it and for which it has
  // room, and that step of an item can be taken with. RegexStore::nothing() if there are none. Remembered. In an item,
  // a walk up from each item before it, where one of them begins alike.
  RegexId addable(RegexId regex, RegisterId seen, Step step);
  // Whether there certainly are such lexemes whatever value the `new_text` in the register has, of which there is one
  // at most. Cost: some derivatives.
  bool is_addable_beside_new(RegexId regex, RegisterId seen, Step step);
  // Whether the register has all that its bounds ask for.
  bool may_close(RegisterId seen);

  // Texts of lexemes, one byte after the other. no_text() stands for a text that nobody needs.
  static constexpr TextId no_text() { return TextId(0U); }
  static constexpr TextId empty_text() { return TextId(1U); }
  // Some text or other: what may follow it is a superset of what may follow any.
  static constexpr TextId any_text() { return TextId(2U); }
  // Some text with a value that was never met: no different one, and whether it is equal to another such is not known;
  // see is_overapproximate().
  static constexpr TextId new_text() { return TextId(3U); }
  // Some text with a value that no other text has, neither before it nor behind: what may follow it is what may follow
  // any text of which that is so.
  static constexpr TextId other_text() { return TextId(4U); }
  TextId append(TextId text, unsigned b);
  // Whether it is some bytes.
  static bool is_begun(TextId text) { return text > other_text(); }
  // Whether its bytes are known, if there are any.
  static bool is_spelled(TextId text) { return text == empty_text() || is_begun(text); }
  // Those bytes.
  std::string spelled(TextId text) const;
  // Whether the value of the text with these bytes behind it has been met.
  bool is_met(TextId text, std::string_view more) const;
  // False if the value of no text that begins with this one has. Linear in the values.
  bool may_be_met(TextId text) const;
  // Whether the next value must not be one of those in the register.
  bool excludes(RegisterId seen) const;
  // Whether a value of some `new_text` is among those that the next one must not be.
  bool is_overapproximate(RegisterId seen) const;

  size_t bytes() const;
  uint64_t n_charged() const { return account_.used; }
  Account& account() { return account_; }

 private:
  struct Text {
    TextId shorter;
    uint8_t last = 0;
  };

  // The values of a register as regexes: strings over their decoded text, of those the ones that are strings without
  // quotes, too, and anything else as it is spelled.
  struct Unwanted {
    RegexId strings;
    RegexId bare;
    RegexId others;
  };

  // Values by keys, sorted.
  using Pairs = std::map<uint32_t, uint32_t>;

  // What is written of an item: the steps before, and one more.
  struct Node {
    uint32_t parent = 0;
    uint32_t depth = 0;
    bool is_overapproximate = false;  // a new_text is in it
  };

  const Unwanted& unwanted(RegisterId seen);
  Unwanted unwanted_of(const std::vector<uint32_t>& values);
  uint32_t intern_value(std::string value);
  std::string value_of_ended(RegisterId ended) const;
  RegisterId add_value(RegisterId seen, uint32_t value, Step step = {});
  RegisterId in_item(RegisterId item, uint32_t node);
  uint32_t intern_node(uint32_t parent, Step step, uint32_t value);
  bool is_again(RegisterId seen) const { return bounds(seen).holds == Holds::kAgain; }
  // Whether it is of a value that must have come before, or of what is open in one.
  bool copies(RegisterId seen) const {
    return may_copy_.load(std::memory_order_relaxed) && again_around(seen) != none();
  }
  // The register of that value; none() if there is none.
  RegisterId again_around(RegisterId seen) const;
  // Whether not all of the values that such a one may be are known.
  bool may_be_any(RegisterId copy) const;
  // What may come next in it, at a place of an item or members, until the next call. May have some value twice. Mostly
  // remembered, since all that may come asks for the same; else linear in the values that may come to all of it.
  const std::vector<uint32_t>& next_copied(RegisterId copy, uint32_t place);
  std::vector<uint32_t> next_in(RegisterId copy, const std::vector<uint32_t>& whole, uint32_t place) const;
  static bool is_item(const SetBounds& of) { return of.holds == Holds::kItem || of.holds == Holds::kList; }
  bool is_item(RegisterId seen) const { return is_item(bounds(seen)); }
  bool is_list(RegisterId seen) const { return seen != none() && bounds(seen).holds == Holds::kList; }
  bool is_members(RegisterId seen) const { return bounds(seen).holds == Holds::kMembers; }
  // Whether a register has the one around it: an item, members, a value that must come again, and what is in one.
  static bool is_inner(const SetBounds& of) {
    return is_item(of) || of.holds == Holds::kMembers || of.holds == Holds::kAgain;
  }
  bool has_around(RegisterId seen) const { return is_marked(seen) || is_inner(bounds(seen)); }
  // An array or an object that copies, and would not have the register around it elsewhere.
  bool is_marked(RegisterId seen) const;
  // That one.
  RegisterId around(RegisterId inner) const { return RegisterId(seen_ids_.at(inner.value)[1]); }
  uint32_t node(RegisterId item) const { return entries(item)[1]; }
  // How many of the items() of the outermost set begin with a node of the trie; how many of some nodes do.
  uint32_t n_below(RegisterId item, uint32_t node);
  uint32_t n_below(const std::vector<uint32_t>& others, uint32_t node) const;
  void count_items(RegisterId item, std::pair<RegisterId, uint32_t> place);
  std::optional<uint32_t> step_below(uint32_t before, uint32_t last) const;
  // The nodes of what an item must not become too often: of what stands in its place in such items of a set or list
  // that is around it as it may still be a part of. There may be several alike.
  std::vector<uint32_t> items(RegisterId item, RegisterId of) const;
  std::vector<uint32_t> next_values(RegisterId item, uint32_t place, RegisterId of) const;
  // Adds what stands at a place behind all that is written of an item in those of the others that begin like it.
  void add_next_values(RegisterId item, const std::vector<uint32_t>& others, uint32_t place,
                       std::vector<uint32_t>& out) const;
  std::vector<uint32_t> nodes_of(const std::vector<uint32_t>& values) const;
  // The values that are written of a list.
  std::vector<uint32_t> in_list(RegisterId list) const;
  bool is_exhausted(RegisterId item, Step step, uint32_t value);
  // The values of which each leads to nothing but items that came.
  std::vector<uint32_t> exhausted(RegisterId item, Step step);
  // Whether all ends of a part that go on in so many ways are taken, where n_alike() tells how many items of a set or
  // list around it go on so.
  bool is_used_up(RegisterId part, uint32_t ways, const std::function<uint32_t(RegisterId)>& n_alike) const;
  // How many ends of what is right around a part may follow behind it.
  uint32_t n_ends(RegisterId part) const;
  // In how many ways members can be completed behind the value of one more key, which stands at a place.
  uint32_t n_completions(RegisterId members, uint32_t place) const;
  // At which place a key of members stands; 0 if that is not known.
  uint32_t place_of(RegisterId members, uint32_t key) const;
  uint64_t key_of_place(RegisterId members, uint32_t key) const;
  // The objects that members may become, out of items of a set or list that came, and there may be several alike.
  std::vector<Pairs> possible_objects(RegisterId members, RegisterId of) const;
  // Those among some values that an object may become.
  std::vector<Pairs> possible_among(RegisterId begun, const std::vector<uint32_t>& values) const;
  // Whether a key, or any of its place that no item has, leads to nothing but items that came.
  bool is_exhausted_key(RegisterId members, uint32_t place, std::optional<uint32_t> key) const;
  std::optional<std::vector<uint32_t>> exhausted_keys(RegisterId members, uint32_t place) const;
  static void add_member(std::vector<uint32_t>& object, size_t waiting_at, uint32_t value);
  // What a register holds, in words that Holds says how to read: values, sorted if their order does not count; or 1 +
  // the key whose value comes next (0: a key does), and pairs of key and value, sorted, of members the register around
  // them before that; or of an item the register around it and a node; or the register around a value and that.
  Words entries(RegisterId seen) const { return seen_ids_.at(seen.value).subspan(first_entry(seen)); }
  size_t first_entry(RegisterId seen) const { return is_marked(seen) ? 2 : 1; }
  bool has_keys(RegisterId seen) const { return bounds(seen).holds == Holds::kObject || is_members(seen); }
  // Which of the entries of an object is the key whose value comes next.
  size_t waiting_at(RegisterId object) const { return is_members(object) ? 1 : 0; }
  uint32_t waiting(RegisterId object) const { return entries(object)[waiting_at(object)]; }
  Words pairs(RegisterId object) const { return entries(object).subspan(waiting_at(object) + 1); }
  std::vector<uint32_t> keys(RegisterId object) const;
  static bool has_new(const std::vector<uint32_t>& values);
  RegisterId unknown();
  bool is_unknown(RegisterId seen) const;
  // The values that the next one must not be, sorted or not.
  std::vector<uint32_t> taken(RegisterId seen) const;
  size_t n_values(RegisterId seen) const;
  const SetBounds& bounds(RegisterId seen) const;
  // The values that bounds require, sorted.
  const std::vector<uint32_t>& required(uint32_t i);
  // Those that a register has not.
  std::vector<uint32_t> missing_values(RegisterId seen);
  std::vector<std::string> missing(RegisterId seen);
  // Values and numbers of the keys of a list.
  struct KeyNumbers {
    std::vector<uint32_t> values;  // by number
    std::unordered_map<uint32_t, uint32_t> numbers;
  };
  const KeyNumbers& key_numbers(uint32_t list, bool are_strings);
  // The values that lexemes other than numbered keys must not have.
  std::vector<uint32_t> taken_by_others(RegisterId seen) const;
  // The numbers of those values that are keys of a list.
  static std::vector<uint32_t> numbers_of(const KeyNumbers& keys, std::span<const uint32_t> values);
  RegexId addable_keys(RegexId keys, RegisterId seen);
  bool has_values_at_sight(RegexId lexemes);
  RegexId compute_addable(RegexId regex, RegisterId seen, Step step);
  template <class F>
  RegexId each_part(RegexId alternation, F f);
  RegexId subtract(RegexId regex, const Unwanted& unwanted);
  bool may_be_bare(RegexId regex);
  // The lexemes of `regex` with one of the values that are called unwanted elsewhere.
  RegexId intersect(RegexId regex, const Unwanted& wanted);
  bool are_strings(RegexId regex);
  // The keys that spell one of the strings, as JSON and YAML do.
  RegexId keys_of(const Unwanted& wanted);
  RegexId without(RegexId regex, RegexId unwanted);

  RegexStore& regexes_;
  const std::vector<SetBounds>& bounds_;
  std::atomic<bool> may_copy_ = false;  // once some set was opened for a value that came before
  Account account_;
  ChunkedVector<Text> texts_;
  HashTable text_ids_;  // (text, byte)
  Interner value_ids_;  // words of the value's bytes; see value_of()
  ChunkedVector<std::string> values_;
  Interner seen_ids_;  // index of the bounds, which may be marked, then entries
  std::vector<std::optional<std::vector<uint32_t>>> required_;  // by bounds
  std::map<std::pair<uint32_t, bool>, KeyNumbers> key_numbers_;
  // By bounds, the lists of which keys were added to such sets.
  std::unordered_map<uint32_t, std::vector<const KeyNumbers*>> lists_of_;
  HashTable addable_;       // (regex, register), in an item and among its members (place, register)
  HashTable unwanted_ids_;  // by register; every terminal that may come next asks for the same
  ChunkedVector<Unwanted> unwanted_;
  Interner node_ids_;     // words (parent, place, value)
  HashTable key_places_;  // by step of members in an item, and key
  ChunkedVector<Node> nodes_;
  std::pair<RegisterId, uint32_t> counted_;                          // the register and the place in it of these counts
  std::vector<uint32_t> counted_items_;                              // what stands there in items, sorted
  std::unordered_map<uint32_t, uint32_t> below_;                     // by node, how many of its items begin so
  std::unordered_map<uint64_t, std::vector<uint32_t>> next_copied_;  // by register and place; a few
};

}  // namespace cfgmask
