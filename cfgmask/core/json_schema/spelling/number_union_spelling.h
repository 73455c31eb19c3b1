// How JSON spells the numbers of a union, as regexes.
//
// Sets that differ in steps alone are one regex, which keeps one remainder for all of them. What a hole takes out is
// taken out in every spelling.
//
// Threads: as the store.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "json_schema/spelling/number_set.h"
#include "json_schema/spelling/number_spelling.h"
#include "json_schema/spelling/number_union.h"
#include "regex/regex.h"

namespace cfgmask {

class NumberUnionSpelling {
 public:
  NumberUnionSpelling(RegexStore& store, const NumberStyle& style,
                      NumberSet::Exponents exponents = NumberSet::Exponents::kYes)
      : r_(store), style_(style), exponents_(exponents) {}

  RegexId any_of(const std::vector<NumberShape>& shapes) const;
  RegexId shape(const NumberShape& shape) const;

 private:
  using Group = std::vector<NumberShape>;
  // Spells a set with runs of digits that end, or that do not.
  using Inside = std::function<RegexId(const NumberSpelling& spelling)>;

  // Whether runs of digits are bounded as doubles need it, and how many digits they have then.
  bool is_plain(std::span<const NumberShape> shapes) const;
  uint32_t most(std::span<const NumberShape> shapes) const;
  // nullopt if each takes a regex of its own.
  std::optional<RegexId> together(const Group& shapes) const;
  // The same, but for holes other than all multiples of a number, with runs of digits that end after `most`.
  std::optional<RegexId> as_one(std::span<const NumberShape> shapes, uint32_t most, bool is_plain) const;
  // The numbers of a set with holes, without exponents.
  RegexId held(const NumberShape& shape, uint32_t most, bool is_plain) const;
  RegexId doubles(const NumberShape& shape, uint32_t most) const;
  RegexId inside(const NumberSet& set, const NumberSpelling& spelling, bool is_plain) const;
  RegexId without(const Inside& inside, const std::vector<NumberSet>& holes, uint32_t most) const;
  RegexId every_spelling(const NumberSet& set) const;

  RegexStore& r_;
  NumberStyle style_;
  NumberSet::Exponents exponents_;
};

}  // namespace cfgmask
