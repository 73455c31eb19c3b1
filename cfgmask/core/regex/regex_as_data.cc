#include "regex/regex_as_data.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "util/pause.h"
#include "util/utf8.h"

namespace cfgmask {

namespace {

constexpr unsigned kFirstContinuation = 0x80;
constexpr unsigned kLastContinuation = 0xBF;

// How many bytes follow the first byte of a character; 0 for bytes that begin none of several.
int n_behind_lead(unsigned b) { return b < 0xC2 ? 0 : b < 0xE0 ? 1 : b < 0xF0 ? 2 : b < 0xF5 ? 3 : 0; }

// Whether code points that are spelled with so many bytes behind the first one are characters, and have no shorter
// spelling.
bool are_characters(const CodePointRange& range, int n_behind) {
  constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  const auto [before, behind] = kCharacters;
  return range.low >= kLeast[n_behind] && range.high <= behind.high &&
         (range.high <= before.high || range.low >= behind.low);
}

void add_byte(std::vector<CodePointRange>& ranges, uint32_t b) {
  if (!ranges.empty() && ranges.back().high + 1 == b) {
    ranges.back().high = b;
  } else {
    ranges.push_back({b, b});
  }
}

// Sorted, those that meet or touch as one.
void merge(std::vector<CodePointRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.low < b.low; });
  std::vector<CodePointRange> merged;
  for (const CodePointRange& range : ranges) {
    if (!merged.empty() && range.low <= merged.back().high + 1) {
      merged.back().high = std::max(merged.back().high, range.high);
    } else {
      merged.push_back(range);
    }
  }
  ranges = std::move(merged);
}

bool is_one_character(const std::vector<CodePointRange>& ranges) {
  return ranges.size() == 1 && ranges[0].low == ranges[0].high;
}

}  // namespace

RegexAsData::RegexAsData(RegexStore& store) : store_(store) {
  for (int n = 0; n < 4; ++n) any_continuation_[n] = store_.any_continuation(n);
}

uint32_t RegexAsData::add(RegexId node) {
  std::vector<Plan> pending;
  const auto begin = [&](RegexId next) {
    Pause::tick();
    if (!known_.contains(next.value)) pending.push_back(plan(next));
  };
  begin(node);
  while (!pending.empty()) {
    const size_t waiting = pending.size();
    std::vector<RegexId> missing;
    for (const Item& item : pending.back().items) {
      if (item.is == Item::Is::kNode && !known_.contains(item.node.value)) missing.push_back(item.node);
    }
    for (const RegexId next : missing) begin(next);
    if (pending.size() > waiting) continue;
    const Plan done = std::move(pending.back());
    pending.pop_back();
    if (!known_.contains(done.of.value)) known_.emplace(done.of.value, make(done));
  }
  return known_.at(node.value);
}

RegexAsData::Plan RegexAsData::plan(RegexId node) {
  const auto inside = [](RegexId part) { return Item{Item::Is::kNode, {}, {}, part}; };
  const Words o = store_.operands(node);
  switch (store_.kind(node)) {
    case RegexKind::kNothing:
      return {node, RegexData::Kind::kAlternation};
    case RegexKind::kEmptyText:
      return {node, RegexData::Kind::kLiteral, {{Item::Is::kText}}};
    case RegexKind::kBytes:
    case RegexKind::kConcatenation: {
      Plan found{node, RegexData::Kind::kConcatenation};
      plan_concatenation(node, found);
      return found;
    }
    case RegexKind::kAlternation: {
      Plan found{node, RegexData::Kind::kAlternation};
      plan_alternation(store_.parts(node), found);
      return found;
    }
    case RegexKind::kIntersection: {
      Plan found{node, RegexData::Kind::kIntersection};
      for (const RegexId part : store_.parts(node)) found.items.push_back(inside(part));
      // Complements come last, as exceptions from the others.
      std::stable_partition(found.items.begin(), found.items.end(),
                            [&](const Item& item) { return store_.kind(item.node) != RegexKind::kComplement; });
      return found;
    }
    case RegexKind::kComplement:
      return {node, RegexData::Kind::kComplement, {inside(RegexId(o[0]))}};
    case RegexKind::kRepetition:
      return {node, RegexData::Kind::kRepetition, {inside(RegexId(o[0]))}, {}, o[1], o[2]};
    case RegexKind::kKeySet:
    case RegexKind::kNumberedKeys: {
      Plan found{node, RegexData::Kind::kKeySet};
      store_.for_each_text(node, [&](std::string_view text, uint32_t) { found.texts.emplace_back(text); });
      return found;
    }
    case RegexKind::kJsonString: {
      const auto escapes = static_cast<JsonEscapes>(o[1] & 0xF);
      if (store_.json_string(RegexId(o[0]), escapes) != node) break;
      return {node, RegexData::Kind::kJsonString, {inside(RegexId(o[0]))}, {}, static_cast<uint32_t>(escapes)};
    }
    case RegexKind::kDivisible:
      if (o[1] != 0) break;
      return {node, RegexData::Kind::kDivisible, {}, {}, o[0]};
    case RegexKind::kMultiples: {
      const Words words = store_.multiples_ids_.at(o[0]);
      if (store_.multiples(words) != node) break;
      return {node, RegexData::Kind::kMultiples, {}, {}, o[0]};
    }
    case RegexKind::kPrefixed: {
      if (o[3] != 0) break;
      const uint32_t parts = o[0];
      const std::pair bounds{o[1], o[2]};
      const uint32_t owner = o[4];
      std::vector<RegexId> ways;
      for (uint32_t place = bounds.first; place < bounds.second; ++place) {
        if (store_.prefixed_[parts]->texts().owner(place) >= owner)
          ways.push_back(store_.prefixed_part(parts, place, 0));
      }
      Plan found{node, RegexData::Kind::kAlternation};
      plan_alternation(ways, found);
      return found;
    }
    case RegexKind::kSequence: {
      Plan found{node, RegexData::Kind::kConcatenation};
      const std::shared_ptr<const LongSequence> parts = store_.sequences_[o[0]];
      for (uint32_t i = o[1]; i < parts->size(); ++i) found.items.push_back(inside(parts->part(i, store_)));
      return found;
    }
    case RegexKind::kSubstring:
      break;
  }
  throw std::invalid_argument("a regex of which some bytes were read is no data");
}

// The bytes of one character stand one after the other among the parts.
void RegexAsData::plan_concatenation(RegexId node, Plan& into) {
  std::vector<RegexId> parts;
  for (; store_.kind(node) == RegexKind::kConcatenation; node = store_.operand(node, 1))
    parts.push_back(store_.operand(node, 0));
  parts.push_back(node);
  const auto add = [&](const Ranges& ranges) {
    if (!is_one_character(ranges)) {
      into.items.push_back({Item::Is::kCharacters, {}, ranges});
      return;
    }
    if (into.items.empty() || into.items.back().is != Item::Is::kText) into.items.push_back({Item::Is::kText});
    append_utf8(ranges[0].low, into.items.back().text);
  };
  for (size_t i = 0; i < parts.size();) {
    Pause::tick();
    const RegexId part = parts[i];
    if (const auto text = only_text(part)) {
      if (into.items.empty() || into.items.back().is != Item::Is::kText) into.items.push_back({Item::Is::kText});
      into.items.back().text += *text;
      ++i;
      continue;
    }
    if (store_.kind(part) != RegexKind::kBytes) {
      const auto found = characters(part);
      if (found) {
        add(*found);
      } else {
        into.items.push_back({Item::Is::kNode, {}, {}, part});
      }
      ++i;
      continue;
    }
    const int n_bytes = n_behind_lead(bytes_of(part).lowest());
    int n_found = 0;
    size_t end = i + 1;
    while (n_found < n_bytes && end < parts.size()) {
      const int more = continuation(parts[end], n_bytes - n_found);
      if (more == 0) break;
      n_found += more;
      ++end;
    }
    RegexId whole = RegexStore::empty_text();
    for (size_t at = end; at-- > i;) whole = store_.concatenation(parts[at], whole);
    if (const auto found = n_found == n_bytes ? characters(whole) : std::nullopt) {
      add(*found);
      i = end;
      continue;
    }
    Ranges bytes;
    bytes_of(part).for_each([&](unsigned b) { add_byte(bytes, b); });
    into.items.push_back({Item::Is::kBytes, {}, std::move(bytes)});
    ++i;
  }
}

void RegexAsData::plan_alternation(const std::vector<RegexId>& parts, Plan& into) {
  Ranges all;
  for (const RegexId part : parts) {
    if (const auto found = characters(part)) {
      all.insert(all.end(), found->begin(), found->end());
    } else {
      into.items.push_back({Item::Is::kNode, {}, {}, part});
    }
  }
  merge(all);
  if (all.empty()) return;
  Item one{Item::Is::kCharacters};
  if (is_one_character(all)) {
    one.is = Item::Is::kText;
    append_utf8(all[0].low, one.text);
  } else {
    one.ranges = std::move(all);
  }
  into.items.insert(into.items.begin(), std::move(one));
}

uint32_t RegexAsData::make(const Plan& plan) {
  switch (plan.kind) {
    case RegexData::Kind::kLiteral:
      return number_of(plan.items[0]);
    case RegexData::Kind::kRepetition:
      return data_.repetition(number_of(plan.items[0]), plan.minimum, plan.maximum);
    case RegexData::Kind::kJsonString:
      return data_.json_string(number_of(plan.items[0]), static_cast<JsonEscapes>(plan.minimum));
    case RegexData::Kind::kDivisible:
      return data_.divisible(plan.minimum);
    case RegexData::Kind::kMultiples:
      return data_.multiples(store_.multiples_ids_.at(plan.minimum));
    case RegexData::Kind::kKeySet:
      return data_.texts(plan.texts.size() == 1 ? RegexData::Kind::kLiteral : RegexData::Kind::kKeySet, plan.texts);
    default:
      break;
  }
  std::vector<uint32_t> numbers;
  for (const Item& item : plan.items) numbers.push_back(number_of(item));
  if (numbers.size() == 1 && plan.kind != RegexData::Kind::kComplement) return numbers[0];
  return data_.parts(plan.kind, numbers);
}

uint32_t RegexAsData::number_of(const Item& item) {
  switch (item.is) {
    case Item::Is::kText:
      return data_.texts(RegexData::Kind::kLiteral, {item.text});
    case Item::Is::kCharacters:
      return data_.ranges(RegexData::Kind::kCharClass, item.ranges);
    case Item::Is::kBytes:
      return data_.ranges(RegexData::Kind::kByteClass, item.ranges);
    case Item::Is::kNode:
      break;
  }
  return known_.at(item.node.value);
}

std::optional<RegexAsData::Ranges> RegexAsData::characters(RegexId node) {
  const RegexId asked = node;
  const auto [known, is_new] = characters_.try_emplace(asked.value);
  if (!is_new) return known->second;
  Ranges found;
  if (const auto text = only_text(node)) {
    const int n_behind = text->empty() ? 0 : n_behind_lead(static_cast<uint8_t>(text->front()));
    if (n_behind == 0 || text->size() != static_cast<size_t>(n_behind) + 1) return std::nullopt;
    node = RegexStore::empty_text();
    for (size_t i = text->size(); i-- > 0;)
      node = store_.concatenation(store_.bytes(ByteSet::only(static_cast<uint8_t>((*text)[i]))), node);
  }
  if (!collect(node, 0, -1, found) || found.empty()) return std::nullopt;
  merge(found);
  return characters_[asked.value] = std::move(found);
}

std::optional<std::string> RegexAsData::only_text(RegexId node) const {
  if (store_.kind(node) != RegexKind::kKeySet || store_.most_texts(node) != 1) return std::nullopt;
  std::optional<std::string> found;
  store_.for_each_text(node, [&](std::string_view text, uint32_t) { found = text; });
  return found;
}

// `n_more`: bytes that are still to come of a character, of which those before are `bits`; -1: none has come.
bool RegexAsData::collect(RegexId node, uint32_t bits, int n_more, Ranges& into) {
  if (n_more >= 1 && node == any_continuation_[n_more]) {
    const uint32_t low = bits << (6 * n_more);
    into.push_back({low, low + (1U << (6 * n_more)) - 1});
    return true;
  }
  switch (store_.kind(node)) {
    case RegexKind::kBytes: {
      bool fits = n_more == -1 || n_more == 1;
      Ranges found;
      bytes_of(node).for_each([&](unsigned b) {
        fits = fits && (n_more == -1 ? b < kFirstContinuation : b >= kFirstContinuation && b <= kLastContinuation);
        add_byte(found, n_more == -1 ? b : (bits << 6) | (b & 0x3F));
      });
      if (fits) into.insert(into.end(), found.begin(), found.end());
      return fits;
    }
    case RegexKind::kConcatenation: {
      const RegexId head = store_.operand(node, 0);
      const RegexId tail = store_.operand(node, 1);
      if (store_.kind(head) != RegexKind::kBytes || n_more == 1) return false;
      bool fits = true;
      bytes_of(head).for_each([&](unsigned b) {
        if (n_more == -1) {
          const int n = n_behind_lead(b);
          const size_t n_before = into.size();
          fits = fits && n > 0 && collect(tail, b & (0x3FU >> n), n, into) &&
                 std::all_of(into.begin() + static_cast<ptrdiff_t>(n_before), into.end(),
                             [&](const CodePointRange& range) { return are_characters(range, n); });
        } else {
          const bool is_continuation = b >= kFirstContinuation && b <= kLastContinuation;
          fits = fits && is_continuation && collect(tail, (bits << 6) | (b & 0x3F), n_more - 1, into);
        }
      });
      return fits;
    }
    case RegexKind::kAlternation: {
      const std::vector<RegexId> parts = store_.parts(node);
      return std::all_of(parts.begin(), parts.end(), [&](RegexId part) {
        return store_.kind(part) != RegexKind::kAlternation && collect(part, bits, n_more, into);
      });
    }
    default:
      return false;
  }
}

int RegexAsData::continuation(RegexId node, int most) const {
  if (most == 0) return 0;
  switch (store_.kind(node)) {
    case RegexKind::kBytes:
      return ByteSet::range(kFirstContinuation, kLastContinuation).holds(bytes_of(node)) ? 1 : 0;
    case RegexKind::kConcatenation: {
      const int head = continuation(store_.operand(node, 0), most);
      const int tail = head == 0 ? 0 : continuation(store_.operand(node, 1), most - head);
      return tail == 0 ? 0 : head + tail;
    }
    case RegexKind::kAlternation:
      // All parts are as long, or `characters` finds out.
      return continuation(RegexId(store_.operands(node)[0]), most);
    default:
      return 0;
  }
}

ByteSet RegexAsData::bytes_of(RegexId node) const {
  ByteSet set;
  std::copy_n(store_.operands(node).begin(), set.words.size(), set.words.begin());
  return set;
}

}  // namespace cfgmask
