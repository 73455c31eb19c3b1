// Regexes that say nearly what another one says and that many have in common: without counts, with near ones, without
// exceptions. What is known of them serves all of those.
#include <algorithm>

#include "regex/regex.h"

namespace cfgmask {

namespace {

// See RegexStore::clip.
constexpr uint32_t kFewRounds = 20;

}  // namespace

// A node with `change` made to each of its parts, where it is a concatenation, alternation or intersection; else null.
// Tails that come again and again are looked up in `known`, by `key`: of 20,000 parts after each other, each byte would
// have all gone through otherwise.
template <class Key, class Change>
std::optional<RegexId> RegexStore::with_parts(RegexId node, HashTable& known, Key key, Change change) {
  switch (kind(node)) {
    case RegexKind::kConcatenation: {
      std::vector<RegexId> passed;
      std::optional<uint32_t> end;
      for (; kind(node) == RegexKind::kConcatenation && !(end = known.find(key(node))); node = operand(node, 1))
        passed.push_back(node);
      RegexId whole = end ? RegexId(*end) : change(node);
      for (size_t i = passed.size(); i-- > 0;) {
        whole = concatenation(change(operand(passed[i], 0)), whole);
        if (!known.find(key(passed[i]))) known.insert(key(passed[i]), whole.value);
      }
      return whole;
    }
    case RegexKind::kAlternation:
    case RegexKind::kIntersection: {
      if (const auto end = known.find(key(node))) return RegexId(*end);
      std::vector<RegexId> changed;
      for (RegexId part : parts(node)) changed.push_back(change(part));
      const bool either = kind(node) == RegexKind::kAlternation;
      const RegexId whole = either ? alternation(std::move(changed)) : intersection(std::move(changed));
      if (!known.find(key(node))) known.insert(key(node), whole.value);
      return whole;
    }
    default:
      return std::nullopt;
  }
}

// A superset of the node in which nothing is counted. Remembered for what has parts.
RegexId RegexStore::uncounted(RegexId node) {
  const auto key = [](RegexId of) { return uint64_t{of.value}; };
  const auto change = [&](RegexId part) { return uncounted(part); };
  if (const auto larger = with_parts(node, uncounted_, key, change)) return *larger;
  // A complement's body would have to shrink instead.
  return kind(node) == RegexKind::kRepetition ? repetition(uncounted(operand(node, 0)), 0, kUnbounded) : node;
}

std::optional<RegexStore::Counted> RegexStore::counted(RegexId node) {
  const bool in_json = json_between_characters(node);
  const bool has_tail = kind(node) == RegexKind::kConcatenation;
  const RegexId run = in_json || has_tail ? operand(node, 0) : node;
  if (!is_run(run)) return std::nullopt;
  const uint32_t minimum = operands(run)[1];
  const uint32_t maximum = operands(run)[2];
  if (minimum == 0 && maximum == kUnbounded) return std::nullopt;
  if (has_tail && !begins_apart(run, operand(node, 1))) return std::nullopt;
  const RegexId unbounded = repetition(operand(run, 0), 0, kUnbounded);
  if (in_json) return Counted{json_with_body(node, unbounded), minimum, maximum};
  return Counted{has_tail ? concatenation(unbounded, operand(node, 1)) : unbounded, minimum, maximum};
}

ByteSet RegexStore::after_run(RegexId unbounded) {
  switch (kind(unbounded)) {
    case RegexKind::kJsonString:
      return ByteSet::only('"');
    case RegexKind::kConcatenation:
      return first(operand(unbounded, 1));
    default:
      return {};
  }
}

std::optional<RegexStore::Clipped> RegexStore::clipped(RegexId node, uint32_t longest) {
  const bool in_json = json_between_characters(node);
  const RegexId body = in_json ? operand(node, 0) : node;
  if (!has_far_bounds(body, longest)) return std::nullopt;
  const RegexId larger = clip(body, longest, false);
  if (larger == body) return std::nullopt;
  const RegexId smaller = clip(body, longest, true);
  if (!in_json) return Clipped{smaller, larger};
  return Clipped{json_with_body(node, smaller), json_with_body(node, larger)};
}

// Whether there is something to clip. One round of a body that is no class takes several characters, and few texts of a
// vocabulary go many rounds.
bool RegexStore::has_far_bounds(RegexId node, uint32_t longest) const {
  const Props& known = props_[node.value];
  return known.most_characters > longest || known.most_rounds > std::min(longest, kFewRounds);
}

// Every operation here is monotone, so smaller operands make smaller languages. What is under a complement stays.
RegexId RegexStore::clip(RegexId node, uint32_t longest, bool smaller) {
  if (!has_far_bounds(node, longest)) return node;
  // Beyond half of all lengths no text counts them.
  const uint64_t how = (uint64_t{std::min(longest, kUnbounded / 2)} << 1) | (smaller ? 1 : 0);
  const auto key = [&](RegexId of) { return (uint64_t{of.value} << 32) | how; };
  const auto change = [&](RegexId part) { return clip(part, longest, smaller); };
  if (const auto clipped = with_parts(node, clipped_, key, change)) return *clipped;
  if (kind(node) != RegexKind::kRepetition) return node;
  const Words o = operands(node);
  const uint32_t near = is_class(RegexId(o[0])) ? longest : std::min(longest, kFewRounds);
  return repetition(RegexId(o[0]), o[1], smaller ? near : kUnbounded);
}

std::vector<RegexId> RegexStore::leading_loops(RegexId node) {
  const bool in_json = json_between_characters(node);
  const RegexId body = in_json ? operand(node, 0) : node;
  std::vector<RegexId> loops;
  auto add = [&](RegexId part) {
    part = without_few_texts(part);
    const RegexId head = kind(part) == RegexKind::kConcatenation ? operand(part, 0) : part;
    if (kind(head) != RegexKind::kRepetition || operands(head)[2] != kUnbounded || is_empty(part)) return;
    const RegexId loop = repetition(operand(head, 0), 0, kUnbounded);
    if (is_class(operand(head, 0))) loops.push_back(in_json ? json_with_body(node, loop) : loop);
  };
  if (kind(body) == RegexKind::kAlternation) {
    for (uint32_t part : operands(body)) add(RegexId(part));
  } else {
    add(body);
  }
  return loops;
}

// For an intersection of one part with complements of finite sets: that part; else the node.
RegexId RegexStore::without_few_texts(RegexId node) const {
  if (kind(node) != RegexKind::kIntersection) return node;
  RegexId rest = node;
  for (uint32_t part : operands(node)) {
    const bool is_few =
        kind(RegexId(part)) == RegexKind::kComplement && (kind(operand(RegexId(part), 0)) == RegexKind::kKeySet ||
                                                          kind(operand(RegexId(part), 0)) == RegexKind::kEmptyText);
    if (is_few) continue;
    if (rest != node) return node;
    rest = RegexId(part);
  }
  return rest;
}

RegexStore::Simpler RegexStore::without_exceptions(RegexId node) {
  const bool in_json = json_between_characters(node);
  const RegexId body = in_json ? operand(node, 0) : node;
  if (kind(body) != RegexKind::kIntersection) return {node, {}};
  std::vector<RegexId> kept;
  ByteSet differs;
  for (uint32_t part : operands(body)) {
    if (kind(RegexId(part)) == RegexKind::kComplement) {
      differs |= first(operand(RegexId(part), 0));
    } else {
      kept.emplace_back(part);
    }
  }
  if (kept.empty()) return {node, {}};
  const RegexId rest = intersection(std::move(kept));
  if (rest == nothing()) return {node, {}};
  if (!in_json) return {rest, differs};
  // Where the text may end, and what an escape decodes to, are not decided by the first byte.
  for (unsigned b : {U'"', U'\\'}) differs.add(b);
  return {json_with_body(node, rest), differs};
}

}  // namespace cfgmask
