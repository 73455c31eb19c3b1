#include "json_schema/spelling/number_set.h"

#include <algorithm>
#include <iterator>

#include "json_schema/spelling/doubles.h"
#include "json_schema/spelling/number_spelling.h"
#include "util/hash_table.h"
#include "util/text_hash.h"

namespace cfgmask {

namespace {

using Bound = NumberSet::Bound;

constexpr size_t kMostDigits = 18;  // of integers that are counted

// The stronger of two bounds; `sign` 1: of those below, the greater one; -1: of those above, the smaller one.
std::optional<Bound> tighter(const std::optional<Bound>& a, const std::optional<Bound>& b, int sign) {
  if (!a || !b) return a ? a : b;
  if (a->value == b->value) return Bound{a->value, a->is_open || b->is_open};
  return (a->value > b->value) == (sign > 0) ? a : b;
}

bool apart(const Bound& low, const Bound& high) {
  return low.value > high.value || (low.value == high.value && (low.is_open || high.is_open));
}

size_t hash_of(const Decimal& number) {
  return mix(text_hash(number.whole) ^ mix(text_hash(number.fraction) + (number.negative ? 1 : 0)));
}

size_t hash_of(const std::optional<Bound>& bound) {
  return bound ? hash_of(bound->value) + (bound->is_open ? 1 : 0) : 0;
}

}  // namespace

NumberSet NumberSet::of(std::vector<Decimal> values) {
  if (!std::is_sorted(values.begin(), values.end())) std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  NumberSet found;
  found.values_ = std::move(values);
  return found;
}

NumberSet NumberSet::from(Bound low) {
  NumberSet found;
  found.low_ = std::move(low);
  return found;
}

NumberSet NumberSet::to(Bound high) {
  NumberSet found;
  found.high_ = std::move(high);
  return found;
}

NumberSet NumberSet::multiples(const NumberStep& step) {
  NumberSet found(step.is_integer() ? Integers::kYes : Integers::kNo);
  if (!step.is_one()) found.step_ = step;
  return found;
}

std::pair<std::optional<NumberStep>, bool> NumberSet::common_step(const NumberSet& a, const NumberSet& b) {
  const auto x = a.step();
  const auto y = b.step();
  if (!x || !y) return {x ? x : y, true};
  const auto found = NumberStep::common(*x, *y);
  return {found, found.has_value()};
}

NumberSet NumberSet::operator&(const NumberSet& other) const {
  const auto step = common_step(*this, other).first;
  NumberSet both = step ? multiples(*step) : NumberSet();
  both.integers_ = std::max({both.integers_, integers_, other.integers_});
  both.low_ = tighter(low_, other.low_, 1);
  both.high_ = tighter(high_, other.high_, -1);
  both.values_ = values_ ? values_ : other.values_;
  if (values_ && other.values_)
    std::erase_if(*both.values_, [&](const Decimal& value) { return !other.admits(value); });
  both.tighten();
  return both;
}

std::optional<NumberSet> NumberSet::operator-(const NumberSet& other) const {
  // Of the integers without a fraction, other spellings of the same numbers would be left.
  if (other.integers_ == Integers::kUnfractioned) return std::nullopt;
  if (!values_) return other.step_ ? std::nullopt : outside(other);
  std::vector<Decimal> left;
  std::copy_if(values_->begin(), values_->end(), std::back_inserter(left),
               [&](const Decimal& value) { return !other.admits(value); });
  NumberSet found(integers_);
  found.values_ = std::move(left);
  return found;
}

std::optional<NumberSet> NumberSet::outside(const NumberSet& other) const {
  if (other.values_ || (other.integers_ != Integers::kNo && integers_ == Integers::kNo)) return std::nullopt;
  std::optional<NumberSet> found;
  if (other.low_) {
    NumberSet below = *this & to({other.low_->value, !other.low_->is_open});
    if (!below.is_empty()) found = std::move(below);
  }
  if (other.high_) {
    NumberSet above = *this & from({other.high_->value, !other.high_->is_open});
    if (found && !above.is_empty()) return std::nullopt;
    if (!found) found = std::move(above);
  }
  return found ? found : of({});
}

NumberSet NumberSet::without_low() const {
  NumberSet found = *this;
  found.low_ = std::nullopt;
  return found;
}

NumberSet NumberSet::without_high() const {
  NumberSet found = *this;
  found.high_ = std::nullopt;
  return found;
}

NumberSet NumberSet::bounds_alone() const {
  NumberSet found;
  found.low_ = low_;
  found.high_ = high_;
  return found;
}

std::vector<NumberSet> NumberSet::outsides() const {
  std::vector<NumberSet> found;
  if (low_) found.push_back(to({low_->value, !low_->is_open}));
  if (high_) found.push_back(from({high_->value, !high_->is_open}));
  return found;
}

bool NumberSet::is_bounded_by(const NumberSet& other) const {
  const auto is_tighter = [](const std::optional<Bound>& bound, const std::optional<Bound>& than, int sign) {
    return !than || (bound && tighter(bound, than, sign) == bound);
  };
  return is_tighter(low_, other.low_, 1) && is_tighter(high_, other.high_, -1);
}

std::optional<std::vector<Decimal>> NumberSet::few(size_t at_most) const {
  const auto step = multiple_of();
  if (!low_ || !high_) return std::nullopt;
  if (is_one_number()) return std::vector{low_->value};
  if (!step) return std::nullopt;
  std::vector<Decimal> found;
  for (Decimal value = low_->value; value <= high_->value; value = step->next(value, true)) {
    if (found.size() == at_most) return std::nullopt;
    found.push_back(value);
  }
  return found;
}

bool NumberSet::is_empty() const { return values_ ? values_->empty() : low_ && high_ && apart(*low_, *high_); }

bool NumberSet::counts_exactly() const {
  if (values_ || is_empty() || !low_ || !high_ || low_->value == high_->value) return true;
  if (step_) return false;
  return integers_ == Integers::kNo || std::max(low_->value.whole.size(), high_->value.whole.size()) <= kMostDigits;
}

uint64_t NumberSet::count() const {
  if (values_) return values_->size();
  if (is_empty()) return 0;
  if (!low_ || !high_) return kVeryMany;
  if (low_->value == high_->value) return 1;
  // Both bounds are among them.
  if (step_) return 2;
  if (integers_ == Integers::kNo) return kVeryMany;
  if (std::max(low_->value.whole.size(), high_->value.whole.size()) > kMostDigits) return 2;
  const auto integer = [](const Decimal& value) { return std::stoll(value.text()); };
  return std::min(kVeryMany, static_cast<uint64_t>(integer(high_->value) - integer(low_->value)) + 1);
}

bool NumberSet::admits(const Decimal& value) const {
  return is_inside(value) && (!values_ || std::binary_search(values_->begin(), values_->end(), value));
}

bool NumberSet::is_inside(const Decimal& value) const {
  const Bound here{value};
  if ((low_ && apart(*low_, here)) || (high_ && apart(here, *high_))) return false;
  return (integers_ == Integers::kNo || value.is_integer()) && (!step_ || step_->divides(value));
}

void NumberSet::tighten() {
  if (values_) {
    std::erase_if(*values_, [&](const Decimal& value) { return !is_inside(value); });
    low_ = high_ = std::nullopt;
    step_ = std::nullopt;
    if (integers_ == Integers::kYes) integers_ = Integers::kNo;
  } else if (step_) {
    if (low_) low_ = Bound{step_->next(low_->value, low_->is_open)};
    if (high_) high_ = Bound{step_->previous(high_->value, high_->is_open)};
  } else if (integers_ != Integers::kNo) {
    if (low_) {
      const bool leave = low_->is_open && low_->value.is_integer();
      low_ = Bound{leave ? low_->value.next() : low_->value.ceiling()};
    }
    if (high_) {
      const bool leave = high_->is_open && high_->value.is_integer();
      high_ = Bound{leave ? high_->value.previous() : high_->value.floor()};
    }
  }
}

RegexId NumberSet::plain_regex(RegexStore& store, uint32_t most, Exponents exponents) const {
  if (step_ && integers_ == Integers::kNo)
    return NumberSpelling(store, std::min(most, NumberSpelling::kMostOfDouble)).multiples(*step_, low_, high_, true);
  if (step_) return NumberSpelling(store, most).multiples(*step_, low_, high_, false);
  if (integers_ != Integers::kNo && !values_) return NumberSpelling(store, most).integers(low_, high_, false);
  const NumberSpelling spelling(store, std::min(most, NumberSpelling::kMostOfDouble));
  const bool any_exponent = exponents == Exponents::kYes;
  if (values_) return spelling.plainly_listed(*values_, any_exponent);
  if (is_everything()) return any_exponent ? spelling.any_double() : spelling.without_exponents();
  const NumberSet held = within_doubles(std::min(most, NumberSpelling::kMostOfDouble));
  if (held.is_empty()) return RegexStore::nothing();
  return any_exponent ? spelling.doubles(held.low_, held.high_)
                      : spelling.decimals_without_exponents(held.low_, held.high_);
}

NumberSet NumberSet::within_doubles(uint32_t most) const {
  NumberSet held = *this;
  auto& low = held.low_;
  auto& high = held.high_;
  const auto close = [](std::optional<Bound>& bound, auto next) {
    if (!bound || !bound->is_open || bound->value.is_zero()) return true;
    const auto found = next(bound->value);
    if (found) bound = Bound{*found};
    return found.has_value();
  };
  if (!close(low, doubles::after) || !close(high, doubles::before)) return of({});
  // Where what is left of a run would be too long, the bound of the doubles is one of the numbers as well.
  const auto is_long = [&](const Bound& bound) {
    return bound.value.whole != "0" && bound.value.whole.size() + 1 + most > NumberSpelling::kMostWhole;
  };
  if (!high && low && !low->value.negative && is_long(*low)) high = Bound{doubles::greatest()};
  if (!low && high && high->value.negative && is_long(*high)) low = Bound{-doubles::greatest()};
  const auto is_short = [&](const Bound& bound) {
    return static_cast<long>(most) - bound.value.magnitude().order() > NumberSpelling::kMostPlaces;
  };
  const auto is_open_zero = [](const std::optional<Bound>& bound) {
    return bound && bound->is_open && bound->value.is_zero();
  };
  if (is_open_zero(low) && high && !high->value.negative && !high->value.is_zero() && is_short(*high))
    low = Bound{doubles::least()};
  if (is_open_zero(high) && low && low->value.negative && is_short(*low)) high = Bound{-doubles::least()};
  return held;
}

// Where both bounds have as many digits before the point, no number has an exponent, but for large ones.
std::optional<std::string> NumberSet::start() const {
  if (values_ || is_empty() || !low_ || !high_) return std::nullopt;
  const Decimal& low = low_->value;
  const Decimal& high = high_->value;
  if (low.negative != high.negative || low.whole.size() != high.whole.size() || low.whole == "0" || high.whole == "0")
    return std::nullopt;
  if (integers_ == Integers::kNo && low.whole.size() > NumberSpelling::kLargeOrder) return std::nullopt;
  const auto end = std::mismatch(low.whole.begin(), low.whole.end(), high.whole.begin()).first;
  if (end == low.whole.begin()) return std::nullopt;
  return (low.negative ? "-" : "") + std::string(low.whole.begin(), end);
}

size_t NumberSet::hash() const {
  size_t hash = step_ ? mix(step_->units + step_->places) : 0;
  hash = mix((hash + static_cast<size_t>(integers_)) ^ mix(hash_of(low_) ^ mix(hash_of(high_))));
  if (values_) {
    for (const Decimal& value : *values_) hash = mix(hash ^ hash_of(value));
  }
  return hash;
}

RegexId NumberSet::regex(RegexStore& store, const NumberStyle& style, Exponents exponents) const {
  const uint32_t most = style.most;
  if (style.is_plain()) {
    const RegexId plain = plain_regex(store, most, exponents);
    // Where doubles have no number between the bounds, numbers are written that they would round.
    if (plain != RegexStore::nothing()) return plain;
  }
  const bool any_exponent = exponents == Exponents::kYes;
  const bool has_fraction = integers_ != Integers::kUnfractioned;
  const NumberSpelling spelling(store, most);
  if (is_everything()) return any_exponent ? spelling.any() : spelling.without_exponents();
  if (values_) return spelling.listed(*values_, has_fraction);
  if (step_) return spelling.multiples(*step_, low_, high_, has_fraction);
  if (integers_ != Integers::kNo) return spelling.integers(low_, high_, has_fraction);
  return any_exponent ? spelling.decimals(low_, high_) : spelling.decimals_without_exponents(low_, high_);
}

}  // namespace cfgmask
