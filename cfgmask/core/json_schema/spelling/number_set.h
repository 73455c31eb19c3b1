// Sets of numbers with exact bounds, multiples of a step perhaps, and how JSON may spell them. What is taken out of
// sets, and sets together: json_schema/spelling/number_union.h.
//
// Threads: values.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json_schema/document/decimal.h"
#include "json_schema/spelling/number_step.h"
#include "regex/regex.h"

namespace cfgmask {

// How numbers are written.
struct NumberStyle {
  // kPlain: as programs write numbers that they read as doubles, cfgmask/json_schema/options.py says how; kAny: in
  // every way.
  enum class Spelling : uint8_t { kPlain, kAny };

  // Digits of a run that nothing else bounds, counted from those that must come (kUnbounded: it does not end).
  uint32_t most = kUnbounded;
  Spelling spelling = Spelling::kAny;

  bool is_plain() const { return spelling == Spelling::kPlain; }
};

class NumberSet {
 public:
  struct Bound {
    Decimal value;
    bool is_open = false;

    bool operator==(const Bound&) const = default;
  };

  // Every number.
  NumberSet() = default;
  // kUnfractioned: integers written without a fraction, what draft 4 calls an integer.
  enum class Integers : uint8_t { kNo, kYes, kUnfractioned };
  explicit NumberSet(Integers integers) : integers_(integers) {}
  // Exactly these.
  static NumberSet of(std::vector<Decimal> values);

  static NumberSet multiples(const NumberStep& step);

  // Whether the steps of two sets have a common multiple that is not too large.
  static bool can_meet(const NumberSet& a, const NumberSet& b) { return common_step(a, b).second; }
  // The numbers of both sets, which can meet.
  NumberSet operator&(const NumberSet& other) const;
  // The numbers that are in the first set alone; nullopt where these are two ranges, or more than bounds tell them.
  std::optional<NumberSet> operator-(const NumberSet& other) const;
  static NumberSet from(Bound low);
  static NumberSet to(Bound high);

  bool is_everything() const { return integers_ == Integers::kNo && !step_ && !low_ && !high_ && !values_; }
  bool is_empty() const;
  bool is_listed() const { return values_.has_value(); }
  const std::vector<Decimal>& values() const { return *values_; }
  const std::optional<Bound>& low() const { return low_; }
  const std::optional<Bound>& high() const { return high_; }
  bool has_bounds() const { return low_ || high_; }
  bool has_both_bounds() const { return low_ && high_; }
  bool has_bounds_of(const NumberSet& other) const { return low_ == other.low_ && high_ == other.high_; }
  // Whether there is one number between the bounds, which is one itself.
  bool is_one_number() const { return low_ && high_ && low_->value == high_->value; }
  // Whether two spellings of a number may differ in being in the set.
  bool is_unfractioned() const { return integers_ == Integers::kUnfractioned; }
  // What the numbers of a set that is no list are multiples of; nullopt: any number.
  std::optional<NumberStep> multiple_of() const { return values_ ? std::nullopt : step(); }
  // Whether there are no conditions but bounds.
  bool is_range() const { return integers_ == Integers::kNo && !step_ && !values_; }
  NumberSet without_low() const;
  NumberSet without_high() const;
  // All numbers between the bounds.
  NumberSet bounds_alone() const;
  // What is outside of a range.
  std::vector<NumberSet> outsides() const;
  // Whether the bounds are within those of another set.
  bool is_bounded_by(const NumberSet& other) const;
  // The numbers of a set that is no list, in ascending order, if they are finitely many and at most so many.
  std::optional<std::vector<Decimal>> few(size_t at_most) const;
  // Whether a number is in the set, as far as that does not depend on how it is spelled.
  bool admits(const Decimal& value) const;
  // The numbers of a range that doubles tell from those outside, for runs of so many digits.
  NumberSet within_doubles(uint32_t most) const;
  // Whether they are multiples of another number than one.
  bool has_step() const { return step_.has_value(); }
  // The values in ascending order of a set that is only a list of them; null for others.
  const std::vector<Decimal>* listed() const { return values_ && integers_ == Integers::kNo ? &*values_ : nullptr; }
  // How many numbers there are, exactly where that is less than kVeryMany and easily told, otherwise at least so many.
  static constexpr uint64_t kVeryMany = uint64_t{1} << 32;
  uint64_t count() const;
  // Whether there are so many, and not more.
  bool counts_exactly() const;
  // Whether the set is described as one of integers.
  bool is_of_integers() const { return integers_ != Integers::kNo && !values_; }
  // What all spellings of the numbers between two bounds plainly begin with; not empty.
  std::optional<std::string> start() const;
  // Of how the set is described, which `==` compares.
  size_t hash() const;

  // The spellings. Linear in the digits of the bounds.
  enum class Exponents : uint8_t { kNo, kYes };
  RegexId regex(RegexStore& store, const NumberStyle& style, Exponents exponents = Exponents::kYes) const;

  bool operator==(const NumberSet&) const = default;

 private:
  // None: any number; and false if it has too many digits.
  static std::pair<std::optional<NumberStep>, bool> common_step(const NumberSet& a, const NumberSet& b);
  std::optional<NumberStep> step() const {
    return step_ || integers_ == Integers::kNo ? step_ : std::optional(NumberStep{});
  }
  RegexId plain_regex(RegexStore& store, uint32_t most, Exponents exponents) const;
  // The numbers that are in this set alone, of a range or of integers.
  std::optional<NumberSet> outside(const NumberSet& other) const;
  // Whether a value meets all but being listed.
  bool is_inside(const Decimal& value) const;
  // The same set with values that are checked, and bounds that are members of it where there are multiples alone.
  void tighten();

  Integers integers_ = Integers::kNo;
  std::optional<NumberStep> step_;  // an integer only of integers, and then more than one
  std::optional<Bound> low_;
  std::optional<Bound> high_;
  std::optional<std::vector<Decimal>> values_;
};

}  // namespace cfgmask
