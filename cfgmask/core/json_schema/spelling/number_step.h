// Steps that numbers are multiples of.
#pragma once

#include <cstdint>
#include <optional>

#include "json_schema/document/decimal.h"
#include "regex/multiples.h"

namespace cfgmask {

// A positive decimal: `units` with the point moved `places` to the left, and no superfluous zeros behind it.
struct NumberStep {
  uint64_t units = 1;  // below Multiples::kMostModulus
  uint32_t places = 0;

  // nullopt for a number that is not positive, and for one of too many digits.
  static std::optional<NumberStep> of(const Decimal& number);
  // The least number that is a multiple of both; nullopt if it has too many digits.
  static std::optional<NumberStep> common(const NumberStep& a, const NumberStep& b);

  // The same steps as integers: one in units of a digit after the point, and the least common multiple of two. nullopt
  // from Multiples::kMostModulus on.
  static std::optional<uint64_t> units_at(const NumberStep& step, uint32_t places);
  static std::optional<uint64_t> common_units(uint64_t a, uint64_t b);

  bool is_integer() const { return places == 0; }
  bool is_one() const { return places == 0 && units == 1; }
  bool divides(const Decimal& number) const;
  // The multiple next to a number, itself if that is not `open`. Linear in the digits.
  Decimal next(const Decimal& number, bool open) const;
  Decimal previous(const Decimal& number, bool open) const { return -next(-number, open); }

  bool operator==(const NumberStep&) const = default;
};

}  // namespace cfgmask
