#include "json_schema/spelling/number_union.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>

#include "json_schema/spelling/number_union_spelling.h"
#include "util/hash_table.h"

namespace cfgmask {

namespace {

using Shapes = NumberUnion::Shapes;

// A set with holes is listed up to this many numbers.
constexpr size_t kMaxListed = 1'000;
constexpr size_t kMaxShapes = 1'000;
constexpr size_t kMaxCombinations = 20'000;
// Of unions of more sets it is not asked which are within others.
constexpr size_t kMaxCompared = 64;
// To compare two sets takes a part of what a step does elsewhere.
constexpr uint64_t kComparisonsPerStep = 4;

template <class T>
void add_once(std::vector<T>& list, T item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(std::move(item));
}

// Whether a is a multiple of b's step, or of none.
bool divides(const std::optional<NumberStep>& a, const std::optional<NumberStep>& b) {
  if (!a) return true;
  return b && NumberStep::common(*a, *b) == b;
}

// The same sets, those that are only lists as one.
std::vector<NumberSet> listed_together(const std::vector<NumberSet>& sets) {
  std::vector<Decimal> values;
  std::vector<NumberSet> others;
  for (const NumberSet& set : sets) {
    if (const auto* listed = set.listed()) {
      values.insert(values.end(), listed->begin(), listed->end());
    } else {
      add_once(others, set);
    }
  }
  if (!values.empty()) others.insert(others.begin(), NumberSet::of(std::move(values)));
  return others;
}

bool has_unfractioned(const NumberShape& shape) {
  return shape.set.is_unfractioned() || std::ranges::any_of(shape.holes, &NumberSet::is_unfractioned);
}

// Whether a set has all multiples of a number, between bounds perhaps, and in every spelling.
bool is_simple(const NumberSet& set) { return set.multiple_of() && !set.is_unfractioned(); }

bool are_apart(const NumberSet& a, const NumberSet& b) {
  if (NumberSet::can_meet(a, b)) return (a & b).is_empty();
  return (a.bounds_alone() & b.bounds_alone()).is_empty();
}

// Whether a simple hole takes everything out.
bool takes_all(const NumberSet& hole, const NumberSet& whole) {
  return whole.multiple_of() && divides(hole.multiple_of(), whole.multiple_of()) && whole.is_bounded_by(hole);
}

// Whether another simple hole removes every number that one removes of a set.
bool is_within(const NumberSet& whole, const NumberSet& hole, const NumberSet& other) {
  if (are_apart(whole, hole)) return true;
  return NumberSet::can_meet(whole, hole) && takes_all(other, whole & hole);
}

// A simple hole with as small a step and as few bounds as do in a set; nullopt if they have nothing in common.
std::optional<NumberSet> hole_in(const NumberSet& whole, NumberSet hole) {
  if (are_apart(whole, hole)) return std::nullopt;
  if (whole.is_bounded_by(hole.without_high())) hole = hole.without_low();
  if (whole.is_bounded_by(hole.without_low())) hole = hole.without_high();
  const auto step = whole.multiple_of();
  const auto taken = hole.multiple_of();
  // Bounds of a hole are members of it.
  if (!step || !step->is_integer() || !taken->is_integer() || hole.has_bounds()) return hole;
  const uint64_t missing = taken->units / std::gcd(step->units, taken->units);
  // The primes that the multiples of the whole already have often enough say nothing more.
  uint64_t rest = taken->units;
  for (uint64_t shared = std::gcd(rest, missing); shared > 1; shared = std::gcd(rest, missing)) rest /= shared;
  return NumberSet::multiples(NumberStep{taken->units / rest});
}

// The same set with no needless holes, and small ones; nullopt if it is certain that the holes leave nothing. Quadratic
// in their number.
std::optional<NumberShape> reduced(const NumberShape& shape) {
  const NumberSet& whole = shape.set;
  if (shape.holes.empty() || whole.is_listed()) return shape;
  if (!has_unfractioned(shape)) {
    if (auto values = whole.few(kMaxListed)) {
      std::erase_if(*values, [&](const Decimal& value) {
        return std::ranges::any_of(shape.holes, [&](const NumberSet& hole) { return hole.admits(value); });
      });
      return values->empty() ? std::nullopt : std::optional(NumberShape{NumberSet::of(*std::move(values))});
    }
  }
  std::vector<NumberSet> holes;
  for (const NumberSet& hole : shape.holes) {
    auto here = is_simple(hole) ? hole_in(whole, hole) : std::optional(hole);
    if (here) holes.push_back(*std::move(here));
  }
  NumberShape found{whole};
  for (size_t i = 0; i < holes.size(); ++i) {
    if (!is_simple(holes[i])) {
      add_once(found.holes, holes[i]);
      continue;
    }
    if (takes_all(holes[i], whole)) return std::nullopt;
    const auto covers = [&](const NumberSet& other) { return is_simple(other) && is_within(whole, holes[i], other); };
    const bool is_needless = std::ranges::any_of(found.holes, covers) ||
                             std::any_of(holes.begin() + static_cast<ptrdiff_t>(i) + 1, holes.end(), covers);
    if (!is_needless) add_once(found.holes, holes[i]);
  }
  return found;
}

// Whether a set that is reduced has numbers for a reason that needs no search.
//
// Multiples without a bound on one side are not all multiples of finitely many others, since each of those leaves the
// numbers next to its own, and with them those at a common distance; nor is an interval of decimals. Lists take only so
// many of them away.
bool surely_has_numbers(const NumberShape& shape) {
  if (shape.holes.empty()) return true;
  if (shape.set.is_listed()) return !has_unfractioned(shape);
  const auto is_harmless = [](const NumberSet& hole) { return hole.is_listed() || is_simple(hole); };
  if (!std::ranges::all_of(shape.holes, is_harmless)) return false;
  return !shape.set.has_both_bounds() || (!shape.set.multiple_of() && !shape.set.is_one_number());
}

std::optional<NumberShape> met(const NumberShape& a, const NumberShape& b) {
  if (!NumberSet::can_meet(a.set, b.set)) throw NumberUnion::TooManyDigits();
  std::vector<NumberSet> holes = a.holes;
  holes.insert(holes.end(), b.holes.begin(), b.holes.end());
  NumberShape both{a.set & b.set, listed_together(holes)};
  if (both.set.is_listed()) {
    // In other spellings the same numbers are left.
    for (const NumberSet& hole : both.holes) {
      if (!hole.is_unfractioned()) both.set = (both.set - hole).value();
    }
    std::erase_if(both.holes, [](const NumberSet& hole) { return !hole.is_unfractioned(); });
  }
  return both.set.is_empty() ? std::nullopt : reduced(both);
}

bool are_disjoint(const NumberShape& a, const NumberShape& b) {
  return NumberSet::can_meet(a.set, b.set) ? !met(a, b) : are_apart(a.set, b.set);
}

// Whether it is certain that a set is within another one, with all spellings of its numbers.
bool is_part(const NumberShape& part, const NumberShape& whole) {
  if (whole.set.is_listed() || (whole.set.is_unfractioned() && !part.set.is_unfractioned())) return false;
  if (const auto* listed = part.set.listed()) {
    return !has_unfractioned(part) && !has_unfractioned(whole) &&
           std::ranges::all_of(*listed, [&](const Decimal& value) {
             return whole.set.admits(value) &&
                    std::ranges::none_of(whole.holes, [&](const NumberSet& hole) { return hole.admits(value); });
           });
  }
  if (!part.set.multiple_of() || !divides(whole.set.multiple_of(), part.set.multiple_of()) ||
      !part.set.is_bounded_by(whole.set))
    return false;
  return std::ranges::all_of(whole.holes, [&](const NumberSet& hole) {
    if (std::ranges::find(part.holes, hole) != part.holes.end()) return true;
    if (!is_simple(hole)) return false;
    return are_apart(part.set, hole) || std::ranges::any_of(part.holes, [&](const NumberSet& other) {
             return is_simple(other) && is_within(part.set, hole, other);
           });
  });
}

// The same union, without sets that are within another one for a reason that needs no search. Quadratic.
Shapes without_covered(Shapes shapes) {
  const auto has_step = [](const NumberShape& shape) { return shape.set.multiple_of().has_value(); };
  if (shapes.size() > kMaxCompared || std::ranges::none_of(shapes, has_step)) return shapes;
  Shapes kept;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const auto covers = [&](const NumberShape& other) { return is_part(shapes[i], other); };
    if (std::ranges::none_of(kept, covers) &&
        std::none_of(shapes.begin() + static_cast<ptrdiff_t>(i) + 1, shapes.end(), covers))
      kept.push_back(shapes[i]);
  }
  return kept;
}

Shapes product(const Shapes& a, const Shapes& b, const NumberUnion::Spend& spend) {
  if (a.size() * b.size() > kMaxCombinations) throw NumberUnion::TooManyShapes();
  Shapes found;
  for (const NumberShape& x : a) {
    for (const NumberShape& y : b) {
      const size_t n_holes = x.holes.size() + y.holes.size();
      spend(1 + found.size() / kComparisonsPerStep + n_holes * n_holes / kComparisonsPerStep);
      if (auto both = met(x, y)) add_once(found, *std::move(both));
    }
  }
  if (found.size() > kMaxShapes) throw NumberUnion::TooManyShapes();
  return found;
}

// The numbers that are not in a shape. `within`: the only ones of interest; of integers, those outside of a range of
// integers are two ranges.
Shapes complement(const NumberShape& shape, const Shapes& within) {
  NumberSet whole = shape.set;
  const bool is_unfractioned = whole.is_unfractioned();
  const auto is_in_steps = [&](const NumberShape& other) {
    return other.set.multiple_of() && divides(whole.multiple_of(), other.set.multiple_of()) &&
           (other.set.is_unfractioned() || !is_unfractioned);
  };
  if (whole.multiple_of() && std::ranges::all_of(within, is_in_steps)) whole = whole.bounds_alone();
  Shapes outside;
  if (whole.is_range()) {
    for (NumberSet& part : whole.outsides()) outside.push_back({std::move(part)});
  } else {
    outside.push_back({NumberSet(), {std::move(whole)}});
  }
  for (const NumberSet& hole : shape.holes) outside.push_back({hole});
  return outside;
}

}  // namespace

NumberUnion NumberUnion::both(const NumberUnion& a, const NumberUnion& b, const Spend& spend) {
  return NumberUnion(without_covered(product(a.shapes_, b.shapes_, spend)));
}

NumberUnion NumberUnion::difference(const NumberUnion& a, const std::vector<NumberUnion>& holes, const Spend& spend) {
  Shapes shapes = a.shapes_;
  std::vector<NumberSet> lists;
  Shapes taken;
  for (const NumberUnion& hole : holes) {
    for (const NumberShape& shape : hole.shapes_) {
      if (shape.set.listed() != nullptr && shape.holes.empty()) {
        lists.push_back(shape.set);
      } else {
        add_once(taken, shape);
      }
    }
  }
  for (NumberSet& list : listed_together(lists)) taken.insert(taken.begin(), {std::move(list)});
  for (const NumberShape& hole : taken) {
    Shapes kept;
    Shapes touched;
    for (const NumberShape& shape : shapes) {
      const size_t n_holes = shape.holes.size() + hole.holes.size();
      spend(1 + n_holes * n_holes / kComparisonsPerStep);
      (are_disjoint(shape, hole) ? kept : touched).push_back(shape);
    }
    if (touched.empty()) continue;
    for (NumberShape& piece : product(touched, complement(hole, touched), spend)) add_once(kept, std::move(piece));
    if (kept.size() > kMaxShapes) throw TooManyShapes();
    shapes = std::move(kept);
  }
  return NumberUnion(std::move(shapes));
}

NumberUnion NumberUnion::any_of(const std::vector<NumberUnion>& parts, const Spend& spend) {
  Shapes shapes;
  for (const NumberUnion& part : parts) {
    spend(part.shapes_.size() * (1 + shapes.size() / kComparisonsPerStep));
    for (const NumberShape& shape : part.shapes_) add_once(shapes, shape);
  }
  if (shapes.size() > kMaxShapes) throw TooManyShapes();
  return NumberUnion(without_covered(std::move(shapes)));
}

bool NumberUnion::is_of_integers() const {
  return std::ranges::all_of(shapes_, [](const NumberShape& shape) {
    const auto step = shape.set.multiple_of();
    return step && step->is_integer();
  });
}

NumberUnion NumberUnion::with_numbers(RegexStore& store, const NumberStyle& style) const {
  Shapes kept;
  std::ranges::copy_if(shapes_, std::back_inserter(kept), [&](const NumberShape& shape) {
    const NumberStyle any{style.most, NumberStyle::Spelling::kAny};
    return surely_has_numbers(shape) || !store.is_empty(NumberUnionSpelling(store, any).shape(shape));
  });
  NumberUnion found(std::move(kept));
  const auto has_holes = [](const NumberShape& shape) { return !shape.holes.empty(); };
  // Those that are left may have no spelling of the style.
  if (std::ranges::all_of(found.shapes_, has_holes) && store.is_empty(found.regex(store, style))) found.shapes_.clear();
  return found;
}

size_t NumberUnion::hash() const {
  size_t hash = shapes_.size();
  for (const NumberShape& shape : shapes_) {
    hash = mix(hash ^ shape.set.hash());
    for (const NumberSet& hole : shape.holes) hash = mix(hash + hole.hash());
  }
  return hash;
}

RegexId NumberUnion::regex(RegexStore& store, const NumberStyle& style, NumberSet::Exponents exponents) const {
  return NumberUnionSpelling(store, style, exponents).any_of(shapes_);
}

}  // namespace cfgmask
