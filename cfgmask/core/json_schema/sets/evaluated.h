// Which keys and items a schema has looked at: the annotations that `unevaluatedProperties` and `unevaluatedItems` go
// by. Kept only while a schema is read that has these keywords.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "regex/regex.h"
#include "util/ids.h"

namespace cfgmask {

using ValueId = Id<struct ValueTag>;

// The keys with these names, which are members, and those that meet one of the conditions; or all. Sorted.
struct EvaluatedKeys {
  bool all = false;
  std::vector<uint32_t> names = {};
  std::vector<uint32_t> conditions = {};

  bool operator==(const EvaluatedKeys&) const = default;
  bool are_none() const { return !all && names.empty() && conditions.empty(); }
  // True if all of these are certainly among the others.
  bool are_within(const EvaluatedKeys& others) const {
    return others.all ||
           (!all && std::ranges::includes(others.names, names) && std::ranges::includes(others.conditions, conditions));
  }
  EvaluatedKeys with(const EvaluatedKeys& others) const {
    if (are_within(others)) return others;
    if (others.are_within(*this)) return *this;
    EvaluatedKeys found;
    std::ranges::set_union(names, others.names, std::back_inserter(found.names));
    std::ranges::set_union(conditions, others.conditions, std::back_inserter(found.conditions));
    return found;
  }
};

// The first so many items, kUnbounded for all, and those in one of the sets. Sorted.
struct EvaluatedItems {
  uint32_t first = 0;
  std::vector<ValueId> containing = {};

  bool operator==(const EvaluatedItems&) const = default;
  bool are_all() const { return first == kUnbounded; }
  bool are_none() const { return first == 0 && containing.empty(); }
  bool are_within(const EvaluatedItems& others) const {
    return others.are_all() || (first <= others.first && std::ranges::includes(others.containing, containing));
  }
  EvaluatedItems with(const EvaluatedItems& others) const {
    if (are_within(others)) return others;
    if (others.are_within(*this)) return *this;
    EvaluatedItems found{std::max(first, others.first)};
    std::ranges::set_union(containing, others.containing, std::back_inserter(found.containing));
    return found;
  }
};

}  // namespace cfgmask
