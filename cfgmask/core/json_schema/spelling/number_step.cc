#include "json_schema/spelling/number_step.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <string_view>

namespace cfgmask {

namespace {

constexpr uint64_t kMost = Multiples::kMostModulus;

// A product; nullopt from kMost on.
std::optional<uint64_t> times(uint64_t a, uint64_t b) {
  return a >= kMost || b >= kMost || (a != 0 && b > (kMost - 1) / a) ? std::nullopt : std::optional(a * b);
}

// The digits of a magnitude up to a number of places, whether there are more, and the remainder of those digits.
struct Divided {
  std::string digits;
  bool is_exact;
  uint64_t remainder;
};

Divided divided(const Decimal& number, const NumberStep& step) {
  std::string digits = number.whole + number.fraction.substr(0, step.places);
  if (number.fraction.size() < step.places) digits.append(step.places - number.fraction.size(), '0');
  uint64_t remainder = 0;
  for (char digit : digits) remainder = (remainder * 10 + static_cast<uint64_t>(digit - '0')) % step.units;
  return {std::move(digits), number.fraction.size() <= step.places, remainder};
}

// Digits, and more or less than they say; not below zero.
std::string plus(std::string digits, uint64_t more) {
  for (size_t i = digits.size(); more > 0; more /= 10) {
    if (i == 0) {
      digits.insert(digits.begin(), '0');
    } else {
      --i;
    }
    const uint64_t sum = static_cast<uint64_t>(digits[i] - '0') + more % 10;
    digits[i] = static_cast<char>('0' + sum % 10);
    more += sum >= 10 ? 10 : 0;
  }
  return digits;
}

std::string minus(std::string digits, uint64_t less) {
  for (size_t i = digits.size(); less > 0 && i-- > 0; less /= 10) {
    const auto digit = static_cast<uint64_t>(digits[i] - '0');
    const uint64_t taken = less % 10;
    digits[i] = static_cast<char>('0' + (digit + 10 - taken) % 10);
    less += digit < taken ? 10 : 0;
  }
  return digits;
}

Decimal with_point(std::string digits, uint32_t places, bool negative) {
  if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
  Decimal found{digits.substr(0, digits.size() - places), digits.substr(digits.size() - places), negative};
  found.whole.erase(0, std::min(found.whole.find_first_not_of('0'), found.whole.size() - 1));
  found.fraction.erase(found.fraction.find_last_not_of('0') + 1);
  if (found.is_zero()) found.negative = false;
  return found;
}

}  // namespace

std::optional<NumberStep> NumberStep::of(const Decimal& number) {
  if (number.negative || number.is_zero() || number.fraction.size() > Multiples::kMostPlaces) return std::nullopt;
  uint64_t units = 0;
  for (char digit : number.whole + number.fraction) {
    const auto more = times(units, 10);
    if (!more) return std::nullopt;
    units = *more + static_cast<uint64_t>(digit - '0');
  }
  return units < kMost ? std::optional(NumberStep{units, static_cast<uint32_t>(number.fraction.size())}) : std::nullopt;
}

std::optional<uint64_t> NumberStep::units_at(const NumberStep& step, uint32_t places) {
  std::optional<uint64_t> units = step.units;
  for (uint32_t i = step.places; units && i < places; ++i) units = times(*units, 10);
  return units;
}

std::optional<uint64_t> NumberStep::common_units(uint64_t a, uint64_t b) { return times(a / std::gcd(a, b), b); }

std::optional<NumberStep> NumberStep::common(const NumberStep& a, const NumberStep& b) {
  uint32_t places = std::max(a.places, b.places);
  const auto x = units_at(a, places);
  const auto y = units_at(b, places);
  if (!x || !y) return std::nullopt;
  auto units = common_units(*x, *y);
  if (!units) return std::nullopt;
  for (; places > 0 && *units % 10 == 0; --places) *units /= 10;
  return NumberStep{*units, places};
}

bool NumberStep::divides(const Decimal& number) const {
  const Divided found = divided(number, *this);
  return found.is_exact && found.remainder == 0;
}

Decimal NumberStep::next(const Decimal& number, bool open) const {
  Divided found = divided(number, *this);
  const bool is_multiple = found.is_exact && found.remainder == 0;
  if (is_multiple && !open) return number;
  // Towards zero for a negative one.
  if (number.negative)
    return with_point(minus(std::move(found.digits), is_multiple ? units : found.remainder), places, true);
  return with_point(plus(std::move(found.digits), units - found.remainder), places, false);
}

}  // namespace cfgmask
