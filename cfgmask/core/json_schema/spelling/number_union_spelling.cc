#include "json_schema/spelling/number_union_spelling.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "json_schema/spelling/doubles.h"

namespace cfgmask {

namespace {

// Numbers that are read as one of more than so many are not kept out, but only these.
constexpr size_t kMaxReadAlike = 256;

bool is_multiples(const NumberSet& set) { return set.multiple_of() && !set.is_unfractioned() && !set.has_bounds(); }

std::vector<NumberSet> other_holes(const NumberShape& shape) {
  std::vector<NumberSet> found;
  std::ranges::copy_if(shape.holes, std::back_inserter(found),
                       [](const NumberSet& hole) { return !is_multiples(hole); });
  return found;
}

// Whether two sets may be one regex.
bool are_alike(const NumberShape& a, const NumberShape& b) {
  const auto may_be_joined = [](const NumberShape& shape) {
    return shape.set.multiple_of() && !shape.set.is_one_number();
  };
  return may_be_joined(a) && may_be_joined(b) && a.set.is_unfractioned() == b.set.is_unfractioned() &&
         a.set.has_bounds_of(b.set) && other_holes(a) == other_holes(b);
}

// The numbers that are read as one of a hole, if it is a list of a few.
void add_read_alike(const NumberSet& hole, std::vector<NumberSet>& found) {
  const auto* values = hole.listed();
  if (values == nullptr || values->size() > kMaxReadAlike) {
    found.push_back(hole);
    return;
  }
  for (const Decimal& value : *values) {
    const auto low = doubles::before(value);
    const auto high = doubles::after(value);
    // Those that are read as zero are too long to be written.
    if (value.is_zero() || !low || !high) {
      found.push_back(NumberSet::of({value}));
    } else {
      found.push_back(NumberSet::from({*low, true}) & NumberSet::to({*high, true}));
    }
  }
}

}  // namespace

RegexId NumberUnionSpelling::any_of(const std::vector<NumberShape>& shapes) const {
  std::vector<Group> groups;
  for (const NumberShape& shape : shapes) {
    const auto group = std::ranges::find_if(groups, [&](const Group& group) { return are_alike(group[0], shape); });
    if (group == groups.end()) {
      groups.push_back({shape});
    } else {
      group->push_back(shape);
    }
  }
  std::vector<RegexId> ways;
  for (const Group& group : groups) {
    const auto one = group.size() > 1 ? together(group) : std::nullopt;
    if (one) {
      ways.push_back(*one);
    } else {
      for (const NumberShape& shape : group) ways.push_back(this->shape(shape));
    }
  }
  return r_.alternation(std::move(ways));
}

bool NumberUnionSpelling::is_plain(std::span<const NumberShape> shapes) const {
  // Integers without those that draft 4 calls so have a point.
  return style_.is_plain() && std::ranges::none_of(shapes, [](const NumberShape& shape) {
           return std::ranges::any_of(shape.holes, &NumberSet::is_unfractioned);
         });
}

uint32_t NumberUnionSpelling::most(std::span<const NumberShape> shapes) const {
  const auto is_broken = [](const NumberShape& shape) {
    const auto step = shape.set.multiple_of();
    return !step || !step->is_integer();
  };
  const bool has_doubles = is_plain(shapes) && std::ranges::any_of(shapes, is_broken);
  return has_doubles ? std::min(style_.most, NumberSpelling::kMostOfDouble) : style_.most;
}

std::optional<RegexId> NumberUnionSpelling::together(const Group& shapes) const {
  const uint32_t most = this->most(shapes);
  const bool is_plain = this->is_plain(shapes);
  if (!as_one(shapes, most, is_plain)) return std::nullopt;
  return without([&](const NumberSpelling& spelling) { return as_one(shapes, spelling.most(), is_plain).value(); },
                 other_holes(shapes[0]), most);
}

RegexId NumberUnionSpelling::shape(const NumberShape& shape) const {
  if (shape.holes.empty()) return shape.set.regex(r_, style_, exponents_);
  const std::span<const NumberShape> one(&shape, 1);
  const uint32_t most = this->most(one);
  if (is_plain(one)) {
    const bool has_step = shape.set.multiple_of().has_value() || shape.set.is_listed();
    const RegexId found = has_step ? held(shape, most, true) : doubles(shape, most);
    // Where doubles have no number between the bounds, numbers are written that they would round.
    if (found != RegexStore::nothing()) return found;
  }
  return held(shape, most, false);
}

RegexId NumberUnionSpelling::doubles(const NumberShape& shape, uint32_t most) const {
  NumberShape found{shape.set.within_doubles(most)};
  if (found.set.is_empty()) return RegexStore::nothing();
  for (const NumberSet& hole : shape.holes) add_read_alike(hole, found.holes);
  return held(found, most, true);
}

RegexId NumberUnionSpelling::held(const NumberShape& shape, uint32_t most, bool is_plain) const {
  const std::span<const NumberShape> one(&shape, 1);
  if (!shape.set.is_listed() && std::ranges::any_of(shape.holes, is_multiples) && as_one(one, most, is_plain)) {
    return without([&](const NumberSpelling& spelling) { return as_one(one, spelling.most(), is_plain).value(); },
                   other_holes(shape), most);
  }
  return without([&](const NumberSpelling& spelling) { return inside(shape.set, spelling, is_plain); }, shape.holes,
                 most);
}

std::optional<RegexId> NumberUnionSpelling::as_one(std::span<const NumberShape> shapes, uint32_t most,
                                                   bool is_plain) const {
  const NumberSet& first = shapes[0].set;
  const auto is_integer = [](const NumberShape& shape) {
    const auto step = shape.set.multiple_of();
    return step && step->is_integer();
  };
  const bool is_bounded = first.has_bounds();
  // Without a point the bounds say how many digits may follow; that they are too few for a multiple is told then.
  const bool are_apart = is_bounded && std::ranges::all_of(shapes, is_integer);
  std::vector<NumberSpelling::Sieve> sieves;
  for (const NumberShape& shape : shapes) {
    NumberSpelling::Sieve sieve{shape.set.multiple_of(), {}, are_apart || shape.set.is_unfractioned()};
    sieve.is_whole = sieve.is_whole || (is_plain && is_integer(shape));
    for (const NumberSet& hole : shape.holes) {
      if (is_multiples(hole)) sieve.holes.push_back(*hole.multiple_of());
    }
    sieves.push_back(std::move(sieve));
  }
  const NumberSpelling spelling(r_, most);
  const NumberSpelling endless(r_, kUnbounded);
  const auto sieved = (is_bounded ? endless : spelling).sieved(sieves);
  if (!sieved || *sieved == RegexStore::nothing() || !is_bounded) return sieved;
  const auto within = [&](const NumberSpelling& with) {
    const RegexId between = are_apart ? with.integers(first.low(), first.high(), false)
                                      : with.decimals_without_exponents(first.low(), first.high());
    return r_.intersection({between, *sieved});
  };
  RegexId found = within(spelling);
  if (most != kUnbounded && !spelling.has_texts(found)) found = within(endless);
  if (are_apart && !is_plain && !first.is_unfractioned()) found = r_.concatenation(found, spelling.point_zeros(true));
  return found;
}

RegexId NumberUnionSpelling::inside(const NumberSet& set, const NumberSpelling& spelling, bool is_plain) const {
  const auto step = set.multiple_of();
  const bool is_integer = step && step->is_integer();
  const bool fraction = !set.is_unfractioned() && !(is_plain && (is_integer || set.is_listed()));
  if (set.is_listed()) return spelling.listed(set.values(), fraction);
  if (!step) return spelling.decimals_without_exponents(set.low(), set.high());
  if (step->is_one()) return spelling.integers(set.low(), set.high(), fraction);
  return spelling.multiples(*step, set.low(), set.high(), fraction);
}

RegexId NumberUnionSpelling::without(const Inside& inside, const std::vector<NumberSet>& holes, uint32_t most) const {
  const NumberSpelling spelling(r_, most);
  const RegexId found = inside(spelling);
  if (holes.empty() || found == RegexStore::nothing()) return found;
  std::vector<RegexId> outside;
  for (const NumberSet& hole : holes) outside.push_back(r_.complement(every_spelling(hole)));
  const auto left_of = [&](RegexId whole) {
    std::vector<RegexId> parts = outside;
    parts.push_back(whole);
    return r_.intersection(std::move(parts));
  };
  const RegexId left = left_of(found);
  // Where none of so few digits is left, their number has no bound.
  return most == kUnbounded || spelling.has_texts(left) ? left : left_of(inside(NumberSpelling(r_, kUnbounded)));
}

// All ways without an exponent to write the numbers of a set: what must be taken out to exclude them.
RegexId NumberUnionSpelling::every_spelling(const NumberSet& set) const {
  const NumberSpelling spelling(r_, kUnbounded, kUnbounded);
  const RegexId found = inside(set, spelling, false);
  if (!set.admits(Decimal())) return found;
  const RegexId zero = r_.concatenation(r_.literal("-0"), spelling.point_zeros(!set.is_unfractioned()));
  return r_.alternation({found, zero});
}

}  // namespace cfgmask
