#include "regex/regex_data.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <utility>

#include "util/interner.h"

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

uint32_t RegexData::multiples(std::span<const uint32_t> words) {
  const auto first = static_cast<uint32_t>(words_.size());
  words_.insert(words_.end(), words.begin(), words.end());
  return add({Kind::kMultiples, first, static_cast<uint32_t>(words_.size()), 0, 0, 1});
}

RegexData::List RegexData::list_of(Kind kind) {
  switch (kind) {
    case Kind::kLiteral:
    case Kind::kKeySet:
    case Kind::kSubstring:
      return List::kTexts;
    case Kind::kCharClass:
    case Kind::kByteClass:
      return List::kRanges;
    case Kind::kMultiples:
      return List::kWords;
    case Kind::kDivisible:
      return List::kNone;
    case Kind::kConcatenation:
    case Kind::kAlternation:
    case Kind::kRepetition:
    case Kind::kIntersection:
    case Kind::kComplement:
    case Kind::kJsonString:
      return List::kParts;
  }
  return List::kNone;
}

uint32_t RegexData::append(const RegexData& other) {
  const auto n_nodes = static_cast<uint32_t>(nodes_.size());
  const std::array<size_t, 5> before{0, texts_.size(), ranges_.size(), parts_.size(), words_.size()};  // by List
  for (Node node : other.nodes_) {
    const auto first = static_cast<uint32_t>(before[static_cast<size_t>(list_of(node.kind))]);
    node.first += first;
    node.last += first;
    nodes_.push_back(node);
  }
  for (uint32_t part : other.parts_) parts_.push_back(part + n_nodes);
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
  texts_.insert(texts_.end(), other.texts_.begin(), other.texts_.end());
  words_.insert(words_.end(), other.words_.begin(), other.words_.end());
  return static_cast<uint32_t>(nodes_.size() - 1);
}

// Which nodes the last one consists of.
std::vector<bool> RegexData::needed() const {
  std::vector<bool> found(nodes_.size());
  if (!found.empty()) found.back() = true;
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (!found[i]) continue;
    for (uint32_t part : parts_of(nodes_[i])) found[part] = true;
  }
  return found;
}

RegexData RegexData::without_repeats() const {
  RegexData kept;
  Interner known;  // what is said of each node kept
  std::vector<uint32_t> numbers;
  numbers.reserve(nodes_.size());
  std::vector<uint32_t> said;
  const std::vector<bool> is_needed = needed();
  for (const Node& node : nodes_) {
    if (!is_needed[numbers.size()]) {
      numbers.push_back(0);
      continue;
    }
    said = {static_cast<uint32_t>(node.kind), node.minimum, node.maximum};
    for (uint32_t i = node.first; i < node.last; ++i) {
      switch (list_of(node.kind)) {
        case List::kTexts:
          said.push_back(static_cast<uint32_t>(texts_[i].size()));
          said.insert(said.end(), texts_[i].begin(), texts_[i].end());
          break;
        case List::kRanges:
          said.insert(said.end(), {ranges_[i].low, ranges_[i].high});
          break;
        case List::kParts:
          said.push_back(numbers[parts_[i]]);
          break;
        case List::kWords:
          said.push_back(words_[i]);
          break;
        case List::kNone:
          break;
      }
    }
    const auto [number, is_new] = known.intern(said);
    numbers.push_back(number);
    if (!is_new && numbers.size() < nodes_.size()) continue;  // the last one stays the last
    switch (list_of(node.kind)) {
      case List::kTexts:
        kept.texts(node.kind, {texts_.begin() + node.first, texts_.begin() + node.last});
        break;
      case List::kRanges:
        kept.ranges(node.kind, std::span(ranges_).subspan(node.first, node.last - node.first));
        break;
      case List::kParts:
        kept.parts(node.kind, std::span(said).subspan(3));
        break;
      case List::kWords:
        kept.multiples(std::span(words_).subspan(node.first, node.last - node.first));
        break;
      case List::kNone:
        kept.add(node);
        break;
    }
    kept.nodes_.back().minimum = node.minimum;
    kept.nodes_.back().maximum = node.maximum;
  }
  return kept;
}

void RegexData::make(RegexStore& store, std::vector<RegexId>& made) const {
  // Without a reserve: trees come one by one, and each would have all that was made copied.
  for (size_t i = made.size(); i < nodes_.size(); ++i) {
    const auto parts = parts_of(nodes_[i]);
    made.push_back(make_of(store, nodes_[i], [&](size_t part) { return made[parts[part]]; }));
  }
}

RegexId RegexData::make(RegexStore& store, uint32_t node, std::vector<std::optional<RegexId>>& made) const {
  std::vector<uint32_t> pending{node};
  while (!pending.empty()) {
    const uint32_t next = pending.back();
    const auto parts = parts_of(nodes_[next]);
    const size_t waiting = pending.size();
    if (!made[next]) {
      std::copy_if(parts.begin(), parts.end(), std::back_inserter(pending), [&](uint32_t part) { return !made[part]; });
    }
    if (pending.size() > waiting) continue;
    pending.pop_back();
    if (!made[next]) made[next] = make_of(store, nodes_[next], [&](size_t part) { return *made[parts[part]]; });
  }
  return *made[node];
}

std::span<const uint32_t> RegexData::parts_of(const Node& node) const {
  if (list_of(node.kind) != List::kParts) return {};
  return std::span(parts_).subspan(node.first, node.last - node.first);
}

template <typename Part>
RegexId RegexData::make_of(RegexStore& store, const Node& node, Part part) const {
  const size_t n_parts = node.last - node.first;
  const auto all_parts = [&] {
    std::vector<RegexId> all;
    all.reserve(n_parts + 1);
    for (size_t i = 0; i < n_parts; ++i) all.push_back(part(i));
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
      for (size_t i = n_parts; i-- > 0;) whole = store.concatenation(part(i), whole);
      return whole;
    }
    case Kind::kAlternation:
      return store.alternation(all_parts());
    case Kind::kRepetition:
      return store.repetition(part(0), node.minimum, node.maximum);
    case Kind::kIntersection:
      return store.intersection(all_parts());
    case Kind::kComplement:
      return store.intersection({store.any_text(), store.complement(part(0))});
    case Kind::kKeySet:
      return store.key_set(all_texts());
    case Kind::kDivisible:
      return store.divisible(node.minimum);
    case Kind::kMultiples:
      return store.multiples(Words(words_).subspan(node.first, node.last - node.first));
    case Kind::kJsonString:
      return store.json_string(part(0), static_cast<JsonEscapes>(node.minimum));
    case Kind::kSubstring:
      return store.substring(all_texts());
  }
  return RegexStore::nothing();
}

PortableRegex::PortableRegex(const RegexData& data) : data_(data.without_repeats()) {
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
