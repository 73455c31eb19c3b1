// Intersection and difference of sets of values, as
// tests/reference/json_schema/{algebra,object_algebra,array_algebra}.py define them.
//
// A combination of sets is an id at once, and is worked out when something looks at it: what members and items hold is
// combined by name only. That keeps recursive schemas finite, since there are only so many combinations of the parts of
// one schema, and leaves alone what the root does not reach.
//
// Threads: as `SchemaIR`, while it is made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "json_schema/sets/key_conditions.h"
#include "json_schema/sets/refusals.h"
#include "json_schema/sets/schema_ir.h"
#include "json_schema/sets/writable.h"
#include "json_schema/spelling/number_union.h"
#include "util/text_hash.h"

namespace cfgmask {

class SchemaAlgebra {
 public:
  // Conditions on keys sort them into so many classes at most, and into so many for those that overlap each other, each
  // of which is a terminal of several regexes.
  static constexpr size_t kMaxClasses = 100'000;
  static constexpr size_t kMaxOverlaps = 128;
  static bool are_too_many(size_t n_classes, size_t n_overlaps) {
    return n_classes > kMaxClasses || n_overlaps > kMaxOverlaps;
  }

  // Thrown where it takes more than this to tell what a combination is.
  struct Unsupported {
    SchemaRefusal::Kind kind = SchemaRefusal::Kind::kUnread;
  };
  // Thrown where unions come to more alternatives together than either way takes.
  struct TooManyAlternatives : Unsupported {
    TooManyAlternatives() : Unsupported{SchemaRefusal::Kind::kTooManyAlternatives} {}
  };
  // Thrown where more is combined than allowed.
  struct TooMuchWork {
    std::string name;  // of the set that was worked out
  };
  // A set that a value must be in, or must not be in.
  struct Term {
    ValueId id;
    bool negated = false;

    bool operator==(const Term&) const = default;
  };
  using Terms = std::vector<Term>;
  // The strings of a schema, as JSON text; none: there are no such strings. May throw Unsupported.
  using Ask = std::function<std::optional<uint32_t>(const std::string& schema)>;
  // The numbers that are made, which may throw what `NumberUnion` does; none: there are no such numbers. May throw
  // Unsupported.
  using MakeNumbers = std::function<NumberUnion()>;
  using AddNumbers = std::function<std::optional<uint32_t>(const MakeNumbers& make)>;
  // Is told of each value that is made, and may throw.
  using Spend = std::function<void(const SchemaIR::Value&)>;

  // max_work: how many members may be combined with others, all in all. annotates: whether values have annotations.
  // writable: what values are left in the end; null: all.
  SchemaAlgebra(SchemaIR& schema, KeyConditions& keys, Ask ask, AddNumbers add_numbers, Spend spend, uint64_t max_work,
                bool annotates, const Writable* writable)
      : schema_(schema),
        keys_(keys),
        ask_(std::move(ask)),
        add_numbers_(std::move(add_numbers)),
        spend_(std::move(spend)),
        annotates_(annotates),
        writable_(writable),
        max_work_(max_work) {}

  // What is read or worked out while this lives is at a place, which outlives it.
  class At {
   public:
    At(SchemaAlgebra& algebra, const std::string* place)
        : algebra_(algebra), around_(std::exchange(algebra.place_, place)), n_thrown_(std::uncaught_exceptions()) {}
    At(const At&) = delete;
    ~At() {
      if (std::uncaught_exceptions() > n_thrown_ && !algebra_.left_) algebra_.leave();
      algebra_.place_ = around_;
    }

   private:
    SchemaAlgebra& algebra_;
    const std::string* around_;
    int n_thrown_;
  };
  std::string place() const { return place_ == nullptr ? "" : *place_; }
  // Keeps the place that an exception leaves, if there is memory for it.
  void leave() noexcept {
    try {
      left_ = place();
    } catch (const std::bad_alloc&) {
      left_ = std::nullopt;
    }
  }
  // The place that an exception left first.
  const std::optional<std::string>& left() const { return left_; }

  // The values under all terms. Keys are written in the order in which the terms name them.
  ValueId all(const Terms& terms, std::string name);
  // The values of exactly one of the parts, of those in `own`, which comes before or after each part.
  ValueId exactly_one(std::vector<ValueId> parts, ValueId own, bool own_first, const std::string& name);

  // The values of any of the parts, with annotations: a value in several of them was looked at by all of those.
  ValueId any_of(std::vector<ValueId> parts, const std::string& name);
  // The same set but for values that have a key, or an item, that was not evaluated and is not in `value`.
  ValueId closed(ValueId id, bool are_keys, ValueId value, const std::string& name);

  // The arrays that have at least and at most so many items of a set at index `start` and later.
  SchemaIR::Array containing(uint32_t start, ValueId value, uint32_t least, uint32_t most);

  // The keys of both; nullopt where there are none.
  std::optional<SchemaIR::Keys> both(const SchemaIR::Keys& a, const SchemaIR::Keys& b);
  bool admits(const SchemaIR::Keys& keys, uint32_t name);
  // Leaves of an object what has no other keys than those of some classes.
  void restrict_keys(const SchemaIR::Object& allowed, SchemaIR::Object& object);

  // The terminals of the strings of a set. Throws Unsupported where it is not read to its end yet.
  std::vector<uint32_t> strings(ValueId id);

  // To ask of so many keys whether they meet a condition costs as much as to combine a member with another.
  static constexpr uint64_t kKeysPerStep = 2;

  // Works out everything that the root reaches. Annotations then go. May be called again once sets were changed.
  void finish();
  // Makes the alternatives of a set share no value, and have no witnesses that only members can meet. After `finish`,
  // which has to be called again. Where that comes to too many alternatives, the set stays as it is.
  void part(ValueId id);
  // Sorts the items of an array into kinds, unless there are too many. As above.
  void sort_items(ValueId array);
  // What cannot be enforced of values that the root reaches; known then.
  struct Doubt {
    ValueId id;
    SchemaRefusal refusal;
  };
  const std::vector<Doubt>& doubts() const { return doubts_; }
  // Whether the root reaches arrays that forbid or demand equal items, and objects that demand keys without names.
  bool compares_items() const { return compares_items_; }
  bool has_witnesses() const { return has_witnesses_; }
  // What a set was made of; empty for one that is no combination.
  Terms terms_of(ValueId id) const {
    const auto found = terms_of_.find(id.value);
    return found == terms_of_.end() ? Terms() : found->second;
  }

  // Counts what is done beside. Throws TooMuchWork.
  void work(uint64_t steps);

 private:
  using Array = SchemaIR::Array;
  using Object = SchemaIR::Object;
  using ArrayRef = std::shared_ptr<const Array>;
  using ObjectRef = std::shared_ptr<const Object>;
  using Member = SchemaIR::Member;
  using ItemWitness = SchemaIR::ItemWitness;
  using KeyWitness = SchemaIR::KeyWitness;
  using Value = SchemaIR::Value;
  using Kind = SchemaIR::Kind;

  // What a set is a union of.
  struct Parts {
    std::vector<uint32_t> terminals;
    std::vector<ArrayRef> arrays;
    std::vector<ObjectRef> objects;
  };
  // Exactly one of the parts, and the terms that come before and after it.
  struct Choice {
    std::vector<ValueId> parts;
    Terms before;
    Terms after;
    std::optional<bool> overlaps;  // whether some parts may have a value in common, once that is known
  };
  // A set whose keys or items that were not evaluated have to be in `value`.
  struct Closing {
    ValueId id;
    bool are_keys;
    ValueId value;
  };
  // A set that is not worked out yet: what is under all terms, or one of the others.
  struct Pending {
    std::string name;
    Terms terms;
    std::optional<Choice> choice;
    bool active = false;
    std::vector<ValueId> any_of = {};
    std::optional<Closing> closing = {};
  };

  ValueId both(ValueId a, ValueId b);
  ValueId neither(ValueId a) { return all({{a, true}}, schema_.at(a).name); }
  void add_term(Term term, Terms& terms) const;
  ValueId without_history(ValueId id) const;
  // Sorts keys without names by the witnesses that they may meet, and counts them. A class whose keys are all names of
  // members goes.
  void sort_keys(ValueId id);
  void sort_keys(Object& object);
  void sort_by_witnesses(const Object& object, std::vector<SchemaIR::KeyClass>& kinds);
  // Numbers of several conditions are one terminal: beside each other, each would keep a remainder of its own.
  void join_numbers(ValueId id);
  void find_common(ValueId id, std::vector<ValueId>& found);
  void doubt(ValueId id, SchemaRefusal::Kind kind, std::string place);
  // The greatest number that has to be counted where an array has witnesses.
  static uint32_t counted_items(const Array& array);
  // The kinds of items of an array that repeats, unless there are too many.
  void find_kinds(ValueId id);
  std::shared_ptr<const SchemaIR::ItemKinds> item_kinds(const Array& array);
  void settle(ValueId id);
  std::string place_of(const Pending& pending) const;
  Value made_of(const Pending& pending);
  Parts worked_out(const Pending& pending);
  ValueId pend(Pending pending);
  Parts any_of(const std::vector<ValueId>& parts);
  Parts closed(const Closing& closing);
  std::optional<Object> closed(Object object, ValueId value);
  std::optional<Array> closed(Array array, ValueId value);
  ValueId either(std::vector<ValueId> parts);
  // Adds what alternatives of several parts have in common, where more of it was evaluated than of each.
  template <class Shape>
  void add_common(const std::vector<std::vector<std::shared_ptr<const Shape>>>& parts,
                  std::vector<std::shared_ptr<const Shape>>& found);
  // What can be written of a finished set, and of its parts.
  Value written(ValueId id);
  std::optional<uint32_t> written_scalars(uint32_t terminal);
  std::optional<uint32_t> written_numbers(uint32_t terminal);
  std::optional<Array> written(Array array);
  std::optional<Object> written(Object object);
  // A finished set without annotations: alternatives that only differed in them are one.
  Value without_annotations(ValueId id);
  Parts meet_all(const Terms& terms, const std::string& name);
  Parts meet_in_turn(std::span<const Parts> parts);
  Parts meet_in_halves(std::span<const Parts> parts);
  ValueId choose(Choice choice, const std::string& name);
  Value chosen(const Choice& choice, const std::string& name);
  bool overlaps(Choice& choice);
  bool disjoint(ValueId a, ValueId b);
  static Terms with_part(const Choice& choice, ValueId part);
  Parts parts_of(ValueId id);
  Value value_of(Parts parts, const std::string& name);
  bool is_never(ValueId id, int depth = 0);
  bool has_no_part(ValueId id, int depth);
  // Whether it can be worked out, of so many sets at most.
  bool is_known(ValueId id, size_t most) const;
  bool has_none(const Array& array, int depth);
  bool has_none(const Object& object, int depth);

  Parts meet(const Parts& a, const Parts& b);
  Parts without(Parts a, const Parts& hole);
  template <class Shape>
  std::vector<Shape> pieces(const std::vector<Shape>& shapes, const Shape& hole);
  // Puts what of `held` breaks a condition outside, and leaves what meets it.
  template <class Shape>
  void take(std::optional<Shape>& held, const Shape& met, const Shape& broken,
            std::vector<std::shared_ptr<const Shape>>& outside);

  static bool has(const Parts& parts, uint32_t terminal);
  void meet_kind(Kind kind, uint32_t everything, const Parts& a, const Parts& b, Parts& both);
  std::optional<uint32_t> meet_terminals(uint32_t a, uint32_t b);
  std::optional<uint32_t> without(uint32_t a, const std::vector<uint32_t>& holes);
  // Does what may come to too many alternatives, which is then not done.
  template <class Change>
  void if_few(const Change& change);
  Parts parted(ValueId id);
  // The objects without keys that have no names, in sets without witnesses: which member is the first to meet one.
  std::vector<ObjectRef> by_first_to_meet(const ObjectRef& object);
  // The same scalars, each in one terminal.
  std::vector<uint32_t> parted(const std::vector<uint32_t>& terminals);
  void keep_apart(uint32_t terminal, const std::vector<uint32_t>& others);
  std::optional<uint32_t> ask(const std::string& schema);
  std::optional<uint32_t> numbers(const MakeNumbers& make);
  NumberUnion::Spend spending() {
    return [this](uint64_t steps) { work(steps); };
  }
  // A terminal's strings but those of schemas in JSON, as a schema.
  std::string difference(uint32_t terminal, std::string_view holes) const;

  ArrayRef meet(const ArrayRef& a, const ArrayRef& b) { return SchemaIR::shared(meet(*a, *b)); }
  std::optional<Array> meet(const Array& a, const Array& b);
  bool is_plainly_empty(const Array& array);
  static Array of_length(uint32_t minimum, uint32_t maximum);
  std::vector<ArrayRef> without(const ArrayRef& a, const Array& hole);

  ObjectRef meet(const ObjectRef& a, const ObjectRef& b);
  std::optional<Object> meet(const Object& a, const Object& b);
  std::vector<ObjectRef> without(const ObjectRef& a, const Object& hole);
  ValueId held(const Object& object, uint32_t name);
  ValueId held(const std::vector<SchemaIR::KeyClass>& kinds, uint32_t name);
  static Object with_member(uint32_t name, ValueId value, bool required);
  // What some key beside the names of an object has to be, so that the object is not of that shape.
  std::vector<KeyWitness> other_keys(const Object& object);
  // Adds the names of members that its keys are not to each witness.
  void name_besides(Object& object);
  // The keys of one set that are not of the other, in sets apart from each other.
  std::vector<SchemaIR::Keys> difference(const SchemaIR::Keys& keys, const SchemaIR::Keys& others);
  Object with_witness(const KeyWitness& witness);
  Object without_witness(const KeyWitness& witness);
  void add_member(const Member& member, Object& object);
  static void sort_members(const Object& a, const Object& b, std::vector<Member>& members);
  void meet_keys(const Object& a, const Object& b, Object& both);
  bool is_plainly_empty(const Object& object);
  bool share_none(const Object& a, const Object& b);

  SchemaIR& schema_;
  KeyConditions& keys_;
  Ask ask_;
  AddNumbers add_numbers_;
  Spend spend_;
  bool annotates_;
  const Writable* writable_;                                       // null: everything
  std::optional<uint32_t> written_strings_;                        // a terminal
  std::unique_ptr<RegexStore> regexes_;                            // that tells what can be written
  std::unordered_map<uint32_t, std::optional<uint32_t>> written_;  // by terminal
  std::unordered_map<uint32_t, Pending> pending_;
  std::unordered_map<uint32_t, Terms> terms_of_;  // of combinations
  std::unordered_map<uint32_t, Choice> choices_;
  TextMap<std::string, ValueId> known_;
  std::unordered_map<uint32_t, int> looked_at_;  // sets that seem to have values, at which depth
  std::vector<Doubt> doubts_;
  bool compares_items_ = false;
  bool has_witnesses_ = false;
  uint64_t max_work_;
  uint64_t work_ = 0;
  std::optional<std::string> left_;
  const std::string* place_ = nullptr;  // the name of the schema that is read or the set that is worked out
  int depth_ = 0;
};

}  // namespace cfgmask
