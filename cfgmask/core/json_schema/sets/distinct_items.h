// Arrays of which no item is equal to another: whether their items can be told apart, and whether there are items
// enough.
//
// The parser's set of an array holds the items that came, and does not look ahead (earley/distinct_register.h). Scalars
// it takes out of what comes next. Arrays and objects it compares when they are closed, if something may always follow
// in them: otherwise one could be begun that can only become equal to one before it. Of others it knows how many ends
// may follow what is written of them (json_schema/sets/value_counts.h).
//
// Threads: as `SchemaIR`, while it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "json_schema/sets/key_conditions.h"
#include "json_schema/sets/schema_ir.h"
#include "json_schema/sets/value_counts.h"

namespace cfgmask {

class DistinctItems {
 public:
  // work           is told how many values were looked at, and may throw
  // most_depth     how many brackets there may be around a value, if that is limited
  DistinctItems(const SchemaIR& schema, KeyConditions& keys, std::function<void(uint64_t)> work,
                std::optional<uint32_t> most_depth)
      : schema_(schema), keys_(keys), work_(std::move(work)), most_depth_(most_depth) {}

  // The arrays of those that have a value of which it is not sure that their items can be told apart, and that no items
  // before one that must come use up what that may be. After `find_live`.
  std::vector<ValueId> doubtful();
  // Sets whose alternatives have to share no value for all doubts to end, and may share some. After `doubtful`.
  const std::vector<ValueId>& overlapping() const { return overlapping_; }
  // Arrays that have to count the kinds of their items for all doubts to end; those that have kinds, and of which there
  // is none. After `doubtful`.
  const std::vector<ValueId>& uncounted() const { return uncounted_; }
  const std::vector<ValueId>& impossible() const { return impossible_; }
  // The sets whose values are told apart from others by all that is in them: arrays and objects that are such items,
  // and what they hold. After `doubtful`.
  std::vector<ValueId> told_apart();
  // The items that are told apart by their steps, and how many values there are in them. After `doubtful`.
  const ValueCounts& counts() const { return counts_; }

  // Whether an array with equal items can be written: where an item must come again, it is a scalar.
  bool may_repeat(ValueId id, const std::vector<ValueId>& told_apart);

 private:
  using Array = SchemaIR::Array;
  using Object = SchemaIR::Object;

  // What a set is a union of.
  struct Parts {
    std::vector<uint32_t> terminals;
    std::vector<const Array*> arrays;
    std::vector<const Object*> objects;

    bool has_composites() const { return !arrays.empty() || !objects.empty(); }
  };
  // How many values there are, and how many brackets are in those that this depends on: kUnbounded for any number.
  struct Counted {
    uint32_t n_values = 0;
    uint32_t n_composites = 0;
    uint32_t height = 0;
  };

  const Parts& parts_of(ValueId id);
  std::vector<ValueId> distinct_arrays() const;
  const Array& array_at(ValueId id) const { return *schema_.at(id).array; }
  std::vector<ValueId> items_of(ValueId array) const;
  std::vector<ValueId> composite_items(ValueId array);
  std::vector<ValueId> inside(const std::vector<ValueId>& sets);
  template <typename Visit>
  bool each_inside(ValueId id, Visit visit);
  const std::optional<std::vector<ValueId>>& common_sets(ValueId id);
  void find_depths();
  bool is_plain(ValueId array);
  bool has_enough(ValueId array);
  bool surely_has_composites(ValueId id, uint32_t depth);
  std::optional<uint32_t> exactly(const Parts& parts);
  bool are_apart(const std::vector<uint32_t>& terminals) const;
  bool has_scalars(const Parts& parts, uint32_t least) const;
  uint32_t counted_scalars(const Parts& parts);

  // ---- arrays and objects that go on
  void set_room(ValueId array);
  bool all_go_on(ValueId array);
  bool goes_on(ValueId item);
  bool has_values(ValueId item, uint32_t least);
  bool goes_on(const Array& array);
  bool goes_on(const Object& object);
  const std::vector<bool>& leading_to_steps();
  bool are_written_alike(ValueId array, const std::vector<ValueId>& items);
  bool may_be_told_apart(ValueId item);

  // ---- steps
  bool may_be_told_by_steps(ValueId array);
  bool count_inside(ValueId item);
  bool is_high_enough(ValueId item, uint32_t depth);
  std::optional<Counted> counted(ValueId id);
  bool are_disjoint(const std::vector<ValueId>& sets);
  bool shares_none(ValueId id);
  std::optional<Counted> counted(ValueId id, const Array& array);
  std::optional<Counted> counted(ValueId id, const Object& object);
  template <typename Composite>
  Counted endless(const Composite& composite) const;
  bool is_counted_as_endless(const Array& array);
  std::optional<uint32_t> n_scalars(uint32_t terminal);
  Counted known(ValueId id) const;

  const SchemaIR& schema_;
  KeyConditions& keys_;
  std::function<void(uint64_t)> work_;
  const std::optional<uint32_t> most_depth_;
  std::vector<uint32_t> last_depths_;          // by value, the greatest number of brackets around it, up to the most
  uint32_t room_ = kUnbounded;                 // how many brackets what is added to an item may have
  std::unordered_set<uint32_t> with_steps_;    // arrays of which items are told apart by their steps
  std::vector<std::vector<uint32_t>> around_;  // by value, those that it is right inside of
  std::vector<uint32_t> holding_any_;          // values that may hold any set, as far as is known
  std::vector<bool> leading_;                  // by value, with so many arrays that have steps
  size_t n_leading_steps_ = 0;
  std::map<ValueId, Parts> parts_;
  std::unordered_map<uint32_t, std::optional<std::vector<ValueId>>> common_sets_;
  std::unordered_map<uint32_t, Counted> counted_;
  std::vector<ValueId> overlapping_;
  std::vector<ValueId> uncounted_;
  std::vector<ValueId> impossible_;
  ValueCounts counts_;
};

}  // namespace cfgmask
