// How many values there are in sets, where items of arrays without equal items are told apart by their steps: what is
// written of an item must leave an end that no item before it had (earley/distinct_register.h, Holds::kItem). So each
// place in an item knows how many ends may follow.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "earley/grammar.h"
#include "json_schema/sets/schema_ir.h"

namespace cfgmask {

// So many, or more.
inline constexpr uint32_t kEndless = 1U << 16;

inline uint32_t n_pairs(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{a} * b, kEndless));
}
inline uint32_t n_either(uint32_t a, uint32_t b) { return std::min(a + b, kEndless); }

// Known after `DistinctItems::doubtful`.
struct ValueCounts {
  std::unordered_map<uint32_t, uint32_t> of_values;      // by number, as are the others
  std::unordered_map<uint32_t, uint32_t> of_composites;  // the arrays and objects among them
  std::unordered_map<uint32_t, uint32_t> of_terminals;
  std::unordered_set<uint32_t> items;                            // of arrays, that are told apart by their steps
  std::unordered_map<uint32_t, std::vector<uint32_t>> of_kinds;  // of arrays with kinds of items, the values of each
  // Objects and arrays in these that are told apart by all that is in them, since more may follow.
  std::unordered_set<uint32_t> objects_going_on;
  std::unordered_set<uint32_t> arrays_going_on;

  // Whether they hold where runs of digits are so long at most.
  bool hold_with_digits(uint32_t most) const {
    constexpr uint32_t kEnough = 5;  // for so many numbers that they are endless
    return (items.empty() && of_kinds.empty()) || most >= kEnough;
  }
  bool tells(ValueId item) const { return items.contains(item.value); }
  uint32_t n_values(ValueId id) const { return found(of_values, id.value); }
  uint32_t n_composites(ValueId id) const { return found(of_composites, id.value); }
  uint32_t n_scalars(uint32_t terminal) const { return found(of_terminals, terminal); }

 private:
  static uint32_t found(const std::unordered_map<uint32_t, uint32_t>& counts, uint32_t number) {
    const auto known = counts.find(number);
    return known == counts.end() ? 0 : known->second;
  }
};

using CountOf = std::function<uint32_t(ValueId)>;

// How many ends an array may have after some items, where equal ones may come.
class ArrayEnds {
 public:
  ArrayEnds(const SchemaIR::Array& array, const CountOf& n_values);

  uint32_t after(uint32_t n_items) const;
  // Whether they are not known, since that takes too many places.
  bool are_too_many() const { return too_many_; }
  // States after more items are like the one after so many.
  uint32_t alike_from() const { return alike_from_; }
  bool may_go_on(uint32_t n_items) const { return n_items < most_ && after(n_items + 1) > 0; }

 private:
  std::vector<uint32_t> first_;      // after items that have a position of their own
  std::vector<uint32_t> last_;       // from `last_from_` on; endless before
  uint32_t last_from_ = kUnbounded;  // kUnbounded: always endless
  uint32_t most_ = kUnbounded;
  uint32_t alike_from_ = kUnbounded;
  bool too_many_ = false;
};

// How many ends an array may have of which no two items are equal, and all are of one set.
class ListEnds {
 public:
  ListEnds(uint32_t n_values, uint32_t minimum, uint32_t maximum);

  uint32_t after(uint32_t n_items) const;
  uint32_t after_comma(uint32_t n_items) const { return n_pairs(n_left(n_items), after(n_items + 1)); }
  // States after more items are like the one after so many.
  uint32_t alike_from() const { return alike_from_; }

 private:
  uint32_t n_left(uint32_t n_items) const {
    return n_values_ >= kEndless ? kEndless : n_values_ - std::min(n_values_, n_items);
  }

  uint32_t n_values_;
  std::vector<uint32_t> last_;
  uint32_t last_from_ = kUnbounded;
  uint32_t alike_from_ = kUnbounded;
};

// How many ends an object without other keys may have, after some of its members.
class ObjectEnds {
 public:
  ObjectEnds(const SchemaIR::Object& object, const CountOf& n_values);

  // The keys written count as far as `counted`.
  uint32_t after(uint32_t n_passed, uint32_t written) const { return ends_[n_passed][counted(written)]; }
  uint32_t counted(uint32_t written) const { return std::min(written, counted_to_); }
  bool has_room(uint32_t written) const { return written < maximum_; }

 private:
  uint32_t maximum_;
  uint32_t counted_to_;
  std::vector<std::vector<uint32_t>> ends_;  // by how many members are passed, and how many keys are written
};

}  // namespace cfgmask
