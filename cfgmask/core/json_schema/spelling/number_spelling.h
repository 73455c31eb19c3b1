// How JSON spells numbers between exact bounds, as regexes. Bounds are compared digit by digit.
//
// A number without any condition may be written in every way that JSON has. Under a condition
// - an integer, a multiple or a listed number has at most kMaxZeros superfluous zeros after the point (`1.0` is an
//   integer to JSON Schema; more of them only let a model spin) and no exponent;
// - a decimal between bounds has any number of digits, and an exponent only in the form that programs print
//   (`1.5e-07`: one digit before the point). If a bound is a number with that exponent, only where programs print one;
// - zero has a minus sign only where negative numbers are allowed as well.
// That is Spelling::kAny. The plain spelling is part of it: integers, integral multiples and listed numbers have no
// zeros after the point, and any other number is within the doubles (json_schema/spelling/doubles.h).
//
// Threads: as the store.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json_schema/document/decimal.h"
#include "json_schema/spelling/number_set.h"
#include "regex/regex.h"

namespace cfgmask {

class NumberSpelling {
 public:
  using Bound = NumberSet::Bound;
  using MaybeBound = std::optional<Bound>;

  // Multiples of a step, or all numbers, that are no multiples of others.
  struct Sieve {
    std::optional<NumberStep> step;
    std::vector<NumberStep> holes;
    bool is_whole;  // written without a point
  };

  // Superfluous zeros that may end an integer or a listed number.
  static constexpr uint32_t kMaxZeros = 4;

  // `most`: digits of a run that nothing else bounds; `zeros`: superfluous ones after the point, of a number that has
  // to end anyway.
  NumberSpelling(RegexStore& store, uint32_t most, uint32_t zeros = kMaxZeros);

  uint32_t most() const { return most_; }

  // With runs of so many digits no number is beyond the doubles, and none but zero is read as zero, if no more than
  // kMostWhole digits come before the point and no more than kMostPlaces after it.
  static constexpr uint32_t kMostOfDouble = 300;
  static constexpr uint32_t kMostWhole = 308;
  static constexpr long kMostPlaces = 320;
  // Programs print exponents from these orders of magnitude on.
  static constexpr int kSmallOrder = -5;
  static constexpr int kLargeOrder = 16;

  // Every number.
  RegexId any() const;
  // Those within the doubles, with an exponent only as programs print it.
  RegexId any_double() const;
  // Exactly these, without superfluous zeros; `exponents`: small ones also as programs print them.
  RegexId plainly_listed(const std::vector<Decimal>& values, bool exponents) const;
  RegexId plainly_listed(RegexId whole, RegexId broken, const std::vector<Decimal>& small) const;
  static bool is_small(const Decimal& value);
  RegexId without_exponents() const;
  // Exactly these; `fraction`: integers may have one, of zeros.
  RegexId listed(const std::vector<Decimal>& values, bool fraction) const;
  // The same of their texts: the integers, and the others.
  RegexId listed(RegexId whole, RegexId broken, bool fraction) const;
  // The bounds are integers, and not open.
  RegexId integers(const MaybeBound& low, const MaybeBound& high, bool fraction) const;
  // The multiples of a step, which the bounds are. `fraction`: integers may have one, of zeros.
  RegexId multiples(const NumberStep& step, const MaybeBound& low, const MaybeBound& high, bool fraction) const;
  // The numbers of any sieve, without exponents; nullopt if all steps have too large a common multiple.
  std::optional<RegexId> sieved(const std::vector<Sieve>& sieves) const;
  RegexId decimals(const MaybeBound& low, const MaybeBound& high) const;
  // The same, with exponents within the doubles where nothing else bounds them.
  RegexId doubles(const MaybeBound& low, const MaybeBound& high) const;
  RegexId decimals_without_exponents(const MaybeBound& low, const MaybeBound& high) const;

  // What may follow the digits of an integer without changing it.
  RegexId point_zeros(bool fraction) const;
  // Also where it takes long to tell.
  bool has_texts(RegexId regex) const;

 private:
  // The numbers between bounds that are not negative, without a sign.
  using Magnitudes = RegexId (NumberSpelling::*)(const Bound& low, const MaybeBound& high) const;

  RegexId join(std::initializer_list<RegexId> parts) const;
  RegexId either(std::initializer_list<RegexId> parts) const { return r_.alternation(std::vector<RegexId>(parts)); }
  RegexId optional(RegexId body) const { return r_.repetition(body, 0, 1); }
  RegexId digits_between(char low, char high) const;
  // `least` or more of something, up to the end of a run.
  RegexId run(RegexId body, uint32_t least) const;
  RegexId exactly(size_t n_digits) const;
  // How many digits after the point a multiple may have.
  uint32_t places_of(const NumberStep& step) const;
  // Those without sign, of at most so many places, and of so many digits if nothing else bounds them.
  RegexId multiples_of(const NumberStep& step, uint32_t most_places, uint32_t most) const;
  RegexId with_sign(const MaybeBound& low, const MaybeBound& high, Magnitudes magnitudes) const;
  RegexId whole_magnitudes(const Bound& low, const MaybeBound& high) const;
  RegexId decimal_magnitudes(const Bound& low, const MaybeBound& high) const;
  RegexId magnitudes_with_exponent(const Bound& low, const MaybeBound& high) const;
  RegexId magnitudes_of_double_with_exponent(const Bound& low, const MaybeBound& high) const;
  RegexId cut_through(const Bound& low, const MaybeBound& high, int order) const;
  RegexId exponents(int first, std::optional<int> last) const;
  RegexId exponent_of(int order) const;
  RegexId printed(const Decimal& value) const;

  RegexId whole_numbers(const Decimal& first, const std::optional<Decimal>& last) const;
  RegexId same_length(std::string_view low, std::string_view high) const;
  RegexId at_least(std::string_view digits) const;
  RegexId at_most(std::string_view digits) const;

  RegexId fraction_from(const std::string& low, bool is_open) const;
  RegexId fraction_between(const std::string& low, bool low_open, const std::string& high, bool high_open) const;
  RegexId digits_from(std::string_view low, bool is_open) const;
  RegexId digits_to(std::string_view high, bool is_open) const;

  RegexStore& r_;
  uint32_t most_;
  uint32_t zeros_;
  RegexId digit_, non_zero_, zero_, point_, minus_, e_;
  RegexId some_digits_;  // any run of them, also none
  RegexId natural_, fraction_;
};

}  // namespace cfgmask
