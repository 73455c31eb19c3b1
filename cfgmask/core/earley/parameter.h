// The parameter of a rule: 64 bits that a use of it computes from the parameter of the rule around it, and conditions
// on them that alternatives may have. The same meaning as cfgmask/grammar/parameters.py.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace cfgmask {

// Bits [low, high) of a parameter, low < high <= 64.
struct Bits {
  uint32_t low = 0;
  uint32_t high = 64;

  uint64_t mask() const { return high - low == 64 ? UINT64_MAX : (uint64_t{1} << (high - low)) - 1; }
  uint64_t of(uint64_t value) const { return (value >> low) & mask(); }
  friend auto operator<=>(const Bits&, const Bits&) = default;
};

// What a use of a parametric rule hands to it.
struct Argument {
  enum class Kind : uint32_t {
    kMasked,     // value & keep | set
    kIncrement,  // one more in `bits`, unless they are all ones
    kDecrement,  // one less in `bits`, unless they are all zero
  };
  Kind kind = Kind::kMasked;
  uint64_t keep = UINT64_MAX;
  uint64_t set = 0;
  Bits bits;

  uint64_t apply(uint64_t value) const;
  friend auto operator<=>(const Argument&, const Argument&) = default;
};

// A condition as a program for a stack of truth values.
struct ConditionStep {
  enum class Operator : uint32_t {
    kEqual,
    kNotEqual,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
    kTrue,
    kNot,
    kAnd,
    kOr
  };
  Operator op = Operator::kTrue;
  bool counts_ones = false;  // the number of set bits is compared, not what they spell
  Bits bits;
  uint64_t value = 0;
};
using Condition = std::vector<ConditionStep>;

// Whether every step finds its operands and one truth value is left.
bool is_well_formed(const Condition& condition);
// The condition is well-formed.
bool holds(const Condition& condition, uint64_t value);

}  // namespace cfgmask
