#include "regex/held_bytes.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace cfgmask {

namespace {

constexpr unsigned kLastOfAscii = 0x7F;

ByteSet printable_ascii() { return ByteSet::range(' ', '~'); }

// What characters beyond ASCII consist of in UTF-8.
ByteSet beyond_ascii() {
  ByteSet found = ByteSet::range(0x80, 0xBF);
  found |= ByteSet::range(0xC2, 0xF4);
  return found;
}

}  // namespace

RegexId HeldBytes::of(RegexId node) {
  if (const auto known = known_.find(node.value); known != known_.end()) return known->second;
  const RegexId found = compute(node);
  known_.emplace(node.value, found);
  return found;
}

RegexId HeldBytes::compute(RegexId node) {
  switch (store_.kind(node)) {
    case RegexKind::kNothing:
    case RegexKind::kEmptyText:
      return node;
    case RegexKind::kBytes: {
      ByteSet set;
      std::copy_n(store_.operands(node).begin(), set.words.size(), set.words.begin());
      set &= bytes_;
      return store_.bytes(set);
    }
    case RegexKind::kConcatenation:
      return of_concatenation(node);
    case RegexKind::kAlternation:
    case RegexKind::kIntersection:
      return of_parts(node);
    case RegexKind::kRepetition: {
      const RegexId body = store_.operand(node, 0);
      const RegexId left = of(body);
      if (left == body) return node;
      const uint32_t minimum = store_.operands(node)[1];
      const uint32_t maximum = store_.operands(node)[2];
      if (left == RegexStore::nothing()) return minimum == 0 ? RegexStore::empty_text() : left;
      return store_.repetition(left, minimum, maximum);
    }
    case RegexKind::kKeySet:
      return of_key_set(node);
    case RegexKind::kJsonString: {
      const auto escapes = static_cast<JsonEscapes>(store_.operands(node)[1] & 0xF);
      return completes_json_strings(escapes) ? node : intersected(node);
    }
    case RegexKind::kMultiples:
    case RegexKind::kDivisible: {
      ByteSet digits = ByteSet::range('0', '9');
      digits.add('.');
      return bytes_.holds(digits) ? node : intersected(node);
    }
    case RegexKind::kComplement:
    case RegexKind::kNumberedKeys:
    case RegexKind::kPrefixed:
    case RegexKind::kSequence:
    case RegexKind::kSubstring:
      return intersected(node);
  }
  return node;
}

// Not one call inside of the other for each of many parts.
RegexId HeldBytes::of_concatenation(RegexId node) {
  std::vector<RegexId> heads;
  RegexId tail = node;
  for (; store_.kind(tail) == RegexKind::kConcatenation; tail = store_.operand(tail, 1))
    heads.push_back(store_.operand(tail, 0));
  RegexId whole = of(tail);
  bool is_same = whole == tail;
  for (size_t i = heads.size(); i-- > 0;) {
    const RegexId left = of(heads[i]);
    is_same = is_same && left == heads[i];
    whole = store_.concatenation(left, whole);
  }
  return is_same ? node : whole;
}

RegexId HeldBytes::of_parts(RegexId node) {
  const bool either = store_.kind(node) == RegexKind::kAlternation;
  std::vector<RegexId> parts = store_.parts(node);
  // Beside a part without other bytes, a complement need not lose them.
  const auto is_complement = [&](RegexId part) { return store_.kind(part) == RegexKind::kComplement; };
  const bool skips = !either && !std::all_of(parts.begin(), parts.end(), is_complement);
  bool is_same = true;
  for (RegexId& part : parts) {
    if (skips && is_complement(part)) continue;
    const RegexId left = of(part);
    is_same = is_same && left == part;
    part = left;
  }
  if (is_same) return node;
  return either ? store_.alternation(std::move(parts)) : store_.intersection(std::move(parts));
}

RegexId HeldBytes::of_key_set(RegexId node) {
  std::vector<std::string_view> kept;
  store_.for_each_text(node, [&](std::string_view key, uint32_t) {
    if (std::all_of(key.begin(), key.end(), [&](char b) { return bytes_.has(static_cast<uint8_t>(b)); }))
      kept.push_back(key);
  });
  return kept.size() == store_.most_texts(node) ? node : store_.key_set(std::move(kept));
}

RegexId HeldBytes::intersected(RegexId node) {
  return store_.intersection({node, store_.repetition(store_.bytes(bytes_), 0, kUnbounded)});
}

// Whether whatever these bytes begin of a JSON string, they complete: a character that they do not write as itself,
// they write as an escape. A character begun as itself has to be completed as itself.
bool HeldBytes::completes_json_strings(JsonEscapes escapes) const {
  if (!bytes_.holds(printable_ascii())) return false;
  if (bytes_.holds(beyond_ascii())) return escapes != JsonEscapes::kCanonical || bytes_.has(kLastOfAscii);
  const bool is_any_escaped = escapes == JsonEscapes::kAny || escapes == JsonEscapes::kLiteral;
  return is_any_escaped && !bytes_.meets(beyond_ascii());
}

}  // namespace cfgmask
