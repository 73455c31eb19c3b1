// Bounds on how many characters come, which matter only near them; see RegexStore::Bounded.
#include <algorithm>

#include "regex/minimum_length.h"
#include "regex/regex.h"
#include "util/in_step.h"

namespace cfgmask {

namespace {

// Runs with a higher minimum have a table of their own at each position.
constexpr uint32_t kFewAtLeast = 2;

}  // namespace

// In an escape as well, of which each of the characters to come takes a byte at least.
std::optional<RegexStore::Bounded> RegexStore::bounded(RegexId node) {
  const bool in_json = json_inside_text(node);
  const RegexId body = in_json ? operand(node, 0) : node;
  auto bounds = bounded_whole(body);
  if (!bounds) bounds = bounded_beginning(body);
  if (bounds && in_json) bounds->without = json_with_body(node, bounds->without);
  return bounds;
}

std::optional<RegexStore::Bounded> RegexStore::bounded_string(RegexId node) {
  if (!json_between_characters(node)) return std::nullopt;
  auto bounds = bounded_whole(operand(node, 0));
  if (!bounds || bounds->minimum > 0 || bounds->maximum == kUnbounded) return std::nullopt;
  const RegexId one = operand(bounds->run, 0);
  const bool is_character = kind(one) == RegexKind::kBytes ? ByteSet::range(0, 0x7F).holds(first(one))
                                                           : unit_of(bounds->run) == LengthUnit::kCharacter;
  if (!is_character) return std::nullopt;
  bounds->without = json_with_body(node, bounds->without);
  // Between its characters a run may end everywhere.
  if (bounds->run == operand(node, 0)) bounds->farthest = 0;
  return bounds;
}

RegexId RegexStore::without_far_bounds(RegexId node, uint32_t longest) {
  const RegexId body = json_inside_text(node) ? operand(node, 0) : node;
  const RegexId head = kind(body) == RegexKind::kConcatenation ? operand(body, 0) : body;
  if (!has_far_bounds(body, longest) || kind(head) == RegexKind::kAlternation) return node;
  const auto bounds = bounded(node);
  const bool far = bounds && bounds->minimum == 0 && bounds->maximum >= add_lengths(bounds->farthest, longest);
  return far ? bounds->without : node;
}

std::optional<RegexStore::Bounded> RegexStore::bounded_whole(RegexId body) {
  const auto with_bounds_of = [&](RegexId run, RegexId rest) {
    const Words o = operands(run);
    const bool grows = o[1] > 0 && ends_in_loop(rest, unit_of(run));
    return Bounded{run, rest, o[1], o[2], farthest_within(rest, o[2]), grows};
  };
  if (is_run(body) && !is_loop(body)) return with_bounds_of(body, repetition(operand(body, 0), 0, kUnbounded));
  const auto parts = bounding_run(body);
  if (!parts) return std::nullopt;
  Bounded bounds = with_bounds_of(parts->run, parts->rest);
  if (range_of_rest(*parts).least >= bounds.minimum) bounds.minimum = 0;
  return bounds;
}

std::optional<RegexStore::RunAndRest> RegexStore::bounding_run(RegexId node) {
  if (kind(node) != RegexKind::kIntersection) return std::nullopt;
  for (uint32_t part : operands(node)) {
    const RegexId run(part);
    if (!is_run(run)) continue;
    const RegexId rest = without_part(node, run);
    if (is_within(rest, operand(run, 0))) return RunAndRest{run, rest};
  }
  return std::nullopt;
}

RegexId RegexStore::without_part(RegexId node, RegexId part) {
  std::vector<RegexId> others = parts(node);
  std::erase(others, part);
  return intersection(std::move(others));
}

// No end is farther than the longest text, which takes no search.
uint32_t RegexStore::farthest_within(RegexId head, uint32_t maximum) {
  const uint32_t longest = lengths_->longest(head);
  const bool is_short = longest < kNoLength && maximum >= add_lengths(longest, kNearBound);
  return is_short ? longest : lengths_->farthest(head);
}

// A class may as well be of several bytes each that are no one character of UTF-8, as in (ab)*.
std::optional<LengthUnit> RegexStore::unit_of(RegexId run) {
  const RegexId one = operand(run, 0);
  if (kind(one) == RegexKind::kBytes) return LengthUnit::kByte;
  const bool is_character = lengths_->range(one, LengthUnit::kCharacter) == LengthRange::only(1);
  return is_character ? std::optional(LengthUnit::kCharacter) : std::nullopt;
}

LengthRange RegexStore::range_of_rest(const RunAndRest& parts) {
  const auto unit = unit_of(parts.run);
  return unit ? lengths_->range(parts.rest, *unit) : LengthRange();
}

// Near the bounds of a resource's name with 85 to 120 characters all searches for an end took 100 ms: 77 of these are
// spelled out.
std::optional<bool> RegexStore::is_empty_by_lengths(RegexId node) {
  const auto parts = bounding_run(node);
  if (!parts) return std::nullopt;
  const Words o = operands(parts->run);
  const auto any = range_of_rest(*parts).any_within(o[1], o[2]);
  return any ? std::optional(!*any) : std::nullopt;
}

// (No text has more characters than bytes.)
std::optional<RegexId> RegexStore::with_room_for_an_end(RegexId node) {
  const auto parts = bounding_run(node);
  if (!parts) return std::nullopt;
  const RegexId rest = parts->rest;
  const uint32_t minimum = operands(parts->run)[1], maximum = operands(parts->run)[2];
  if (minimum > 0 && !ends_in_loop(rest, unit_of(parts->run))) return std::nullopt;
  return maximum >= farthest_within(rest, maximum) ? std::optional(rest) : std::nullopt;
}

// What its texts begin with, one way or another. A minimum stays, as in .{1,63}:, if it is that of a run; else it is
// none: of texts that are too short for it, what comes after it decides.
std::optional<RegexStore::Bounded> RegexStore::bounded_beginning(RegexId body) {
  switch (kind(body)) {
    case RegexKind::kConcatenation: {
      auto bounds = bounded_beginning(operand(body, 0));
      if (bounds) bounds->without = concatenation(bounds->without, operand(body, 1));
      return bounds;
    }
    case RegexKind::kAlternation:
      return bounded_alternatives(body);
    default: {
      auto bounds = bounded_whole(body);
      if (!bounds || bounds->maximum == kUnbounded) return std::nullopt;
      if (bounds->minimum == 0) return bounds;
      if (!is_run(body) || bounds->minimum > kFewAtLeast || bounds->maximum < kNearBound) return std::nullopt;
      bounds->without = repetition(operand(body, 0), bounds->minimum, kUnbounded);
      bounds->minimum = 0;
      return bounds;
    }
  }
}

// Remembered: of T? T, where T is such a choice again and so on, there are exponentially many ways to the last one.
std::optional<RegexStore::Bounded> RegexStore::bounded_alternatives(RegexId body) {
  if (const auto known = bounded_ids_.find(body.value)) return bounded_[*known];
  const auto bounds = compute_bounded_alternatives(body);
  if (!bounded_ids_.find(body.value)) {
    insert_with(bounded_ids_, body.value, bounded_, bounds);
  }
  return bounds;
}

std::optional<RegexStore::Bounded> RegexStore::compute_bounded_alternatives(RegexId body) {
  std::vector<RegexId> without = parts(body);
  std::optional<Bounded> all;
  for (RegexId& part : without) {
    const auto bounds = bounded_beginning(part);
    if (!bounds) continue;
    part = bounds->without;
    if (!all) all = bounds;
    all->maximum = std::min(all->maximum, bounds->maximum);
    all->farthest = std::max(all->farthest, bounds->farthest);
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
  RegexId loop = head;
  if (is_run(head)) {
    loop = repetition(operand(head, 0), 0, kUnbounded);
  } else if (const auto parts = bounding_run(head)) {
    loop = parts->rest;
  } else {
    return false;
  }
  // What comes after it must not begin so.
  return derivative(loop, b) == loop && !(has_tail && nullable(loop) && first(operand(body, 1)).has(b));
}

RegexId RegexStore::after_loops(RegexId node, uint32_t n) {
  if (json_between_characters(node)) return json_with_body(node, after_loops(operand(node, 0), n));
  if (kind(node) == RegexKind::kConcatenation) return concatenation(after_loops(operand(node, 0), n), operand(node, 1));
  if (is_run(node)) return fewer(node, n);
  const auto parts = bounding_run(node);
  return intersection({fewer(parts->run, n), parts->rest});
}

// What is left of a run after n of its characters, which it has room for.
RegexId RegexStore::fewer(RegexId run, uint32_t n) {
  const Words o = operands(run);
  return repetition(RegexId(o[0]), o[1] - std::min(o[1], n), o[2] == kUnbounded ? kUnbounded : o[2] - n);
}

// How often the bytes lead around a run over a class, which has room for that; nullopt where they end within a round.
// Looks no further than to the first byte that does not fit.
std::optional<uint32_t> RegexStore::n_rounds(RegexId run, std::string_view text) {
  const RegexId loop = repetition(operand(run, 0), 0, kUnbounded);
  const uint32_t most = operands(run)[2];
  uint32_t n = 0;
  RegexId rest = loop;
  for (const char c : text) {
    rest = derivative(rest, static_cast<uint8_t>(c));
    if (rest == nothing() || (rest == loop && ++n > most)) return std::nullopt;
  }
  return rest == loop ? std::optional(n) : std::nullopt;
}

std::optional<RegexId> RegexStore::run_after(RegexId run, std::string_view text) {
  const auto n = n_rounds(run, text);
  return n ? std::optional(fewer(run, *n)) : std::nullopt;
}

std::optional<RegexId> RegexStore::head_after(RegexId node, std::string_view text) {
  const RegexId head = operand(node, 0), tail = operand(node, 1);
  if (!is_run(head)) return std::nullopt;
  const auto n = n_rounds(head, text);
  if (!n) return std::nullopt;
  const ByteSet& first_of_tail = first(tail);
  if (std::ranges::any_of(text, [&](char c) { return first_of_tail.has(static_cast<uint8_t>(c)); }))
    return std::nullopt;
  return concatenation(fewer(head, *n), tail);
}

// Each state on the way would be one within other bounds; those without them are mostly known.
std::optional<RegexId> RegexStore::within_bounds_after(RegexId node, std::string_view text) {
  const auto parts = bounding_run(node);
  if (!parts) return std::nullopt;
  const auto n = n_rounds(parts->run, text);
  if (!n) return std::nullopt;
  RegexId rest = parts->rest;
  for (const char c : text) rest = derivative(rest, static_cast<uint8_t>(c));
  return intersection({fewer(parts->run, *n), rest});
}

bool RegexStore::ends_in_loop(RegexId node, std::optional<LengthUnit> unit) {
  if (!unit) return false;
  while (kind(node) == RegexKind::kConcatenation) node = operand(node, 1);
  switch (kind(node)) {
    case RegexKind::kRepetition:
      return operands(node)[2] == kUnbounded && lengths_->range(operand(node, 0), *unit) == LengthRange::only(1);
    case RegexKind::kAlternation: {
      const uint64_t key = (uint64_t{node.value} << 1) | (*unit == LengthUnit::kByte ? 0 : 1);
      if (const auto known = ends_in_loop_.find(key)) return *known != 0;
      const Words parts = operands(node);
      const bool found =
          std::all_of(parts.begin(), parts.end(), [&](uint32_t part) { return ends_in_loop(RegexId(part), unit); });
      if (!ends_in_loop_.find(key)) ends_in_loop_.insert(key, found ? 1 : 0);
      return found;
    }
    default:
      return false;
  }
}

}  // namespace cfgmask
