#include "regex/regex_data.h"

#include <atomic>
#include <iterator>

namespace cfgmask {

uint32_t RegexData::ranges(Kind kind, std::span<const CodePointRange> all) {
  const auto first = static_cast<uint32_t>(ranges_.size());
  ranges_.insert(ranges_.end(), all.begin(), all.end());
  return add({kind, first, static_cast<uint32_t>(ranges_.size()), 0, 0, 1});
}

uint32_t RegexData::parts(Kind kind, std::span<const uint32_t> all) {
  const auto first = static_cast<uint32_t>(parts_.size());
  uint64_t height = 0;
  for (uint32_t part : all) height = std::max(height, nodes_[part].height);
  parts_.insert(parts_.end(), all.begin(), all.end());
  return add({kind, first, static_cast<uint32_t>(parts_.size()), 0, 0, height + 1});
}

uint32_t RegexData::repetition(uint32_t body, uint32_t minimum, uint32_t maximum) {
  const uint32_t made = parts(Kind::kRepetition, {&body, 1});
  nodes_[made].minimum = minimum;
  nodes_[made].maximum = maximum;
  return made;
}

uint32_t RegexData::json_string(uint32_t body, JsonEscapes escapes) {
  const uint32_t made = parts(Kind::kJsonString, {&body, 1});
  nodes_[made].minimum = static_cast<uint32_t>(escapes);
  return made;
}

uint32_t RegexData::texts(Kind kind, std::vector<std::string> all) {
  const auto first = static_cast<uint32_t>(texts_.size());
  std::move(all.begin(), all.end(), std::back_inserter(texts_));
  return add({kind, first, static_cast<uint32_t>(texts_.size()), 0, 0, 1});
}

void RegexData::make(RegexStore& store, std::vector<RegexId>& made) const {
  // Without a reserve: trees come one by one, and each would have all that was made copied.
  for (size_t i = made.size(); i < nodes_.size(); ++i) made.push_back(make(store, nodes_[i], made));
}

RegexId RegexData::make(RegexStore& store, const Node& node, std::span<const RegexId> made) const {
  const auto part = [&](uint32_t i) { return made[parts_[i]]; };
  const auto all_parts = [&] {
    std::vector<RegexId> all;
    all.reserve(node.last - node.first + 1);
    for (uint32_t i = node.first; i < node.last; ++i) all.push_back(part(i));
    return all;
  };
  const auto all_texts = [&] {
    return std::vector<std::string>(texts_.begin() + node.first, texts_.begin() + node.last);
  };
  const std::span<const CodePointRange> ranges{ranges_.data() + node.first, node.last - node.first};
  switch (node.kind) {
    case Kind::kLiteral:
      return store.literal(texts_[node.first]);
    case Kind::kCharClass:
      return store.char_class({ranges.begin(), ranges.end()});
    case Kind::kByteClass: {
      ByteSet set;
      for (const auto& range : ranges) set |= ByteSet::range(range.low, range.high);
      return store.bytes(set);
    }
    case Kind::kConcatenation: {
      RegexId whole = RegexStore::empty_text();
      for (uint32_t i = node.last; i-- > node.first;) whole = store.concatenation(part(i), whole);
      return whole;
    }
    case Kind::kAlternation:
      return store.alternation(all_parts());
    case Kind::kRepetition:
      return store.repetition(part(node.first), node.minimum, node.maximum);
    case Kind::kIntersection:
      return store.intersection(all_parts());
    case Kind::kComplement: {
      const RegexId text = store.repetition(store.char_class({{0, 0xD7FF}, {0xE000, 0x10FFFF}}), 0, kUnbounded);
      return store.intersection({text, store.complement(part(node.first))});
    }
    case Kind::kKeySet:
      return store.key_set(all_texts());
    case Kind::kDivisible:
      return store.divisible(node.minimum);
    case Kind::kJsonString:
      return store.json_string(part(node.first), static_cast<JsonEscapes>(node.minimum));
    case Kind::kSubstring:
      return store.substring(all_texts());
  }
  return RegexStore::nothing();
}

PortableRegex::PortableRegex(RegexData data) : data_(std::move(data)) {
  static std::atomic<uint64_t> made{0};
  number_ = made++;
}

RegexId PortableRegex::in(RegexStore& store) const {
  if (const auto known = store.portable(number_)) return *known;
  std::vector<RegexId> made;
  data_.make(store, made);
  store.remember_portable(number_, made.back());
  return made.back();
}

}  // namespace cfgmask
