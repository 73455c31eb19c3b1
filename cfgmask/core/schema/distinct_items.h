// Arrays of which no item is equal to another: whether their items can be told apart, and whether there are items
// enough, as cfgmask/json_schema/{unique_items,told_apart}.py define it.
//
// The parser's set of an array holds the items that came, and does not look ahead (earley/seen_values.h). Scalars it
// takes out of what comes next. Arrays and objects it compares when they are closed, so something must always be able
// to follow in them: otherwise one could be begun that can only become equal to one before it.
//
// Threads: as `PlainSchema`, while it is made.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "schema/key_conditions.h"
#include "schema/plain_schema.h"

namespace cfgmask {

class DistinctItems {
 public:
  // work        is told how many values were looked at, and may throw
  // most_depth  how many brackets there may be around a value, if that is limited
  // are_closed  whether a mark closes each array and object, so that they can be told apart
  DistinctItems(const PlainSchema& schema, KeyConditions& keys, std::function<void(uint64_t)> work,
                std::optional<uint32_t> most_depth, bool are_closed)
      : schema_(schema), keys_(keys), work_(std::move(work)), most_depth_(most_depth), are_closed_(are_closed) {}

  // The arrays of those that have a value of which it is not sure that their items can be told apart, and that no items
  // before one that must come use up what that may be. After `find_live`.
  std::vector<PlainValueId> doubtful();
  // The sets whose values are told apart from others by all that is in them: arrays and objects that are such items,
  // and what they hold.
  std::vector<PlainValueId> told_apart();

  // Whether an array with equal items can be written: where an item must come again, it is a scalar.
  bool may_repeat(PlainValueId id, const std::vector<PlainValueId>& told_apart);

 private:
  using Array = PlainSchema::Array;
  using Object = PlainSchema::Object;

  // What a set is a union of.
  struct Parts {
    std::vector<uint32_t> terminals;
    std::vector<const Array*> arrays;
    std::vector<const Object*> objects;

    bool has_composites() const { return !arrays.empty() || !objects.empty(); }
  };

  const Parts& parts_of(PlainValueId id);
  bool is_plain(const Array& array);
  std::vector<bool> deep_values();
  static std::vector<PlainValueId> different_items(const Array& array);
  bool are_readable(const std::vector<uint32_t>& terminals) const;
  bool has_scalars(const Parts& parts, uint32_t least) const;
  bool has_values(PlainValueId item, uint32_t least);
  bool goes_on(const Array& array);
  bool goes_on(const Object& object);

  const PlainSchema& schema_;
  KeyConditions& keys_;
  std::function<void(uint64_t)> work_;
  const std::optional<uint32_t> most_depth_;
  const bool are_closed_;
  uint32_t room_ = kUnbounded;  // how many brackets what is added to an item may have
  std::map<PlainValueId, Parts> parts_;
};

}  // namespace cfgmask
