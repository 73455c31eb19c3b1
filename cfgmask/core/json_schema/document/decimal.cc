#include "json_schema/document/decimal.h"

#include <algorithm>
#include <charconv>

namespace cfgmask {

namespace {

std::string plus_one(std::string digits) {
  for (size_t i = digits.size(); i-- > 0;) {
    if (digits[i] != '9') {
      ++digits[i];
      return digits;
    }
    digits[i] = '0';
  }
  return '1' + digits;
}

// `digits` are not zero.
std::string minus_one(std::string digits) {
  size_t i = digits.size() - 1;
  for (; digits[i] == '0'; --i) digits[i] = '9';
  --digits[i];
  return digits.size() > 1 && digits[0] == '0' ? digits.substr(1) : digits;
}

Decimal integer(std::string whole, bool negative) {
  const bool is_zero = whole == "0";
  return {std::move(whole), {}, negative && !is_zero};
}

std::strong_ordering compare_magnitudes(const Decimal& a, const Decimal& b) {
  if (a.whole.size() != b.whole.size()) return a.whole.size() <=> b.whole.size();
  if (a.whole != b.whole) return a.whole <=> b.whole;
  return a.fraction <=> b.fraction;
}

}  // namespace

std::optional<uint64_t> Decimal::count(std::string_view json) {
  const auto digits = [](std::string_view spelled) -> std::optional<uint64_t> {
    uint64_t found = 0;
    const auto [end, error] = std::from_chars(spelled.data(), spelled.data() + spelled.size(), found);
    if (end != spelled.data() + spelled.size()) return std::nullopt;
    return error == std::errc() ? found : UINT64_MAX;
  };
  if (const auto plain = digits(json)) return plain;
  const auto exact = parse(json);
  return exact && exact->is_integer() && !exact->negative ? digits(exact->whole) : std::nullopt;
}

std::optional<Decimal> Decimal::parse(std::string_view json) {
  const bool negative = json.starts_with('-');
  if (negative) json.remove_prefix(1);
  const size_t end = std::min(json.find_first_of("eE"), json.size());
  long exponent = 0;
  bool is_far = false;
  if (end < json.size()) {
    std::string_view spelled = json.substr(end + 1);
    if (spelled.starts_with('+')) spelled.remove_prefix(1);
    is_far = std::from_chars(spelled.data(), spelled.data() + spelled.size(), exponent).ec != std::errc();
  }
  const std::string_view mantissa = json.substr(0, end);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa.substr(0, point));
  if (point < mantissa.size()) digits += mantissa.substr(point + 1);
  const size_t first = digits.find_first_not_of('0');
  if (first == std::string::npos) return Decimal{};
  // The point stands before the digit at this position.
  const long places = static_cast<long>(mantissa.size() - std::min(point + 1, mantissa.size()));
  digits.erase(0, first);
  const auto n = static_cast<long>(digits.size());
  if (is_far || n > kMaxDigits || exponent > 2 * kMaxDigits || exponent < -2 * kMaxDigits ||
      n - places + exponent > kMaxDigits || places - exponent > kMaxDigits)
    return std::nullopt;
  const long at = n - places + exponent;
  if (at <= 0) digits.insert(0, static_cast<size_t>(1 - at), '0');
  const auto n_whole = static_cast<size_t>(std::max(at, 1L));
  if (digits.size() < n_whole) digits.append(n_whole - digits.size(), '0');
  std::string fraction = digits.substr(n_whole);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  digits.resize(n_whole);
  return Decimal{std::move(digits), std::move(fraction), negative};
}

Decimal Decimal::ceiling() const {
  return is_integer() ? *this : negative ? integer(whole, true) : integer(plus_one(whole), false);
}

Decimal Decimal::floor() const {
  return is_integer() ? *this : negative ? integer(plus_one(whole), true) : integer(whole, false);
}

Decimal Decimal::next() const { return negative ? integer(minus_one(whole), true) : integer(plus_one(whole), false); }

Decimal Decimal::previous() const {
  return negative || is_zero() ? integer(plus_one(whole), true) : integer(minus_one(whole), false);
}

int Decimal::order() const {
  if (whole != "0") return static_cast<int>(whole.size()) - 1;
  return -static_cast<int>(fraction.find_first_not_of('0')) - 1;
}

bool Decimal::is_power_of_ten() const {
  const std::string digits = whole + fraction;
  return std::count(digits.begin(), digits.end(), '0') == static_cast<long>(digits.size()) - 1 &&
         digits.find('1') != std::string::npos;
}

Decimal Decimal::mantissa() const {
  std::string digits = whole == "0" ? fraction : whole + fraction;
  digits.erase(0, digits.find_first_not_of('0'));
  digits.erase(digits.find_last_not_of('0') + 1);
  return {digits.substr(0, 1), digits.substr(1)};
}

std::string Decimal::text() const { return (negative ? "-" : "") + whole + (fraction.empty() ? "" : "." + fraction); }

std::strong_ordering Decimal::operator<=>(const Decimal& other) const {
  if (negative != other.negative) return negative ? std::strong_ordering::less : std::strong_ordering::greater;
  return negative ? compare_magnitudes(other, *this) : compare_magnitudes(*this, other);
}

}  // namespace cfgmask
