#include "regex/regex.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "regex/minimum_length.h"

namespace cfgmask {

namespace {

// A node of many parts is charged as several, so that the bound on nodes bounds memory and time as well.
constexpr size_t kOperandsPerCharge = 16;

// See RegexStore::clip.
constexpr uint32_t kFewRounds = 20;

uint32_t saturating_add(uint32_t a, uint32_t b) { return a > kUnbounded - b ? kUnbounded : a + b; }
uint32_t one_less(uint32_t count) { return count == kUnbounded || count == 0 ? count : count - 1; }

// Words that tell one list of texts from another.
std::vector<uint32_t> words_of(const std::vector<std::string>& texts) {
  std::vector<uint32_t> words;
  for (const std::string& text : texts) {
    const size_t at = words.size();
    words.resize(at + 1 + (text.size() + 3) / 4, 0);
    words[at] = static_cast<uint32_t>(text.size());
    if (!text.empty()) std::memcpy(&words[at + 1], text.data(), text.size());
  }
  return words;
}

}  // namespace

RegexStore::RegexStore(uint64_t max_depth, uint64_t max_search_steps)
    : max_depth_(max_depth), max_search_steps_(max_search_steps), lengths_(std::make_unique<MinimumLengths>(*this)) {
  first_sets_.push_back(ByteSet{});
  intern(RegexKind::kNothing, {});
  intern(RegexKind::kEmptyText, {});
  const uint32_t none[] = {nothing().value};
  intern(RegexKind::kComplement, none);
}

RegexStore::~RegexStore() = default;

size_t RegexStore::bytes() const {
  return nodes_.bytes() + props_.bytes() + first_sets_.bytes() + derivatives_.bytes() + uncounted_.bytes() +
         key_table_ids_.bytes() + key_table_bytes_ + automaton_ids_.bytes() + automaton_bytes_ + lengths_->bytes();
}

RegexId RegexStore::intern(RegexKind kind, std::span<const uint32_t> operands) {
  uint32_t small[16];
  std::vector<uint32_t> large;
  uint32_t* words = small;
  if (operands.size() + 1 > std::size(small)) {
    large.resize(operands.size() + 1);
    words = large.data();
  }
  words[0] = static_cast<uint32_t>(kind);
  std::copy(operands.begin(), operands.end(), words + 1);
  const Words key{words, operands.size() + 1};
  const uint64_t hash = Interner::hash(key);
  if (auto known = nodes_.find(key, hash)) return RegexId(*known);
  // Bounds are checked before the node is entered: one that crosses them is refused each time it is asked for.
  const Props p = properties(kind, operands);
  if (p.depth > max_depth_) throw LimitExceeded("max_nesting", max_depth_);
  if (account_ != nullptr) account_->charge(1 + operands.size() / kOperandsPerCharge);
  props_.push_back(p);
  return RegexId(nodes_.add(key, hash));
}

RegexStore::Props RegexStore::properties(RegexKind kind, std::span<const uint32_t> operands) const {
  Props p;
  p.kind = kind;
  auto all_of = [&](auto member) {
    return std::all_of(operands.begin(), operands.end(), [&](uint32_t i) { return props_[i].*member; });
  };
  auto any_of = [&](auto member) {
    return std::any_of(operands.begin(), operands.end(), [&](uint32_t i) { return props_[i].*member; });
  };
  auto deepest = [&] {
    uint32_t depth = 0;
    for (uint32_t i : operands) depth = std::max(depth, props_[i].depth);
    return depth;
  };
  switch (kind) {
    case RegexKind::kNothing:
      p.emptiness = Emptiness::kEmpty;
      break;
    case RegexKind::kDivisible:
      p.nullable = operands[1] == 0;
      break;
    case RegexKind::kSubstring:
      p.nullable = operands[4] == 0;
      break;
    case RegexKind::kEmptyText:
      p.nullable = true;
      break;
    case RegexKind::kBytes:
      break;
    case RegexKind::kKeySet: {
      const KeyTable& table = *key_tables_[operands[0]];
      p.nullable = table[operands[1]].size() == operands[3];
      break;
    }
    case RegexKind::kConcatenation:
      // A long tail is walked in a loop, so only heads count as depth.
      p.nullable = all_of(&Props::nullable);
      p.may_be_empty = any_of(&Props::may_be_empty);
      p.depth = std::max(props_[operands[0]].depth + 1, props_[operands[1]].depth);
      break;
    case RegexKind::kAlternation:
      p.nullable = any_of(&Props::nullable);
      p.may_be_empty = any_of(&Props::may_be_empty);
      p.depth = deepest() + 1;
      break;
    case RegexKind::kIntersection:
      p.nullable = all_of(&Props::nullable);
      p.may_be_empty = true;
      p.depth = deepest() + 1;
      break;
    case RegexKind::kComplement:
      p.nullable = !props_[operands[0]].nullable;
      p.may_be_empty = true;
      p.depth = deepest() + 1;
      break;
    case RegexKind::kRepetition:
      p.nullable = operands[1] == 0 || props_[operands[0]].nullable;
      p.may_be_empty = operands[1] > 0 && props_[operands[0]].may_be_empty;
      p.depth = props_[operands[0]].depth + 1;
      break;
    case RegexKind::kJsonString:
      p.may_be_empty = props_[operands[0]].may_be_empty;
      p.depth = props_[operands[0]].depth + 1;
      break;
  }
  if (p.nullable) p.emptiness = Emptiness::kNonempty;
  return p;
}

RegexId RegexStore::literal(std::string_view data) {
  if (data.empty()) return empty_text();
  if (data.size() == 1) {
    ByteSet one;
    one.add(static_cast<uint8_t>(data[0]));
    return bytes(one);
  }
  return key_set({std::string(data)});
}

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

RegexId RegexStore::concatenation(RegexId head, RegexId tail) {
  if (head == nothing() || tail == nothing()) return nothing();
  if (head == empty_text()) return tail;
  if (tail == empty_text()) return head;
  // (a b) c becomes a (b c), so that equal residuals meet.
  std::vector<RegexId> heads;
  while (kind(head) == RegexKind::kConcatenation) {
    heads.push_back(operand(head, 0));
    head = operand(head, 1);
  }
  heads.push_back(head);
  for (size_t i = heads.size(); i-- > 0;) {
    const uint32_t pair[] = {heads[i].value, tail.value};
    tail = intern(RegexKind::kConcatenation, pair);
  }
  return tail;
}

RegexId RegexStore::alternation(std::vector<RegexId> parts) {
  std::vector<RegexId> flat;
  flat.reserve(parts.size() + 1);
  ByteSet one_byte;
  bool nullable_part = false;
  size_t repetitions = 0;
  size_t json_strings = 0;
  auto add = [&](RegexId part) {
    const RegexKind k = kind(part);
    if (k == RegexKind::kNothing || k == RegexKind::kEmptyText) return;
    if (k == RegexKind::kBytes) {
      for (size_t i = 0; i < 8; ++i) one_byte.words[i] |= operands(part)[i];
      return;
    }
    if (k == RegexKind::kRepetition) ++repetitions;
    if (k == RegexKind::kConcatenation && kind(operand(part, 0)) == RegexKind::kRepetition) ++repetitions;
    if (k == RegexKind::kJsonString) ++json_strings;
    nullable_part = nullable_part || nullable(part);
    flat.push_back(part);
  };
  bool has_empty_text = false;
  for (RegexId part : parts) {
    if (part == all()) return all();
    if (part == empty_text()) has_empty_text = true;
    if (kind(part) == RegexKind::kAlternation) {
      for (uint32_t inner : operands(part)) {
        if (RegexId(inner) == empty_text()) has_empty_text = true;
        add(RegexId(inner));
      }
    } else {
      add(part);
    }
  }
  if (!one_byte.empty()) flat.push_back(bytes(one_byte));
  if (json_strings > 1) merge_json_strings(flat, false);
  if (repetitions > 0 && flat.size() > 1) merge_repetitions(flat);
  if (has_empty_text && !nullable_part) flat.push_back(empty_text());
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (flat.empty()) return nothing();
  if (flat.size() == 1) return flat[0];
  static_assert(sizeof(RegexId) == sizeof(uint32_t));
  return intern(RegexKind::kAlternation, {&flat[0].value, flat.size()});
}

// x{a,b} t | x{c,d} t is x{min,max} t where the ranges touch. Without this, residuals of (a|aa){0,1000} would collect a
// thousand alternatives. t alone counts as x{0,0} t.
void RegexStore::merge_repetitions(std::vector<RegexId>& parts) {
  struct Counted {
    RegexId body, tail;
    uint32_t minimum, maximum;
  };
  std::vector<Counted> counted;
  std::vector<RegexId> others;
  for (RegexId part : parts) {
    RegexId head = part;
    RegexId tail = empty_text();
    if (kind(part) == RegexKind::kConcatenation) {
      head = operand(part, 0);
      tail = operand(part, 1);
    }
    if (kind(head) == RegexKind::kRepetition) {
      const Words o = operands(head);
      counted.push_back({RegexId(o[0]), tail, o[1], o[2]});
    } else {
      others.push_back(part);
    }
  }
  std::sort(counted.begin(), counted.end(), [](const Counted& x, const Counted& y) {
    return std::tie(x.body, x.tail, x.minimum, x.maximum) < std::tie(y.body, y.tail, y.minimum, y.maximum);
  });
  std::vector<Counted> merged;
  for (const Counted& c : counted) {
    if (!merged.empty() && merged.back().body == c.body && merged.back().tail == c.tail &&
        c.minimum <= saturating_add(merged.back().maximum, 1)) {
      merged.back().maximum = std::max(merged.back().maximum, c.maximum);
    } else {
      merged.push_back(c);
    }
  }
  for (Counted& c : merged) {
    if (c.minimum <= 1 && c.tail != empty_text()) {
      const auto bare = std::find(others.begin(), others.end(), c.tail);
      if (bare != others.end()) {
        c.minimum = 0;
        others.erase(bare);
      }
    }
    others.push_back(concatenation(repetition(c.body, c.minimum, c.maximum), c.tail));
  }
  parts = std::move(others);
}

// Literals at the same place of their spelling decode alike, so the set operation moves inside.
void RegexStore::merge_json_strings(std::vector<RegexId>& parts, bool intersect) {
  std::vector<RegexId> strings;
  std::vector<RegexId> others;
  for (RegexId part : parts) (kind(part) == RegexKind::kJsonString ? strings : others).push_back(part);
  auto place = [&](RegexId s) { return operands(s).subspan(1); };
  std::sort(strings.begin(), strings.end(), [&](RegexId x, RegexId y) {
    return std::lexicographical_compare(place(x).begin(), place(x).end(), place(y).begin(), place(y).end());
  });
  for (size_t i = 0; i < strings.size();) {
    std::vector<RegexId> bodies;
    size_t j = i;
    for (; j < strings.size() &&
           std::equal(place(strings[i]).begin(), place(strings[i]).end(), place(strings[j]).begin());
         ++j) {
      bodies.push_back(operand(strings[j], 0));
    }
    const RegexId body = intersect ? intersection(std::move(bodies)) : alternation(std::move(bodies));
    if (body == nothing()) {
      others.push_back(nothing());
    } else {
      const Words at = place(strings[i]);
      const uint32_t node[] = {body.value, at[0], at[1], at[2]};
      others.push_back(intern(RegexKind::kJsonString, node));
    }
    i = j;
  }
  parts = std::move(others);
}

// C{a,b} & D{c,d} is (C&D){max,min}, where C and D are classes: a text has one number of characters. So a pattern that
// is one class, and bounds on the length beside it, are one counted class.
void RegexStore::merge_counted_classes(std::vector<RegexId>& parts) {
  auto is_counted_class = [&](RegexId part) {
    return kind(part) == RegexKind::kRepetition && is_class(operand(part, 0));
  };
  const auto first_counted = std::find_if(parts.begin(), parts.end(), is_counted_class);
  if (first_counted == parts.end()) return;
  RegexId whole = *first_counted;
  std::vector<RegexId> others;
  for (RegexId part : parts) {
    if (part == whole || part == *first_counted) continue;
    std::optional<RegexId> body;
    if (is_counted_class(part) && is_counted_class(whole)) body = common_class(operand(whole, 0), operand(part, 0));
    if (body) {
      const Words a = operands(whole);
      const Words b = operands(part);
      whole = repetition(*body, std::max(a[1], b[1]), std::min(a[2], b[2]));
    } else {
      others.push_back(part);
    }
  }
  others.push_back(whole);
  parts = std::move(others);
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

RegexId RegexStore::intersection(std::vector<RegexId> parts) {
  std::vector<RegexId> flat;
  flat.reserve(parts.size() + 1);
  ByteSet one_byte = ByteSet::all();
  bool has_bytes = false;
  bool has_empty_text = false;
  size_t json_strings = 0;
  size_t repetitions = 0;
  auto add = [&](RegexId part) {
    if (part == all()) return;
    if (part == empty_text()) has_empty_text = true;
    if (kind(part) == RegexKind::kBytes) {
      has_bytes = true;
      for (size_t i = 0; i < 8; ++i) one_byte.words[i] &= operands(part)[i];
      return;
    }
    if (kind(part) == RegexKind::kJsonString) ++json_strings;
    if (kind(part) == RegexKind::kRepetition) ++repetitions;
    flat.push_back(part);
  };
  for (RegexId part : parts) {
    if (part == nothing()) return nothing();
    if (kind(part) == RegexKind::kIntersection) {
      for (uint32_t inner : operands(part)) add(RegexId(inner));
    } else {
      add(part);
    }
  }
  if (has_bytes) {
    const RegexId set = bytes(one_byte);
    if (set == nothing()) return nothing();
    flat.push_back(set);
  }
  if (json_strings > 1) merge_json_strings(flat, true);
  if (repetitions > 1) {
    merge_counted_classes(flat);
    for (RegexId part : flat) has_empty_text = has_empty_text || part == empty_text();
  }
  std::sort(flat.begin(), flat.end());
  flat.erase(std::unique(flat.begin(), flat.end()), flat.end());
  if (!flat.empty() && flat[0] == nothing()) return nothing();
  if (has_empty_text) {
    const bool all_nullable = std::all_of(flat.begin(), flat.end(), [&](RegexId r) { return nullable(r); });
    return all_nullable ? empty_text() : nothing();
  }
  for (RegexId part : flat) {
    if (kind(part) == RegexKind::kComplement && std::binary_search(flat.begin(), flat.end(), operand(part, 0))) {
      return nothing();
    }
  }
  if (flat.empty()) return all();
  if (flat.size() == 1) return flat[0];
  return intern(RegexKind::kIntersection, {&flat[0].value, flat.size()});
}

RegexId RegexStore::complement(RegexId body) {
  if (kind(body) == RegexKind::kComplement) return operand(body, 0);
  const uint32_t one[] = {body.value};
  return intern(RegexKind::kComplement, one);
}

RegexId RegexStore::repetition(RegexId body, uint32_t minimum, uint32_t maximum) {
  if (minimum > maximum) return nothing();
  if (maximum == 0 || body == empty_text()) return empty_text();
  if (body == nothing()) return minimum == 0 ? empty_text() : nothing();
  if (minimum == 1 && maximum == 1) return body;
  if (nullable(body)) minimum = 0;
  if (kind(body) == RegexKind::kRepetition) {
    const Words inner = operands(body);
    if (inner[1] == 0 && inner[2] == kUnbounded) return body;      // (x*){m,n}
    if (inner[1] <= 1 && minimum <= 1 && maximum == kUnbounded) {  // (x{0,k})*, (x{1,k})+
      return repetition(RegexId(inner[0]), std::min(inner[1], minimum), kUnbounded);
    }
  }
  const uint32_t node[] = {body.value, minimum, maximum};
  return intern(RegexKind::kRepetition, node);
}

RegexId RegexStore::key_set(std::vector<std::string> keys) {
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  if (keys.empty()) return nothing();
  if (keys.size() == 1 && keys[0].empty()) return empty_text();
  const auto n = static_cast<uint32_t>(keys.size());
  const auto [table, is_new] = key_table_ids_.intern(words_of(keys));
  if (is_new) {
    for (const std::string& key : keys) key_table_bytes_ += sizeof(key) + key.capacity();
    key_tables_.push_back(std::make_unique<KeyTable>(std::move(keys)));
  }
  const uint32_t node[] = {table, 0, n, 0};
  return intern(RegexKind::kKeySet, node);
}

std::vector<RegexId> RegexStore::parts(RegexId node) const {
  std::vector<RegexId> out;
  for (uint32_t part : operands(node)) out.emplace_back(part);
  return out;
}

RegexId RegexStore::divisible(uint32_t modulus, uint32_t remainder) {
  const uint32_t node[] = {modulus, remainder};
  return intern(RegexKind::kDivisible, node);
}

RegexId RegexStore::substring(const std::vector<std::string>& chunks) {
  const std::vector<uint32_t> words = words_of(chunks);
  auto automaton = automaton_ids_.find(words);
  if (!automaton) {
    if (account_ != nullptr) account_->charge(words.size() / kOperandsPerCharge);
    automata_.push_back(std::make_unique<const SubstringAutomaton>(chunks));
    automaton_bytes_ += automata_[automata_.size() - 1]->bytes();
    automaton = automaton_ids_.intern(words).first;
  }
  return substring_from(*automaton, 0);
}

RegexId RegexStore::substring_from(uint32_t automaton, uint32_t state) {
  const auto n = static_cast<uint32_t>(automata_[automaton]->edges(state).size());
  if (n == 0) return empty_text();
  const uint32_t node[] = {automaton, state, 0, n, 0};
  return intern(RegexKind::kSubstring, node);
}

RegexId RegexStore::without_empty_text(RegexId node) {
  if (!nullable(node)) return node;
  return intersection({node, complement(empty_text())});
}

RegexId RegexStore::not_beginning_with(RegexId node, RegexId starts) {
  return intersection({node, complement(concatenation(starts, all()))});
}

RegexId RegexStore::not_longer_than(RegexId node, RegexId starts) {
  if (node == starts && is_prefix_free(node)) return node;
  return not_beginning_with(node, concatenation(starts, bytes(ByteSet::all())));
}

bool RegexStore::is_prefix_free(RegexId node) {
  while (kind(node) == RegexKind::kConcatenation) {
    const RegexId head = operand(node, 0);
    node = operand(node, 1);
    if (kind(head) == RegexKind::kBytes) continue;
    if (!is_run(head) || !begins_apart(head, node)) return false;
  }
  return kind(node) == RegexKind::kBytes;
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

RegexId RegexStore::derivative(RegexId node, unsigned b) {
  switch (kind(node)) {
    case RegexKind::kNothing:
    case RegexKind::kEmptyText:
      return nothing();
    case RegexKind::kBytes:
      return (operands(node)[b >> 5] >> (b & 31)) & 1 ? empty_text() : nothing();
    case RegexKind::kKeySet:
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
  const uint64_t key = (uint64_t{node.value} << 8) | b;
  if (auto known = derivatives_.find(key)) return RegexId(*known);
  const RegexId result = derive(node, b);
  // A search inside `derive` may have come by here already.
  if (!derivatives_.find(key)) derivatives_.insert(key, result.value);
  return result;
}

RegexId RegexStore::derive(RegexId node, unsigned b) {
  switch (kind(node)) {
    case RegexKind::kNothing:
    case RegexKind::kEmptyText:
    case RegexKind::kBytes:
      break;
    case RegexKind::kConcatenation:
      return derive_concatenation(node, b);
    case RegexKind::kAlternation:
    case RegexKind::kIntersection: {
      std::vector<RegexId> parts;
      parts.reserve(operands(node).size());
      for (uint32_t part : operands(node)) parts.push_back(derivative(RegexId(part), b));
      return kind(node) == RegexKind::kAlternation ? alternation(std::move(parts)) : intersection(std::move(parts));
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
  }
  return nothing();
}

// One derivative for each head that may be skipped, along the tail in a loop.
RegexId RegexStore::derive_concatenation(RegexId node, unsigned b) {
  std::vector<RegexId> parts;
  while (kind(node) == RegexKind::kConcatenation) {
    const RegexId head = operand(node, 0);
    const RegexId tail = operand(node, 1);
    parts.push_back(concatenation(derivative(head, b), tail));
    if (!nullable(head)) return parts.size() == 1 ? parts[0] : alternation(std::move(parts));
    node = tail;
  }
  parts.push_back(derivative(node, b));
  return alternation(std::move(parts));
}

RegexId RegexStore::derive_key_set(RegexId node, unsigned b) {
  const Words o = operands(node);
  const KeyTable& table = *key_tables_[o[0]];
  const size_t depth = o[3];
  auto low = table.begin() + o[1];
  const auto end = table.begin() + o[2];
  if (low->size() == depth) ++low;  // the key that ends here sorts first
  auto byte_at = [depth](const std::string& key) { return static_cast<uint8_t>(key[depth]); };
  const auto from = std::lower_bound(low, end, b, [&](const std::string& key, unsigned c) { return byte_at(key) < c; });
  const auto to = std::upper_bound(from, end, b, [&](unsigned c, const std::string& key) { return c < byte_at(key); });
  if (from == to) return nothing();
  if (to - from == 1 && from->size() == depth + 1) return empty_text();
  const uint32_t rest[] = {o[0], static_cast<uint32_t>(from - table.begin()), static_cast<uint32_t>(to - table.begin()),
                           static_cast<uint32_t>(depth + 1)};
  return intern(RegexKind::kKeySet, rest);
}

std::span<const SubstringAutomaton::Edge> RegexStore::substring_edges(RegexId node) const {
  const Words o = operands(node);
  return automata_[o[0]]->edges(o[1]).subspan(o[2], o[3] - o[2]);
}

// A chunk may be the beginning of others: then it has ended and they go on.
RegexId RegexStore::derive_substring(RegexId node, unsigned b) {
  const Words o = operands(node);
  const SubstringAutomaton& automaton = *automata_[o[0]];
  const size_t depth = o[4];
  const auto edges = substring_edges(node);
  using Edge = SubstringAutomaton::Edge;
  const auto byte_at = [&](const Edge& edge) { return static_cast<uint8_t>(automaton.chunk(edge)[depth]); };
  auto from =
      std::lower_bound(edges.begin(), edges.end(), b, [&](const Edge& e, unsigned c) { return byte_at(e) < c; });
  const auto to = std::upper_bound(from, edges.end(), b, [&](unsigned c, const Edge& e) { return c < byte_at(e); });
  if (from == to) return nothing();
  RegexId ended = nothing();
  if (automaton.chunk(*from).size() == depth + 1) ended = substring_from(o[0], (from++)->target);  // it sorts first
  if (from == to) return ended;
  const auto low = static_cast<uint32_t>(o[2] + (from - edges.begin()));
  const uint32_t longer[] = {o[0], o[1], low, static_cast<uint32_t>(low + (to - from)),
                             static_cast<uint32_t>(depth + 1)};
  return alternation({ended, intern(RegexKind::kSubstring, longer)});
}

uint32_t RegexStore::shortest_key(RegexId node) const {
  const Words o = operands(node);
  const KeyTable& table = *key_tables_[o[0]];
  size_t least = SIZE_MAX;
  for (size_t i = o[1]; i < o[2]; ++i) least = std::min(least, table[i].size() - o[3]);
  return static_cast<uint32_t>(least);
}

uint32_t RegexStore::longest_key(RegexId node) const {
  const Words o = operands(node);
  const KeyTable& table = *key_tables_[o[0]];
  size_t most = 0;
  for (size_t i = o[1]; i < o[2]; ++i) most = std::max(most, table[i].size() - o[3]);
  return static_cast<uint32_t>(most);
}

const ByteSet& RegexStore::first(RegexId node) {
  if (props_[node.value].first == 0) {
    const ByteSet set = compute_first(node);
    props_[node.value].first = static_cast<uint32_t>(first_sets_.size());
    first_sets_.push_back(set);
  }
  return first_sets_[props_[node.value].first];
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
      while (kind(node) == RegexKind::kConcatenation) {
        set |= first(operand(node, 0));
        if (!nullable(operand(node, 0))) return set;
        node = operand(node, 1);
      }
      set |= first(node);
      break;
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
      const KeyTable& table = *key_tables_[o[0]];
      for (size_t i = o[1]; i < o[2]; ++i) {
        if (table[i].size() > o[3]) set.add(static_cast<uint8_t>(table[i][o[3]]));
      }
      break;
    }
    case RegexKind::kSubstring:
      for (const auto& edge : substring_edges(node)) set.add(static_cast<uint8_t>(automata_[o[0]]->chunk(edge)[o[4]]));
      break;
    case RegexKind::kJsonString:
      return first_of_json_string(node);
    case RegexKind::kDivisible:
      set = ByteSet::range('0', '9');
      set.add('.');
      break;
  }
  return set;
}

ByteSet RegexStore::alike(RegexId node, unsigned b) {
  if (kind(node) == RegexKind::kComplement) return alike(operand(node, 0), b);
  if (!first(node).has(b)) return first(node).complement();  // all of them lead nowhere
  const Words o = operands(node);
  switch (kind(node)) {
    case RegexKind::kBytes:
      return first(node);
    case RegexKind::kConcatenation: {
      ByteSet set = ByteSet::all();
      while (kind(node) == RegexKind::kConcatenation) {
        set &= alike(operand(node, 0), b);
        if (!nullable(operand(node, 0))) return set;
        node = operand(node, 1);
      }
      set &= alike(node, b);
      return set;
    }
    case RegexKind::kAlternation:
    case RegexKind::kIntersection: {
      ByteSet set = ByteSet::all();
      for (uint32_t part : o) set &= alike(RegexId(part), b);
      return set;
    }
    case RegexKind::kRepetition:
      return alike(RegexId(o[0]), b);
    case RegexKind::kJsonString:
      return alike_in_json_string(node, b);
    default:
      return ByteSet::only(b);
  }
}

bool RegexStore::is_empty(RegexId node) {
  const Props& p = props_[node.value];
  if (p.emptiness != Emptiness::kUnknown) return p.emptiness == Emptiness::kEmpty;
  if (!p.may_be_empty) return false;
  bool empty = false;
  switch (p.kind) {
    case RegexKind::kConcatenation: {
      RegexId rest = node;
      while (!empty && kind(rest) == RegexKind::kConcatenation) {
        empty = is_empty(operand(rest, 0));
        rest = operand(rest, 1);
      }
      empty = empty || is_empty(rest);
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
    default: {
      if (is_infinite_at_sight(without_few_texts(node))) break;
      // .{0,997} & ~.* is empty at every count; without counts that takes one step to see instead of a thousand.
      const RegexId larger = uncounted(node);
      empty = (larger != node && is_empty(larger)) || search_empty(node);
    }
  }
  props_[node.value].emptiness = empty ? Emptiness::kEmpty : Emptiness::kNonempty;
  return empty;
}

// A superset of the node in which nothing is counted. Remembered for what has parts.
RegexId RegexStore::uncounted(RegexId node) {
  switch (kind(node)) {
    case RegexKind::kConcatenation:
    case RegexKind::kAlternation:
    case RegexKind::kIntersection:
    case RegexKind::kRepetition:
      break;
    default:
      return node;  // a complement's body would have to shrink instead
  }
  if (auto known = uncounted_.find(node.value)) return RegexId(*known);
  const RegexId larger = compute_uncounted(node);
  if (!uncounted_.find(node.value)) uncounted_.insert(node.value, larger.value);
  return larger;
}

RegexId RegexStore::compute_uncounted(RegexId node) {
  switch (kind(node)) {
    case RegexKind::kConcatenation: {
      std::vector<RegexId> heads;
      while (kind(node) == RegexKind::kConcatenation) {
        heads.push_back(uncounted(operand(node, 0)));
        node = operand(node, 1);
      }
      RegexId whole = uncounted(node);
      for (size_t i = heads.size(); i-- > 0;) whole = concatenation(heads[i], whole);
      return whole;
    }
    case RegexKind::kAlternation:
    case RegexKind::kIntersection: {
      std::vector<RegexId> parts;
      for (uint32_t part : operands(node)) parts.push_back(uncounted(RegexId(part)));
      return kind(node) == RegexKind::kAlternation ? alternation(std::move(parts)) : intersection(std::move(parts));
    }
    case RegexKind::kRepetition:
      return repetition(uncounted(operand(node, 0)), 0, kUnbounded);
    default:
      return node;
  }
}

// For an intersection of one part with complements of finite sets: that part; else the node.
RegexId RegexStore::without_few_texts(RegexId node) const {
  if (kind(node) != RegexKind::kIntersection) return node;
  RegexId rest = node;
  for (uint32_t part : operands(node)) {
    const bool is_few =
        kind(RegexId(part)) == RegexKind::kComplement && (kind(operand(RegexId(part), 0)) == RegexKind::kKeySet ||
                                                          kind(operand(RegexId(part), 0)) == RegexKind::kEmptyText);
    if (is_few) continue;
    if (rest != node) return node;
    rest = RegexId(part);
  }
  return rest;
}

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

// Best first: of an e-mail address within 100 characters, all that is no longer would be looked at before the first end
// otherwise, 90 ms; straight to an end it is a step a character. So a residual's other bytes wait until nothing nearer
// to an end is left: most of them are never tried.
bool RegexStore::search_empty(RegexId node) {
  using Entry = std::tuple<uint32_t, uint32_t>;  // least length of the rest; residual
  struct Seen {
    RegexId parent;
    ByteSet left;  // bytes to be tried, the last one that was and those alike among them
    unsigned tried = 256;
  };
  std::unordered_map<uint32_t, Seen> seen{{node.value, {node, first(node)}}};
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.emplace(lengths_->of(node), node.value);
  uint64_t steps = 0;
  while (!queue.empty()) {
    const RegexId at(std::get<1>(queue.top()));
    Seen& here = seen.at(at.value);
    if (here.tried < 256) here.left -= alike(at, here.tried);
    const unsigned b = here.tried = here.left.lowest();
    if (b == 256) {
      queue.pop();
      continue;
    }
    if (++steps > max_search_steps_) throw LimitExceeded("max_search_steps", max_search_steps_);
    const RegexId next = derivative(at, b);
    const Emptiness known = props_[next.value].emptiness;
    if (known == Emptiness::kNonempty || !props_[next.value].may_be_empty) {
      if (next == nothing()) continue;
      // All that led here go on as well.
      for (RegexId on_the_way = at; on_the_way != node; on_the_way = seen.at(on_the_way.value).parent)
        props_[on_the_way.value].emptiness = Emptiness::kNonempty;
      return false;
    }
    if (known == Emptiness::kUnknown && seen.emplace(next.value, Seen{at, first(next)}).second)
      queue.emplace(lengths_->of(next), next.value);
  }
  for (const auto& [id, entry] : seen) props_[id].emptiness = Emptiness::kEmpty;
  return true;
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
    if (++steps > max_search_steps_) throw LimitExceeded("max_search_steps", max_search_steps_);
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

// One character: sequences of byte sets, no one a prefix of another.
bool RegexStore::is_class(RegexId node) {
  switch (kind(node)) {
    case RegexKind::kBytes:
      return true;
    case RegexKind::kConcatenation:
      return kind(operand(node, 0)) == RegexKind::kBytes && is_class(operand(node, 1));
    case RegexKind::kAlternation: {
      ByteSet seen;
      for (uint32_t part : operands(node)) {
        ByteSet here = first(RegexId(part));
        here &= seen;
        if (!here.empty() || kind(RegexId(part)) == RegexKind::kAlternation || !is_class(RegexId(part))) return false;
        seen |= first(RegexId(part));
      }
      return true;
    }
    default:
      return false;
  }
}

std::optional<RegexStore::Counted> RegexStore::counted(RegexId node) {
  const bool in_json = json_between_characters(node);
  const bool has_tail = kind(node) == RegexKind::kConcatenation;
  const RegexId run = in_json || has_tail ? operand(node, 0) : node;
  if (!is_run(run)) return std::nullopt;
  const uint32_t minimum = operands(run)[1];
  const uint32_t maximum = operands(run)[2];
  if (minimum == 0 && maximum == kUnbounded) return std::nullopt;
  if (has_tail && !begins_apart(run, operand(node, 1))) return std::nullopt;
  const RegexId unbounded = repetition(operand(run, 0), 0, kUnbounded);
  if (in_json) return Counted{json_with_body(node, unbounded), minimum, maximum};
  return Counted{has_tail ? concatenation(unbounded, operand(node, 1)) : unbounded, minimum, maximum};
}

ByteSet RegexStore::after_run(RegexId unbounded) {
  switch (kind(unbounded)) {
    case RegexKind::kJsonString:
      return ByteSet::only('"');
    case RegexKind::kConcatenation:
      return first(operand(unbounded, 1));
    default:
      return {};
  }
}

std::optional<RegexStore::Clipped> RegexStore::clipped(RegexId node, uint32_t longest) {
  const bool in_json = json_between_characters(node);
  const RegexId body = in_json ? operand(node, 0) : node;
  const RegexId larger = clip(body, longest, false);
  if (larger == body) return std::nullopt;
  const RegexId smaller = clip(body, longest, true);
  if (!in_json) return Clipped{smaller, larger};
  return Clipped{json_with_body(node, smaller), json_with_body(node, larger)};
}

// Every operation here is monotone, so smaller operands make smaller languages. What is under a complement stays.
RegexId RegexStore::clip(RegexId node, uint32_t longest, bool smaller) {
  switch (kind(node)) {
    case RegexKind::kConcatenation: {
      std::vector<RegexId> heads;
      while (kind(node) == RegexKind::kConcatenation) {
        heads.push_back(clip(operand(node, 0), longest, smaller));
        node = operand(node, 1);
      }
      RegexId whole = clip(node, longest, smaller);
      for (size_t i = heads.size(); i-- > 0;) whole = concatenation(heads[i], whole);
      return whole;
    }
    case RegexKind::kAlternation:
    case RegexKind::kIntersection: {
      std::vector<RegexId> parts;
      for (uint32_t part : operands(node)) parts.push_back(clip(RegexId(part), longest, smaller));
      return kind(node) == RegexKind::kAlternation ? alternation(std::move(parts)) : intersection(std::move(parts));
    }
    case RegexKind::kRepetition: {
      const Words o = operands(node);
      // One round of a longer body takes several characters, and few texts of a vocabulary go many rounds.
      const uint32_t near = is_class(RegexId(o[0])) ? longest : std::min(longest, kFewRounds);
      // A minimum would change with every character, and the bounds with it.
      if (o[1] > 1 || o[2] <= near || o[2] == kUnbounded) return node;
      return repetition(RegexId(o[0]), o[1], smaller ? near : kUnbounded);
    }
    default:
      return node;
  }
}

std::vector<RegexId> RegexStore::leading_loops(RegexId node) {
  const bool in_json = json_between_characters(node);
  const RegexId body = in_json ? operand(node, 0) : node;
  std::vector<RegexId> loops;
  auto add = [&](RegexId part) {
    part = without_few_texts(part);
    const RegexId head = kind(part) == RegexKind::kConcatenation ? operand(part, 0) : part;
    if (kind(head) != RegexKind::kRepetition || operands(head)[2] != kUnbounded || is_empty(part)) return;
    const RegexId loop = repetition(operand(head, 0), 0, kUnbounded);
    if (is_class(operand(head, 0))) loops.push_back(in_json ? json_with_body(node, loop) : loop);
  };
  if (kind(body) == RegexKind::kAlternation) {
    for (uint32_t part : operands(body)) add(RegexId(part));
  } else {
    add(body);
  }
  return loops;
}

RegexStore::Simpler RegexStore::without_exceptions(RegexId node) {
  const bool in_json = json_between_characters(node);
  const RegexId body = in_json ? operand(node, 0) : node;
  if (kind(body) != RegexKind::kIntersection) return {node, {}};
  std::vector<RegexId> kept;
  ByteSet differs;
  for (uint32_t part : operands(body)) {
    if (kind(RegexId(part)) == RegexKind::kComplement) {
      differs |= first(operand(RegexId(part), 0));
    } else {
      kept.emplace_back(part);
    }
  }
  if (kept.empty()) return {node, {}};
  const RegexId rest = intersection(std::move(kept));
  if (rest == nothing()) return {node, {}};
  if (!in_json) return {rest, differs};
  // Where the text may end, and what an escape decodes to, are not decided by the first byte.
  for (unsigned b : {'"', '\\'}) differs.add(b);
  return {json_with_body(node, rest), differs};
}

std::optional<std::string> RegexStore::shortest(RegexId node) {
  struct Step {
    RegexId node;
    size_t parent;
    uint8_t byte;
  };
  if (nullable(node)) return std::string();
  std::vector<Step> steps{{node, 0, 0}};
  std::unordered_set<uint32_t> seen{node.value};
  uint64_t derivatives = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    ByteSet bytes = first(steps[i].node);
    for (unsigned b = bytes.lowest(); !bytes.empty(); bytes -= alike(steps[i].node, b), b = bytes.lowest()) {
      if (++derivatives > max_search_steps_) throw LimitExceeded("max_search_steps", max_search_steps_);
      const RegexId next = derivative(steps[i].node, b);
      if (next == nothing() || !seen.insert(next.value).second) continue;
      steps.push_back({next, i, static_cast<uint8_t>(b)});
      if (!nullable(next)) continue;
      std::string text;
      for (size_t at = steps.size() - 1; at != 0; at = steps[at].parent)
        text.push_back(static_cast<char>(steps[at].byte));
      return std::string(text.rbegin(), text.rend());
    }
  }
  return std::nullopt;
}

}  // namespace cfgmask
