// Texts: one, a set of them (keys), runs of consecutive ones of a list (a substring), and decimals that are multiples
// of numbers. Tables and automata of texts stand beside the nodes, which are places in them.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "regex/key_list.h"
#include "regex/regex.h"
#include "regex/text_order.h"
#include "util/in_step.h"

namespace cfgmask {

namespace {

void sort_distinct(std::vector<std::string_view>& texts) {
  sort_by_text(texts, [](std::string_view text) { return text; });
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
}

}  // namespace

RegexId RegexStore::literal(std::string_view data) {
  if (data.empty()) return empty_text();
  if (data.size() == 1) {
    ByteSet one;
    one.add(static_cast<uint8_t>(data[0]));
    return bytes(one);
  }
  return key_set(std::vector<std::string_view>{data});
}

RegexId RegexStore::key_set(std::vector<std::string_view> keys) {
  if (keys.empty()) return nothing();
  sort_distinct(keys);
  return keys_of_table(key_tables_.intern(KeyTable::words_of(keys)).first);
}

RegexId RegexStore::key_set(const std::shared_ptr<const KeyList>& keys) {
  return keys_of_table(intern_list(key_tables_, keys));
}

// Large ones stay where they are.
uint32_t RegexStore::intern_list(Interner& tables, const std::shared_ptr<const KeyList>& list) {
  constexpr size_t kLarge = 1'024;
  const Words words = list->words();
  if (const auto known = tables.find(words, list->hash())) return *known;
  charge(words.size());
  if (words.size() < kLarge) return tables.add(words, list->hash());
  kept_lists_.push_back(list);
  kept_bytes_ += words.size_bytes();
  return tables.add_kept(words, list->hash());
}

RegexId RegexStore::keys_of_table(uint32_t table) {
  const KeyTable keys = key_table(table);
  if (keys.size() == 1 && keys[0].empty()) return empty_text();
  const uint32_t node[] = {table, 0, keys.size(), 0};
  return intern(RegexKind::kKeySet, node);
}

std::shared_ptr<const KeyList> KeyList::of(std::vector<std::string_view> texts) {
  sort_distinct(texts);
  return std::make_shared<const KeyList>(KeyTable::words_of(texts));
}

// Sorted, so a key stands right before one that it begins.
bool RegexStore::is_prefix_free_set(Words set) const {
  const KeyTable keys = key_table(set[0]);
  for (uint32_t i = set[1] + 1; i < set[2]; ++i) {
    if (keys[i].starts_with(keys[i - 1])) return false;
  }
  return true;
}

RegexId RegexStore::derive_key_set(RegexId node, unsigned b) {
  const Words o = operands(node);
  const KeyTable table = key_table(o[0]);
  const uint32_t depth = o[3];
  const uint32_t low = o[1] + (table[o[1]].size() == depth ? 1 : 0);  // the key that ends here sorts first
  const auto [from, to] = table.with_byte(low, o[2], depth, b);
  if (from == to) return nothing();
  if (to - from == 1 && table[from].size() == depth + 1) return empty_text();
  const uint32_t rest[] = {o[0], from, to, depth + 1};
  return intern(RegexKind::kKeySet, rest);
}

std::shared_ptr<const KeyList> RegexStore::numbered_list(std::vector<NumberedKey> keys) {
  sort_by_text(keys, [](const NumberedKey& key) { return key.key; });
  std::vector<std::string_view> texts;
  std::vector<uint32_t> numbers;
  texts.reserve(keys.size());
  numbers.reserve(keys.size());
  for (const auto& [text, number] : keys) {
    texts.push_back(text);
    numbers.push_back(number);
  }
  return std::make_shared<const KeyList>(NumberedTable::words_of(texts, numbers));
}

uint32_t RegexStore::number_keys(const std::shared_ptr<const KeyList>& list) {
  return intern_list(numbered_tables_, list);
}

uint32_t RegexStore::n_numbers(RegexId node) const {
  if (!is_numbered(node)) return 1;
  if (kind(node) == RegexKind::kJsonString) node = json_body(node);
  return static_cast<uint32_t>(numbered_table(operands(node)[0]).places.size());
}

// Bounds are drawn as near as they can be, so that equal keys are one node wherever they were narrowed from.
RegexId RegexStore::numbered(uint32_t list, uint32_t low, uint32_t high, uint32_t depth, uint32_t from, uint32_t to,
                             uint32_t left_out) {
  const NumberedTable table = numbered_table(list);
  high = std::min(high, table.keys.size());
  to = std::min(to, static_cast<uint32_t>(table.places.size()));
  uint32_t node[] = {list, UINT32_MAX, 0, depth, UINT32_MAX, 0, kNoneLeftOut};
  for_each_place(table, low, high, from, to, left_out, [&](uint32_t place) {
    node[1] = std::min(node[1], place);
    node[2] = std::max(node[2], place + 1);
    node[4] = std::min(node[4], table.numbers[place]);
    node[5] = std::max(node[5], table.numbers[place] + 1);
  });
  if (node[2] == 0) return nothing();
  node[6] = left_out_within(left_out, node[1], node[2]);
  return intern(RegexKind::kNumberedKeys, node);
}

// Those of the places that are left out which are in [low, high).
uint32_t RegexStore::left_out_within(uint32_t left_out, uint32_t low, uint32_t high) {
  if (left_out == kNoneLeftOut) return kNoneLeftOut;
  const Words all = left_out_.at(left_out);
  const uint32_t first = low / 32;
  std::vector<uint32_t> within{first};
  uint32_t any = 0;
  for (uint32_t word = first; word <= (high - 1) / 32; ++word) {
    uint32_t bits = word >= all[0] && word - all[0] + 1 < all.size() ? all[word - all[0] + 1] : 0;
    if (word == first) bits &= UINT32_MAX << (low % 32);
    if (word == (high - 1) / 32) bits &= UINT32_MAX >> (31 - (high - 1) % 32);
    any |= bits;
    within.push_back(bits);
  }
  if (any == 0) return kNoneLeftOut;
  if (const auto known = left_out_.find(within)) return *known;
  charge(within.size());
  return left_out_.intern(within).first;
}

RegexId RegexStore::without_numbers(RegexId node, std::span<const uint32_t> numbers) {
  const NumberedTable table = numbered_table(list_of(node));
  std::vector<bool> left_out(table.keys.size(), false);
  for (uint32_t number : numbers) left_out[table.places[number]] = true;
  return with_left_out(node, left_out);
}

RegexId RegexStore::only_numbers(RegexId node, std::span<const uint32_t> numbers) {
  const NumberedTable table = numbered_table(list_of(node));
  std::vector<bool> left_out(table.keys.size(), true);
  for (uint32_t number : numbers) left_out[table.places[number]] = false;
  return with_left_out(node, left_out);
}

// Besides those that are left out already.
RegexId RegexStore::with_left_out(RegexId node, const std::vector<bool>& left_out) {
  if (kind(node) == RegexKind::kJsonString) {
    const RegexId body = with_left_out(json_body(node), left_out);
    return body == nothing() ? body : json_with_body(node, body);
  }
  const Words o = operands(node);
  std::vector<uint32_t> set(1 + (left_out.size() + 31) / 32, 0);
  for (uint32_t place = 0; place < left_out.size(); ++place) {
    if (left_out[place] || is_left_out(o[6], place)) set[1 + place / 32] |= 1U << (place % 32);
  }
  return numbered(o[0], o[1], o[2], o[3], o[4], o[5], left_out_.intern(set).first);
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
  const NumberedTable table = numbered_table(o[0]);
  if (table.keys[place].size() == depth) return OnlyKey{table.numbers[place], empty_text()};
  const uint32_t rest[] = {operands(key_set(std::vector<std::string_view>{table.keys[place]}))[0], 0, 1, depth};
  return OnlyKey{table.numbers[place], intern(RegexKind::kKeySet, rest)};
}

RegexId RegexStore::derive_numbered_keys(RegexId node, unsigned b) {
  const Words o = operands(node);
  const uint32_t depth = o[3];
  const uint32_t low = o[1] + (nullable(node) ? 1 : 0);  // the key that ends here sorts first
  const auto [from, to] = numbered_table(o[0]).keys.with_byte(low, o[2], depth, b);
  return numbered(o[0], from, to, depth + 1, o[4], o[5], o[6]);
}

RegexId RegexStore::ended_key(RegexId node) {
  const Words o = operands(node);
  return nullable(node) ? numbered(o[0], o[1], o[1] + 1, o[3], o[4], o[5], o[6]) : nothing();
}

// The place of what is left of a set of keys, numbered or not, is found once for all of the bytes.
RegexId RegexStore::keys_after(RegexId node, std::string_view text) {
  const Words o = operands(node);
  const bool is_numbered = kind(node) == RegexKind::kNumberedKeys;
  const KeyTable keys = is_numbered ? numbered_table(o[0]).keys : key_table(o[0]);
  const uint32_t depth = o[3];
  const auto beginning = [&](std::string_view key) { return key.substr(depth, text.size()); };
  const uint32_t from = keys.find(o[1], o[2], [&](std::string_view key) { return beginning(key) < text; });
  const uint32_t to = keys.find(from, o[2], [&](std::string_view key) { return beginning(key) == text; });
  const auto read = static_cast<uint32_t>(depth + text.size());
  if (is_numbered) return numbered(o[0], from, to, read, o[4], o[5], o[6]);
  if (from == to) return nothing();
  if (to - from == 1 && keys[from].size() == read) return empty_text();
  const uint32_t left[] = {o[0], from, to, read};
  return intern(RegexKind::kKeySet, left);
}

uint32_t RegexStore::shortest_key(RegexId node) const {
  if (kind(node) == RegexKind::kNumberedKeys) {
    uint32_t least = UINT32_MAX;
    for_each_number(node, [&](uint32_t, uint32_t length) { least = std::min(least, length); });
    return least;
  }
  const Words o = operands(node);
  const KeyTable table = key_table(o[0]);
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
  const KeyTable table = key_table(o[0]);
  size_t most = 0;
  for (size_t i = o[1]; i < o[2]; ++i) most = std::max(most, table[i].size() - o[3]);
  return static_cast<uint32_t>(most);
}

RegexId RegexStore::substring(const std::vector<std::string>& chunks) {
  const std::vector<uint32_t> words = KeyTable::words_of(std::vector<std::string_view>(chunks.begin(), chunks.end()));
  auto automaton = automaton_ids_.find(words);
  if (!automaton) {
    charge(words.size());
    auto made = std::make_unique<const SubstringAutomaton>(chunks);
    const size_t n_bytes = made->bytes();
    automaton = add_with(automaton_ids_, words, automata_, std::move(made));
    automaton_bytes_ += n_bytes;
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
  const auto is_key_within = [&](std::string_view key) {
    RegexId rest = one;  // of a character
    for (size_t i = o[3]; i < key.size(); ++i) {
      rest = derivative(rest, static_cast<uint8_t>(key[i]));
      if (rest == empty_text()) rest = one;
    }
    return rest == one;
  };
  const KeyTable table = key_table(o[0]);
  for (uint32_t i = o[1]; i < o[2]; ++i) {
    if (!is_key_within(table[i])) return false;
  }
  return true;
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

RegexId RegexStore::multiples(Words words) {
  auto table = multiples_ids_.find(words);
  if (!table) {
    charge(words.size());
    auto made = std::make_unique<const Multiples>(Multiples::of_words(words));
    const size_t n_bytes = made->bytes();
    table = add_with(multiples_ids_, words, multiples_, std::move(made));
    multiples_bytes_ += n_bytes;
  }
  return multiples_at(*table, multiples_[*table]->start());
}

RegexId RegexStore::multiples_at(uint32_t table, const std::optional<Multiples::Position>& position) {
  if (!position) return nothing();
  const uint32_t node[] = {
      table,          static_cast<uint32_t>(position->phase),     position->written,
      position->left, static_cast<uint32_t>(position->remainder), static_cast<uint32_t>(position->remainder >> 32)};
  return intern(RegexKind::kMultiples, node);
}

Multiples::Position RegexStore::position_of(Words o) {
  return {static_cast<Multiples::Position::Phase>(o[1]), o[2], o[3], uint64_t{o[5]} << 32 | o[4]};
}

}  // namespace cfgmask
