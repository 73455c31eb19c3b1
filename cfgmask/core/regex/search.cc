// What takes a search through the residuals of a regex: whether it holds a text, infinitely many, and a shortest one.
#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "regex/minimum_length.h"
#include "regex/regex.h"

namespace cfgmask {

bool RegexStore::is_empty(RegexId node) {
  const Props& p = props_[node.value];
  if (p.emptiness != Emptiness::kUnknown) return p.emptiness == Emptiness::kEmpty;
  if (!p.may_be_empty) return false;
  bool empty = false;
  switch (p.kind) {
    case RegexKind::kConcatenation: {
      // What is found holds for all tails that were passed: they are asked for one after the other.
      std::vector<RegexId> passed;
      RegexId rest = node;
      while (!empty && kind(rest) == RegexKind::kConcatenation && props_[rest.value].may_be_empty &&
             props_[rest.value].emptiness == Emptiness::kUnknown) {
        passed.push_back(rest);
        empty = is_empty(operand(rest, 0));
        rest = operand(rest, 1);
      }
      empty = empty || is_empty(rest);
      for (RegexId tail : passed) props_[tail.value].emptiness = empty ? Emptiness::kEmpty : Emptiness::kNonempty;
      break;
    }
    case RegexKind::kAlternation: {
      const Words parts = operands(node);
      empty = std::all_of(parts.begin(), parts.end(), [&](uint32_t part) { return is_empty(RegexId(part)); });
      break;
    }
    case RegexKind::kRepetition:
    case RegexKind::kJsonString:
      empty = is_empty(operand(node, 0));
      break;
    case RegexKind::kIntersection:
      if (const auto known = is_empty_by_lengths(node)) {
        empty = *known;
        break;
      }
      if (const auto pattern = with_room_for_an_end(node)) {
        empty = is_empty(*pattern);
        break;
      }
      [[fallthrough]];
    default:
      empty = !is_infinite_at_sight(without_few_texts(node)) && (is_too_short(node) || search_empty(node));
  }
  props_[node.value].emptiness = empty ? Emptiness::kEmpty : Emptiness::kNonempty;
  return empty;
}

// Whether no text of the node is as long as each would have to be: of the multiples of 1,999 between bounds, most
// starts lead to none, and each would have all of its ends tried.
bool RegexStore::is_too_short(RegexId node) { return lengths_->of(node) > lengths_->longest(node); }

// Whether the node is a sequence with an unbounded repetition in it, none of whose parts may be empty: then it holds
// texts whatever few are taken away.
bool RegexStore::is_infinite_at_sight(RegexId node) const {
  auto is_unbounded = [&](RegexId part) {
    return kind(part) == RegexKind::kRepetition && operands(part)[2] == kUnbounded &&
           !props_[operands(part)[0]].may_be_empty;
  };
  if (props_[node.value].may_be_empty) return false;
  bool infinite = false;
  for (; kind(node) == RegexKind::kConcatenation; node = operand(node, 1))
    infinite = infinite || is_unbounded(operand(node, 0));
  return infinite || is_unbounded(node);
}

bool RegexStore::is_endless_at_sight(RegexId node) const {
  constexpr int kMostVisits = 100'000;
  std::vector<RegexId> todo{node};
  HashTable seen;  // alternations, to which there may be exponentially many ways
  for (int visits = 0; !todo.empty(); ++visits) {
    if (visits >= kMostVisits) return false;
    RegexId end = without_few_texts(todo.back());
    todo.pop_back();
    if (props_[end.value].may_be_empty) return false;
    for (; kind(end) == RegexKind::kConcatenation && visits < kMostVisits; ++visits) end = operand(end, 1);
    if (kind(end) == RegexKind::kAlternation) {
      if (seen.find(end.value)) continue;
      seen.insert(end.value, 0);
      for (uint32_t part : operands(end)) todo.emplace_back(part);
    } else if (kind(end) != RegexKind::kRepetition || operands(end)[2] != kUnbounded ||
               props_[operands(end)[0]].may_be_empty) {
      return false;
    }
  }
  return true;
}

// Best first: of an e-mail address within 100 characters, all that is no longer would be looked at before the first end
// otherwise, 90 ms; straight to an end it is a step a character. So a residual's other bytes wait until nothing nearer
// to an end is left: most of them are never tried. An intersection is as far from one as its farthest part, and of
// those that are equally far the one goes first whose parts are nearest together: .*1.* & .*2.* & ... has an end once
// each part has, and without that all orders of the digits were gone through.
//
// .{0,997} & ~.* is empty at every count; without counts that takes one step to see instead of a thousand. But most
// regexes have an end in reach, so that is looked at where a few steps found none.
bool RegexStore::search_empty(RegexId node) {
  // Least length of the rest; of all parts; place in `found`. Not the residual itself: which of equal ones goes first
  // would depend on the numbers that other grammars have left, and with it how long the search takes.
  using Entry = std::tuple<uint32_t, uint64_t, size_t>;
  struct Seen {
    RegexId parent;
    ByteSet left;  // bytes to be tried, the last one that was and those alike among them
    unsigned tried = 256;
  };
  std::unordered_map<uint32_t, Seen> seen{{node.value, {node, first(node)}}};
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  std::vector<RegexId> found;
  const auto enqueue = [&](RegexId residual) {
    uint64_t together = 0;
    const RegexId body = kind(residual) == RegexKind::kJsonString ? json_body(residual) : residual;
    if (kind(body) == RegexKind::kIntersection) {
      for (uint32_t part : operands(body)) together += lengths_->of(RegexId(part));
    }
    queue.emplace(lengths_->of(residual), together, found.size());
    found.push_back(residual);
  };
  enqueue(node);
  constexpr uint64_t kFewSteps = 32;
  uint64_t steps = 0;
  while (!queue.empty()) {
    if (steps == kFewSteps) {
      const RegexId larger = uncounted(node);
      if (larger != node && is_empty(larger)) return true;
    }
    const RegexId at = found[std::get<2>(queue.top())];
    Seen& here = seen.at(at.value);
    if (here.tried < 256) here.left -= alike(at, here.tried);
    const unsigned b = here.tried = here.left.lowest();
    if (b == 256) {
      queue.pop();
      continue;
    }
    count_step(at, steps);
    const RegexId next = derivative(at, b);
    Emptiness& known = props_[next.value].emptiness;
    if (known == Emptiness::kUnknown) {
      if (const auto empty = is_empty_by_lengths(next)) known = *empty ? Emptiness::kEmpty : Emptiness::kNonempty;
    }
    if (known == Emptiness::kNonempty || !props_[next.value].may_be_empty) {
      if (next == nothing()) continue;
      // All that led here go on as well.
      for (RegexId on_the_way = at; on_the_way != node; on_the_way = seen.at(on_the_way.value).parent)
        props_[on_the_way.value].emptiness = Emptiness::kNonempty;
      return false;
    }
    if (known == Emptiness::kUnknown && !is_too_short(next) && seen.emplace(next.value, Seen{at, first(next)}).second)
      enqueue(next);
  }
  for (const auto& [id, entry] : seen) props_[id].emptiness = Emptiness::kEmpty;
  return true;
}

// The derivative of a node of many parts counts as several, as its making does. To the account each step is a node, new
// or not: one question is bounded by max_search_steps, and thousands of them by that.
void RegexStore::count_step(RegexId from, uint64_t& steps) {
  constexpr size_t kPartsPerStep = 16;
  const RegexId large = kind(from) == RegexKind::kJsonString ? json_body(from) : from;
  const bool has_parts = kind(large) == RegexKind::kAlternation || kind(large) == RegexKind::kIntersection;
  const uint64_t counted = 1 + (has_parts ? operands(large).size() / kPartsPerStep : 0);
  n_search_steps_ += counted;
  if ((steps += counted) > max_search_steps_) throw LimitExceeded("max_search_steps", max_search_steps_);
  if (account_ != nullptr) account_->charge(counted);
}

// A residual that leads back to itself and from there to an end.
bool RegexStore::is_infinite(RegexId node) {
  struct Frame {
    RegexId at;
    ByteSet left;
  };
  if (is_empty(node)) return false;
  std::unordered_map<uint32_t, bool> open{{node.value, true}};
  std::vector<Frame> path{{node, first(node)}};
  uint64_t steps = 0;
  while (!path.empty()) {
    const RegexId at = path.back().at;
    ByteSet& left = path.back().left;
    if (left.empty()) {
      open[at.value] = false;
      path.pop_back();
      continue;
    }
    const unsigned b = left.lowest();
    left -= alike(at, b);
    count_step(at, steps);
    const RegexId next = derivative(at, b);
    if (is_empty(next)) continue;
    const auto [known, is_new] = open.emplace(next.value, true);
    if (is_new) {
      path.push_back({next, first(next)});
    } else if (known->second) {
      return true;
    }
  }
  return false;
}

std::optional<std::string> RegexStore::shortest(RegexId node) {
  uint64_t steps = 0;
  auto found = find_shortest(node, 1, [&](RegexId from) {
    count_step(from, steps);
    return true;
  });
  return found.empty() ? std::nullopt : std::optional(std::move(found[0]));
}

std::vector<std::string> RegexStore::shortest_within(RegexId node, size_t most, size_t most_derivatives) {
  if (most == 1) {
    if (auto text = follow_lengths(node, most_derivatives)) return {std::move(*text)};
  }
  return find_shortest(node, most, [&](RegexId) { return most_derivatives-- > 0; });
}

// The shortest string, the smallest of these bytewise, if the least lengths are those of strings all the way: 36
// characters of a UUID take one derivative for each class of bytes that is tried, where all strings up to the shortest
// are more than most_derivatives.
std::optional<std::string> RegexStore::follow_lengths(RegexId node, size_t& most_derivatives) {
  std::string text;
  uint32_t left = lengths_->of(node);
  if (left >= kNoLength) return std::nullopt;
  while (left > 0) {
    ByteSet bytes = first(node);
    std::optional<RegexId> nearer;
    for (unsigned b = bytes.lowest(); !bytes.empty() && !nearer; bytes -= alike(node, b), b = bytes.lowest()) {
      if (most_derivatives == 0) return std::nullopt;
      --most_derivatives;
      const RegexId next = derivative(node, b);
      if (next == nothing() || lengths_->of(next) != left - 1) continue;
      text.push_back(static_cast<char>(b));
      nearer = next;
    }
    if (!nearer) return std::nullopt;
    node = *nearer;
    --left;
  }
  return nullable(node) ? std::optional(std::move(text)) : std::nullopt;
}

// `count` is asked before each derivative, whether there may be one more.
template <class Count>
std::vector<std::string> RegexStore::find_shortest(RegexId node, size_t most, Count count) {
  struct Step {
    RegexId node;
    size_t parent;
    uint8_t byte;
  };
  std::vector<std::string> found;
  if (nullable(node)) found.emplace_back();
  std::vector<Step> steps{{node, 0, 0}};
  std::unordered_set<uint32_t> seen{node.value};
  for (size_t i = 0; i < steps.size() && found.size() < most; ++i) {
    ByteSet bytes = first(steps[i].node);
    for (unsigned b = bytes.lowest(); !bytes.empty(); bytes -= alike(steps[i].node, b), b = bytes.lowest()) {
      if (!count(steps[i].node)) return found;
      const RegexId next = derivative(steps[i].node, b);
      if (next == nothing() || !seen.insert(next.value).second) continue;
      steps.push_back({next, i, static_cast<uint8_t>(b)});
      if (!nullable(next)) continue;
      std::string text;
      for (size_t at = steps.size() - 1; at != 0; at = steps[at].parent)
        text.push_back(static_cast<char>(steps[at].byte));
      found.emplace_back(text.rbegin(), text.rend());
      if (found.size() == most) return found;
    }
  }
  return found;
}

}  // namespace cfgmask
