#include "json_schema/spelling/number_spelling.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "json_schema/spelling/doubles.h"
#include "util/limits.h"

namespace cfgmask {

namespace {

// Zeros that programs print before an exponent.
constexpr uint32_t kMaxExponentZeros = 2;

const Decimal kZero;

Decimal integer(int value) { return {std::to_string(std::abs(value)), {}, value < 0}; }

}  // namespace

NumberSpelling::NumberSpelling(RegexStore& store, uint32_t most, uint32_t zeros)
    : r_(store),
      most_(most),
      zeros_(zeros),
      digit_(digits_between('0', '9')),
      non_zero_(digits_between('1', '9')),
      zero_(r_.literal("0")),
      point_(r_.literal(".")),
      minus_(r_.literal("-")),
      e_(r_.char_class({{'E', 'E'}, {'e', 'e'}})),
      some_digits_(run(digit_, 0)),
      natural_(either({zero_, join({non_zero_, some_digits_})})),
      fraction_(optional(join({point_, run(digit_, 1)}))) {}

RegexId NumberSpelling::join(std::initializer_list<RegexId> parts) const {
  RegexId all = RegexStore::empty_text();
  for (auto part = std::rbegin(parts); part != std::rend(parts); ++part) all = r_.concatenation(*part, all);
  return all;
}

RegexId NumberSpelling::digits_between(char low, char high) const {
  if (low > high) return RegexStore::nothing();
  return r_.char_class({{static_cast<uint32_t>(low), static_cast<uint32_t>(high)}});
}

RegexId NumberSpelling::run(RegexId body, uint32_t least) const {
  return r_.repetition(body, least, most_ == kUnbounded ? kUnbounded : least + most_ - 1);
}

RegexId NumberSpelling::exactly(size_t n_digits) const {
  const auto n = static_cast<uint32_t>(n_digits);
  return r_.repetition(digit_, n, n);
}

RegexId NumberSpelling::any() const {
  const RegexId sign = r_.char_class({{'+', '+'}, {'-', '-'}});
  const RegexId exponent = join({e_, optional(sign), digit_, some_digits_});
  return join({without_exponents(), optional(exponent)});
}

RegexId NumberSpelling::without_exponents() const { return join({optional(minus_), natural_, fraction_}); }

RegexId NumberSpelling::point_zeros(bool fraction) const {
  if (!fraction) return RegexStore::empty_text();
  return optional(join({point_, r_.repetition(zero_, 1, zeros_)}));
}

RegexId NumberSpelling::listed(const std::vector<Decimal>& values, bool fraction) const {
  std::vector<std::string> whole;
  std::vector<std::string> broken;
  for (const Decimal& value : values) (value.is_integer() ? whole : broken).push_back(value.text());
  return listed(r_.key_set(whole), r_.key_set(broken), fraction);
}

RegexId NumberSpelling::listed(RegexId whole, RegexId broken, bool fraction) const {
  return either({join({whole, point_zeros(fraction)}), join({broken, r_.repetition(zero_, 0, zeros_)})});
}

bool NumberSpelling::is_small(const Decimal& value) {
  return !value.is_integer() && value.magnitude().order() <= kSmallOrder;
}

RegexId NumberSpelling::plainly_listed(const std::vector<Decimal>& values, bool exponents) const {
  std::vector<std::string> texts;
  std::vector<Decimal> small;
  for (const Decimal& value : values) {
    texts.push_back(value.text());
    if (exponents && is_small(value)) small.push_back(value);
  }
  return plainly_listed(r_.key_set(texts), RegexStore::nothing(), small);
}

RegexId NumberSpelling::plainly_listed(RegexId whole, RegexId broken, const std::vector<Decimal>& small) const {
  std::vector<RegexId> ways{whole, broken};
  for (const Decimal& value : small) ways.push_back(printed(value));
  return r_.alternation(std::move(ways));
}

// A small number with one digit before the point, and an exponent.
RegexId NumberSpelling::printed(const Decimal& value) const {
  const Decimal magnitude = value.magnitude();
  const RegexId sign = value.negative ? minus_ : RegexStore::empty_text();
  return join({sign, r_.literal(magnitude.mantissa().text()), e_, exponent_of(magnitude.order())});
}

RegexId NumberSpelling::integers(const MaybeBound& low, const MaybeBound& high, bool fraction) const {
  return join({with_sign(low, high, &NumberSpelling::whole_magnitudes), point_zeros(fraction)});
}

RegexId NumberSpelling::multiples(const NumberStep& step, const MaybeBound& low, const MaybeBound& high,
                                  bool fraction) const {
  if (low && high && low->value == high->value) return listed({low->value}, fraction);
  const uint32_t most_places = step.is_integer() ? 0 : places_of(step);
  const RegexId zeros = point_zeros(fraction && step.is_integer());
  if (!low && !high) return join({optional(minus_), multiples_of(step, most_places, most_), zeros});
  const RegexId spelled = join({optional(minus_), multiples_of(step, most_places, kUnbounded)});
  const auto within = [&](const NumberSpelling& spelling) {
    const RegexId between =
        step.is_integer() ? spelling.integers(low, high, false) : spelling.decimals_without_exponents(low, high);
    return r_.intersection({between, spelled});
  };
  const RegexId found = within(*this);
  // Where none of so few digits is a multiple, their number has no bound.
  const bool is_left = most_ == kUnbounded || has_texts(found);
  return join({is_left ? found : within(NumberSpelling(r_, kUnbounded)), zeros});
}

bool NumberSpelling::has_texts(RegexId regex) const {
  try {
    return !r_.is_empty(regex);
  } catch (const LimitExceeded&) {
    return true;
  }
}

uint32_t NumberSpelling::places_of(const NumberStep& step) const {
  return zeros_ == kUnbounded ? kUnbounded : step.places + zeros_;
}

std::optional<RegexId> NumberSpelling::sieved(const std::vector<Sieve>& sieves) const {
  uint32_t places = 0;
  for (const Sieve& sieve : sieves) {
    if (sieve.step) places = std::max(places, sieve.step->places);
    for (const NumberStep& hole : sieve.holes) places = std::max(places, hole.places);
  }
  // In units of the last place.
  const auto scaled = [&](const NumberStep& step) { return NumberStep::units_at(step, places); };
  std::vector<uint32_t> words{places, most_};
  const auto add = [&](uint64_t units) {
    words.push_back(static_cast<uint32_t>(units));
    words.push_back(static_cast<uint32_t>(units >> 32));
  };
  std::optional<uint64_t> modulus = 1;
  for (const Sieve& sieve : sieves) {
    const auto units = sieve.step ? scaled(*sieve.step) : std::optional(uint64_t{1});
    if (!units) return std::nullopt;
    modulus = NumberStep::common_units(*modulus, *units);
    std::vector<uint64_t> without;
    for (const NumberStep& hole : sieve.holes) {
      const auto taken = scaled(hole);
      if (!taken || !modulus) return std::nullopt;
      modulus = NumberStep::common_units(*modulus, *taken);
      if (std::find(without.begin(), without.end(), *taken) == without.end()) without.push_back(*taken);
    }
    if (!modulus) return std::nullopt;
    if (sieve.step && std::ranges::any_of(without, [&](uint64_t taken) { return *units % taken == 0; })) continue;
    add(*units);
    words.push_back(sieve.is_whole ? 0 : !sieve.step ? kUnbounded : places_of(*sieve.step));
    words.push_back(!sieve.step && !sieve.is_whole ? 1 : 0);
    words.push_back(static_cast<uint32_t>(without.size()));
    for (uint64_t taken : without) add(taken);
  }
  if (words.size() == 2) return RegexStore::nothing();
  return join({optional(minus_), r_.multiples(words)});
}

RegexId NumberSpelling::multiples_of(const NumberStep& step, uint32_t most_places, uint32_t most) const {
  const std::array words{
      step.places, most, static_cast<uint32_t>(step.units), static_cast<uint32_t>(step.units >> 32), most_places,
      0U,          0U};
  return r_.multiples(words);
}

RegexId NumberSpelling::decimals(const MaybeBound& low, const MaybeBound& high) const {
  return either(
      {decimals_without_exponents(low, high), with_sign(low, high, &NumberSpelling::magnitudes_with_exponent)});
}

RegexId NumberSpelling::any_double() const {
  return either({without_exponents(),
                 with_sign(std::nullopt, std::nullopt, &NumberSpelling::magnitudes_of_double_with_exponent)});
}

RegexId NumberSpelling::doubles(const MaybeBound& low, const MaybeBound& high) const {
  return either({decimals_without_exponents(low, high),
                 with_sign(low, high, &NumberSpelling::magnitudes_of_double_with_exponent)});
}

RegexId NumberSpelling::decimals_without_exponents(const MaybeBound& low, const MaybeBound& high) const {
  return with_sign(low, high, &NumberSpelling::decimal_magnitudes);
}

RegexId NumberSpelling::with_sign(const MaybeBound& low, const MaybeBound& high, Magnitudes magnitudes) const {
  RegexId negative = RegexStore::nothing();
  RegexId positive = RegexStore::nothing();
  const auto mirrored = [](const Bound& bound) { return Bound{bound.value.magnitude(), bound.is_open}; };
  if (!low || low->value < kZero) {
    const Bound nearest = !high || high->value > kZero ? Bound{} : mirrored(*high);
    const MaybeBound farthest = low ? MaybeBound(mirrored(*low)) : std::nullopt;
    negative = join({minus_, (this->*magnitudes)(nearest, farthest)});
  }
  if (!high || high->value > kZero || (high->value == kZero && !high->is_open))
    positive = (this->*magnitudes)(!low || low->value < kZero ? Bound{} : *low, high);
  return either({negative, positive});
}

// ---- integers

RegexId NumberSpelling::whole_magnitudes(const Bound& low, const MaybeBound& high) const {
  return whole_numbers(low.value, high ? std::optional(high->value) : std::nullopt);
}

RegexId NumberSpelling::whole_numbers(const Decimal& first, const std::optional<Decimal>& last) const {
  const std::string& low = first.whole;
  const auto up_to_length = [&] { return same_length(low, std::string(low.size(), '9')); };
  if (!last) {
    if (first.is_zero()) return natural_;
    return either({up_to_length(), join({non_zero_, run(digit_, static_cast<uint32_t>(low.size()))})});
  }
  if (first > *last) return RegexStore::nothing();
  const std::string& high = last->whole;
  if (low.size() == high.size()) return same_length(low, high);
  RegexId between = RegexStore::nothing();
  if (high.size() - low.size() > 1)
    between = join(
        {non_zero_, r_.repetition(digit_, static_cast<uint32_t>(low.size()), static_cast<uint32_t>(high.size() - 2))});
  return either({up_to_length(), between, same_length('1' + std::string(high.size() - 1, '0'), high)});
}

// The digit strings from `low` to `high`, all of one length.
RegexId NumberSpelling::same_length(std::string_view low, std::string_view high) const {
  const auto shared = static_cast<size_t>(std::mismatch(low.begin(), low.end(), high.begin()).first - low.begin());
  const RegexId prefix = r_.literal(low.substr(0, shared));
  if (shared == low.size()) return prefix;
  const std::string_view low_rest = low.substr(shared + 1);
  const std::string_view high_rest = high.substr(shared + 1);
  const RegexId between = digits_between(static_cast<char>(low[shared] + 1), static_cast<char>(high[shared] - 1));
  return join({prefix, either({join({r_.literal(low.substr(shared, 1)), at_least(low_rest)}),
                               join({between, exactly(low_rest.size())}),
                               join({r_.literal(high.substr(shared, 1)), at_most(high_rest)})})});
}

// The digit strings of this length that are not below `digits`.
RegexId NumberSpelling::at_least(std::string_view digits) const {
  RegexId all = RegexStore::empty_text();
  for (size_t i = digits.size(); i-- > 0;) {
    const RegexId above = digits_between(static_cast<char>(digits[i] + 1), '9');
    all = either({join({r_.literal(digits.substr(i, 1)), all}), join({above, exactly(digits.size() - i - 1)})});
  }
  return all;
}

// The digit strings of this length that are not above `digits`.
RegexId NumberSpelling::at_most(std::string_view digits) const {
  RegexId all = RegexStore::empty_text();
  for (size_t i = digits.size(); i-- > 0;) {
    const RegexId below = digits_between('0', static_cast<char>(digits[i] - 1));
    all = either({join({r_.literal(digits.substr(i, 1)), all}), join({below, exactly(digits.size() - i - 1)})});
  }
  return all;
}

// ---- decimals

RegexId NumberSpelling::decimal_magnitudes(const Bound& low, const MaybeBound& high) const {
  const Decimal floor = low.value.floor();
  const auto with_fraction = [&](const Decimal& whole, RegexId fraction) {
    return join({r_.literal(whole.whole), fraction});
  };
  const RegexId first = with_fraction(floor, fraction_from(low.value.fraction, low.is_open));
  if (!high) return either({first, join({whole_numbers(floor.next(), std::nullopt), fraction_})});
  const Decimal top = high->value.floor();
  if (floor > top) return RegexStore::nothing();
  const std::string& last = high->value.fraction;
  if (floor == top) return with_fraction(floor, fraction_between(low.value.fraction, low.is_open, last, high->is_open));
  return either({first, join({whole_numbers(floor.next(), top.previous()), fraction_}),
                 with_fraction(top, fraction_between({}, false, last, high->is_open))});
}

// Fractions, with the point, that are at least 0.`low`, or greater.
RegexId NumberSpelling::fraction_from(const std::string& low, bool is_open) const {
  if (low.empty() && !is_open) return fraction_;
  return join({point_, digits_from(low, is_open)});
}

// Fractions, with the point, from 0.`low` to 0.`high`.
RegexId NumberSpelling::fraction_between(const std::string& low, bool low_open, const std::string& high,
                                         bool high_open) const {
  const auto maybe_none = [&](RegexId fraction) { return low.empty() && !low_open ? optional(fraction) : fraction; };
  if (low >= high) {
    if (low > high || low_open || high_open) return RegexStore::nothing();
    return maybe_none(join({point_, r_.literal(low), run(zero_, low.empty() ? 1 : 0)}));
  }
  // The digits of both bounds, as far as they are the same; those of the lower one go on with zeros.
  size_t shared = 0;
  const auto low_digit = [&](size_t i) { return i < low.size() ? low[i] : '0'; };
  while (low_digit(shared) == high[shared]) ++shared;
  const auto after = [shared](const std::string& digits) {
    return std::string_view(digits).substr(std::min(shared + 1, digits.size()));
  };
  const char a = low_digit(shared);
  const char b = high[shared];
  RegexId rest = either({join({digits_between(a, a), digits_from(after(low), low_open)}),
                         join({digits_between(static_cast<char>(a + 1), static_cast<char>(b - 1)), some_digits_}),
                         join({digits_between(b, b), digits_to(after(high), high_open)})});
  for (size_t i = shared; i-- > 0;) {
    // What is missing counts as zeros.
    if (i + 1 >= low.size() && !low_open) rest = optional(rest);
    rest = join({digits_between(high[i], high[i]), rest});
  }
  return maybe_none(join({point_, rest}));
}

// What may follow the digits that a number shares with a lower bound, whose next digits these are.
RegexId NumberSpelling::digits_from(std::string_view low, bool is_open) const {
  RegexId all = is_open ? join({run(zero_, 0), non_zero_, some_digits_}) : some_digits_;
  for (size_t i = low.size(); i-- > 0;) {
    const RegexId above = digits_between(static_cast<char>(low[i] + 1), '9');
    all = either({join({r_.literal(low.substr(i, 1)), all}), join({above, some_digits_})});
  }
  return all;
}

// The same for an upper bound, of whose digits some came before.
RegexId NumberSpelling::digits_to(std::string_view high, bool is_open) const {
  RegexId all = is_open ? RegexStore::nothing() : run(zero_, 0);
  for (size_t i = high.size(); i-- > 0;) {
    const RegexId below = digits_between('0', static_cast<char>(high[i] - 1));
    all = optional(either({join({r_.literal(high.substr(i, 1)), all}), join({below, some_digits_})}));
  }
  return all;
}

// ---- exponents

RegexId NumberSpelling::magnitudes_of_double_with_exponent(const Bound& low, const MaybeBound& high) const {
  return magnitudes_with_exponent(low.value.is_zero() ? Bound{cfgmask::doubles::least()} : low,
                                  high ? high : Bound{cfgmask::doubles::greatest()});
}

// Numbers with one digit, not zero, before the point and an exponent. Of the exponents that a bound cuts through, those
// that programs print.
RegexId NumberSpelling::magnitudes_with_exponent(const Bound& low, const MaybeBound& high) const {
  if (high && high->value.is_zero()) return RegexStore::nothing();
  // The least exponent with which every number is above the bound, and the greatest with which every one is below it.
  std::optional<int> least;
  std::optional<int> most;
  if (!low.value.is_zero()) least = low.value.order() + (low.value.is_power_of_ten() && !low.is_open ? 0 : 1);
  if (high) most = high->value.order() - 1;
  RegexId exponent = RegexStore::nothing();
  if (!most || *most >= 0)
    exponent = join({optional(r_.literal("+")), exponents(std::max(least.value_or(0), 0), most)});
  if (!least || *least < 0) {
    const auto last = least ? std::optional(-*least) : std::nullopt;
    exponent = either({exponent, join({minus_, exponents(most ? std::max(-*most, 1) : 1, last)})});
  }
  const RegexId whole = join({non_zero_, fraction_, e_, exponent});
  const RegexId first = least ? cut_through(low, high, *least - 1) : RegexStore::nothing();
  const RegexId last = most ? cut_through(low, high, *most + 1) : RegexStore::nothing();
  return either({whole, first, last});
}

// The numbers with one exponent.
RegexId NumberSpelling::cut_through(const Bound& low, const MaybeBound& high, int order) const {
  if (kSmallOrder < order && order < kLargeOrder) return RegexStore::nothing();
  // A bound that is a power of ten, and in the set, cuts no exponent.
  const bool has_low = !low.value.is_zero() && low.value.order() >= order;
  if (has_low && low.value.order() > order) return RegexStore::nothing();
  const Bound first = has_low ? Bound{low.value.mantissa(), low.is_open} : Bound{integer(1)};
  const Bound last =
      high && high->value.order() == order ? Bound{high->value.mantissa(), high->is_open} : Bound{integer(10), true};
  return join({decimal_magnitudes(first, last), e_, exponent_of(order)});
}

RegexId NumberSpelling::exponent_of(int order) const {
  const RegexId sign = order < 0 ? minus_ : optional(r_.literal("+"));
  return join({sign, exponents(std::abs(order), std::abs(order))});
}

RegexId NumberSpelling::exponents(int first, std::optional<int> last) const {
  const RegexId digits = whole_numbers(integer(first), last ? std::optional(integer(*last)) : std::nullopt);
  return join({r_.repetition(zero_, 0, kMaxExponentZeros), digits});
}

}  // namespace cfgmask
