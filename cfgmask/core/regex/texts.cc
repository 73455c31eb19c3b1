// Texts: one, a set of them (keys), runs of consecutive ones of a list (a substring), and digits that are a multiple of
// a number. Tables and automata of texts stand beside the nodes, which are places in them.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "regex/regex.h"

namespace cfgmask {

namespace {

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

// The next eight bytes of a text, so that their order is that of the texts where they differ.
uint64_t head_of(std::string_view text) {
  std::array<uint8_t, 8> bytes{};
  std::memcpy(bytes.data(), text.data(), std::min(text.size(), bytes.size()));
  uint64_t head = 0;
  for (uint8_t byte : bytes) head = (head << 8) | byte;
  return head;
}

// Sorts by texts, of which lists of thousands mostly have a beginning in common and differ soon behind it.
template <class T, class F>
void sort_by_text(std::vector<T>& items, F text_of) {
  constexpr size_t kFew = 64;
  const auto less = [&](const T& a, const T& b) { return text_of(a) < text_of(b); };
  if (items.size() < kFew) return std::sort(items.begin(), items.end(), less);
  std::string_view common = text_of(items[0]);
  for (const T& item : items) {
    const std::string_view text = text_of(item);
    const auto [end, other] = std::mismatch(common.begin(), common.end(), text.begin(), text.end());
    common = common.substr(0, static_cast<size_t>(end - common.begin()));
  }
  std::vector<std::pair<uint64_t, uint32_t>> order;
  order.reserve(items.size());
  for (const T& item : items)
    order.emplace_back(head_of(text_of(item).substr(common.size())), static_cast<uint32_t>(order.size()));
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return a.first == b.first ? less(items[a.second], items[b.second]) : a.first < b.first;
  });
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const auto& [head, at] : order) sorted.push_back(std::move(items[at]));
  items = std::move(sorted);
}

}  // namespace

RegexId RegexStore::literal(std::string_view data) {
  if (data.empty()) return empty_text();
  if (data.size() == 1) {
    ByteSet one;
    one.add(static_cast<uint8_t>(data[0]));
    return bytes(one);
  }
  return key_set({std::string(data)});
}

RegexId RegexStore::key_set(std::vector<std::string> keys) {
  sort_by_text(keys, [](const std::string& key) { return std::string_view(key); });
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

// Sorted, so a key stands right before one that it begins.
bool RegexStore::is_prefix_free_set(Words set) const {
  const KeyTable& keys = *key_tables_[set[0]];
  for (uint32_t i = set[1] + 1; i < set[2]; ++i) {
    if (keys[i].starts_with(keys[i - 1])) return false;
  }
  return true;
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

uint32_t RegexStore::number_keys(std::vector<NumberedKey> keys) {
  sort_by_text(keys, [](const NumberedKey& key) { return std::string_view(key.key); });
  NumberedTable made;
  for (NumberedKey& key : keys) {
    if (key.number >= made.places.size()) made.places.resize(key.number + 1, NumberedTable::kNoPlace);
    made.places[key.number] = static_cast<uint32_t>(made.keys.size());
    made.numbers.push_back(key.number);
    made.keys.push_back(std::move(key.key));
  }
  std::vector<uint32_t> words = words_of(made.keys);
  words.insert(words.end(), made.numbers.begin(), made.numbers.end());
  const auto [list, is_new] = numbered_table_ids_.intern(words);
  if (is_new) {
    charge(words.size());
    for (const std::string& key : made.keys) key_table_bytes_ += sizeof(key) + key.capacity() + 2 * sizeof(uint32_t);
    numbered_tables_.push_back(std::make_unique<const NumberedTable>(std::move(made)));
  }
  return list;
}

uint32_t RegexStore::n_numbers(RegexId node) const {
  if (!is_numbered(node)) return 1;
  if (kind(node) == RegexKind::kJsonString) node = json_body(node);
  return static_cast<uint32_t>(numbered_tables_[operands(node)[0]]->places.size());
}

// Bounds are drawn as near as they can be, so that equal keys are one node wherever they were narrowed from.
RegexId RegexStore::numbered(uint32_t list, uint32_t low, uint32_t high, uint32_t depth, uint32_t from, uint32_t to) {
  const NumberedTable& table = *numbered_tables_[list];
  high = std::min(high, static_cast<uint32_t>(table.keys.size()));
  to = std::min(to, static_cast<uint32_t>(table.places.size()));
  uint32_t node[] = {list, UINT32_MAX, 0, depth, UINT32_MAX, 0};
  for_each_place(table, low, high, from, to, [&](uint32_t place) {
    node[1] = std::min(node[1], place);
    node[2] = std::max(node[2], place + 1);
    node[4] = std::min(node[4], table.numbers[place]);
    node[5] = std::max(node[5], table.numbers[place] + 1);
  });
  return node[2] == 0 ? nothing() : intern(RegexKind::kNumberedKeys, node);
}

std::optional<RegexStore::OnlyKey> RegexStore::only_key(RegexId node) {
  if (kind(node) == RegexKind::kJsonString) {
    auto only = only_key(json_body(node));
    if (only) only->rest = json_with_body(node, only->rest);
    return only;
  }
  const Words o = operands(node);
  const uint32_t place = o[1];
  const uint32_t depth = o[3];
  if (place + 1 != o[2]) return std::nullopt;
  const NumberedTable& table = *numbered_tables_[o[0]];
  if (table.keys[place].size() == depth) return OnlyKey{table.numbers[place], empty_text()};
  const uint32_t rest[] = {operands(key_set({table.keys[place]}))[0], 0, 1, depth};
  return OnlyKey{table.numbers[place], intern(RegexKind::kKeySet, rest)};
}

RegexId RegexStore::derive_numbered_keys(RegexId node, unsigned b) {
  const Words o = operands(node);
  const KeyTable& keys = numbered_tables_[o[0]]->keys;
  const size_t depth = o[3];
  const auto byte_at = [depth](const std::string& key) { return static_cast<uint8_t>(key[depth]); };
  const auto low = keys.begin() + o[1] + (nullable(node) ? 1 : 0);  // the key that ends here sorts first
  const auto high = keys.begin() + o[2];
  const auto from =
      std::lower_bound(low, high, b, [&](const std::string& key, unsigned c) { return byte_at(key) < c; });
  const auto to = std::upper_bound(from, high, b, [&](unsigned c, const std::string& key) { return c < byte_at(key); });
  return numbered(o[0], static_cast<uint32_t>(from - keys.begin()), static_cast<uint32_t>(to - keys.begin()),
                  static_cast<uint32_t>(depth + 1), o[4], o[5]);
}

RegexId RegexStore::ended_key(RegexId node) {
  const Words o = operands(node);
  return nullable(node) ? numbered(o[0], o[1], o[1] + 1, o[3], o[4], o[5]) : nothing();
}

// The place of what is left of a set of keys, numbered or not, is found once for all of the bytes.
RegexId RegexStore::keys_after(RegexId node, std::string_view text) {
  const Words o = operands(node);
  const bool is_numbered = kind(node) == RegexKind::kNumberedKeys;
  const KeyTable& keys = is_numbered ? numbered_tables_[o[0]]->keys : *key_tables_[o[0]];
  const size_t depth = o[3];
  const auto beginning = [&](const std::string& key) { return std::string_view(key).substr(depth, text.size()); };
  const auto low = keys.begin() + o[1];
  const auto high = keys.begin() + o[2];
  const auto from =
      std::lower_bound(low, high, text, [&](const std::string& key, std::string_view t) { return beginning(key) < t; });
  const auto to = std::upper_bound(from, high, text,
                                   [&](std::string_view t, const std::string& key) { return t < beginning(key); });
  const auto first = static_cast<uint32_t>(from - keys.begin());
  const auto last = static_cast<uint32_t>(to - keys.begin());
  const auto read = static_cast<uint32_t>(depth + text.size());
  if (is_numbered) return numbered(o[0], first, last, read, o[4], o[5]);
  if (from == to) return nothing();
  if (to - from == 1 && from->size() == read) return empty_text();
  const uint32_t left[] = {o[0], first, last, read};
  return intern(RegexKind::kKeySet, left);
}

uint32_t RegexStore::shortest_key(RegexId node) const {
  if (kind(node) == RegexKind::kNumberedKeys) {
    uint32_t least = UINT32_MAX;
    for_each_number(node, [&](uint32_t, uint32_t length) { least = std::min(least, length); });
    return least;
  }
  const Words o = operands(node);
  const KeyTable& table = *key_tables_[o[0]];
  size_t least = SIZE_MAX;
  for (size_t i = o[1]; i < o[2]; ++i) least = std::min(least, table[i].size() - o[3]);
  return static_cast<uint32_t>(least);
}

uint32_t RegexStore::longest_key(RegexId node) const {
  if (kind(node) == RegexKind::kNumberedKeys) {
    uint32_t most = 0;
    for_each_number(node, [&](uint32_t, uint32_t length) { most = std::max(most, length); });
    return most;
  }
  const Words o = operands(node);
  const KeyTable& table = *key_tables_[o[0]];
  size_t most = 0;
  for (size_t i = o[1]; i < o[2]; ++i) most = std::max(most, table[i].size() - o[3]);
  return static_cast<uint32_t>(most);
}

RegexId RegexStore::substring(const std::vector<std::string>& chunks) {
  const std::vector<uint32_t> words = words_of(chunks);
  auto automaton = automaton_ids_.find(words);
  if (!automaton) {
    charge(words.size());
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

std::span<const SubstringAutomaton::Edge> RegexStore::substring_edges(RegexId node) const {
  const Words o = operands(node);
  return automata_[o[0]]->edges(o[1]).subspan(o[2], o[3] - o[2]);
}

bool RegexStore::are_keys_within(RegexId node, RegexId one) {
  const Words o = operands(node);
  const auto is_key_within = [&](const std::string& key) {
    RegexId rest = one;  // of a character
    for (size_t i = o[3]; i < key.size(); ++i) {
      rest = derivative(rest, static_cast<uint8_t>(key[i]));
      if (rest == empty_text()) rest = one;
    }
    return rest == one;
  };
  const KeyTable& table = *key_tables_[o[0]];
  return std::all_of(table.begin() + o[1], table.begin() + o[2], is_key_within);
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

RegexId RegexStore::divisible(uint32_t modulus, uint32_t remainder) {
  const uint32_t node[] = {modulus, remainder};
  return intern(RegexKind::kDivisible, node);
}

}  // namespace cfgmask
