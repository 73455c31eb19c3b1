#include "earley/parameter.h"

#include <bit>
#include <cstddef>

namespace cfgmask {

namespace {

using Operator = ConditionStep::Operator;

size_t operands(Operator op) {
  if (op == Operator::kNot) return 1;
  return op == Operator::kAnd || op == Operator::kOr ? 2 : 0;
}

bool compare(Operator op, uint64_t a, uint64_t b) {
  switch (op) {
    case Operator::kEqual:
      return a == b;
    case Operator::kNotEqual:
      return a != b;
    case Operator::kLess:
      return a < b;
    case Operator::kLessOrEqual:
      return a <= b;
    case Operator::kGreater:
      return a > b;
    case Operator::kGreaterOrEqual:
      return a >= b;
    default:
      return true;
  }
}

}  // namespace

uint64_t Argument::apply(uint64_t value) const {
  const uint64_t one = uint64_t{1} << bits.low;
  switch (kind) {
    case Kind::kMasked:
      return (value & keep) | set;
    case Kind::kIncrement:
      return bits.of(value) == bits.mask() ? value : value + one;
    case Kind::kDecrement:
      return bits.of(value) == 0 ? value : value - one;
  }
  return value;
}

bool is_well_formed(const Condition& condition) {
  size_t depth = 0;
  for (const ConditionStep& step : condition) {
    if (depth < operands(step.op) || step.bits.low >= step.bits.high || step.bits.high > 64) return false;
    depth = depth - operands(step.op) + 1;
  }
  return depth == 1;
}

bool holds(const Condition& condition, uint64_t value) {
  std::vector<bool> stack;
  for (const ConditionStep& step : condition) {
    if (step.op == Operator::kNot) {
      stack.back() = !stack.back();
    } else if (step.op == Operator::kAnd || step.op == Operator::kOr) {
      const bool second = stack.back();
      stack.pop_back();
      stack.back() = step.op == Operator::kAnd ? stack.back() && second : stack.back() || second;
    } else {
      const uint64_t bits = step.bits.of(value);
      stack.push_back(
          compare(step.op, step.counts_ones ? static_cast<uint64_t>(std::popcount(bits)) : bits, step.value));
    }
  }
  return stack.back();
}

}  // namespace cfgmask
