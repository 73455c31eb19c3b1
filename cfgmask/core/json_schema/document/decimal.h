// Exact decimals: digit strings, which nothing rounds.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace cfgmask {

// Equal numbers are equal members: no zeros before `whole` but one that stands alone, none after `fraction`, no -0.
struct Decimal {
  std::string whole = "0";
  std::string fraction = {};
  bool negative = false;

  // nullopt for a number of JSON that takes more than kMaxDigits digits to write without an exponent.
  static std::optional<Decimal> parse(std::string_view json);
  static constexpr long kMaxDigits = 400;
  // A number of JSON that is a count, however it is spelled: `2`, `2.0`, `2e0`; UINT64_MAX for one that is greater.
  // nullopt for others.
  static std::optional<uint64_t> count(std::string_view json);

  bool is_zero() const { return whole == "0" && fraction.empty(); }
  bool is_integer() const { return fraction.empty(); }
  Decimal magnitude() const { return {whole, fraction}; }
  Decimal operator-() const { return {whole, fraction, !negative && !is_zero()}; }
  // The least integer that is not below the number, and the greatest that is not above it.
  Decimal ceiling() const;
  Decimal floor() const;
  // Of an integer: the next one, and the one before.
  Decimal next() const;
  Decimal previous() const;
  // Of a positive number: the exponent of the greatest power of ten that is not above it, and whether it is that power.
  int order() const;
  bool is_power_of_ten() const;
  // Of a positive number: that divided by this power; from 1 on, and less than 10.
  Decimal mantissa() const;
  // Without an exponent and superfluous zeros: `-0.25`, `10`.
  std::string text() const;

  bool operator==(const Decimal&) const = default;
  std::strong_ordering operator<=>(const Decimal& other) const;
};

}  // namespace cfgmask
