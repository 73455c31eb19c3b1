// Unions of sets of numbers, each with others taken out of it: what bounds and one step do not say alone. What
// tests/reference/json_schema/{numbers,number_holes,number_regex}.py say of them is what this is tested against.
//
// What is taken out is told by arithmetic as far as that goes, not by a search through digits. Of the multiples of a
// number, those of a second one are the multiples of both. So a hole in a set of multiples is empty, everything, within
// another hole, or can have a smaller step, and the regexes that are left stay small.
//
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "json_schema/spelling/number_set.h"
#include "regex/regex.h"

namespace cfgmask {

// The numbers of a set that are in none of the holes.
struct NumberShape {
  NumberSet set;
  std::vector<NumberSet> holes = {};

  bool operator==(const NumberShape&) const = default;
};

class NumberUnion {
 public:
  using Shapes = std::vector<NumberShape>;

  // Steps that have a common multiple of too many digits.
  struct TooManyDigits {};
  struct TooManyShapes {};
  // Is told how many shapes or holes are looked at, and may throw.
  using Spend = std::function<void(uint64_t)>;

  explicit NumberUnion(NumberSet set) : shapes_{{std::move(set)}} {}
  explicit NumberUnion(Shapes shapes) : shapes_(std::move(shapes)) {}

  // The numbers of both, of one that are in none of the others, and of any. Both throw TooManyDigits, TooManyShapes.
  static NumberUnion both(const NumberUnion& a, const NumberUnion& b, const Spend& spend);
  static NumberUnion difference(const NumberUnion& a, const std::vector<NumberUnion>& holes, const Spend& spend);
  static NumberUnion any_of(const std::vector<NumberUnion>& parts, const Spend& spend);

  const Shapes& shapes() const { return shapes_; }
  // Null if there are several sets, or holes.
  const NumberSet* only_set() const {
    return shapes_.size() == 1 && shapes_[0].holes.empty() ? &shapes_[0].set : nullptr;
  }
  bool is_of_integers() const;
  // Leaves out the shapes that have no numbers, which takes a search for some; `style` is how they are written. Throws
  // LimitExceeded.
  NumberUnion with_numbers(RegexStore& store, const NumberStyle& style) const;
  size_t hash() const;

  // The spellings; see `NumberSet::regex`.
  RegexId regex(RegexStore& store, const NumberStyle& style,
                NumberSet::Exponents exponents = NumberSet::Exponents::kYes) const;

  bool operator==(const NumberUnion&) const = default;

 private:
  Shapes shapes_;
};

}  // namespace cfgmask
