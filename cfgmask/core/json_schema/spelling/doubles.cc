#include "json_schema/spelling/doubles.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace cfgmask::doubles {

namespace {

// Not std::strtod: it reads what the process' locale says. Not a number beyond the greatest, which is infinite.
double read(const Decimal& number) {
  const std::string text = number.text();
  double found = 0;
#if defined(__cpp_lib_to_chars)
  if (std::from_chars(text.data(), text.data() + text.size(), found).ec != std::errc())
    found = number.whole == "0" ? 0 : std::numeric_limits<double>::infinity() * (number.negative ? -1 : 1);
#else
  // libc++ has no from_chars for doubles: the point is moved to the end, for there are no locales in whole numbers.
  found = std::strtod((text.substr(0, text.find('.')) + number.fraction + 'e' +
                       std::to_string(-static_cast<long>(number.fraction.size())))
                          .c_str(),
                      nullptr);
#endif
  return found;
}

Decimal printed(double number) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific).ptr;
  return Decimal::parse({text.data(), static_cast<size_t>(end - text.data())}).value();
}

}  // namespace

Decimal greatest() { return printed(std::numeric_limits<double>::max()); }

Decimal least() { return printed(std::numeric_limits<double>::denorm_min()); }

bool is_printed(const Decimal& number) {
  const double found = read(number);
  return std::isfinite(found) && printed(found) == number;
}

std::optional<Decimal> after(const Decimal& number) {
  const double found = std::nextafter(read(number), std::numeric_limits<double>::infinity());
  return std::isfinite(found) ? std::optional(printed(found)) : std::nullopt;
}

std::optional<Decimal> before(const Decimal& number) {
  const double found = std::nextafter(read(number), -std::numeric_limits<double>::infinity());
  return std::isfinite(found) ? std::optional(printed(found)) : std::nullopt;
}

}  // namespace cfgmask::doubles
