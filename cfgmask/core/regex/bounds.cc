// Bounds on how many characters come, which matter only near them; see RegexStore::Bounded.
#include <algorithm>

#include "regex/minimum_length.h"
#include "regex/regex.h"

namespace cfgmask {

namespace {

// So many parts are looked at for bounds that come later; those behind them stay.
constexpr uint32_t kMostParts = 1'000;

}  // namespace

std::optional<RegexStore::Bounded> RegexStore::bounded(RegexId node) {
  return inside_json(node, [&](RegexId body) {
    const auto whole = bounded_whole(body);
    return whole ? whole : bounded_beginning(body);
  });
}

std::optional<RegexStore::Bounded> RegexStore::bounded_later(RegexId node) {
  uint32_t left = kMostParts;
  return inside_json(node, [&](RegexId body) { return bounded_tails(body, left); });
}

template <class F>
std::optional<RegexStore::Bounded> RegexStore::inside_json(RegexId node, F bounds_of) {
  const bool in_json = json_between_characters(node);
  auto bounds = bounds_of(in_json ? operand(node, 0) : node);
  if (bounds && in_json) bounds->without = json_with_body(node, bounds->without);
  return bounds;
}

std::optional<RegexStore::Bounded> RegexStore::bounded_whole(RegexId body) {
  const auto with_bounds_of = [&](RegexId run, RegexId rest) {
    const Words o = operands(run);
    return Bounded{rest, o[1], o[2], farthest_within(rest, o[2])};
  };
  if (is_run(body) && !is_loop(body)) return with_bounds_of(body, repetition(operand(body, 0), 0, kUnbounded));
  const auto run = bounding_run(body);
  if (!run) return std::nullopt;
  const RegexId rest = without_part(body, *run);
  Bounded bounds = with_bounds_of(*run, rest);
  const bool of_bytes = kind(operand(*run, 0)) == RegexKind::kBytes;
  if (of_bytes && lengths_->of(rest) >= bounds.minimum) bounds.minimum = 0;
  return bounds;
}

// The part D{m,n} of an intersection that has no characters but those of D.
std::optional<RegexId> RegexStore::bounding_run(RegexId node) {
  if (kind(node) != RegexKind::kIntersection) return std::nullopt;
  for (uint32_t part : operands(node)) {
    const RegexId run(part);
    if (is_run(run) && is_within(without_part(node, run), operand(run, 0))) return run;
  }
  return std::nullopt;
}

RegexId RegexStore::without_part(RegexId node, RegexId part) {
  std::vector<RegexId> others = parts(node);
  std::erase(others, part);
  return intersection(std::move(others));
}

// Without a minimum: of texts that are too short for it, what comes after it decides.
std::optional<RegexStore::Bounded> RegexStore::bounded_above(RegexId body) {
  const auto bounds = bounded_whole(body);
  return bounds && bounds->minimum == 0 && bounds->maximum != kUnbounded ? bounds : std::nullopt;
}

// No end is farther than the longest text, which takes no search.
uint32_t RegexStore::farthest_within(RegexId head, uint32_t maximum) {
  const uint32_t longest = lengths_->longest(head);
  const bool is_short = longest < kNoLength && maximum >= add_lengths(longest, kNearBound);
  return is_short ? longest : lengths_->farthest(head);
}

// What its texts begin with, one way or another.
std::optional<RegexStore::Bounded> RegexStore::bounded_beginning(RegexId body) {
  switch (kind(body)) {
    case RegexKind::kConcatenation: {
      auto bounds = bounded_beginning(operand(body, 0));
      if (bounds) bounds->without = concatenation(bounds->without, operand(body, 1));
      return bounds;
    }
    case RegexKind::kAlternation:
      return bounded_parts(body, [&](RegexId part) { return bounded_beginning(part); });
    default:
      return bounded_above(body);
  }
}

// What comes after that.
std::optional<RegexStore::Bounded> RegexStore::bounded_tails(RegexId body, uint32_t& left) {
  switch (kind(body)) {
    case RegexKind::kConcatenation: {
      const RegexId head = operand(body, 0);
      const RegexId tail = operand(body, 1);
      return joined(head, bounded_tails(head, left), tail, bounded_anywhere(tail, left));
    }
    case RegexKind::kAlternation:
      return bounded_parts(body, [&](RegexId part) { return bounded_tails(part, left); });
    default:
      return std::nullopt;
  }
}

// Bounds that are not near, wherever they are. Remembered.
std::optional<RegexStore::Bounded> RegexStore::bounded_anywhere(RegexId node, uint32_t& left) {
  // Of a long chain the last part comes first.
  std::vector<RegexId> chain;
  for (; left > 0 && !bounded_ids_.find(node.value); node = operand(node, 1)) {
    --left;
    chain.push_back(node);
    if (kind(node) != RegexKind::kConcatenation) break;
  }
  std::optional<Bounded> found;
  if (const auto known = bounded_ids_.find(node.value)) found = bounded_[*known];
  for (size_t i = chain.size(); i-- > 0;) {
    node = chain[i];
    if (kind(node) == RegexKind::kConcatenation) {
      const RegexId head = operand(node, 0);
      found = joined(head, bounded_anywhere(head, left), operand(node, 1), found);
    } else {
      found = bounded_part(node, left);
    }
    if (left == 0) continue;  // there may be more
    bounded_ids_.insert(node.value, static_cast<uint32_t>(bounded_.size()));
    bounded_.push_back(found);
  }
  return found;
}

std::optional<RegexStore::Bounded> RegexStore::bounded_afar(RegexId node) {
  const auto bounds = bounded_above(node);
  return bounds && bounds->maximum >= kNearBound ? bounds : std::nullopt;
}

std::optional<RegexStore::Bounded> RegexStore::bounded_part(RegexId node, uint32_t& left) {
  switch (kind(node)) {
    case RegexKind::kAlternation:
      return bounded_parts(node, [&](RegexId part) { return bounded_anywhere(part, left); });
    case RegexKind::kRepetition:
      if (!is_run(node)) {
        const Words o = operands(node);
        auto bounds = bounded_anywhere(RegexId(o[0]), left);
        if (bounds) bounds->without = repetition(bounds->without, o[1], o[2]);
        return bounds;
      }
      return bounded_afar(node);
    case RegexKind::kIntersection: {
      // Of bounds inside of others, the end of the outer part is not nearer than that of the inner one.
      auto bounds = bounded_afar(node);
      const auto inner = bounds ? bounded_anywhere(bounds->without, left) : std::nullopt;
      if (!inner) return bounds;
      bounds->without = inner->without;
      bounds->farthest = farthest_within(inner->without, bounds->maximum);
      return bounds->beside(*inner);
    }
    default:
      return std::nullopt;
  }
}

// Of a concatenation whose parts have these bounds.
std::optional<RegexStore::Bounded> RegexStore::joined(RegexId head, const std::optional<Bounded>& of_head, RegexId tail,
                                                      const std::optional<Bounded>& of_tail) {
  if (!of_head && !of_tail) return std::nullopt;
  Bounded both = of_head && of_tail ? of_head->beside(*of_tail) : of_head ? *of_head : *of_tail;
  both.without = concatenation(of_head ? of_head->without : head, of_tail ? of_tail->without : tail);
  return both;
}

template <class F>
std::optional<RegexStore::Bounded> RegexStore::bounded_parts(RegexId alternation_of, F bounds_of) {
  std::optional<Bounded> all;
  std::vector<RegexId> without = parts(alternation_of);
  for (RegexId& part : without) {
    const std::optional<Bounded> bounds = bounds_of(part);
    if (!bounds) continue;
    part = bounds->without;
    all = all ? all->beside(*bounds) : *bounds;
  }
  if (all) all->without = alternation(std::move(without));
  return all;
}

bool RegexStore::loops_within_bounds(RegexId node, unsigned b) {
  const bool in_json = json_between_characters(node);
  if (b >= 0x80 || (in_json && (b < 0x20 || b == '"' || b == '\\'))) return false;
  const RegexId body = in_json ? operand(node, 0) : node;
  const bool has_tail = kind(body) == RegexKind::kConcatenation;
  const RegexId head = has_tail ? operand(body, 0) : body;
  const auto run = is_run(head) ? head : bounding_run(head);
  if (!run) return false;
  const RegexId rest = *run == head ? repetition(operand(head, 0), 0, kUnbounded) : without_part(head, *run);
  // What comes after it must not begin so.
  return derivative(rest, b) == rest && !(has_tail && nullable(rest) && first(operand(body, 1)).has(b));
}

RegexId RegexStore::after_loops(RegexId node, uint32_t n) {
  if (json_between_characters(node)) return json_with_body(node, after_loops(operand(node, 0), n));
  if (kind(node) == RegexKind::kConcatenation) return concatenation(after_loops(operand(node, 0), n), operand(node, 1));
  const RegexId run = is_run(node) ? node : *bounding_run(node);
  const Words o = operands(run);
  const RegexId fewer = repetition(RegexId(o[0]), o[1] - std::min(o[1], n), o[2] == kUnbounded ? kUnbounded : o[2] - n);
  return run == node ? fewer : intersection({fewer, without_part(node, run)});
}

bool RegexStore::ends_in_loop(RegexId node) {
  if (json_between_characters(node)) node = operand(node, 0);
  while (kind(node) == RegexKind::kConcatenation) node = operand(node, 1);
  switch (kind(node)) {
    case RegexKind::kRepetition:
      return operands(node)[2] == kUnbounded && is_class(operand(node, 0));
    case RegexKind::kAlternation: {
      const Words parts = operands(node);
      return std::all_of(parts.begin(), parts.end(), [&](uint32_t part) { return ends_in_loop(RegexId(part)); });
    }
    default:
      return false;
  }
}

}  // namespace cfgmask
