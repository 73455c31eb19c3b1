#include "regex/prefixed_parts.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "regex/minimum_length.h"
#include "regex/regex.h"
#include "util/in_step.h"

namespace cfgmask {

PrefixedTexts::PrefixedTexts(std::span<const std::string_view> texts, std::span<const uint32_t> owners)
    : words_(KeyTable::words_of(texts)), latest_(2 * owners.size()), number_(next()) {
  std::copy(owners.begin(), owners.end(), latest_.begin() + static_cast<ptrdiff_t>(owners.size()));
  for (size_t i = owners.size(); i-- > 1;) latest_[i] = std::max(latest_[2 * i], latest_[2 * i + 1]);
}

uint32_t PrefixedTexts::latest(uint32_t low, uint32_t high) const {
  uint32_t found = 0;
  size_t from = latest_.size() / 2 + low;
  size_t to = latest_.size() / 2 + high;
  for (; from < to; from /= 2, to /= 2) {
    if (from % 2 == 1) found = std::max(found, latest_[from++]);
    if (to % 2 == 1) found = std::max(found, latest_[--to]);
  }
  return found;
}

RegexId RegexStore::prefixed(const std::shared_ptr<const PrefixedParts>& parts, uint32_t first_owner) {
  auto known = prefixed_ids_.find(parts->number());
  if (!known) {
    known = insert_with(prefixed_ids_, parts->number(), prefixed_, parts);
    prefixed_bytes_ += parts->texts().bytes();
  }
  return prefixed_from(*known, 0, parts->texts().table().size(), 0, first_owner);
}

// Those of [low, high) whose owners are not before `owner`; all of their texts go on.
RegexId RegexStore::prefixed_from(uint32_t parts, uint32_t low, uint32_t high, uint32_t depth, uint32_t owner) {
  // Bounds are drawn near where few are left, so that the last one is seen.
  constexpr uint32_t kFew = 64;
  const PrefixedTexts& texts = prefixed_[parts]->texts();
  if (owner > 0 && high - low <= kFew) {
    while (low < high && texts.owner(low) < owner) ++low;
    while (low < high && texts.owner(high - 1) < owner) --high;
  } else if (owner > 0 && texts.latest(low, high) < owner) {
    return nothing();
  }
  if (low == high) return nothing();
  if (low + 1 == high) return prefixed_part(parts, low, depth);
  const uint32_t node[] = {parts, low, high, depth, owner};
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
  const PrefixedTexts& texts = prefixed_[o[0]]->texts();
  const KeyTable table = texts.table();
  auto [from, to] = table.with_byte(o[1], o[2], depth, b);
  std::vector<RegexId> ways;
  // Texts that end here sort first.
  for (; from < to && table[from].size() == depth + 1; ++from) {
    if (texts.owner(from) >= o[4]) ways.push_back(prefixed_part(o[0], from, depth + 1));
  }
  if (from < to) ways.push_back(prefixed_from(o[0], from, to, depth + 1, o[4]));
  return alternation(std::move(ways));
}

ByteSet RegexStore::first_of_prefixed(RegexId node) {
  const Words o = operands(node);
  const PrefixedTexts& texts = prefixed_[o[0]]->texts();
  const KeyTable table = texts.table();
  if (o[4] == 0) return table.bytes_at(o[1], o[2], o[3]);
  ByteSet set;
  for (uint32_t low = o[1]; low < o[2];) {
    const auto b = static_cast<uint8_t>(table[low][o[3]]);
    const uint32_t high = table.with_byte(low, o[2], o[3], b).second;
    if (texts.latest(low, high) >= o[4]) set.add(b);
    low = high;
  }
  return set;
}

// Of a node of those.
uint32_t RegexStore::shortest_prefixed(RegexId node) {
  const Words o = operands(node);
  const std::shared_ptr<const PrefixedParts> of = prefixed_[o[0]];
  uint32_t found = kNoLength;
  for (uint32_t place = o[1]; place < o[2]; ++place) {
    if (of->texts().owner(place) < o[4]) continue;
    const auto least = of->least(place);
    found = std::min(found, least ? *least - o[3] : lengths_->of(prefixed_part(o[0], place, o[3])));
  }
  return found;
}

}  // namespace cfgmask
