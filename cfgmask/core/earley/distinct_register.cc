#include "earley/distinct_register.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <unordered_set>
#include <utility>

#include "earley/scalar_values.h"
#include "regex/minimum_length.h"
#include "util/in_step.h"

namespace cfgmask {

namespace {

// Instead of the index of bounds.
constexpr uint32_t kNoBounds = UINT32_MAX;
// In that index: the register around it comes before the entries.
constexpr uint32_t kMark = 1U << 31;
// The value of a new_text, kept as an empty one.
constexpr uint32_t kNew = 0;
// That of other_text, kept as what no lexeme spells.
constexpr uint32_t kOther = 1;
constexpr std::string_view kNoSpelling("\0", 1);
// Instead of a value: no other may stand there.
constexpr uint32_t kOnly = UINT32_MAX;
// Of what may come next in copies. A mask asks for those of some registers inside of each other.
constexpr size_t kKeptCopies = 64;
// The node of an item of which nothing is written.
constexpr uint32_t kNothingYet = 0;

uint64_t key_of_copy(RegisterId copy, uint32_t place) { return (uint64_t{copy.value} << 32) | place; }
bool is_composite_of(Holds holds) { return holds != Holds::kValues && holds != Holds::kAgain; }

uint32_t times(uint32_t a, uint32_t b) {
  const uint64_t product = uint64_t{a} * b;
  return product < kUnbounded ? static_cast<uint32_t>(product) : kUnbounded;
}
uint32_t plus(uint32_t a, uint32_t b) { return a < kUnbounded - b ? a + b : kUnbounded; }

// Values are kept as text: a string as a quote and what it decodes to, a number without superfluous zeros, an array or
// an object as a bracket and the words of its register, an item as another one and its node, anything else as it is
// spelled.
constexpr char kItemMark = '(';
bool is_item_value(std::string_view value) { return value.starts_with(kItemMark); }
bool is_composite(std::string_view value) {
  return value.starts_with('[') || value.starts_with('{') || is_item_value(value);
}
// Of an array or an object that is kept.
char bracket_of(Holds holds) {
  if (holds == Holds::kItem || holds == Holds::kList) return kItemMark;
  return holds == Holds::kObject || holds == Holds::kMembers ? '{' : '[';
}
std::vector<uint32_t> words_in(std::string_view composite) {
  std::vector<uint32_t> words((composite.size() - 1) / sizeof(uint32_t));
  if (!words.empty()) std::memcpy(words.data(), composite.data() + 1, words.size() * sizeof(uint32_t));
  return words;
}
bool is_among(const std::vector<uint32_t>& values, uint32_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}
std::vector<uint32_t> words_of(std::string_view text) {
  std::vector<uint32_t> words(1 + (text.size() + 3) / 4, 0);
  words[0] = static_cast<uint32_t>(text.size());
  if (!text.empty()) std::memcpy(&words[1], text.data(), text.size());
  return words;
}

// Numbers as their values are kept: those without a point, and those with one.
struct Numbers {
  std::vector<std::string> whole;
  std::vector<std::string> broken;

  void add(const std::string& value) {
    (value.find('.') == std::string::npos ? whole : broken).push_back(value);
    if (value == "0") whole.push_back("-0");
  }
};

// All that are worth the same. Sets of keys, since an alternative for each number made an array of n of them quadratic:
// 2,000 took 2.6 s.
RegexId spellings_of(RegexStore& r, Numbers numbers) {
  const RegexId zero = r.literal("0");
  const RegexId zeros = r.repetition(zero, 0, kUnbounded);
  const RegexId fraction = r.concatenation(r.literal("."), r.concatenation(zero, zeros));
  return r.alternation({r.concatenation(r.key_set(std::move(numbers.whole)), r.repetition(fraction, 0, 1)),
                        r.concatenation(r.key_set(std::move(numbers.broken)), zeros)});
}

}  // namespace

DistinctRegister::DistinctRegister(RegexStore& regexes, const std::vector<SetBounds>& bounds, uint64_t max_item_sets)
    : regexes_(regexes), bounds_(bounds), account_{"max_item_sets", max_item_sets} {
  for (int i = 0; i < 5; ++i) texts_.push_back({});
  seen_ids_.intern({});
  intern_value({});                        // kNew
  intern_value(std::string(kNoSpelling));  // kOther
  node_ids_.intern({});
  nodes_.push_back({});  // kNothingYet
}

const SetBounds& DistinctRegister::bounds(RegisterId seen) const {
  static const SetBounds kNone;
  const uint32_t i = seen_ids_.at(seen.value)[0];
  return i == kNoBounds ? kNone : bounds_[i & ~kMark];
}

bool DistinctRegister::is_marked(RegisterId seen) const {
  const uint32_t i = seen_ids_.at(seen.value)[0];
  return i != kNoBounds && (i & kMark) != 0;
}

RegisterId DistinctRegister::open(uint32_t i, RegisterId around) {
  required(i);
  if (bounds_[i].holds == Holds::kAgain) may_copy_.store(true, std::memory_order_relaxed);
  for (const SetMember& member : bounds_[i].members) {
    if (!member.is_class) intern_value('"' + member.name);
  }
  if (is_inner(bounds_[i])) {
    static_assert(kNothingYet == 0 && kNew == 0, "as no key is");
    const uint32_t inner[] = {i, around.value, 0};
    return RegisterId(seen_ids_.intern(inner).first);
  }
  std::vector<uint32_t> words{i};
  if (is_composite_of(bounds_[i].holds) && copies(around)) words = {i | kMark, around.value};
  if (bounds_[i].holds == Holds::kObject) words.push_back(0);
  return RegisterId(seen_ids_.intern(words).first);
}

bool DistinctRegister::may_open(uint32_t i, RegisterId around) {
  const Holds holds = bounds_[i].holds;
  if (!is_composite_of(holds) || !copies(around) || may_be_any(around)) return true;
  const std::vector<uint32_t>& next = next_copied(around, bounds_[i].step.place);
  return std::any_of(next.begin(), next.end(),
                     [&](uint32_t value) { return values_[value].starts_with(bracket_of(holds)); });
}

size_t DistinctRegister::bytes() const {
  return texts_.bytes() + text_ids_.bytes() + value_ids_.bytes() * 2 + seen_ids_.bytes() + addable_.bytes() +
         unwanted_ids_.bytes() + unwanted_.bytes() + node_ids_.bytes() + nodes_.bytes() + key_places_.bytes();
}

TextId DistinctRegister::append(TextId text, unsigned b) {
  if (!is_spelled(text)) return text;
  const uint64_t key = (uint64_t{text.value} << 8) | b;
  if (auto known = text_ids_.find(key)) return TextId(*known);
  account_.charge();
  return TextId(insert_with(text_ids_, key, texts_, Text{text, static_cast<uint8_t>(b)}));
}

bool DistinctRegister::is_met(TextId text, std::string_view more) const {
  if (!is_spelled(text)) return false;
  return value_ids_.find(words_of(value_of(spelled(text).append(more)))).has_value();
}

bool DistinctRegister::may_be_met(TextId text) const {
  if (!is_spelled(text)) return false;
  const std::string begun = spelled(text);
  // Other values, strings with escapes and numbers with a fraction are not spelled as they are kept.
  const bool is_whole = !begun.empty() && begun.find_first_not_of("0123456789") == std::string::npos;
  if (!is_whole && (!is_string(begun) || begun.find('\\') != std::string::npos)) return true;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (values_[static_cast<uint32_t>(i)].starts_with(begun)) return true;
  }
  return false;
}

bool DistinctRegister::has_new(const std::vector<uint32_t>& values) {
  return std::find(values.begin(), values.end(), kNew) != values.end();
}

bool DistinctRegister::is_overapproximate(RegisterId seen) const {
  for (; seen != none() && has_around(seen); seen = around(seen)) {
    if (is_list(seen) && nodes_[node(seen)].is_overapproximate) return true;
    if (is_members(seen) && excludes(seen) && has_new(taken(seen))) return true;
  }
  if (seen == none()) return false;
  return has_new(taken(seen));
}

std::string DistinctRegister::spelled(TextId text) const {
  std::string out;
  for (; text != empty_text(); text = texts_[text.value].shorter)
    out.push_back(static_cast<char>(texts_[text.value].last));
  return {out.rbegin(), out.rend()};
}

RegisterId DistinctRegister::add(RegisterId seen, TextId text, Step step) {
  if (text == new_text()) return add_value(seen, kNew, step);
  if (text == other_text()) return add_value(seen, kOther, step);
  if (text != any_text()) return add_value(seen, intern_value(value_of(spelled(text))), step);
  if (is_value(seen)) return unknown();
  const Words before = seen_ids_.at(seen.value);
  std::vector<uint32_t> after(before.begin(), before.end());
  after[0] = kNoBounds;
  return RegisterId(seen_ids_.intern(after).first);
}

// Nothing is known of an array or an object in which something may stand or other.
RegisterId DistinctRegister::unknown() { return RegisterId(seen_ids_.intern(Words(&kNoBounds, 1)).first); }

bool DistinctRegister::is_unknown(RegisterId seen) const { return seen_ids_.at(seen.value)[0] == kNoBounds; }

RegisterId DistinctRegister::pass(RegisterId seen, Step step) {
  return is_item(seen) && step.place != 0 ? add_value(seen, kOnly, step) : seen;
}

bool DistinctRegister::may_pass(RegisterId seen, Step step) {
  if (!is_item(seen)) return true;
  if (!copies(seen)) return !is_exhausted(seen, step, kOnly);
  return may_be_any(seen) || is_among(next_copied(seen, step.place), kOnly);
}

std::optional<RegisterId> DistinctRegister::add_ended(RegisterId seen, RegisterId ended) {
  if (seen == none() || ended == none()) return seen;
  if (!is_value(ended)) return is_value(seen) && is_unknown(ended) ? unknown() : seen;
  if (!admits(seen, ended)) return std::nullopt;
  if (is_again(ended)) {
    const RegisterId outer = has_around(seen) ? around(seen) : none();
    return is_unknown(seen) ? seen : open(seen_ids_.at(seen.value)[0] & ~kMark, outer);
  }
  return add_value(seen, intern_value(value_of_ended(ended)), bounds(ended).step);
}

bool DistinctRegister::admits(RegisterId seen, RegisterId ended) {
  if (seen == none() || ended == none() || !is_value(ended)) return true;
  if (is_again(ended)) return may_be_any(ended) || is_among(next_copied(ended, 0), entries(ended)[1]);
  const Holds holds = bounds(seen).holds;
  const bool is_copy = copies(seen);
  if (is_copy && may_be_any(seen)) return true;
  if (!is_copy && (holds == Holds::kArray || has_keys(seen))) return true;
  const auto value = value_ids_.find(words_of(value_of_ended(ended)));
  if (is_copy) return value && is_among(next_copied(seen, bounds(ended).step.place), *value);
  if (is_item(seen)) return !value || !is_exhausted(seen, bounds(ended).step, *value);
  const Words known = entries(seen);
  return !value || std::find(known.begin(), known.end(), *value) == known.end();
}

RegisterId DistinctRegister::add_value(RegisterId seen, uint32_t value, Step step) {
  if (is_item(seen)) return in_item(seen, intern_node(node(seen), step, value));
  const Words before = seen_ids_.at(seen.value);
  std::vector<uint32_t> after(before.begin(), before.end());
  switch (bounds(seen).holds) {
    case Holds::kValues: {
      const auto at = std::lower_bound(after.begin() + 1, after.end(), value);
      if (at != after.end() && *at == value) return seen;
      after.insert(at, value);
      break;
    }
    case Holds::kArray:
    case Holds::kDistinctArray:
      after.push_back(value);
      break;
    case Holds::kObject:
      add_member(after, first_entry(seen) + waiting_at(seen), value);
      break;
    case Holds::kMembers:
      if (waiting(seen) == 0 && value > kOther && place_of(seen, value) == 0) {
        key_places_.insert(key_of_place(seen, value), step.place);
      }
      add_member(after, first_entry(seen) + waiting_at(seen), value);
      break;
    case Holds::kAgain:
      after[2] = value;
      break;
    case Holds::kItem:
    case Holds::kList:
      break;  // see above
  }
  if (auto known = seen_ids_.find(after)) return RegisterId(*known);
  account_.charge(1 + after.size() / 16);
  return RegisterId(seen_ids_.intern(after).first);
}

RegisterId DistinctRegister::again_around(RegisterId seen) const {
  for (; seen != none() && has_around(seen); seen = around(seen)) {
    if (is_again(seen)) return seen;
  }
  return none();
}

bool DistinctRegister::may_be_any(RegisterId copy) const {
  const RegisterId outer = around(again_around(copy));
  return is_unknown(outer) || is_overapproximate(outer);
}

const std::vector<uint32_t>& DistinctRegister::next_copied(RegisterId copy, uint32_t place) {
  if (next_copied_.size() > kKeptCopies) next_copied_.clear();
  std::vector<std::pair<RegisterId, uint32_t>> unknown;
  const std::vector<uint32_t>* values = nullptr;
  for (;;) {
    const auto known = next_copied_.find(key_of_copy(copy, place));
    if (known != next_copied_.end()) {
      values = &known->second;
      break;
    }
    unknown.emplace_back(copy, place);
    if (is_again(copy)) break;
    place = bounds(copy).step.place;
    copy = around(copy);
  }
  for (; !unknown.empty(); unknown.pop_back()) {
    const auto [here, at] = unknown.back();
    const Words came = is_again(here) ? entries(around(here)) : Words();
    std::vector<uint32_t> next = is_again(here) ? std::vector(came.begin(), came.end()) : next_in(here, *values, at);
    values = &next_copied_.emplace(key_of_copy(here, at), std::move(next)).first->second;
  }
  return *values;
}

// Out of the values that all of it may become.
std::vector<uint32_t> DistinctRegister::next_in(RegisterId copy, const std::vector<uint32_t>& whole,
                                                uint32_t place) const {
  std::vector<uint32_t> out;
  if (is_item(copy)) {
    add_next_values(copy, nodes_of(whole), place, out);
    return out;
  }
  if (has_keys(copy)) {
    const std::vector<uint32_t> written = keys(copy);
    for (const Pairs& object : possible_among(copy, whole)) {
      for (const auto& [key, value] : object) {
        if (waiting(copy) == key + 1) out.push_back(value);
        const bool is_elsewhere = is_members(copy) && place_of(copy, key) != place;
        if (waiting(copy) == 0 && !is_elsewhere && !is_among(written, key)) out.push_back(key);
      }
    }
    return out;
  }
  const Words written = entries(copy);
  for (const uint32_t id : whole) {
    if (!values_[id].starts_with('[')) continue;
    const std::vector<uint32_t> items = words_in(values_[id]);
    const bool goes_on = items.size() > written.size() && std::equal(written.begin(), written.end(), items.begin());
    if (goes_on) out.push_back(items[written.size()]);
  }
  return out;
}

RegisterId DistinctRegister::in_item(RegisterId item, uint32_t node) {
  const Words before = seen_ids_.at(item.value);
  const uint32_t after[] = {before[0], before[1], node};
  if (auto known = seen_ids_.find(after)) return RegisterId(*known);
  account_.charge();
  return RegisterId(seen_ids_.intern(after).first);
}

uint32_t DistinctRegister::intern_node(uint32_t parent, Step step, uint32_t value) {
  const uint32_t words[] = {parent, step.place, value};
  const uint32_t hash = Interner::hash(words);
  if (auto known = node_ids_.find(words, hash)) return *known;
  const Node node{parent, nodes_[parent].depth + 1, nodes_[parent].is_overapproximate || value == kNew};
  return add_with(node_ids_, words, hash, nodes_, node);
}

bool DistinctRegister::is_exhausted(RegisterId item, Step step, uint32_t value) {
  if (is_list(item) && value != kNew) {
    const std::vector<uint32_t> known = in_list(item);
    if (std::find(known.begin(), known.end(), value) != known.end()) return true;
  }
  const uint32_t words[] = {node(item), step.place, value};
  const auto next = node_ids_.find(words);
  if (!next) return false;  // nothing has it there
  return is_used_up(item, step.ways, [&](RegisterId of) {
    return is_list(of) ? n_below(items(item, of), *next) : n_below(item, *next);
  });
}

bool DistinctRegister::is_used_up(RegisterId part, uint32_t ways,
                                  const std::function<uint32_t(RegisterId)>& n_alike) const {
  while (ways != kUnbounded) {
    const RegisterId outer = around(part);
    if (!is_item(outer) && !is_members(outer)) return n_alike(outer) >= ways;
    if (is_list(outer)) {
      // What came in its own list is none of the ends that the part may still have.
      const uint32_t n = n_alike(outer);
      if (n >= ways) return true;
      ways -= n;
    }
    ways = times(ways, n_ends(part));
    part = is_members(outer) ? around(outer) : outer;
  }
  return false;
}

std::vector<uint32_t> DistinctRegister::exhausted(RegisterId item, Step step) {
  std::vector<uint32_t> out = is_list(item) ? in_list(item) : std::vector<uint32_t>{};
  if (step.ways == kUnbounded) return out;
  RegisterId of = around(item);
  for (; is_item(of) || is_members(of); of = around(of)) {
    if (is_list(of)) add_next_values(item, items(item, of), step.place, out);
  }
  if (!out.empty() || n_below(item, node(item)) >= step.ways) add_next_values(item, items(item, of), step.place, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  std::erase_if(out, [&](uint32_t value) { return !is_exhausted(item, step, value); });
  return out;
}

uint32_t DistinctRegister::n_below(RegisterId item, uint32_t node) {
  const std::pair place{around(item), bounds(item).step.place};
  if (place != counted_) count_items(item, place);
  const auto found = below_.find(node);
  return found == below_.end() ? 0 : found->second;
}

uint32_t DistinctRegister::n_below(const std::vector<uint32_t>& others, uint32_t node) const {
  return static_cast<uint32_t>(std::count_if(others.begin(), others.end(), [&](uint32_t other) {
    while (nodes_[other].depth > nodes_[node].depth) other = nodes_[other].parent;
    return other == node;
  }));
}

void DistinctRegister::count_items(RegisterId item, std::pair<RegisterId, uint32_t> place) {
  // Mostly it is the set that was counted before, with one more.
  RegisterId outermost = place.first;
  while (is_item(outermost) || is_members(outermost)) outermost = around(outermost);
  std::vector<uint32_t> all = items(item, outermost);
  std::sort(all.begin(), all.end());
  if (!std::includes(all.begin(), all.end(), counted_items_.begin(), counted_items_.end())) {
    below_.clear();
    counted_items_.clear();
  }
  std::vector<uint32_t> more;
  std::set_difference(all.begin(), all.end(), counted_items_.begin(), counted_items_.end(), std::back_inserter(more));
  for (const uint32_t last : more) {
    for (uint32_t node = last; node != kNothingYet; node = nodes_[node].parent) ++below_[node];
    ++below_[kNothingYet];
  }
  counted_ = place;
  counted_items_ = std::move(all);
}

// Those aside of which not everything is known.
std::vector<uint32_t> DistinctRegister::items(RegisterId item, RegisterId of) const {
  const RegisterId outer = around(item);
  if (outer == none()) return {};
  if (outer == of) return nodes_of(is_list(of) ? in_list(of) : taken(of));
  if (!is_members(outer)) return nodes_of(next_values(outer, bounds(item).step.place, of));
  std::vector<uint32_t> values;
  for (const Pairs& object : possible_objects(outer, of)) values.push_back(object.at(waiting(outer) - 1));
  return nodes_of(values);
}

std::vector<uint32_t> DistinctRegister::nodes_of(const std::vector<uint32_t>& values) const {
  std::vector<uint32_t> out;
  for (const uint32_t id : values) {
    const std::string& value = values_[id];
    if (is_item_value(value)) std::memcpy(&out.emplace_back(), value.data() + 1, sizeof(uint32_t));
  }
  return out;
}

// What stands at a place behind all that is written of an item, in items that came.
std::vector<uint32_t> DistinctRegister::next_values(RegisterId item, uint32_t place, RegisterId of) const {
  std::vector<uint32_t> out;
  add_next_values(item, items(item, of), place, out);
  return out;
}

void DistinctRegister::add_next_values(RegisterId item, const std::vector<uint32_t>& others, uint32_t place,
                                       std::vector<uint32_t>& out) const {
  for (const uint32_t last : others) {
    const auto next = step_below(node(item), last);
    if (!next) continue;
    const Words words = node_ids_.at(*next);
    if (words[1] == place) out.push_back(words[2]);
  }
}

std::vector<uint32_t> DistinctRegister::in_list(RegisterId list) const {
  std::vector<uint32_t> out;
  for (uint32_t at = node(list); at != kNothingYet; at = nodes_[at].parent) {
    const uint32_t value = node_ids_.at(at)[2];
    if (value != kOnly) out.push_back(value);
  }
  return out;
}

// The node on the way from one to another right below the first; nullopt if there is none.
std::optional<uint32_t> DistinctRegister::step_below(uint32_t before, uint32_t last) const {
  if (nodes_[last].depth <= nodes_[before].depth) return std::nullopt;
  while (nodes_[last].depth > nodes_[before].depth + 1) last = nodes_[last].parent;
  if (nodes_[last].parent != before) return std::nullopt;
  return last;
}

uint32_t DistinctRegister::n_ends(RegisterId part) const {
  const RegisterId outer = around(part);
  if (!is_members(outer)) return bounds(part).step.ways;
  return times(n_completions(outer, place_of(outer, waiting(outer) - 1)), bounds(outer).step.ways);
}

uint32_t DistinctRegister::n_completions(RegisterId members, uint32_t place) const {
  const SetBounds& bounds = this->bounds(members);
  std::vector<uint32_t> n_written(bounds.members.size() + 1, 0);
  const std::vector<uint32_t> written = keys(members);
  for (const uint32_t key : written) ++n_written[place_of(members, key)];
  ++n_written[place];
  if (n_written[0] > 0) return kUnbounded;  // which keys these are is not known
  const size_t size = written.size() + 1;
  if (size > bounds.maximum) return 0;
  const size_t least = bounds.minimum > size ? bounds.minimum - size : 0;
  const size_t most = bounds.maximum == kUnbounded ? SIZE_MAX : bounds.maximum - size;
  std::vector<uint32_t> ways{1};  // by how many keys more
  const auto add = [&](const SetMember& member) {
    if (ways.size() <= most) ways.push_back(0);
    for (size_t n = ways.size() - 1; n > 0; --n) {
      ways[n] = plus(member.is_required ? 0 : ways[n], times(ways[n - 1], member.ways));
    }
    if (member.is_required) ways[0] = 0;
  };
  const auto sum = [&] {
    uint32_t all = 0;
    for (size_t n = least; n < ways.size(); ++n) all = plus(all, ways[n]);
    return all;
  };
  for (size_t i = 0; i < bounds.members.size(); ++i) {
    const SetMember& member = bounds.members[i];
    if (!member.is_class) {
      if (n_written[i + 1] == 0) add(member);
      continue;
    }
    // Classes come last, and with each of their keys there are more ways.
    if (member.n_keys == kUnbounded) {
      const auto fewest = std::find_if(ways.begin(), ways.end(), [](uint32_t n) { return n > 0; });
      if (fewest != ways.end() && static_cast<size_t>(fewest - ways.begin()) < most) return kUnbounded;
      continue;
    }
    for (uint32_t n = n_written[i + 1]; n < member.n_keys && sum() != kUnbounded; ++n) add(member);
  }
  return sum();
}

uint32_t DistinctRegister::place_of(RegisterId members, uint32_t key) const {
  const auto known = key_places_.find(key_of_place(members, key));
  return known ? *known : 0;
}

uint64_t DistinctRegister::key_of_place(RegisterId members, uint32_t key) const {
  return (uint64_t{bounds(members).step.place} << 32) | key;
}

std::vector<DistinctRegister::Pairs> DistinctRegister::possible_objects(RegisterId members, RegisterId of) const {
  return possible_among(members, next_values(around(members), bounds(members).step.place, of));
}

std::vector<DistinctRegister::Pairs> DistinctRegister::possible_among(RegisterId begun,
                                                                      const std::vector<uint32_t>& values) const {
  const Words written = pairs(begun);
  std::vector<Pairs> out;
  for (const uint32_t id : values) {
    if (!values_[id].starts_with('{')) continue;
    const std::vector<uint32_t> words = words_in(values_[id]);
    Pairs object;
    for (size_t i = 0; i < words.size(); i += 2) object.emplace(words[i], words[i + 1]);
    const auto has = [&](uint32_t key) { return object.find(key) != object.end(); };
    bool is_possible = waiting(begun) == 0 || has(waiting(begun) - 1);
    for (size_t i = 0; i < written.size() && is_possible; i += 2) {
      is_possible = has(written[i]) && object.at(written[i]) == written[i + 1];
    }
    if (is_possible) out.push_back(std::move(object));
  }
  return out;
}

bool DistinctRegister::is_exhausted_key(RegisterId members, uint32_t place, std::optional<uint32_t> key) const {
  const SetMember& member = bounds(members).members[place - 1];
  const uint32_t ways = times(bounds(members).step.ways, times(member.ways, n_completions(members, place)));
  return is_used_up(around(members), ways, [&](RegisterId of) {
    if (!key) return 0U;
    const std::vector<Pairs> possible = possible_objects(members, of);
    const auto has_key = [&](const Pairs& object) { return object.find(*key) != object.end(); };
    return static_cast<uint32_t>(std::count_if(possible.begin(), possible.end(), has_key));
  });
}

// Of the keys that stand at a place those that do not lead to anything new; nullopt if none of them leads anywhere.
std::optional<std::vector<uint32_t>> DistinctRegister::exhausted_keys(RegisterId members, uint32_t place) const {
  const SetMember& member = bounds(members).members[place - 1];
  if (!member.is_class) {
    if (is_exhausted_key(members, place, value_ids_.find(words_of('"' + member.name)))) return std::nullopt;
    return std::vector<uint32_t>{};
  }
  if (is_exhausted_key(members, place, std::nullopt)) return std::nullopt;
  std::vector<uint32_t> out;
  RegisterId of = around(members);
  do {
    of = around(of);
    if (is_item(of) && !is_list(of)) continue;
    if (is_members(of)) continue;
    for (const Pairs& object : possible_objects(members, of)) {
      for (const auto& [key, value] : object) {
        if (place_of(members, key) == place) out.push_back(key);
      }
    }
  } while (is_item(of) || is_members(of));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  std::erase_if(out, [&](uint32_t key) { return !is_exhausted_key(members, place, key); });
  return out;
}

// A key, or the value of the one before. `object` are all words of its register.
void DistinctRegister::add_member(std::vector<uint32_t>& object, size_t waiting_at, uint32_t value) {
  uint32_t& key = object[waiting_at];
  if (key == 0) {
    key = value + 1;
    return;
  }
  size_t at = waiting_at + 1;
  while (at < object.size() && object[at] < key - 1) at += 2;
  const uint32_t pair[] = {key - 1, value};
  key = 0;
  object.insert(object.begin() + static_cast<ptrdiff_t>(at), std::begin(pair), std::end(pair));
}

std::string DistinctRegister::value_of_ended(RegisterId ended) const {
  if (is_item(ended)) {
    const uint32_t last = node(ended);
    if (nodes_[last].is_overapproximate) return {};
    std::string value(1, kItemMark);
    value.append(reinterpret_cast<const char*>(&last), sizeof(last));
    return value;
  }
  const Words all = has_keys(ended) ? pairs(ended) : entries(ended);
  if (std::find(all.begin(), all.end(), kNew) != all.end()) return {};
  std::string value(1, has_keys(ended) ? '{' : '[');
  value.append(reinterpret_cast<const char*>(all.data()), all.size_bytes());
  return value;
}

std::vector<uint32_t> DistinctRegister::keys(RegisterId object) const {
  const Words all = pairs(object);
  std::vector<uint32_t> out;
  for (size_t i = 0; i < all.size(); i += 2) out.push_back(all[i]);
  return out;
}

bool DistinctRegister::excludes(RegisterId seen) const {
  return bounds(seen).holds != Holds::kArray && (!has_keys(seen) || waiting(seen) == 0);
}

std::vector<uint32_t> DistinctRegister::taken(RegisterId seen) const {
  if (!excludes(seen)) return {};
  if (has_keys(seen)) return keys(seen);
  const Words all = entries(seen);
  return {all.begin(), all.end()};
}

// Nothing else has a key of a list. To leave 1,000 of them out of other keys made masks take a quarter longer.
std::vector<uint32_t> DistinctRegister::taken_by_others(RegisterId seen) const {
  std::vector<uint32_t> values = taken(seen);
  const auto lists = lists_of_.find(seen_ids_.at(seen.value)[0]);
  if (lists == lists_of_.end()) return values;
  std::erase_if(values, [&](uint32_t value) {
    return std::ranges::any_of(lists->second, [&](const KeyNumbers* keys) { return keys->numbers.contains(value); });
  });
  return values;
}

size_t DistinctRegister::n_values(RegisterId seen) const {
  return has_keys(seen) ? pairs(seen).size() / 2 : entries(seen).size();
}

uint32_t DistinctRegister::intern_value(std::string value) {
  const auto words = words_of(value);
  const uint32_t hash = Interner::hash(words);
  if (auto known = value_ids_.find(words, hash)) return *known;
  return add_with(value_ids_, words, hash, values_, std::move(value));
}

const std::vector<uint32_t>& DistinctRegister::required(uint32_t i) {
  if (required_.size() <= i) required_.resize(i + 1);
  if (!required_[i]) {
    std::vector<uint32_t> values;
    for (const std::string& name : bounds_[i].required) values.push_back(intern_value('"' + name));
    std::sort(values.begin(), values.end());
    required_[i] = std::move(values);
  }
  return *required_[i];
}

std::vector<uint32_t> DistinctRegister::missing_values(RegisterId seen) {
  if (bounds(seen).required.empty()) return {};
  const std::vector<uint32_t>& wanted = required(seen_ids_.at(seen.value)[0] & ~kMark);
  const Words all = entries(seen);
  std::vector<uint32_t> known = has_keys(seen) ? keys(seen) : std::vector<uint32_t>(all.begin(), all.end());
  if (!std::is_sorted(known.begin(), known.end())) std::sort(known.begin(), known.end());
  std::vector<uint32_t> out;
  std::set_difference(wanted.begin(), wanted.end(), known.begin(), known.end(), std::back_inserter(out));
  return out;
}

std::vector<std::string> DistinctRegister::missing(RegisterId seen) {
  std::vector<std::string> out;
  for (const uint32_t value : missing_values(seen)) out.push_back(values_[value].substr(1));
  return out;
}

bool DistinctRegister::may_close(RegisterId seen) {
  return n_values(seen) >= bounds(seen).minimum && missing_values(seen).empty();
}

void DistinctRegister::add_scalars(RegisterId seen, ScalarSet& out) const {
  std::vector<uint32_t> values;
  const auto add = [&](Words more) { values.insert(values.end(), more.begin(), more.end()); };
  const auto add_node = [&](uint32_t node) {
    for (; node != kNothingYet; node = nodes_[node].parent) values.push_back(node_ids_.at(node)[2]);
  };
  while (seen != none() && !is_unknown(seen)) {
    for (const std::string& name : bounds(seen).required) out.add('"' + name);
    for (const SetMember& member : bounds(seen).members) {
      if (!member.is_class) out.add('"' + member.name);
    }
    if (is_item(seen)) {
      add_node(node(seen));
    } else if (is_again(seen)) {
      values.push_back(entries(seen)[1]);
    } else if (has_keys(seen)) {
      if (waiting(seen) != 0) values.push_back(waiting(seen) - 1);
      add(pairs(seen));
    } else {
      add(entries(seen));
    }
    if (!has_around(seen)) break;
    seen = around(seen);
  }
  std::unordered_set<uint32_t> known{kNew, kOther, kOnly};
  while (!values.empty()) {
    const uint32_t value = values.back();
    values.pop_back();
    if (!known.insert(value).second) continue;
    const std::string& kept = values_[value];
    if (!is_composite(kept)) {
      out.add(kept);
      continue;
    }
    const std::vector<uint32_t> words = words_in(kept);
    if (is_item_value(kept)) {
      add_node(words[0]);
    } else {
      add(words);
    }
  }
}

uint32_t DistinctRegister::bytes_to_close(RegisterId seen) {
  if (seen == none() || is_unknown(seen)) return 0;
  // Quotes, a comma, and of a key also what follows it.
  constexpr uint32_t kBeside = 3;
  const uint32_t beside = has_keys(seen) ? kBeside + 2 : kBeside;
  const std::vector<std::string> names = missing(seen);
  size_t bytes = 0;
  for (const std::string& name : names) bytes += name.size() + beside;
  const size_t n_coming = n_values(seen) + names.size();
  if (bounds(seen).minimum > n_coming) bytes += (bounds(seen).minimum - n_coming) * beside;
  return static_cast<uint32_t>(std::min<size_t>(bytes, kNoLength));
}

RegexId DistinctRegister::missing_lexemes(RegisterId seen, TextId text) {
  const bool asks = seen != none() && !is_unknown(seen) && !bounds(seen).required.empty();
  if (!asks || !is_spelled(text)) return RegexStore::nothing();
  RegexId left = regexes_.json_string(regexes_.key_set(missing(seen)), JsonEscapes::kAny);
  for (const char b : spelled(text)) left = regexes_.derivative(left, static_cast<uint8_t>(b));
  return left;
}

RegexId DistinctRegister::addable(RegexId regex, RegisterId seen, Step step) {
  if (is_item(seen) && step.ways == kUnbounded && !is_list(seen) && !copies(seen)) return regex;
  const uint64_t key = (uint64_t{is_item(seen) || is_members(seen) ? step.place : regex.value} << 32) | seen.value;
  if (auto known = addable_.find(key)) return RegexId(*known);
  RegexId left = compute_addable(regex, seen, step);
  if (regexes_.is_empty(left)) left = RegexStore::nothing();
  addable_.insert(key, left.value);
  return left;
}

const DistinctRegister::KeyNumbers& DistinctRegister::key_numbers(uint32_t list, bool are_strings) {
  if (const auto known = key_numbers_.find({list, are_strings}); known != key_numbers_.end()) return known->second;
  KeyNumbers keys;
  regexes_.for_each_in_list(list, [&](uint32_t number, std::string_view key) {
    if (keys.values.size() <= number) keys.values.resize(number + 1, kNew);
    keys.values[number] = intern_value(are_strings ? '"' + std::string(key) : value_of(key));
    keys.numbers.emplace(keys.values[number], number);
  });
  // Entered when it is whole: an allocation that fails leaves no half-made list behind.
  return key_numbers_.emplace(std::pair(list, are_strings), std::move(keys)).first->second;
}

std::vector<uint32_t> DistinctRegister::numbers_of(const KeyNumbers& keys, std::span<const uint32_t> values) {
  std::vector<uint32_t> out;
  for (const uint32_t value : values) {
    if (const auto found = keys.numbers.find(value); found != keys.numbers.end()) out.push_back(found->second);
  }
  return out;
}

RegisterId DistinctRegister::add_key(RegisterId seen, uint32_t list, bool are_strings, uint32_t number) {
  const KeyNumbers& keys = key_numbers(list, are_strings);
  std::vector<const KeyNumbers*>& lists = lists_of_[seen_ids_.at(seen.value)[0]];
  if (std::find(lists.begin(), lists.end(), &keys) == lists.end()) lists.push_back(&keys);
  return add_value(seen, keys.values[number]);
}

RegexId DistinctRegister::missing_keys(RegisterId seen, RegexId keys) {
  if (seen == none() || is_unknown(seen) || bounds(seen).required.empty()) return RegexStore::nothing();
  const bool are_strings = regexes_.kind(keys) == RegexKind::kJsonString;
  const KeyNumbers& known = key_numbers(regexes_.list_of(keys), are_strings);
  return regexes_.only_numbers(keys, numbers_of(known, missing_values(seen)));
}

// Once only the required ones have room, no others may come.
RegexId DistinctRegister::addable_keys(RegexId keys, RegisterId seen) {
  const bool are_strings = regexes_.kind(keys) == RegexKind::kJsonString;
  const KeyNumbers& known = key_numbers(regexes_.list_of(keys), are_strings);
  const uint32_t maximum = bounds(seen).maximum;
  if (maximum != kUnbounded) {
    const std::vector<uint32_t> needed = missing_values(seen);
    if (n_values(seen) + needed.size() >= maximum) return regexes_.only_numbers(keys, numbers_of(known, needed));
  }
  return regexes_.without_numbers(keys, numbers_of(known, entries(seen)));
}

RegexId DistinctRegister::compute_addable(RegexId regex, RegisterId seen, Step step) {
  if (regexes_.is_numbered(regex)) return addable_keys(regex, seen);
  if (copies(seen)) {
    if (may_be_any(seen)) return regex;
    if (is_again(seen)) return intersect(regex, unwanted(around(seen)));
    const bool is_key = has_keys(seen) && waiting(seen) == 0;
    if (is_key && !are_strings(regex))
      return regexes_.intersection({regex, keys_of(unwanted_of(next_copied(seen, step.place)))});
    return intersect(regex, unwanted_of(next_copied(seen, step.place)));
  }
  if (is_item(seen)) return subtract(regex, unwanted_of(exhausted(seen, step)));
  const uint32_t maximum = bounds(seen).maximum;
  const bool is_behind_key = has_keys(seen) && waiting(seen) != 0;
  if (maximum != kUnbounded && !is_behind_key) {
    const std::vector<std::string> needed = missing(seen);
    if (n_values(seen) + needed.size() >= maximum) {
      const RegexId only = regexes_.json_string(regexes_.key_set(needed), JsonEscapes::kAny);
      regex = regexes_.intersection({regex, only});
    }
  }
  if (is_members(seen)) {
    const auto keys = exhausted_keys(seen, step.place);
    if (!keys) return RegexStore::nothing();
    regex = subtract(regex, unwanted_of(*keys));
  }
  return subtract(regex, unwanted(seen));
}

bool DistinctRegister::is_addable_beside_new(RegexId regex, RegisterId seen, Step step) {
  const RegexId left = addable(regex, seen, step);
  if (left == RegexStore::nothing()) return false;
  return !is_overapproximate(seen) || (!is_value(seen) && has_values_at_sight(left));
}

// Whether there are two different values among the lexemes; true only where a short look tells: where lexemes that
// begin alike go on with different characters of strings or digits.
bool DistinctRegister::has_values_at_sight(RegexId lexemes) {
  constexpr int kFarthest = 64;
  for (int i = 0; i < kFarthest; ++i) {
    int n_differing = 0;
    RegexId next = RegexStore::nothing();
    ByteSet bytes = regexes_.first(lexemes);
    for (unsigned b = bytes.lowest(); !bytes.empty(); b = bytes.lowest()) {
      ByteSet same = regexes_.alike(lexemes, b);
      same &= bytes;
      bytes -= same;
      const RegexId after = regexes_.derivative(lexemes, b);
      // Escapes spell what other bytes do, 0 may have a minus sign, and strings of YAML may have quotes or none.
      same.remove('\\');
      if (same.empty() || regexes_.is_empty(after)) continue;
      next = after;
      same.remove('-');
      same.remove('"');
      n_differing += static_cast<int>(same.count());
      if (n_differing > 1) return true;
    }
    lexemes = next;
  }
  return false;
}

const DistinctRegister::Unwanted& DistinctRegister::unwanted(RegisterId seen) {
  if (auto known = unwanted_ids_.find(seen.value)) return unwanted_[*known];
  const Unwanted computed = unwanted_of(taken_by_others(seen));
  return unwanted_[insert_with(unwanted_ids_, seen.value, unwanted_, computed)];
}

DistinctRegister::Unwanted DistinctRegister::unwanted_of(const std::vector<uint32_t>& values) {
  std::vector<std::string> strings;
  std::vector<std::string> bare;
  std::vector<std::string> words;
  Numbers numbers;
  for (uint32_t id : values) {
    const std::string& value = values_[id];
    if (value.empty() || value == kNoSpelling || is_composite(value))
      continue;  // what is left of a composite may be another
    if (is_string(value)) {
      strings.push_back(value.substr(1));
      if (value_of(strings.back()) == value) bare.push_back(strings.back());
    } else if (is_number(value)) {
      numbers.add(value);
    } else {
      words.push_back(value);
    }
  }
  const RegexId others =
      regexes_.alternation({regexes_.key_set(std::move(words)), spellings_of(regexes_, std::move(numbers))});
  const bool are_bare = bare.size() == strings.size();
  const RegexId all = regexes_.key_set(std::move(strings));
  return {all, are_bare ? all : regexes_.key_set(std::move(bare)), others};
}

// Strings are told apart inside their quotes, where the tables for strings apply. What stands beside a string with
// quotes may be one without them: calls f(part, whether it does) for the parts of an alternation.
template <class F>
RegexId DistinctRegister::each_part(RegexId alternation, F f) {
  std::vector<RegexId> parts = regexes_.parts(alternation);
  const bool has_strings = std::any_of(parts.begin(), parts.end(), [&](RegexId part) { return are_strings(part); });
  for (RegexId& part : parts) part = f(part, has_strings && !are_strings(part));
  return regexes_.alternation(std::move(parts));
}

RegexId DistinctRegister::subtract(RegexId regex, const Unwanted& unwanted) {
  if (regexes_.kind(regex) == RegexKind::kAlternation) {
    return each_part(regex, [&](RegexId part, bool is_bare) {
      return subtract(is_bare ? without(part, unwanted.bare) : part, unwanted);
    });
  }
  if (regexes_.kind(regex) == RegexKind::kConcatenation) {
    const std::vector<RegexId> parts = regexes_.parts(regex);
    if (parts[1] == regexes_.literal(kAfterKey)) return regexes_.concatenation(subtract(parts[0], unwanted), parts[1]);
  }
  if (regexes_.kind(regex) == RegexKind::kJsonString) return regexes_.json_string_without(regex, unwanted.strings);
  if (regexes_.kind(regex) == RegexKind::kIntersection) {
    // Strings under a condition on their spelling.
    std::vector<RegexId> parts = regexes_.parts(regex);
    for (RegexId& part : parts) {
      if (regexes_.kind(part) != RegexKind::kJsonString) continue;
      part = regexes_.json_string_without(part, unwanted.strings);
      return regexes_.intersection(std::move(parts));
    }
  }
  const RegexId left = without(regex, unwanted.others);
  return may_be_bare(regex) ? without(left, unwanted.bare) : left;
}

// Whether some lexeme begins like no scalar of JSON: it is a string without quotes, such as `<parameter=name>`, or
// `name`, which begins like `null` by its first byte alone.
bool DistinctRegister::may_be_bare(RegexId regex) {
  ByteSet first = regexes_.first(regex);
  for (const std::string_view word : {"null", "true", "false"}) {
    const auto b = static_cast<uint8_t>(word.front());
    if (!first.has(b)) continue;
    if (regexes_.derivative(regex, b) != regexes_.literal(word.substr(1))) return true;
    first.remove(b);
  }
  for (const char b : std::string_view("\"-0123456789")) first.remove(static_cast<uint8_t>(b));
  return !first.empty();
}

bool DistinctRegister::are_strings(RegexId regex) {
  if (regexes_.kind(regex) == RegexKind::kJsonString) return true;
  if (regexes_.kind(regex) != RegexKind::kIntersection) return false;
  const std::vector<RegexId> parts = regexes_.parts(regex);
  return std::any_of(parts.begin(), parts.end(),
                     [&](RegexId part) { return regexes_.kind(part) == RegexKind::kJsonString; });
}

RegexId DistinctRegister::intersect(RegexId regex, const Unwanted& wanted) {
  if (regexes_.kind(regex) == RegexKind::kAlternation) {
    return each_part(regex, [&](RegexId part, bool is_bare) {
      return is_bare ? regexes_.intersection({part, regexes_.alternation({wanted.bare, wanted.others})})
                     : intersect(part, wanted);
    });
  }
  if (!are_strings(regex)) return regexes_.intersection({regex, wanted.others});
  return regexes_.intersection({regex, regexes_.json_string(wanted.strings, JsonEscapes::kAny)});
}

RegexId DistinctRegister::keys_of(const Unwanted& wanted) {
  const RegexId quoted = regexes_.json_string(wanted.strings, JsonEscapes::kAny);
  const RegexId colon = regexes_.repetition(regexes_.literal(kAfterKey), 0, 1);
  return regexes_.concatenation(regexes_.alternation({wanted.strings, quoted}), colon);
}

RegexId DistinctRegister::without(RegexId regex, RegexId unwanted) {
  if (unwanted == RegexStore::nothing()) return regex;
  return regexes_.intersection({regex, regexes_.complement(unwanted)});
}

}  // namespace cfgmask
