#include "regex/minimum_length.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace cfgmask {

namespace {

// How many digits must follow those with a remainder until all of them are a multiple: k digits may add anything below
// 10^k. Without it a search for a multiple of 1,001 tries most remainders, for each token of digits anew.
uint32_t digits_to_multiple(uint64_t modulus, uint64_t remainder) {
  uint32_t length = 0;
  for (uint64_t power = 1; (modulus - remainder) % modulus >= power; power *= 10, ++length)
    remainder = remainder * 10 % modulus;
  return length;
}

uint32_t length_of(std::string_view text, LengthUnit unit) {
  const auto counts = [&](char c) { return unit == LengthUnit::kByte || (static_cast<uint8_t>(c) & 0xC0) != 0x80; };
  return static_cast<uint32_t>(std::count_if(text.begin(), text.end(), counts));
}

}  // namespace

uint32_t MinimumLengths::of(RegexId node) {
  switch (regexes_.kind(node)) {
    case RegexKind::kNothing:
      return kNoLength;
    case RegexKind::kEmptyText:
      return 0;
    case RegexKind::kBytes:
      return 1;
    default:
      break;
  }
  if (regexes_.nullable(node)) return 0;
  if (auto known = known_.find(node.value)) return *known;
  const uint32_t length = std::max(1U, compute(node));
  if (!known_.find(node.value)) known_.insert(node.value, length);
  return length;
}

template <class IsOpen, class Join>
uint32_t MinimumLengths::along(RegexId node, HashTable& known, IsOpen is_open, Join join) {
  std::vector<RegexId> passed{node};
  for (RegexId tail = regexes_.operand(node, 1);
       regexes_.kind(tail) == RegexKind::kConcatenation && is_open(tail) && !known.find(tail.value);
       tail = regexes_.operand(tail, 1)) {
    passed.push_back(tail);
  }
  for (size_t i = passed.size(); i-- > 1;) {
    const uint32_t length = join(regexes_.operand(passed[i], 0), regexes_.operand(passed[i], 1));
    if (!known.find(passed[i].value)) known.insert(passed[i].value, length);
  }
  return join(regexes_.operand(node, 0), regexes_.operand(node, 1));
}

uint32_t MinimumLengths::compute(RegexId node) {
  const Words o = regexes_.operands(node);
  switch (regexes_.kind(node)) {
    case RegexKind::kConcatenation: {
      const auto is_open = [&](RegexId tail) { return !regexes_.nullable(tail); };
      return along(node, known_, is_open,
                   [&](RegexId head, RegexId tail) { return std::max(1U, add_lengths(of(head), of(tail))); });
    }
    case RegexKind::kAlternation: {
      uint32_t least = kNoLength;
      for (uint32_t part : o) least = std::min(least, of(RegexId(part)));
      return least;
    }
    case RegexKind::kIntersection: {
      uint32_t most = 0;
      for (uint32_t part : o) most = std::max(most, of(RegexId(part)));
      return most;
    }
    case RegexKind::kRepetition:
      return multiply_lengths(of(RegexId(o[0])), o[1]);
    case RegexKind::kKeySet:
    case RegexKind::kNumberedKeys:
      return regexes_.shortest_key(node);
    case RegexKind::kJsonString:
      return regexes_.shortest_json(node, of(RegexId(o[0])));
    case RegexKind::kDivisible:
      return digits_to_multiple(o[0], o[1]);
    case RegexKind::kMultiples:
      return regexes_.multiples_of(o).shortest(RegexStore::position_of(o));
    case RegexKind::kPrefixed:
      return regexes_.shortest_prefixed(node);
    case RegexKind::kSequence:
      return regexes_.sequences_[o[0]]->least_from(o[1]);
    default:
      return 1;
  }
}

uint32_t MinimumLengths::longest(RegexId node) {
  switch (regexes_.kind(node)) {
    case RegexKind::kNothing:
    case RegexKind::kEmptyText:
      return 0;
    case RegexKind::kBytes:
      return 1;
    default:
      break;
  }
  if (auto known = longest_.find(node.value)) return *known;
  const uint32_t length = compute_longest(node);
  if (!longest_.find(node.value)) longest_.insert(node.value, length);
  return length;
}

uint32_t MinimumLengths::compute_longest(RegexId node) {
  const Words o = regexes_.operands(node);
  switch (regexes_.kind(node)) {
    case RegexKind::kConcatenation:
      return along(
          node, longest_, [](RegexId) { return true; },
          [&](RegexId head, RegexId tail) { return add_lengths(longest(head), longest(tail)); });
    case RegexKind::kAlternation: {
      uint32_t most = 0;
      for (uint32_t part : o) most = std::max(most, longest(RegexId(part)));
      return most;
    }
    case RegexKind::kIntersection: {
      uint32_t least = kNoLength;
      for (uint32_t part : o) least = std::min(least, longest(RegexId(part)));
      return least;
    }
    case RegexKind::kRepetition:
      return o[2] == kUnbounded ? kNoLength : multiply_lengths(longest(RegexId(o[0])), o[2]);
    case RegexKind::kKeySet:
    case RegexKind::kNumberedKeys:
      return regexes_.longest_key(node);
    case RegexKind::kMultiples:
      return regexes_.multiples_of(o).longest(RegexStore::position_of(o)).value_or(kNoLength);
    default:
      return kNoLength;
  }
}

uint32_t MinimumLengths::farthest(RegexId node) {
  if (auto known = farthest_.find(node.value)) return *known;
  const uint32_t length = compute_farthest(node);
  if (!farthest_.find(node.value)) farthest_.insert(node.value, length);
  return length;
}

uint32_t MinimumLengths::compute_farthest(RegexId node) {
  const Words o = regexes_.operands(node);
  switch (regexes_.kind(node)) {
    case RegexKind::kNothing:
    case RegexKind::kEmptyText:
      return 0;
    case RegexKind::kBytes:
      return 1;
    case RegexKind::kConcatenation:
      // Inside a head all tails are still to come.
      return along(
          node, farthest_, [](RegexId) { return true; },
          [&](RegexId head, RegexId tail) { return std::max(add_lengths(farthest(head), of(tail)), farthest(tail)); });
    case RegexKind::kAlternation: {
      uint32_t most = 0;
      for (uint32_t part : o) most = std::max(most, farthest(RegexId(part)));
      return most;
    }
    case RegexKind::kRepetition:
      return add_lengths(farthest(RegexId(o[0])), multiply_lengths(of(RegexId(o[0])), o[1]));
    case RegexKind::kJsonString: {
      // Half of a surrogate pair's escape, then six bytes for each, and the quote.
      constexpr uint32_t kEscape = 11;
      const RegexId body(o[0]);
      // Between characters that need not come only the quote is to come; not so between two of (ab)*.
      const bool optional = regexes_.kind(body) == RegexKind::kRepetition && regexes_.nullable(body) &&
                            range(regexes_.operand(body, 0), LengthUnit::kCharacter) == LengthRange::only(1);
      return add_lengths(kEscape + 1, optional ? 0 : multiply_lengths(farthest(body), 6));
    }
    case RegexKind::kKeySet:
    case RegexKind::kNumberedKeys:
      return regexes_.longest_key(node);
    case RegexKind::kIntersection:
      if (const auto length = farthest_within_bounds(node)) return *length;
      return search_farthest(node);
    case RegexKind::kMultiples:
      return regexes_.multiples_of(o).farthest();
    case RegexKind::kComplement:
    case RegexKind::kDivisible:
    case RegexKind::kSubstring:
    case RegexKind::kPrefixed:
    case RegexKind::kSequence:
      return search_farthest(node);
  }
  return kNoLength;
}

// Where there is a way to an end within a maximum, the one of the fewest characters is such a way, and has no more of
// them than the shortest one has bytes. Addresses, of which each part may have so many octets, have too many residuals
// to be looked at.
std::optional<uint32_t> MinimumLengths::farthest_within_bounds(RegexId node) {
  const auto parts = regexes_.bounding_run(node);
  const auto unit = parts ? regexes_.unit_of(parts->run) : std::nullopt;
  if (!unit) return std::nullopt;
  const uint32_t minimum = regexes_.operands(parts->run)[1];
  if (minimum > range(parts->rest, *unit).least) return std::nullopt;
  constexpr uint32_t kBytesOfCharacter = 4;
  return multiply_lengths(farthest(parts->rest), *unit == LengthUnit::kByte ? 1 : kBytesOfCharacter);
}

LengthRange MinimumLengths::range(RegexId node, LengthUnit unit) {
  switch (regexes_.kind(node)) {
    case RegexKind::kEmptyText:
      return LengthRange::only(0);
    case RegexKind::kBytes: {
      if (unit == LengthUnit::kByte) return LengthRange::only(1);
      const ByteSet& bytes = regexes_.first(node);
      const ByteSet continuing = ByteSet::range(0x80, 0xBF);
      const uint32_t least = continuing.meets(bytes) ? 0 : 1, most = continuing.holds(bytes) ? 0 : 1;
      return {least, most, most - least, true};
    }
    default:
      break;
  }
  HashTable& ids = range_ids_[static_cast<size_t>(unit)];
  if (auto known = ids.find(node.value)) return ranges_[*known];
  const uint32_t id = compute_range(node, unit);
  if (!ids.find(node.value)) ids.insert(node.value, id);
  return ranges_[id];
}

uint32_t MinimumLengths::add_range(const LengthRange& range) {
  ranges_.push_back(range);
  return static_cast<uint32_t>(ranges_.size() - 1);
}

uint32_t MinimumLengths::compute_range(RegexId node, LengthUnit unit) {
  const Words o = regexes_.operands(node);
  std::vector<LengthRange> parts;
  switch (regexes_.kind(node)) {
    case RegexKind::kConcatenation:
      return along(
          node, range_ids_[static_cast<size_t>(unit)], [](RegexId) { return true; },
          [&](RegexId head, RegexId tail) {
            return add_range(LengthRange::sum(range(head, unit), range(tail, unit)));
          });
    case RegexKind::kAlternation:
      for (uint32_t part : o) parts.push_back(range(RegexId(part), unit));
      return add_range(LengthRange::any_of(std::move(parts)));
    case RegexKind::kIntersection: {
      LengthRange all;
      for (uint32_t part : o) all = LengthRange::both(all, range(RegexId(part), unit));
      return add_range(all);
    }
    case RegexKind::kRepetition:
      return add_range(range(RegexId(o[0]), unit).repeated(o[1], o[2]));
    case RegexKind::kKeySet:
      regexes_.for_each_text(
          node, [&](std::string_view left, uint32_t) { parts.push_back(LengthRange::only(length_of(left, unit))); });
      return add_range(LengthRange::any_of(std::move(parts)));
    default:
      return add_range({});
  }
}

bool MinimumLengths::is_too_far(RegexId node) const {
  const auto known = farthest_.find(node.value);
  return known && *known == kNoLength;
}

// All residuals and what leads to each, then their distances from those that may end, breadth first. What an earlier
// search found is not looked at again: the keys that a schema does not name are those of any other but for a few.
uint32_t MinimumLengths::search_farthest(RegexId node) {
  constexpr size_t kMostResiduals = 400;
  std::vector<RegexId> residuals{node};
  std::vector<std::vector<uint32_t>> from(1);
  std::vector<std::vector<uint32_t>> levels;  // by distance
  const auto add_end = [&](uint32_t distance, uint32_t i) {
    if (levels.size() <= distance) levels.resize(distance + 1);
    levels[distance].push_back(i);
  };
  uint32_t farthest = 0;
  HashTable index;
  index.insert(node.value, 0);
  for (uint32_t i = 0; i < residuals.size(); ++i) {
    const RegexId at = residuals[i];
    if (const auto known = nearest_.find(at.value)) {
      add_end(*known, i);
      farthest = std::max(farthest, *farthest_.find(at.value));
      continue;
    }
    if (regexes_.nullable(at)) add_end(0, i);
    ByteSet bytes = regexes_.first(at);
    for (unsigned b = bytes.lowest(); !bytes.empty(); bytes -= regexes_.alike(at, b), b = bytes.lowest()) {
      const RegexId next = regexes_.derivative(at, b);
      if (next == RegexStore::nothing()) continue;
      auto known = index.find(next.value);
      if (!known) {
        if (residuals.size() == kMostResiduals || is_too_far(next)) {
          // The next position of a text need not look at all of them again.
          for (RegexId residual : residuals) {
            if (!farthest_.find(residual.value)) farthest_.insert(residual.value, kNoLength);
          }
          return kNoLength;
        }
        known = static_cast<uint32_t>(residuals.size());
        index.insert(next.value, *known);
        residuals.push_back(next);
        from.emplace_back();
      }
      from[*known].push_back(i);
    }
  }
  std::vector<std::optional<uint32_t>> reached(residuals.size());
  for (uint32_t distance = 0; distance < levels.size(); ++distance) {
    const std::vector<uint32_t> level = std::move(levels[distance]);
    for (const uint32_t i : level) {
      if (reached[i]) continue;
      reached[i] = distance;
      farthest = std::max(farthest, distance);
      for (const uint32_t j : from[i]) {
        if (!reached[j]) add_end(distance + 1, j);
      }
    }
  }
  // No residual of one of them is farther.
  for (size_t i = 0; i < residuals.size(); ++i) {
    const uint32_t residual = residuals[i].value;
    if (!farthest_.find(residual)) farthest_.insert(residual, farthest);
    if (reached[i] && !nearest_.find(residual)) nearest_.insert(residual, *reached[i]);
  }
  return farthest;
}

}  // namespace cfgmask
