// What a byte does to a regex: its derivative, the bytes that have one, and those that have the same one.
#include <algorithm>
#include <utility>

#include "regex/regex.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// Room for as many parts as most alternations have.
constexpr size_t kFewParts = 16;
constexpr size_t kFewHeads = 4;

// (By `==` it is a call of memcmp, which half of the time of a question went to.)
bool is_only(const ByteSet& set, unsigned b) {
  uint32_t others = 0;
  for (size_t i = 0; i < set.words.size(); ++i) others |= set.words[i] ^ (i == b >> 5 ? uint32_t{1} << (b & 31) : 0);
  return others == 0;
}

uint32_t one_less(uint32_t count) { return count == kUnbounded || count == 0 ? count : count - 1; }

}  // namespace

RegexId RegexStore::derivative(RegexId node, unsigned b) {
  switch (kind(node)) {
    case RegexKind::kNothing:
    case RegexKind::kEmptyText:
      return nothing();
    case RegexKind::kBytes:
      return (operands(node)[b >> 5] >> (b & 31)) & 1 ? empty_text() : nothing();
    case RegexKind::kKeySet:
    case RegexKind::kNumberedKeys:
    case RegexKind::kComplement:
      // To make these anew takes no more probes than to look them up, and a name has one for each letter.
      return derive(node, b);
    case RegexKind::kJsonString:
      // One step of the body's derivative, which is remembered, and one probe; only escapes are worth remembering.
      if (b != '\\' && json_between_characters(node)) return derive_json_string(node, b);
      break;
    default:
      break;
  }
  // Most parts of a large node take few bytes: a look at those is nearer in memory than what is remembered.
  if (!first(node).has(b)) return nothing();
  const uint64_t key = (uint64_t{node.value} << 8) | b;
  if (auto known = derivatives_.find(key)) return RegexId(*known);
  const RegexId result = derive(node, b);
  // A search inside `derive` may have come by here already; then it is there twice, which is rare and does no harm.
  derivatives_.insert(key, result.value);
  return result;
}

RegexId RegexStore::derive(RegexId node, unsigned b) {
  ++n_derived_;
  Pause::tick();
  switch (kind(node)) {
    case RegexKind::kNothing:
    case RegexKind::kEmptyText:
    case RegexKind::kBytes:
      break;
    case RegexKind::kConcatenation:
      return derive_concatenation(node, b);
    case RegexKind::kAlternation:
      return derive_alternation(operands(node), b);
    case RegexKind::kIntersection: {
      if (const auto excepting = derive_excepting(operands(node), b)) return *excepting;
      charge_work(operands(node).size());
      std::vector<RegexId> parts;
      parts.reserve(operands(node).size());
      for (uint32_t part : operands(node)) parts.push_back(derivative(RegexId(part), b));
      return intersection(std::move(parts));
    }
    case RegexKind::kComplement:
      return complement(derivative(operand(node, 0), b));
    case RegexKind::kRepetition: {
      const Words o = operands(node);
      const RegexId body(o[0]);
      return concatenation(derivative(body, b), repetition(body, one_less(o[1]), one_less(o[2])));
    }
    case RegexKind::kKeySet:
      return derive_key_set(node, b);
    case RegexKind::kNumberedKeys:
      return derive_numbered_keys(node, b);
    case RegexKind::kPrefixed:
      return derive_prefixed(node, b);
    case RegexKind::kSequence:
      return derive_sequence(node, b);
    case RegexKind::kSubstring:
      return derive_substring(node, b);
    case RegexKind::kJsonString:
      return derive_json_string(node, b);
    case RegexKind::kDivisible: {
      if (b == '.') return node;
      if (b < '0' || b > '9') return nothing();
      const uint64_t modulus = operands(node)[0];
      const uint64_t remainder = (operands(node)[1] * uint64_t{10} + (b - '0')) % modulus;
      return divisible(static_cast<uint32_t>(modulus), static_cast<uint32_t>(remainder));
    }
    case RegexKind::kMultiples: {
      const Words o = operands(node);
      return multiples_at(o[0], multiples_of(o).after(position_of(o), b));
    }
  }
  return nothing();
}

// Of a class of characters, or of words that begin differently, one part is left.
RegexId RegexStore::derive_alternation(Words parts, unsigned b) {
  charge_work(parts.size());
  const auto taking = [&](size_t from) {
    while (from < parts.size() && !first(RegexId(parts[from])).has(b)) ++from;
    return from;
  };
  size_t i = taking(0);
  if (i == parts.size()) return nothing();
  size_t other = taking(i + 1);
  if (other == parts.size()) return derivative(RegexId(parts[i]), b);
  std::vector<RegexId> rests;
  rests.reserve(std::min(kFewParts, parts.size()));
  for (; i < parts.size(); i = std::exchange(other, taking(other + 1))) {
    const RegexId part(parts[i]);
    if (has_counted_head(part)) {
      add_rests(part, b, rests);
    } else {
      rests.push_back(derivative(part, b));
    }
  }
  return alternation(std::move(rests));
}

// Of x & ~(a set of keys), which a name that is told apart from others has for each of its letters: nothing of what
// `intersection` looks for can be there, so its node is made at once. nullopt for other parts.
std::optional<RegexId> RegexStore::derive_excepting(Words parts, unsigned b) {
  if (parts.size() != 2) return std::nullopt;
  const auto excepts_keys = [&](RegexId part) {
    return kind(part) == RegexKind::kComplement && kind(operand(part, 0)) == RegexKind::kKeySet;
  };
  const bool swapped = excepts_keys(RegexId(parts[0]));
  const RegexId from(parts[swapped ? 1 : 0]);
  const RegexId excepted(parts[swapped ? 0 : 1]);
  if (!excepts_keys(excepted)) return std::nullopt;
  const RegexId rest = derivative(from, b);
  if (rest == nothing()) return rest;
  if (kind(rest) != RegexKind::kRepetition && kind(rest) != RegexKind::kConcatenation) return std::nullopt;
  const RegexId keys = derive_key_set(operand(excepted, 0), b);
  if (keys == nothing()) return rest;
  uint32_t both[] = {rest.value, complement(keys).value};
  if (both[0] > both[1]) std::swap(both[0], both[1]);
  return intern(RegexKind::kIntersection, both);
}

std::optional<RegexId> RegexStore::after(RegexId node, std::string_view text) {
  switch (kind(node)) {
    case RegexKind::kKeySet:
    case RegexKind::kNumberedKeys:
      return keys_after(node, text);
    case RegexKind::kRepetition:
      if (is_run(node)) return run_after(node, text);
      return loops_over(node, text) ? std::optional(node) : std::nullopt;
    case RegexKind::kConcatenation:
      return head_after(node, text);
    case RegexKind::kIntersection: {
      const auto excepting = excepting_after(operands(node), text);
      return excepting ? excepting : within_bounds_after(node, text);
    }
    case RegexKind::kJsonString:
      return json_string_after(node, text);
    default:
      return std::nullopt;
  }
}

bool RegexStore::loops_over(RegexId node, std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return derivative(node, static_cast<uint8_t>(c)) == node; });
}

// Of x & ~(a set of keys) for such a loop x, as `derive_excepting` makes it byte by byte.
std::optional<RegexId> RegexStore::excepting_after(Words parts, std::string_view text) {
  if (parts.size() != 2) return std::nullopt;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const RegexId loop(parts[1 - i]);
    const RegexId excepted(parts[i]);
    if (kind(loop) != RegexKind::kRepetition || kind(excepted) != RegexKind::kComplement) continue;
    const RegexId keys = operand(excepted, 0);
    if (kind(keys) != RegexKind::kKeySet || !loops_over(loop, text)) continue;
    const RegexId left = keys_after(keys, text);
    if (left == nothing()) return loop;
    uint32_t both[] = {loop.value, complement(left).value};
    if (both[0] > both[1]) std::swap(both[0], both[1]);
    return intern(RegexKind::kIntersection, both);
  }
  return std::nullopt;
}

RegexId RegexStore::derive_concatenation(RegexId node, unsigned b) {
  const RegexId head = operand(node, 0);
  const RegexId tail = operand(node, 1);
  if (!nullable(head) || !first(tail).has(b)) return concatenation(derive_head(node, b), tail);
  std::vector<RegexId> rests;
  rests.reserve(kFewHeads);
  add_rests(node, b, rests);
  return alternation(std::move(rests));
}

// What is left of a sequence: one derivative for each head that may be skipped, along the tail in a loop.
void RegexStore::add_rests(RegexId node, unsigned b, std::vector<RegexId>& rests) {
  for (size_t n_heads = 1; kind(node) == RegexKind::kConcatenation; ++n_heads) {
    const RegexId head = operand(node, 0);
    const RegexId tail = operand(node, 1);
    if (n_heads % kFreeWork == 0) charge_work(kFreeWork);
    if (first(head).has(b)) rests.push_back(concatenation(derive_head(node, b), tail));
    if (!nullable(head)) return;
    node = tail;
  }
  if (first(node).has(b)) rests.push_back(derivative(node, b));
}

// What is left of a sequence's head, not remembered if that is counted.
RegexId RegexStore::derive_head(RegexId node, unsigned b) {
  const RegexId head = operand(node, 0);
  if (!has_counted_head(node)) return derivative(head, b);
  return first(head).has(b) ? derive(head, b) : nothing();
}

// Whether the node is x{0,9} y, of which there are as many residuals as counts, each asked for a byte once: what is
// left of it isn't worth remembering where that of the whole is. Not x{0,9} y{0,9} z: behind each of hundreds of heads
// that may be skipped, what is left of all later ones is asked for.
bool RegexStore::has_counted_head(RegexId node) const {
  if (kind(node) != RegexKind::kConcatenation) return false;
  const RegexId head = operand(node, 0);
  const RegexId tail = operand(node, 1);
  if (kind(tail) == RegexKind::kConcatenation && nullable(operand(tail, 0))) return false;
  return kind(head) == RegexKind::kRepetition && operands(head)[2] != kUnbounded;
}

// What is found of a sequence holds for all of its tails that were passed: they are asked for one after the other.
const ByteSet& RegexStore::find_first(RegexId node) {
  std::vector<RegexId> passed;
  while (kind(node) == RegexKind::kConcatenation && nullable(operand(node, 0)) && props_[node.value].first == 0) {
    passed.push_back(node);
    node = operand(node, 1);
  }
  if (props_[node.value].first == 0) set_first(node, compute_first(node));
  ByteSet set = first(node);
  for (size_t i = passed.size(); i-- > 0;) {
    set |= first(operand(passed[i], 0));
    set_first(passed[i], set);
  }
  return first_sets_[props_[passed.empty() ? node.value : passed.front().value].first];
}

void RegexStore::set_first(RegexId node, const ByteSet& set) {
  const auto number = static_cast<uint32_t>(first_sets_.size());
  first_sets_.push_back(set);
  props_[node.value].first = number;
}

ByteSet RegexStore::compute_first(RegexId node) {
  ByteSet set;
  const Words o = operands(node);
  switch (kind(node)) {
    case RegexKind::kNothing:
    case RegexKind::kEmptyText:
      break;
    case RegexKind::kBytes:
      std::copy(o.begin(), o.end(), set.words.begin());
      break;
    case RegexKind::kConcatenation:
      return first(RegexId(o[0]));  // it is not nullable: `find_first` passes those that are
    case RegexKind::kAlternation:
      for (uint32_t part : o) set |= first(RegexId(part));
      break;
    case RegexKind::kIntersection:
      set = ByteSet::all();
      for (uint32_t part : o) set &= first(RegexId(part));
      break;
    case RegexKind::kComplement:
      set = ByteSet::all();
      break;
    case RegexKind::kRepetition:
      set = first(RegexId(o[0]));
      break;
    case RegexKind::kKeySet: {
      set = key_table(o[0]).bytes_at(o[1] + (nullable(node) ? 1 : 0), o[2], o[3]);  // a key that ends sorts first
      break;
    }
    case RegexKind::kNumberedKeys: {
      const NumberedTable table = numbered_table(o[0]);
      for_each_place(o, [&](uint32_t place) {
        const std::string_view key = table.keys[place];
        if (key.size() > o[3]) set.add(static_cast<uint8_t>(key[o[3]]));
      });
      break;
    }
    case RegexKind::kPrefixed:
      return first_of_prefixed(node);
    case RegexKind::kSequence:
      return first_of_sequence(node);
    case RegexKind::kSubstring:
      for (const auto& edge : substring_edges(node)) set.add(static_cast<uint8_t>(automata_[o[0]]->chunk(edge)[o[4]]));
      break;
    case RegexKind::kJsonString:
      return first_of_json_string(node);
    case RegexKind::kDivisible:
      set = ByteSet::range('0', '9');
      set.add('.');
      break;
    case RegexKind::kMultiples:
      return multiples_of(o).first(position_of(o));
  }
  return set;
}

// Whatever is found is intersected in the end, so a second look at a node says nothing new: there may be exponentially
// many ways to it.
ByteSet RegexStore::alike_here(RegexId node, unsigned b) {
  if (std::exchange(props_[node.value].asked, n_asked_) == n_asked_) return ByteSet::all();
  if (kind(node) == RegexKind::kComplement) return alike_here(operand(node, 0), b);
  if (!first(node).has(b)) return first(node).complement();  // all of them lead nowhere
  const Words o = operands(node);
  switch (kind(node)) {
    case RegexKind::kBytes:
      return first(node);
    case RegexKind::kConcatenation: {
      ByteSet set = ByteSet::all();
      while (kind(node) == RegexKind::kConcatenation) {
        set &= alike_here(operand(node, 0), b);
        if (!nullable(operand(node, 0)) || is_only(set, b)) return set;
        node = operand(node, 1);
      }
      set &= alike_here(node, b);
      return set;
    }
    case RegexKind::kAlternation:
      if (is_class(node)) {
        // Its parts begin with different bytes.
        const auto taking =
            std::find_if(o.begin(), o.end(), [&](uint32_t part) { return first(RegexId(part)).has(b); });
        return alike_here(RegexId(*taking), b);
      }
      [[fallthrough]];
    case RegexKind::kIntersection: {
      charge_work(o.size());
      ByteSet set = ByteSet::all();
      for (uint32_t part : o) {
        set &= alike_here(RegexId(part), b);
        if (is_only(set, b)) break;
      }
      return set;
    }
    case RegexKind::kRepetition:
      return alike_here(RegexId(o[0]), b);
    case RegexKind::kJsonString:
      return alike_in_json_string(node, b);
    case RegexKind::kMultiples:
      return multiples_of(o).alike(position_of(o), b);
    default:
      return ByteSet::only(b);
  }
}

}  // namespace cfgmask
