// Classes of characters as UTF-8.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "regex/regex.h"

namespace cfgmask {

RegexId RegexStore::bytes(const ByteSet& set) {
  if (set.empty()) return nothing();
  return intern(RegexKind::kBytes, set.words);
}

// A character class as UTF-8: alternatives by the first byte, bytes with equal continuations in one set. Shared
// continuations make it the minimal automaton of the class.
RegexId RegexStore::char_class(std::vector<CodePointRange> ranges) {
  static_assert(sizeof(CodePointRange) == 2 * sizeof(uint32_t));
  const Words key(reinterpret_cast<const uint32_t*>(ranges.data()), ranges.size() * 2);
  if (auto known = class_keys_.find(key)) return class_nodes_[*known];
  const RegexId node = build_char_class(ranges);
  class_keys_.intern(key);
  return class_nodes_.push_back(node);
}

RegexId RegexStore::build_char_class(std::span<const CodePointRange> ranges) {
  struct Form {
    uint32_t low, high;  // code points with this many bytes
    uint32_t lead;
    int tail_bytes;
  };
  static constexpr Form kForms[] = {
      {0, 0x7F, 0, 0}, {0x80, 0x7FF, 0xC0, 1}, {0x800, 0xFFFF, 0xE0, 2}, {0x10000, 0x10FFFF, 0xF0, 3}};
  std::vector<RegexId> parts;
  for (const Form& form : kForms) {
    std::unordered_map<uint32_t, ByteSet> leads_by_tail;
    const uint32_t span = 1U << (6 * form.tail_bytes);
    for (uint32_t first = form.low - form.low % span; first <= form.high; first += span) {
      std::vector<CodePointRange> inside;
      for (const CodePointRange& r : ranges) {
        const uint32_t low = std::max({r.low, first, form.low});
        const uint32_t high = std::min({r.high, first + span - 1, form.high});
        if (low <= high) inside.push_back({low - first, high - first});
      }
      if (inside.empty()) continue;
      leads_by_tail[utf8_tail(inside, form.tail_bytes).value].add(form.lead | (first / span));
    }
    for (const auto& [tail, leads] : leads_by_tail) parts.push_back(concatenation(bytes(leads), RegexId(tail)));
  }
  return alternation(std::move(parts));
}

// The strings of `n_bytes` continuation bytes whose value (6 bits a byte) lies in the sorted ranges.
RegexId RegexStore::utf8_tail(std::span<const CodePointRange> ranges, int n_bytes) {
  if (n_bytes == 0) return empty_text();
  const uint32_t span = 1U << (6 * (n_bytes - 1));
  if (ranges.size() == 1 && ranges[0].low == 0 && ranges[0].high == 64 * span - 1) {
    // All of them: 64^n leaves otherwise, 20 ms for the class of all characters.
    RegexId tail = empty_text();
    for (int i = 0; i < n_bytes; ++i) tail = concatenation(bytes(ByteSet::range(0x80, 0xBF)), tail);
    return tail;
  }
  std::unordered_map<uint32_t, ByteSet> bytes_by_tail;
  for (uint32_t value = 0; value < 64; ++value) {
    const uint32_t first = value * span;
    std::vector<CodePointRange> inside;
    for (const CodePointRange& r : ranges) {
      const uint32_t low = std::max(r.low, first);
      const uint32_t high = std::min(r.high, first + span - 1);
      if (low <= high) inside.push_back({low - first, high - first});
    }
    if (!inside.empty()) bytes_by_tail[utf8_tail(inside, n_bytes - 1).value].add(0x80 | value);
  }
  std::vector<RegexId> parts;
  for (const auto& [tail, set] : bytes_by_tail) parts.push_back(concatenation(bytes(set), RegexId(tail)));
  return alternation(std::move(parts));
}

// The characters of both classes; nullopt if a character of one begins one of the other, as bytes do that are no UTF-8.
// As in a class made of ranges, bytes with equal continuations are in one set.
std::optional<RegexId> RegexStore::common_class(RegexId a, RegexId b) {
  if (a == b) return a;
  if (a == empty_text() || b == empty_text()) return std::nullopt;
  ByteSet leads = first(a);
  leads &= first(b);
  std::map<RegexId, ByteSet> leads_by_tail;
  while (!leads.empty()) {
    const unsigned lead = leads.lowest();
    ByteSet same = alike(a, lead);
    same &= alike(b, lead);
    same &= leads;
    const auto tail = common_class(derivative(a, lead), derivative(b, lead));
    if (!tail) return std::nullopt;
    leads_by_tail[*tail] |= same;
    leads -= same;
  }
  std::vector<RegexId> parts;
  for (const auto& [tail, set] : leads_by_tail) parts.push_back(concatenation(bytes(set), tail));
  return alternation(std::move(parts));
}

// A long literal is walked in a loop, and what is found holds for all that was passed.
bool RegexStore::is_class(RegexId node) {
  RegexId end = node;
  while (kind(end) == RegexKind::kConcatenation && props_[end.value].is_class == Known::kNotYet &&
         kind(operand(end, 0)) == RegexKind::kBytes) {
    end = operand(end, 1);
  }
  Props& last = props_[end.value];
  if (last.is_class == Known::kNotYet) {
    const bool found =
        last.kind == RegexKind::kBytes || (last.kind == RegexKind::kAlternation && compute_is_class(end));
    last.is_class = found ? Known::kYes : Known::kNo;
  }
  for (; node != end; node = operand(node, 1)) props_[node.value].is_class = last.is_class;
  return last.is_class == Known::kYes;
}

bool RegexStore::compute_is_class(RegexId alternation) {
  ByteSet seen;
  for (uint32_t part : operands(alternation)) {
    if (kind(RegexId(part)) == RegexKind::kAlternation || !is_class(RegexId(part))) return false;
    if (first(RegexId(part)).meets(seen)) return false;
    seen |= first(RegexId(part));
  }
  return true;
}

// x{m,n}, where x is a class of characters.
bool RegexStore::is_run(RegexId node) { return kind(node) == RegexKind::kRepetition && is_class(operand(node, 0)); }

// Whether `tail` is not empty and begins with none of the bytes that the class of `run` begins with, so that the two
// are told apart at each character.
bool RegexStore::begins_apart(RegexId run, RegexId tail) {
  ByteSet both = first(tail);
  both &= first(operand(run, 0));
  return !nullable(tail) && both.empty();
}

bool RegexStore::is_loop(RegexId node) {
  return is_run(node) && operands(node)[1] == 0 && operands(node)[2] == kUnbounded;
}

bool RegexStore::is_within(RegexId node, RegexId one) {
  // Most that is asked for begins otherwise, which takes no look-up.
  if (!first(one).holds(first(node))) return false;
  const uint64_t key = (uint64_t{node.value} << 32) | one.value;
  if (auto known = within_.find(key)) return *known != 0;
  const bool within = is_class(one) && compute_within(node, one);
  if (!within_.find(key)) within_.insert(key, within ? 1 : 0);
  return within;
}

bool RegexStore::compute_within(RegexId node, RegexId one) {
  if (is_class(node) && is_class_within(node, one)) return true;
  switch (kind(node)) {
    case RegexKind::kNothing:
    case RegexKind::kEmptyText:
      return true;
    case RegexKind::kConcatenation:
      for (; kind(node) == RegexKind::kConcatenation; node = operand(node, 1)) {
        if (!is_within(operand(node, 0), one)) return false;
      }
      return is_within(node, one);
    case RegexKind::kAlternation:
    case RegexKind::kIntersection: {
      const std::vector<RegexId> all = parts(node);
      const auto part_within = [&](RegexId part) { return is_within(part, one); };
      return kind(node) == RegexKind::kAlternation ? std::all_of(all.begin(), all.end(), part_within)
                                                   : std::any_of(all.begin(), all.end(), part_within);
    }
    case RegexKind::kRepetition:
      return is_within(operand(node, 0), one);
    case RegexKind::kKeySet:
      return are_keys_within(node, one);
    default:
      return false;
  }
}

bool RegexStore::is_class_within(RegexId node, RegexId one) { return common_class(node, one) == node; }

}  // namespace cfgmask
