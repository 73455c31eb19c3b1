#include "regex/multiples.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace cfgmask {

namespace {

constexpr uint32_t kAnyNumber = UINT32_MAX;

bool is_digit(unsigned byte) { return byte >= '0' && byte <= '9'; }

// n / gcd(n, 10^power): what x has to be a multiple of for x * 10^power to be one of n.
uint64_t without_tens(uint64_t n, uint32_t power) {
  for (; power > 0; --power) {
    const uint64_t shared = std::gcd(n, uint64_t{10});
    if (shared == 1) break;
    n /= shared;
  }
  return n;
}

}  // namespace

Multiples::Multiples(uint32_t places, uint32_t most_digits, std::vector<Case> cases)
    : places_(places), most_digits_(most_digits) {
  const auto add_step = [&](uint64_t step) {
    if (step == 0) throw std::invalid_argument("nothing is divided by zero");
    const uint64_t rest = step / std::gcd(modulus_, step);
    if (rest >= kMostModulus || modulus_ > (kMostModulus - 1) / rest)
      throw std::invalid_argument("the steps have too large a common multiple");
    modulus_ *= rest;
  };
  if (places > kMostPlaces) throw std::invalid_argument("the steps have too many places");
  if (most_digits == 0) throw std::invalid_argument("a number has digits");
  for (Case& given : cases) {
    add_step(given.step);
    for (uint64_t step : given.without) add_step(step);
    if (given.most_places == kAnyNumber) given.most_places = most_digits;
    if (given.most_places == kAnyNumber) unbounded_ = true;
    Rule rule{std::move(given), {}, 0};
    rule.last = std::min(rule.given.most_places, places);
    for (uint32_t written = 0; written <= places; ++written) {
      Written condition{without_tens(rule.given.step, places - written), {}};
      for (uint64_t step : rule.given.without) condition.without.push_back(without_tens(step, places - written));
      const auto takes_all = [&](uint64_t step) { return condition.step % step == 0; };
      if (std::any_of(condition.without.begin(), condition.without.end(), takes_all)) condition = {};
      rule.written.push_back(std::move(condition));
    }
    most_written_ = std::max(most_written_, rule.given.most_places == kAnyNumber ? places : rule.given.most_places);
    rules_.push_back(std::move(rule));
  }
  for (uint64_t power = 1; power < modulus_; power *= 10) ++n_digits_;
  find_classes();
}

Multiples Multiples::of_words(std::span<const uint32_t> words) {
  size_t at = 0;
  const auto next = [&] {
    if (at == words.size()) throw std::invalid_argument("the multiples of something are cut off");
    return words[at++];
  };
  const auto next_number = [&] {
    const uint64_t low = next();
    return uint64_t{next()} << 32 | low;
  };
  const uint32_t places = next();
  const uint32_t most_digits = next();
  std::vector<Case> cases;
  while (at < words.size()) {
    Case given{next_number(), {}, next(), false};
    given.finer = next() != 0;
    for (uint32_t n = next(); n > 0; --n) given.without.push_back(next_number());
    cases.push_back(std::move(given));
  }
  return Multiples(places, most_digits, std::move(cases));
}

bool Multiples::takes(const Written& condition, uint64_t number) {
  return condition.step != 0 && number % condition.step == 0 &&
         std::none_of(condition.without.begin(), condition.without.end(),
                      [&](uint64_t step) { return number % step == 0; });
}

// Whether some number that begins with these digits and has n more is taken. Not many of the multiples in a row
// are also ones of what is not taken: whatever is a multiple by a number without a prime of any step is taken, and of
// so few primes, some number among 120 has none.
bool Multiples::may_follow(const Written& condition, uint64_t remainder, uint32_t n_digits) const {
  if (condition.step == 0) return false;
  if (n_digits >= n_digits_) return true;
  uint64_t power = 1;
  for (uint32_t i = 0; i < n_digits; ++i) {
    power *= 10;
    remainder = remainder * 10 % modulus_;
  }
  const uint64_t above = remainder % condition.step;
  for (uint64_t added = above == 0 ? 0 : condition.step - above; added < power; added += condition.step) {
    if (takes(condition, remainder + added)) return true;
  }
  return false;
}

bool Multiples::may_be_finer(const Rule& rule, uint32_t written) const {
  return rule.given.finer && std::max(places_, written) < rule.given.most_places;
}

// More digits behind the point are never less: each may be a zero.
bool Multiples::is_live(const Rule& rule, const Position& at) const {
  using Phase = Position::Phase;
  const Written& last = rule.written[rule.last];
  switch (at.phase) {
    case Phase::kStart:
      return false;
    case Phase::kFiner:
      return rule.given.finer && at.written <= rule.given.most_places;
    case Phase::kFraction: {
      if (at.written > rule.given.most_places || rule.given.most_places == 0) return false;
      if (may_be_finer(rule, at.written)) return true;
      return may_follow(last, at.remainder, rule.last - std::min(at.written, rule.last));
    }
    case Phase::kZero:
      return may_be_finer(rule, 0) || may_follow(last, at.remainder, rule.last);
    case Phase::kWhole:
      if (may_be_finer(rule, 0)) return true;
      for (uint32_t more = std::min(at.left, n_digits_) + 1; more-- > 0;) {
        if (may_follow(last, at.remainder, more + rule.last)) return true;
      }
      return false;
  }
  return false;
}

bool Multiples::is_live(const Position& at) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) { return is_live(rule, at); });
}

std::optional<Multiples::Position> Multiples::start() const {
  const Position first;
  for (unsigned byte = '0'; byte <= '9'; ++byte) {
    if (after(first, byte)) return first;
  }
  return std::nullopt;
}

std::optional<Multiples::Position> Multiples::after(const Position& at, unsigned byte) const {
  auto found = next(at, byte);
  return found && is_live(*found) ? found : std::nullopt;
}

uint64_t Multiples::with_digit(uint64_t remainder, unsigned byte) const {
  const uint64_t found = (remainder * 10 + (byte - '0')) % modulus_;
  return classes_.empty() ? found : classes_[found];
}

std::optional<Multiples::Position> Multiples::next(const Position& at, unsigned byte) const {
  using Phase = Position::Phase;
  Position to = at;
  if (byte == '.') {
    if (at.phase != Phase::kZero && at.phase != Phase::kWhole) return std::nullopt;
    to.phase = Phase::kFraction;
    to.left = 0;
    return to;
  }
  if (!is_digit(byte)) return std::nullopt;
  switch (at.phase) {
    case Phase::kStart:
      to.phase = byte == '0' ? Phase::kZero : Phase::kWhole;
      to.left = byte == '0' ? 0 : most_digits_ == kAnyNumber ? kAnyNumber : most_digits_ - 1;
      to.remainder = with_digit(0, byte);
      return to;
    case Phase::kZero:
      return std::nullopt;
    case Phase::kWhole:
      if (at.left == 0) return std::nullopt;
      if (at.left != kAnyNumber) --to.left;
      to.remainder = with_digit(at.remainder, byte);
      return to;
    case Phase::kFraction:
      if (at.written < places_) {
        to.remainder = with_digit(at.remainder, byte);
      } else if (byte != '0') {
        to.phase = Phase::kFiner;
        to.remainder = 0;
      }
      break;
    case Phase::kFiner:
      break;
  }
  // Beyond all bounds one count is as good as another.
  to.written = std::min(at.written, most_written_) + 1;
  if (!unbounded_ && to.written > most_written_) return std::nullopt;
  return to;
}

bool Multiples::accepts(const Position& at) const {
  using Phase = Position::Phase;
  if (at.phase == Phase::kStart || (at.phase == Phase::kFraction && at.written == 0)) return false;
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    if (at.written > rule.given.most_places) return false;
    if (at.phase == Phase::kFiner) return rule.given.finer;
    return takes(rule.written[std::min(at.written, places_)], at.remainder);
  });
}

ByteSet Multiples::first(const Position& at) const {
  ByteSet set;
  for (unsigned byte = '0'; byte <= '9'; ++byte) {
    if (after(at, byte)) set.add(byte);
  }
  if (after(at, '.')) set.add('.');
  return set;
}

ByteSet Multiples::alike(const Position& at, unsigned byte) const {
  using Phase = Position::Phase;
  const bool counts =
      modulus_ > 1 && at.phase != Phase::kFiner && (at.phase != Phase::kFraction || at.written < places_);
  if (!is_digit(byte) || counts) return ByteSet::only(byte);
  const bool may_be_zero = at.phase == Phase::kWhole || at.phase == Phase::kFiner || at.written < places_;
  if (at.phase != Phase::kStart && may_be_zero) return ByteSet::range('0', '9');
  return byte == '0' ? ByteSet::only(byte) : ByteSet::range('1', '9');
}

uint32_t Multiples::shortest(const Rule& rule, const Position& at) const {
  using Phase = Position::Phase;
  uint32_t best = kAnyNumber;
  const uint32_t last = rule.last;
  const auto try_finer = [&](uint32_t digits) {
    if (may_be_finer(rule, at.written)) best = std::min(best, digits);
  };
  if (at.phase == Phase::kFiner) return rule.given.finer && at.written <= rule.given.most_places ? 0 : kAnyNumber;
  if (at.phase == Phase::kFraction) {
    if (at.written > rule.given.most_places) return kAnyNumber;
    const uint32_t from = std::min(at.written, places_);
    for (uint32_t written = std::max(from, 1U); written <= last && written - from < best; ++written) {
      if (may_follow(rule.written[written], at.remainder, written - from)) best = written - from;
    }
    // All that `places` have is written, and what follows are zeros.
    if (places_ == 0 && rule.given.most_places > 0 && takes(rule.written[0], at.remainder))
      best = std::min(best, at.written == 0 ? 1U : 0U);
    try_finer(std::max(places_, at.written) + 1 - at.written);
    return best;
  }
  const uint32_t most = at.phase == Phase::kWhole ? std::min(at.left, n_digits_) : 0;
  for (uint32_t more = 0; more <= most && more < best; ++more) {
    if (may_follow(rule.written[0], at.remainder, more)) {
      best = more;
      break;
    }
    for (uint32_t written = 1; written <= last && more + 1 + written < best; ++written) {
      if (may_follow(rule.written[written], at.remainder, more + written)) best = more + 1 + written;
    }
  }
  try_finer(places_ + 2);
  return best;
}

uint32_t Multiples::shortest(const Position& at) const {
  uint32_t best = kAnyNumber;
  if (at.phase == Position::Phase::kStart) {
    for (unsigned byte = '0'; byte <= '9'; ++byte) {
      if (const auto next = after(at, byte)) best = std::min(best, shortest(*next) + 1);
    }
    return best;
  }
  for (const Rule& rule : rules_) best = std::min(best, shortest(rule, at));
  return best;
}

std::optional<uint32_t> Multiples::longest(const Position& at) const {
  using Phase = Position::Phase;
  if (unbounded_ || most_digits_ == kAnyNumber) return std::nullopt;
  const uint32_t fraction = most_written_ == 0 ? 0 : most_written_ + 1;
  switch (at.phase) {
    case Phase::kStart:
      return most_digits_ + fraction;
    case Phase::kZero:
      return fraction;
    case Phase::kWhole:
      return at.left + fraction;
    case Phase::kFraction:
    case Phase::kFiner:
      return most_written_ - at.written;
  }
  return std::nullopt;
}

size_t Multiples::bytes() const {
  size_t n = sizeof(*this) + classes_.size() * sizeof(uint32_t);
  for (const Rule& rule : rules_) {
    for (const Written& condition : rule.written) n += sizeof(Written) + condition.without.size() * sizeof(uint64_t);
  }
  return n;
}

// Of the multiples of 1,000 only the last digits tell: remainders that are taken alike, whatever follows, are one. By
// partition refinement (Moore 1956). Where no step shares a prime with ten, and where that is too much to look at, they
// stay apart.
void Multiples::find_classes() {
  constexpr uint64_t kMostRemainders = 1 << 12;
  constexpr uint64_t kMostWork = 1 << 19;
  if (modulus_ > kMostRemainders || std::gcd(modulus_, uint64_t{10}) == 1) return;
  if (modulus_ * rules_.size() * (places_ + 1) > kMostWork) return;
  const auto n = static_cast<uint32_t>(modulus_);
  std::vector<uint32_t> part(n);  // the number of each remainder's class
  const auto refine = [&](auto key_of) {
    std::map<decltype(key_of(0U)), uint32_t> numbers;
    std::vector<uint32_t> finer(n);
    for (uint32_t r = 0; r < n; ++r)
      finer[r] = numbers.try_emplace(key_of(r), static_cast<uint32_t>(numbers.size())).first->second;
    part = std::move(finer);
    return numbers.size();
  };
  size_t n_parts = refine([&](uint32_t r) {
    std::vector<bool> taken;
    for (const Rule& rule : rules_) {
      for (const Written& condition : rule.written) taken.push_back(takes(condition, r));
    }
    return taken;
  });
  for (size_t before = 0; before != n_parts;) {
    before = n_parts;
    n_parts = refine([&](uint32_t r) {
      std::array<uint32_t, 11> key{part[r]};
      for (uint32_t digit = 0; digit < 10; ++digit) key[digit + 1] = part[(r * 10 + digit) % n];
      return key;
    });
  }
  if (n_parts == n) return;
  std::vector<uint32_t> least(n_parts, kAnyNumber);
  classes_.resize(n);
  for (uint32_t r = 0; r < n; ++r) classes_[r] = least[part[r]] = std::min(least[part[r]], r);
}

}  // namespace cfgmask
