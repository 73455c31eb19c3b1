// Classes of characters as UTF-8.
#include <algorithm>
#include <map>

#include "regex/regex.h"
#include "util/in_step.h"

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
  add_with(class_keys_, key, class_nodes_, node);
  return node;
}

RegexId RegexStore::build_char_class(std::span<const CodePointRange> ranges) {
  struct Form {
    uint32_t low, high;  // code points with this many bytes
    unsigned lead;
    int tail_bytes;
  };
  static constexpr Form kForms[] = {
      {0, 0x7F, 0, 0}, {0x80, 0x7FF, 0xC0, 1}, {0x800, 0xFFFF, 0xE0, 2}, {0x10000, 0x10FFFF, 0xF0, 3}};
  std::vector<RegexId> parts;
  for (const Form& form : kForms) add_sequences(ranges, form.low, form.high, form.lead, form.tail_bytes, parts);
  return alternation(std::move(parts));
}

// Adds what code points of [low, high] that are in the sorted ranges end with in UTF-8: a byte, which is `byte` where
// they begin, at a multiple of 64^(n_more + 1) or at 0, and so many continuation bytes. One look at each range, and one
// visit of each block of 64^n that is neither empty nor whole.
void RegexStore::add_sequences(std::span<const CodePointRange> ranges, uint32_t low, uint32_t high, unsigned byte,
                               int n_more, std::vector<RegexId>& parts) {
  const uint32_t span = 1U << (6 * n_more);
  const uint32_t begin = low - low % (64 * span);
  std::vector<std::pair<RegexId, ByteSet>> leads_by_tail;  // mostly one or two
  const auto add = [&](RegexId tail, uint32_t first, uint32_t last) {
    const ByteSet leads = ByteSet::range(byte + (first - begin) / span, byte + (last - begin) / span);
    const auto same = [&](const auto& known) { return known.first == tail; };
    const auto known = std::find_if(leads_by_tail.begin(), leads_by_tail.end(), same);
    if (known != leads_by_tail.end()) {
      known->second |= leads;
    } else {
      leads_by_tail.emplace_back(tail, leads);
    }
  };
  size_t at = 0;
  for (uint32_t first = low; first <= high;) {
    while (at < ranges.size() && ranges[at].high < first) ++at;
    if (at == ranges.size() || ranges[at].low > high) break;
    first = std::max(first, ranges[at].low);
    const uint32_t block = first - first % span;
    const uint32_t from = std::max(block, low);
    const uint32_t to = std::min(block + span - 1, high);
    // Up to here the range has all; blocks at the ends of [low, high] may be parts.
    const uint32_t covered = std::min(ranges[at].high, high);
    if (first == block && covered - block >= span - 1) {
      const uint32_t n_blocks = (covered - block + 1) / span;
      add(any_continuation(n_more), block, block + (n_blocks - 1) * span);
      first = block + n_blocks * span;
    } else {
      std::vector<RegexId> tails;
      add_sequences(ranges.subspan(at), from, to, 0x80, n_more - 1, tails);
      add(alternation(std::move(tails)), block, block);
      first = to + 1;
    }
  }
  for (const auto& [tail, leads] : leads_by_tail) parts.push_back(concatenation(bytes(leads), tail));
}

RegexId RegexStore::any_continuation(int n_bytes) {
  RegexId tail = empty_text();
  for (int i = 0; i < n_bytes; ++i) tail = concatenation(bytes(ByteSet::range(0x80, 0xBF)), tail);
  return tail;
}

// The characters of both classes; nullopt if a character of one begins one of the other, as bytes do that are no UTF-8.
// Remembered: classes may share their continuations, so there may be exponentially many ways to the last ones.
std::optional<RegexId> RegexStore::common_class(RegexId a, RegexId b) {
  if (a == b) return a;
  if (a == empty_text() || b == empty_text()) return std::nullopt;
  const uint64_t key = (uint64_t{a.value} << 32) | b.value;
  if (const auto known = common_classes_.find(key))
    return *known == kNoCommonClass ? std::nullopt : std::optional(RegexId(*known));
  const auto common = compute_common_class(a, b);
  if (!common_classes_.find(key)) common_classes_.insert(key, common ? common->value : kNoCommonClass);
  return common;
}

// As in a class made of ranges, bytes with equal continuations are in one set.
std::optional<RegexId> RegexStore::compute_common_class(RegexId a, RegexId b) {
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
  if (kind(one) == RegexKind::kBytes && first(one) == ByteSet::all()) return true;
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
