// The operators of regexes, each node simplified where it is made: similar regexes become one node, which is what keeps
// the residuals finite and few.
#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "regex/minimum_length.h"
#include "regex/regex.h"

namespace cfgmask {

namespace {

// Parts of an intersection that are simplified pair by pair.
constexpr size_t kMostCompared = 256;
// Parts of an alternation of which each is compared with all, before they are sorted.
constexpr size_t kFewCompared = 8;
// Loops of an alternation that all of its parts are compared with.
constexpr size_t kMostLoops = 64;
constexpr size_t kHeadsPerCharge = 4;

uint32_t saturating_add(uint32_t a, uint32_t b) { return a > kUnbounded - b ? kUnbounded : a + b; }

}  // namespace

RegexId RegexStore::concatenation(RegexId head, RegexId tail) {
  if (head == nothing() || tail == nothing()) return nothing();
  if (head == empty_text()) return tail;
  if (tail == empty_text()) return head;
  // [a-z]* .* is .*, as .* (x|) is.
  if (is_loop(tail) && nullable(head) && is_within(head, operand(tail, 0))) return tail;
  if (is_loop(head) && nullable(tail) && is_within(tail, operand(head, 0))) return head;
  if (kind(head) != RegexKind::kConcatenation) {
    const uint32_t pair[] = {head.value, tail.value};
    return intern(RegexKind::kConcatenation, pair);
  }
  // (a b) c becomes a (b c), so that equal residuals meet.
  std::vector<RegexId> heads;
  while (kind(head) == RegexKind::kConcatenation) {
    heads.push_back(operand(head, 0));
    head = operand(head, 1);
  }
  heads.push_back(head);
  // To look a node up that is known takes a quarter of the time of a new one: of x x? inside itself, twenty deep,
  // nearly all that a mask took.
  if (account_ != nullptr) account_->charge(heads.size() / kHeadsPerCharge);
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
  charge_parts(flat.size());
  if (!one_byte.empty()) flat.push_back(bytes(one_byte));
  if (json_strings > 1) merge_json_strings(flat, false);
  if (repetitions > 0 && flat.size() > 1) {
    merge_repetitions(flat);
    drop_within_loops(flat);
  }
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
    RegexId part;
    bool as_before = true;
    bool absorbed = false;
  };
  const auto counted_of = [&](RegexId part) -> std::optional<Counted> {
    const bool has_tail = kind(part) == RegexKind::kConcatenation;
    const RegexId head = has_tail ? operand(part, 0) : part;
    if (kind(head) != RegexKind::kRepetition) return std::nullopt;
    const Words o = operands(head);
    return Counted{RegexId(o[0]), has_tail ? operand(part, 1) : empty_text(), o[1], o[2], part};
  };
  const auto before = [](const Counted& x, const Counted& y) {
    return std::tie(x.body, x.tail, x.minimum, x.maximum) < std::tie(y.body, y.tail, y.minimum, y.maximum);
  };
  // Most have one, and nothing that it could be merged with.
  const auto is_alone = [&](RegexId part) {
    const auto found = counted_of(part);
    return !found || std::none_of(parts.begin(), parts.end(), [&](RegexId other) {
      if (found->minimum <= 1 && other == found->tail) return true;
      const auto beside = other == part ? std::nullopt : counted_of(other);
      return beside && beside->body == found->body;
    });
  };
  if (parts.size() <= kFewCompared && std::all_of(parts.begin(), parts.end(), is_alone)) return;
  std::vector<Counted> counted;
  std::vector<RegexId> others;
  for (RegexId part : parts) {
    if (const auto found = counted_of(part)) {
      counted.push_back(*found);
    } else {
      others.push_back(part);
    }
  }
  std::sort(counted.begin(), counted.end(), before);
  std::vector<Counted> merged;
  for (const Counted& c : counted) {
    if (!merged.empty() && merged.back().body == c.body && merged.back().tail == c.tail &&
        c.minimum <= saturating_add(merged.back().maximum, 1)) {
      merged.back().maximum = std::max(merged.back().maximum, c.maximum);
      merged.back().as_before = false;
    } else {
      merged.push_back(c);
    }
  }
  // Tails are looked up in sorted lists, as a hostile pattern has 100,000 of them.
  std::sort(others.begin(), others.end());
  std::vector<bool> absorbed(others.size());
  const auto absorb = [&](RegexId tail, std::span<Counted> done) {
    if (const auto among = counted_of(tail)) {
      const auto same = std::lower_bound(done.begin(), done.end(), *among, before);
      if (same == done.end() || before(*among, *same) || same->absorbed) return false;
      return same->absorbed = true;
    }
    const auto bare = static_cast<size_t>(std::lower_bound(others.begin(), others.end(), tail) - others.begin());
    if (bare == others.size() || others[bare] != tail || absorbed[bare]) return false;
    absorbed[bare] = true;
    return true;
  };
  for (size_t i = 0; i < merged.size(); ++i) {
    Counted& c = merged[i];
    if (c.minimum > 1 || c.tail == empty_text() || !absorb(c.tail, std::span(merged).first(i))) continue;
    c.minimum = 0;
    c.as_before = false;
  }
  parts.clear();
  for (size_t i = 0; i < others.size(); ++i) {
    if (!absorbed[i]) parts.push_back(others[i]);
  }
  for (const Counted& c : merged) {
    if (c.absorbed) continue;
    parts.push_back(c.as_before ? c.part : concatenation(repetition(c.body, c.minimum, c.maximum), c.tail));
  }
}

// .* p .* | .* is .*: so is a search that has found what it looks for.
void RegexStore::drop_within_loops(std::vector<RegexId>& parts) {
  if (std::none_of(parts.begin(), parts.end(), [&](RegexId part) { return is_loop(part); })) return;
  size_t loops = 0;
  for (const RegexId loop : std::vector<RegexId>(parts)) {
    if (!is_loop(loop) || std::find(parts.begin(), parts.end(), loop) == parts.end()) continue;
    if (++loops > kMostLoops) break;
    std::erase_if(parts, [&](RegexId part) { return part != loop && is_within(part, operand(loop, 0)); });
  }
}

// .* & x is x.
void RegexStore::drop_needless_loops(std::vector<RegexId>& parts) {
  for (size_t i = 0; i < parts.size();) {
    const RegexId loop = parts[i];
    const bool needless = is_loop(loop) && std::any_of(parts.begin(), parts.end(), [&](RegexId part) {
                            return part != loop && is_within(part, operand(loop, 0));
                          });
    if (needless) {
      parts.erase(parts.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

// C{0,n} & x is x where no text of x is longer and all of it is within C*: an e-mail address has at most 254 characters
// whatever `maxLength` says, and what is left of one at most as many octets.
void RegexStore::drop_needless_bounds(std::vector<RegexId>& parts) {
  for (size_t i = 0; i < parts.size() && parts.size() > 1;) {
    const RegexId run = parts[i];
    const auto is_other = [&](auto holds) {
      return std::any_of(parts.begin(), parts.end(), [&](RegexId part) { return part != run && holds(part); });
    };
    const bool needless =
        is_run(run) && operands(run)[2] != kUnbounded &&
        (operands(run)[1] == 0 || (operands(run)[1] == 1 && is_other([&](RegexId part) { return !nullable(part); }))) &&
        is_other([&](RegexId part) { return lengths_->longest(part) <= operands(run)[2]; }) &&
        is_other([&](RegexId part) { return is_within(part, operand(run, 0)); });
    if (needless) {
      parts.erase(parts.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
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
  // Each is compared with all: of many parts none is worth that.
  if (repetitions > 0 && flat.size() > 1 && flat.size() <= kMostCompared) {
    drop_needless_loops(flat);
    drop_needless_bounds(flat);
  }
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
  if (is_contradiction(flat)) return nothing();
  if (flat.empty()) return all();
  if (flat.size() == 1) return flat[0];
  return intern(RegexKind::kIntersection, {&flat[0].value, flat.size()});
}

// x & ~x, and x & ~.* where all of x is within .*: so ends a text that was to hold none of what it holds. That this is
// empty took a search through all that x might still become.
bool RegexStore::is_contradiction(const std::vector<RegexId>& sorted_parts) {
  return std::any_of(sorted_parts.begin(), sorted_parts.end(), [&](RegexId part) {
    if (kind(part) != RegexKind::kComplement) return false;
    const RegexId body = operand(part, 0);
    if (std::binary_search(sorted_parts.begin(), sorted_parts.end(), body)) return true;
    return is_loop(body) && std::any_of(sorted_parts.begin(), sorted_parts.end(),
                                        [&](RegexId other) { return is_within(other, operand(body, 0)); });
  });
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

RegexId RegexStore::without_empty_text(RegexId node) {
  if (!nullable(node)) return node;
  if (kind(node) == RegexKind::kRepetition && !nullable(operand(node, 0)))
    return repetition(operand(node, 0), 1, operands(node)[2]);
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
  if (kind(node) == RegexKind::kKeySet) return is_prefix_free_set(operands(node));
  return kind(node) == RegexKind::kBytes;
}

}  // namespace cfgmask
