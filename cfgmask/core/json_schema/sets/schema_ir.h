// JSON Schemas whose keywords are combined without much search (json_schema/sets/schema_algebra.h). They are nearly all
// that people write, and a first mask waits for them, so they come from their values to rules without Python.
//
// A value is a set of JSON values: scalars as terminals, at most one shape of arrays and one of objects, and other
// values whose union it is. Equal values are one, wherever they stand in the schema, so that what a grammar learns in
// one place serves the others.
//
// Threads: immutable once read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "json_schema/sets/evaluated.h"
#include "json_schema/sets/nesting.h"
#include "json_schema/spelling/number_set.h"
#include "json_schema/spelling/number_union.h"
#include "json_schema/spelling/simple_pattern.h"
#include "regex/regex.h"
#include "regex/regex_data.h"
#include "util/chunked_vector.h"
#include "util/hash_table.h"
#include "util/ids.h"
#include "util/interner.h"
#include "util/text_hash.h"

namespace cfgmask {

class IndexedChoice;
class IndexedNumbers;
struct IndexedObject;
struct IndexedUnion;
struct ScalarsTogether;
struct ValueCounts;

class SchemaIR {
 public:
  // The JSON types of a value, as bits.
  enum Kind : uint32_t { kNull = 1, kBoolean = 2, kNumber = 4, kString = 8, kArray = 16, kObject = 32, kAnyKind = 63 };

  enum class Spelling : uint8_t { kWord, kAnyString, kListed, kText, kNumbers, kNumberUnion, kOutside };
  // Texts in which a pattern is found, if there is one, and their length in characters.
  struct Text {
    std::optional<uint32_t> pattern;
    uint32_t minimum = 0;
    uint32_t maximum = kUnbounded;
  };
  struct Terminal {
    std::string_view name = {};  // the word itself, if it is one: `true`
    Kind kind = kAnyKind;
    Spelling spelling = Spelling::kWord;
    std::vector<std::string> listed = {};  // the strings that it stands for
    Text text = {};
    std::shared_ptr<const NumberSet> numbers = {};
    std::shared_ptr<const NumberUnion> number_union = {};
    // Of many listed strings or numbers; known after `finish_adding`.
    std::shared_ptr<const IndexedChoice> large = {};
    std::shared_ptr<const IndexedNumbers> indexed_numbers = {};
    uint32_t outside = 0;         // which regex of `outside`
    std::string definition = {};  // of that: the strings as a schema
  };
  struct Member {
    uint32_t name;
    ValueId value;
    bool required;
    bool listed;  // among the properties; those come first
  };
  // A condition on keys: that they are strings of a terminal.
  struct KeyCondition {
    uint32_t terminal;
    std::string definition = {};                // as a schema
    std::shared_ptr<const KeyList> large = {};  // the keys, if they are many; known after `finish_adding`
  };
  // Keys that meet some conditions and not others, by their numbers in ascending order.
  struct Keys {
    std::vector<uint32_t> met = {};
    std::vector<uint32_t> broken = {};

    bool is_any() const { return met.empty() && broken.empty(); }
    bool operator==(const Keys&) const = default;
  };
  // Such keys, what they hold, the witnesses that they may meet, as bits, and how many keys there are: kUnbounded for
  // as many as can be asked for. Witnesses and numbers are known once a value is finished (SchemaAlgebra::finish).
  struct KeyClass {
    Keys keys;
    ValueId value;
    uint32_t meets = kAllWitnesses;
    uint32_t count = kUnbounded;
  };
  static constexpr uint32_t kAllWitnesses = UINT32_MAX;
  // Of the items at index `start` and later, at least and at most so many are in a set; the others are in `opposite`.
  struct ItemWitness {
    uint32_t start;
    ValueId value;
    ValueId opposite;
    uint32_t least = 1;
    uint32_t most = kUnbounded;

    bool operator==(const ItemWitness&) const = default;
  };
  // Kinds of items that share no value: each is within a set that stands in some place of an array, or that a witness
  // asks for, or shares nothing with it.
  struct ItemKinds {
    struct Kind {
      ValueId items;
      uint64_t within;  // as bits of the sets
    };

    std::vector<ValueId> sets;
    std::vector<Kind> kinds;

    // None for what is not among the sets.
    uint64_t bit(ValueId set) const {
      const auto found = std::ranges::find(sets, set);
      return found == sets.end() ? 0 : uint64_t{1} << (found - sets.begin());
    }
  };
  struct Array {
    std::vector<ValueId> prefix = {};
    std::optional<ValueId> rest = std::nullopt;
    uint32_t minimum = 0;
    uint32_t maximum = kUnbounded;
    std::vector<ItemWitness> witnesses = {};
    bool distinct = false;     // no item is equal to another
    uint32_t distinct_at = 0;  // the name of the place that says so
    bool repeats = false;      // some item is equal to another; otherwise as above
    uint32_t repeats_at = 0;
    // Known of an array that repeats once it is finished, and of one whose items must differ where they are counted.
    std::shared_ptr<const ItemKinds> kinds = {};
    EvaluatedItems evaluated = {};

    bool forbids_equal_items() const { return distinct && maximum > 1; }
    // Whether its items must differ, and are counted by their kinds.
    bool counts_kinds() const { return kinds && !repeats && forbids_equal_items(); }
    std::optional<ValueId> item(size_t i) const { return i < prefix.size() ? std::optional(prefix[i]) : rest; }
  };
  // Some key of these, that is none of the names of members in `besides`, must be there and hold such a value. A name
  // of a member that is not among the keys is in `besides`.
  struct KeyWitness {
    std::vector<uint32_t> besides;
    ValueId value;
    Keys keys = {};

    bool operator==(const KeyWitness&) const = default;
    bool admits(uint32_t name) const { return std::find(besides.begin(), besides.end(), name) == besides.end(); }
  };
  struct Object {
    std::vector<Member> members;
    std::vector<KeyClass> classes;
    std::optional<ValueId> others;         // what all other keys hold; none: there are no others
    Keys others_keys;                      // which they are, where there are or were classes; apart from those
    uint32_t others_meet = kAllWitnesses;  // as for classes
    uint32_t n_others = kUnbounded;
    uint32_t minimum = 0;  // how many keys
    uint32_t maximum = kUnbounded;
    std::vector<KeyWitness> witnesses;
    EvaluatedKeys evaluated = {};
    bool is_overapproximate =
        false;  // a condition was left out that cannot be read: there are objects that should not be

    bool is_any() const {
      return members.empty() && !has_classes() && others == any() && minimum == 0 && maximum == kUnbounded &&
             witnesses.empty() && !is_overapproximate && evaluated.are_none();
    }
    bool has_classes() const { return !others_keys.is_any() || !classes.empty(); }
    size_t n_required() const;
    // Whether what keys without names must come to depends on none of them being written twice.
    bool counts_others() const {
      return (others || !classes.empty()) && (minimum > n_required() + 1 || has_particular_witnesses());
    }
    // Whether it makes a difference to the witnesses which key without a name comes, or how many may.
    bool has_particular_witnesses() const {
      const auto is_particular = [](const KeyWitness& w) { return w.value != any() || !w.keys.is_any(); };
      return std::ranges::any_of(witnesses, is_particular) ||
             (!witnesses.empty() && maximum < n_required() + witnesses.size());
    }
    // The kinds of keys without names, those of no class last.
    std::vector<KeyClass> kinds() const;
    // Whether more than one of these may be written.
    bool may_repeat_others() const { return (others || !classes.empty()) && maximum > n_required() + 1; }
    struct Bounds {
      uint32_t minimum;
      uint32_t maximum;

      bool are_idle() const { return minimum == 0 && maximum == kUnbounded; }
    };
    // How many keys; 0 and kUnbounded where that holds anyway.
    Bounds bounds() const;
  };
  struct Value {
    std::string name;  // of its rule; says nothing about the value
    std::vector<uint32_t> terminals;
    // Null where there are none. Most combinations hand them on as they are.
    std::shared_ptr<const Array> array;
    std::shared_ptr<const Object> object;
    std::vector<ValueId> alternatives;  // if there are any, there is nothing else

    bool is_empty() const { return terminals.empty() && !array && !object && alternatives.empty(); }
    // Whether it has sets that `for_each_inside` does not visit: what meets witnesses.
    bool has_common_sets() const {
      return (array && !array->witnesses.empty() && !array->kinds) || (object && object->has_particular_witnesses());
    }
    bool may_have_many_states() const {
      return (array && (!array->witnesses.empty() || array->repeats || array->kinds)) ||
             (object && object->has_particular_witnesses());
    }
  };
  // What has to be known of all values before the rules of any are made.
  struct Overview {
    // Whether some object may have keys that never run out, and some array without equal items such strings; it may
    // turn out that none has.
    bool has_endless_keys = false;
    bool has_endless_items = false;
    // Whether some array has no equal items.
    bool has_distinct_items = false;
    // Whether some value may need several values that differ, or composite ones.
    bool needs_distinct = false;
    std::vector<ValueId> with_many_states = {};
    std::vector<ValueId> apart_with_many_states = {};  // of values that are told from others, too
  };

  SchemaIR();
  // What it has refers to its own parts.
  SchemaIR(const SchemaIR&) = delete;
  SchemaIR(SchemaIR&&) = default;

  // Null for none.
  template <class Shape>
  static std::shared_ptr<const Shape> shared(std::optional<Shape> shape) {
    return shape ? std::make_shared<Shape>(*std::move(shape)) : nullptr;
  }

  // Every JSON value.
  static constexpr ValueId any() { return ValueId(0U); }

  // No value at all.
  static constexpr ValueId never() { return ValueId(1U); }
  // The value with this content, made if it is new.
  ValueId add(Value value);
  // A value that refers to itself: its id is needed before its content is known.
  ValueId reserve();
  void define(ValueId id, Value value);
  // Changes the array or object of a value. `change` may add values.
  template <class F>
  void change_array(ValueId id, F change) {
    Array array = *at(id).array;
    change(array);
    values_[id.value].array = std::make_shared<Array>(std::move(array));
  }
  template <class F>
  void change_object(ValueId id, F change) {
    Object object = *at(id).object;
    change(object);
    values_[id.value].object = std::make_shared<Object>(std::move(object));
  }
  bool is_defined(ValueId id) const { return defined_[id.value]; }
  uint32_t name(std::string_view text);
  // Terminals.
  static constexpr uint32_t null() { return 0; }
  static constexpr uint32_t true_() { return 1; }
  static constexpr uint32_t false_() { return 2; }
  static constexpr uint32_t any_string() { return 3; }
  static constexpr uint32_t any_number() { return 4; }
  uint32_t listed(std::vector<std::string> texts);
  // nullopt where it is not certain whether there are such texts.
  std::optional<uint32_t> text(const Text& text);
  // nullopt for a pattern that is not simple.
  std::optional<uint32_t> pattern(std::string_view text, uint64_t max_nesting, CharacterProperties& properties);
  // The strings that any of the terminals has; none where a pattern alone does not say each, or all together.
  std::optional<uint32_t> strings_of_any(const std::vector<uint32_t>& terminals, uint64_t max_nesting,
                                         CharacterProperties& properties);
  // None: there are no such numbers.
  std::optional<uint32_t> numbers(NumberSet set);
  // The numbers of sets that all have some.
  std::optional<uint32_t> numbers(NumberUnion sets);
  // Strings that no list or pattern says: as a regex, and as a schema.
  uint32_t outside(std::shared_ptr<const PortableRegex> regex, std::string definition);
  NumberUnion number_union(const Terminal& terminal) const {
    return terminal.number_union ? *terminal.number_union : NumberUnion(*terminal.numbers);
  }
  std::optional<uint32_t> some_listed(std::vector<std::string> texts);  // none for no texts
  // The number of a condition, the same for equal definitions.
  uint32_t add_key_condition(KeyCondition condition);
  void set_root(ValueId root) { root_ = root; }

  ValueId root() const { return root_; }
  const Value& at(ValueId id) const { return values_[id.value]; }
  // The same set without names for it on the way.
  ValueId resolved(ValueId id) const {
    while (at(id).alternatives.size() == 1) id = at(id).alternatives[0];
    return id;
  }
  size_t n_values() const { return values_.size(); }
  const std::string& name_at(uint32_t name) const { return names_[name]; }
  const KeyCondition& key_condition(uint32_t number) const { return key_conditions_[number]; }
  // The texts of keys.
  RegexId keys_regex(const Keys& keys, RegexStore& store) const;
  // The texts of the strings of a terminal; of one that is kOutside, its regex must be that of JSON strings.
  RegexId text_regex(const Terminal& terminal, RegexStore& store,
                     SimplePattern::Sequences how = SimplePattern::Sequences::kByPart) const;
  // Whether the items of an array, none equal to another, may have strings that never run out, and it needs no two.
  bool may_have_endless_items(const Array& array) const;
  bool needs_distinct(const Array& array) const;
  // The scalars of these kinds that the items of an array may be, each once or more often.
  std::vector<uint32_t> item_terminals(const Array& array, uint32_t kinds) const;
  // The sets that unions are made of at the last, each once, but for those without values.
  std::vector<ValueId> alternatives_of(std::vector<ValueId> unions) const;
  // Whether there are arrays or objects in some sets; among the items of an array that must not be equal.
  bool has_composites(const std::vector<ValueId>& sets, uint32_t room = kUnbounded) const;
  bool has_composite_items(const Array& array) const;
  // How many scalars there are in a set that has a value; as many as can be where that is not known.
  uint64_t most_scalars(ValueId id) const;
  // What the strings of a terminal plainly begin with.
  std::string_view start(const Terminal& terminal) const;
  // Whether a text meets the conditions; nullopt where that takes long to tell.
  std::optional<bool> admits(const Text& condition, std::string_view text) const;
  // Whether a text is one of the strings of a terminal; as before.
  std::optional<bool> admits(const Terminal& terminal, std::string_view text) const;
  // Those of the texts that a terminal stands for, or that meet conditions, and the others; nullopt where that takes
  // long to tell.
  struct Divided {
    std::vector<std::string> in;
    std::vector<std::string> out;
  };
  template <class By>
  std::optional<Divided> divided(const std::vector<std::string>& texts, const By& by) const {
    Divided found;
    for (const std::string& text : texts) {
      const auto is_in = admits(by, text);
      if (!is_in) return std::nullopt;
      (*is_in ? found.in : found.out).push_back(text);
    }
    return found;
  }
  const Terminal& terminal(uint32_t index) const { return terminals_[index]; }
  const PortableRegex& outside(const Terminal& terminal) const { return *outside_[terminal.outside]; }
  const std::vector<std::shared_ptr<const PortableRegex>>& all_outside() const { return outside_; }
  // How many scalars a terminal plainly stands for, at least; 2**32 for very many.
  uint64_t count(const Terminal& terminal) const;
  // Whether it is certain that two terminals have no scalar in common.
  bool plainly_apart(const Terminal& a, const Terminal& b) const;
  bool are_apart(uint32_t a, uint32_t b) const {
    return terminals_apart_.contains(std::minmax(a, b)) || plainly_apart(terminals_[a], terminals_[b]);
  }
  // Says of two terminals, or two sets, that they have no value in common: of those that are made like that.
  void keep_apart(uint32_t a, uint32_t b) { terminals_apart_.insert(std::minmax(a, b)); }
  void keep_apart(ValueId a, ValueId b) { sets_apart_.insert(std::minmax(a.value, b.value)); }
  // A string as a schema, in JSON.
  std::string definition(uint32_t terminal) const;
  size_t n_terminals() const { return terminals_.size(); }
  // Roughly; known after `finish_adding`.
  size_t bytes() const { return bytes_; }
  // Forgets what is needed to add to it, and names of rules.
  // told_apart  the sets whose values are told from others by all that is in them
  void finish_adding(const std::vector<ValueId>& told_apart = {});
  // Known after `finish_adding`.
  const Overview& overview() const { return overview_; }
  // Where a value stands in an order in which unions come before what they are unions of.
  uint32_t order(ValueId id) const;
  // The scalars of a union that are read together; null for other values and where there are few.
  std::shared_ptr<const ScalarsTogether> together(ValueId id) const;
  // The objects and arrays of a union, but for what is read together; null for other values and where there are few.
  std::shared_ptr<const IndexedUnion> indexed_union(ValueId id) const;
  // Null where the members of an object are few.
  std::shared_ptr<const IndexedObject> large(ValueId id) const;
  // The pattern that is all there is to the strings of a terminal; or null.
  const SimplePattern* only_pattern(const Terminal& terminal) const;

  // What a value of a set that is in another one, too, is in, where rules need to know.
  void set_common(ValueId a, ValueId b, ValueId both) { common_[{a.value, b.value}] = both; }
  std::optional<ValueId> known_common(ValueId a, ValueId b) const;
  ValueId common(ValueId a, ValueId b) const;

  // How many values there are in items that are told apart by their steps. Never null.
  void set_counts(ValueCounts counts);
  const ValueCounts& counts() const { return *counts_; }

  // Calls with each set that a value is made of: alternatives, items, members.
  template <class F>
  static void for_each_inside(const Value& value, F call) {
    std::for_each(value.alternatives.begin(), value.alternatives.end(), call);
    if (value.array) {
      std::for_each(value.array->prefix.begin(), value.array->prefix.end(), call);
      if (value.array->rest) call(*value.array->rest);
      if (value.array->kinds) {
        for (const auto& kind : value.array->kinds->kinds) call(kind.items);
      }
    }
    if (value.object) {
      for (const Member& member : value.object->members) call(member.value);
      for (const KeyClass& keys : value.object->classes) call(keys.value);
      if (value.object->others) call(*value.object->others);
    }
  }

  // Whether it is certain that two sets have no value in common; adds how many values inside of them were looked at.
  bool disjoint(ValueId a, ValueId b, uint64_t& looks) const;
  // Finds out which of the sets that the root reaches have a value; false where that takes more than some looks at
  // each.
  bool find_live();
  // Finds out the same for values that fit into each room of the outermost value and less; forgets that of others.
  bool find_live_within(const Nesting& nesting);
  // Known after `find_live`. With a room, only values that fit into it count; known after `find_live_within`.
  bool is_live(ValueId id, uint32_t room = kUnbounded) const {
    return (room < flat_.size() ? flat_[room] : live_)[id.value];
  }
  // Which sets a text may reach: those with a value, in arrays and objects that there may be. By their numbers.
  std::vector<bool> written() const;
  // Whether it has such a value that is an array or an object.
  bool has_live_composites(ValueId id, uint32_t room = kUnbounded) const {
    const std::vector<bool>& live = room < flat_.size() ? flat_[room] : live_;
    return live[live.size() / 2 + id.value];
  }
  // Whether each set that has a value has one that fits into the room.
  bool is_roomy(uint32_t room) const { return room >= flat_.size(); }
  // Whether a value of this shape exists that fits into a room. A union may be live although its objects are not.
  bool can_be(const Array& array, uint32_t room = kUnbounded) const;
  bool can_be(const Object& object, uint32_t room = kUnbounded) const;
  // How many keys without names may be written whose values fit into a room; as much as kUnbounded for as many as can
  // be asked for.
  uint64_t n_others(const Object& object, uint32_t inside = kUnbounded) const;
  // Of rooms.
  const Nesting& nesting() const { return nesting_; }
  // What an object has to hold at a key that is `name`; none: it cannot have such a key; unknown where classes of keys
  // may have it.
  struct Held {
    bool known;
    std::optional<ValueId> value;
  };
  Held held(const Object& object, uint32_t name) const;

 private:
  void flatten(ValueId id, std::vector<ValueId>& out) const;
  // How deep inside of the two sets a look is, and how much may still be looked at.
  struct Look {
    int depth;
    uint64_t& left;
  };
  bool disjoint(ValueId a, ValueId b, Look look) const;
  bool disjoint_parts(const Value& a, const Value& b, Look look) const;
  bool told_apart(const Object& a, const Object& b, Look look) const;
  bool told_apart(const Array& a, const Array& b, Look look) const;
  bool has_none_like(const Object& object, const KeyWitness& witness, Look look) const;
  bool has_none_like(const Array& array, const ItemWitness& witness, Look look) const;
  std::vector<std::string> few_texts(const Terminal& terminal) const;
  bool find_live(std::vector<bool>& live, uint32_t room);
  bool has_scalar(const Value& value, uint32_t room) const;
  bool has_composite(const Value& value, uint32_t room) const;
  // `inside`: the room of its items, or of the values of its members.
  template <class Shape>
  bool can_be_met(const Shape& shape, uint32_t inside) const;
  // What the root reaches; but in circles, what a value holds comes before it.
  std::vector<ValueId> reached() const;
  // The terminal with these strings or numbers, made if it is new.
  template <class Same>
  uint32_t found_or_made(HashIndex& known, size_t hash, Same same, Terminal made);
  void find_orders();
  void look_over(ValueId id);

  std::map<std::pair<uint32_t, uint32_t>, ValueId> common_;
  std::set<std::pair<uint32_t, uint32_t>> terminals_apart_;
  std::set<std::pair<uint32_t, uint32_t>> sets_apart_;
  ChunkedVector<Value> values_;
  std::vector<bool> defined_;
  std::vector<bool> live_;  // by value; after these, whether arrays or objects among them are
  Nesting nesting_ = Nesting::of_brackets(kUnbounded);
  std::vector<std::vector<bool>> flat_;  // the same by room, up to the last one that excludes a set
  Interner contents_;
  std::vector<ValueId> by_content_;  // by the number of its content
  std::vector<uint32_t> content_;    // working memory
  HashIndex name_ids_;
  ChunkedVector<std::string> names_;
  ChunkedVector<Terminal> terminals_;
  HashIndex lists_;
  HashIndex number_sets_;
  HashIndex number_unions_;
  std::vector<SimplePattern> patterns_;
  std::vector<const std::string*> pattern_texts_;
  TextMap<std::string, std::optional<uint32_t>> pattern_ids_;
  std::vector<std::shared_ptr<const PortableRegex>> outside_;
  std::vector<KeyCondition> key_conditions_;
  TextMap<std::string, uint32_t> key_condition_ids_;
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> texts_;
  ValueId root_{0U};
  std::vector<ValueId> unions_;   // without mere names
  std::vector<uint32_t> orders_;  // of those
  std::unordered_map<uint32_t, std::shared_ptr<const ScalarsTogether>> together_;
  std::unordered_map<uint32_t, std::shared_ptr<const IndexedUnion>> indexed_unions_;
  std::unordered_map<uint32_t, std::shared_ptr<const IndexedObject>> large_;
  Overview overview_;
  std::shared_ptr<const ValueCounts> counts_;
  size_t bytes_ = 0;
};

}  // namespace cfgmask
