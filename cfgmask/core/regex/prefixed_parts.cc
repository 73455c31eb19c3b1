#include "regex/prefixed_parts.h"

#include <memory>
#include <vector>

#include "regex/regex.h"

namespace cfgmask {

RegexId RegexStore::prefixed(const std::shared_ptr<const PrefixedParts>& parts) {
  auto known = prefixed_ids_.find(parts->number());
  if (!known) {
    known = static_cast<uint32_t>(prefixed_.size());
    prefixed_.push_back(parts);
    prefixed_bytes_ += parts->texts().bytes();
    prefixed_ids_.insert(parts->number(), *known);
  }
  return prefixed_from(*known, 0, parts->texts().table().size(), 0);
}

// Those of [low, high), all of whose texts go on.
RegexId RegexStore::prefixed_from(uint32_t parts, uint32_t low, uint32_t high, uint32_t depth) {
  if (low == high) return nothing();
  if (low + 1 == high) return prefixed_part(parts, low, depth);
  const uint32_t node[] = {parts, low, high, depth};
  return intern(RegexKind::kPrefixed, node);
}

// What is left of a part after so many bytes of its text.
RegexId RegexStore::prefixed_part(uint32_t parts, uint32_t place, uint32_t depth) {
  const std::shared_ptr<const PrefixedParts> of = prefixed_[parts];
  RegexId left = of->part(place, *this);
  for (const char c : of->texts().table()[place].substr(0, depth)) left = derivative(left, static_cast<uint8_t>(c));
  return left;
}

RegexId RegexStore::derive_prefixed(RegexId node, unsigned b) {
  const Words o = operands(node);
  const uint32_t depth = o[3];
  const KeyTable texts = prefixed_[o[0]]->texts().table();
  auto [from, to] = texts.with_byte(o[1], o[2], depth, b);
  std::vector<RegexId> ways;
  // Texts that end here sort first.
  for (; from < to && texts[from].size() == depth + 1; ++from) ways.push_back(prefixed_part(o[0], from, depth + 1));
  ways.push_back(prefixed_from(o[0], from, to, depth + 1));
  return alternation(std::move(ways));
}

}  // namespace cfgmask
