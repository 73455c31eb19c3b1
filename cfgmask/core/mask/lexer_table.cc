#include "mask/lexer_table.h"

#include <algorithm>

#include "mask/counted_table.h"
#include "mask/difference_table.h"
#include "mask/exit_trie.h"
#include "mask/segment_walk.h"
#include "mask/table_walk.h"
#include "mask/text_walk.h"
#include "regex/minimum_length.h"

namespace cfgmask {

namespace {

// What is compared with each new length, far less than the walks that it spares.
constexpr size_t kFewListed = 128;

}  // namespace

void LexerTable::write_inside(std::span<uint32_t> out) const {
  if (!bits_.empty()) {
    copy_words(bits_, out);
    return;
  }
  if (base_ != nullptr) {
    base_->write_inside(out);
  } else {
    clear_words(out);
  }
  for (TokenId token : less_) clear_bit(out, token);
  for (TokenId token : more_) set_bit(out, token);
}

void LexerTable::add_inside(const FewTokens& few, std::vector<TokenId>& out) const {
  if (!bits_.empty()) return add_set(bits_, few, out);
  const auto first = static_cast<ptrdiff_t>(out.size());
  if (base_ != nullptr) base_->add_inside(few, out);
  if (out.begin() + first != out.end()) {
    for (TokenId token : less_) out.erase(std::remove(out.begin() + first, out.end(), token), out.end());
  }
  add_common(more_, few, out);
}

std::vector<LexerTable::Range> united(std::span<const LexerTable::Range> a, std::span<const LexerTable::Range> b) {
  std::vector<LexerTable::Range> all(a.size() + b.size());
  const auto by_first = [](const LexerTable::Range& x, const LexerTable::Range& y) { return x.first < y.first; };
  std::merge(a.begin(), a.end(), b.begin(), b.end(), all.begin(), by_first);
  size_t n = 0;
  for (const LexerTable::Range& range : all) {
    if (n > 0 && range.first <= all[n - 1].last) {
      all[n - 1].last = std::max(all[n - 1].last, range.last);
    } else {
      all[n++] = range;
    }
  }
  all.resize(n);
  return all;
}

namespace {

// Whether so many exits have so little below them that equal texts are worth finding. Below the exits of a number
// stands the whole vocabulary, but most of that is left at its first byte.
bool is_worth_joining(std::span<const LexerTable::Exit> exits) {
  constexpr size_t kManyExits = 16;
  constexpr size_t kMostNodes = 8'192;
  size_t n_nodes = 0;
  for (const LexerTable::Exit& exit : exits) n_nodes += exit.last - exit.first;
  return exits.size() >= kManyExits && n_nodes <= kMostNodes;
}

}  // namespace

LexerTables::LexerTables(std::shared_ptr<const Trie> trie, size_t n_words, RegexStore& regexes, Lexer& lexer)
    : trie_(std::move(trie)),
      n_words_(n_words),
      regexes_(regexes),
      lexer_(lexer),
      segment_answers_(std::make_unique<SegmentAnswers>(*trie_, regexes, lexer)),
      walk_memory_(std::make_unique<TableWalkMemory>()) {}

LexerTables::~LexerTables() = default;

LexerTable::Essence::Essence(const LexerTable& table) : table_(&table) {
  while (table_->is_of_base() && table_->n_listed() == 0) {
    if (renamed_ == Lexer::no_slots()) renamed_ = table_->renamed_;
    table_ = table_->base_.get();
  }
}

// Near a bound the lists of one length are mostly those of the next.
bool LexerTable::Essence::is_like(const Essence& other) const {
  const LexerTable& a = *table_;
  const LexerTable& b = *other.table_;
  if (renamed_ != other.renamed_) return false;
  if (&a == &b) return true;
  if (!a.is_of_base() || !b.is_of_base() || a.n_listed() > kFewListed || a.renamed_ != b.renamed_) return false;
  const Essence base_of_a(*a.base_);
  const Essence base_of_b(*b.base_);
  return base_of_a.table_ == base_of_b.table_ && base_of_a.renamed_ == base_of_b.renamed_ && a.more_ == b.more_ &&
         a.less_ == b.less_ && a.exits_ == b.exits_ && a.replaced_ == b.replaced_;
}

uint64_t LexerTable::Essence::hash() const {
  uint64_t found = renamed_.value;
  const auto add = [&](uint64_t word) { found = mix(found ^ word); };
  const auto add_table = [&](const LexerTable* table) { add(reinterpret_cast<uintptr_t>(table)); };
  const LexerTable& table = *table_;
  if (!table.is_of_base() || table.n_listed() > kFewListed) {
    add_table(table_);
    return found;
  }
  add_table(Essence(*table.base_).table_);
  for (const auto* tokens : {&table.more_, &table.less_}) {
    add(tokens->size());
    for (TokenId token : *tokens) add(token);
  }
  for (const Exit& exit : table.exits_) add(exit.first);
  for (const Range& range : table.replaced_) add(range.first);
  return found;
}

std::shared_ptr<const LexerTable> LexerTables::get(LexerStateId state) {
  if (const auto known = tables_.find(state.value)) return *known;
  std::shared_ptr<const LexerTable> table = make(state);
  tables_.add(state.value, table);
  return table;
}

std::shared_ptr<const LexerTable> LexerTables::make(LexerStateId state) {
  if (auto table = texts(state)) return ++made_.texts, table;
  segment_answers_->begin_walk();
  const bool is_inside = !lexer_.is_boundary(state);
  if (is_inside) {
    if (auto table = renamed(state)) return ++made_.renamed, table;
    if (auto table = counted(state)) return ++made_.counted, table;
    if (auto table = bounded(state)) return ++made_.bounded, table;
    if (auto table = some_bounded(state)) return ++made_.bounded, table;
  }
  if (auto table = difference(state)) return ++made_.difference, table;
  if (is_inside) {
    if (auto table = clipped(state)) return ++made_.clipped, table;
  }
  if (is_inside && takes_long_walk(state)) {
    if (auto table = patched(state)) return ++made_.patched, table;
    walked_[n_walked_++ % walked_.size()] = state;
  }
  ++made_.walked;
  return walk(state);
}

bool LexerTables::takes_long_walk(LexerStateId state) const {
  return trie_->n_nodes_of(lexer_.first(state)) >= kLongWalk;
}

std::shared_ptr<const LexerTable> LexerTables::apart(LexerStateId state) {
  if (const auto known = tables_apart_.find(state.value)) return *known;
  const auto table = std::make_shared<const LexerTable>(apart(state, nullptr));
  tables_apart_.add(state.value, table);
  return table;
}

template <class Walk>
std::shared_ptr<const LexerTable> LexerTables::of_siblings(RecentValues<LexerTable>& all, LexerStateId state,
                                                           uint32_t first, uint32_t last, Walk walk) {
  const uint64_t key = (uint64_t{first} << 32) | state.value;
  const auto known = all.find(key);
  if (known && (*known)->last_ == last) return *known;
  segment_answers_->begin_walk();
  auto table = std::make_shared<LexerTable>();
  walk(table_walk(*table));
  table->last_ = last;
  settle(*table);
  if (!known) all.add(key, table);
  return table;
}

std::shared_ptr<const LexerTable> LexerTables::apart(LexerStateId state, uint32_t first, uint32_t last,
                                                     const Segment& segment) {
  return of_siblings(tables_apart_, state, first, last,
                     [&](TableWalk walk) { walk.run_apart(state, first, last, segment); });
}

std::shared_ptr<const LexerTable> LexerTables::part(LexerStateId state, uint32_t first, uint32_t last,
                                                    const Segment& segment) {
  return of_siblings(parts_, state, first, last, [&](TableWalk walk) { walk.run(state, first, last, segment); });
}

LexerTable LexerTables::apart(LexerStateId state, const std::function<bool(LexerStateId)>& may_end) {
  segment_answers_->begin_walk();
  LexerTable table;
  table_walk(table).run_apart(state, may_end);
  settle(table);
  return table;
}

TableWalk LexerTables::table_walk(LexerTable& table) {
  return TableWalk(*trie_, n_words_, lexer_, *segment_answers_, *walk_memory_, table);
}

std::shared_ptr<const LexerTable> LexerTables::walk(LexerStateId state) {
  auto table = std::make_shared<LexerTable>();
  table_walk(*table).run(state);
  settle(*table);
  return table;
}

// Keys and listed values.
std::shared_ptr<const LexerTable> LexerTables::texts(LexerStateId state) {
  LexerTable table;
  if (!TextWalk(*trie_, regexes_, lexer_, table).run(state)) return nullptr;
  settle(table);
  return std::make_shared<const LexerTable>(std::move(table));
}

// One residual in another slot: the table of the same residual in slot 0, its exits renamed. Not of numbered keys, of
// which each ends in a slot of its own.
std::shared_ptr<const LexerTable> LexerTables::renamed(LexerStateId state) {
  const Words live = lexer_.residuals(state);
  if (live.size() != 2 || live[0] == 0 || regexes_.is_numbered(RegexId(live[1]))) return nullptr;
  const uint32_t slot = live[0];
  auto table = std::make_shared<LexerTable>();
  table->base_ = get(lexer_.inside(0, RegexId(live[1])));
  table->exits_base_ = table->base_;
  table->renamed_ = lexer_.slot_set(slot);
  return table;
}

// A counted residual alone, such as JSON's "[^...]{0,40}: the unbounded one's table without the tokens that are too
// long.
std::shared_ptr<const LexerTable> LexerTables::counted(LexerStateId state) {
  const Words live = lexer_.residuals(state);
  if (live.size() != 2) return nullptr;
  const auto parts = regexes_.counted(RegexId(live[1]));
  if (!parts) return nullptr;
  auto table = std::make_shared<LexerTable>();
  table->base_ = get(lexer_.inside(0, parts->unbounded));
  if (take_far_bounds(*parts, *table)) return table;
  const auto counted = counted_table(parts->unbounded);
  counted->restrict(parts->minimum, parts->maximum, table->less_);
  if (counted->has_tail) {
    table->exits_base_ = table->base_;
    counted->restrict_exits(parts->minimum, parts->maximum, table->replaced_);
  } else {
    counted->set_exits(parts->minimum, parts->maximum, table->exits_);
  }
  settle(*table);
  return table;
}

// Bounds that no token reaches take no counts: all is as without them, but that the empty text may not do.
bool LexerTables::take_far_bounds(const RegexStore::Counted& parts, LexerTable& table) const {
  if (parts.maximum <= trie_->max_depth() || parts.minimum > 1) return false;
  table.exits_base_ = table.base_;
  if (parts.minimum == 0) return true;
  const ByteSet tail = regexes_.after_run(parts.unbounded);
  if (!tail.empty()) {
    drop_tops(tail, table);
    return true;
  }
  table.base_->for_each_exit([&](const LexerTable::Exit& exit) {
    if (trie_->is_top(exit.first)) table.replaced_.push_back({exit.first, exit.last});
  });
  return true;
}

// Nothing of the base that begins with these bytes holds.
void LexerTables::drop_tops(const ByteSet& first_bytes, LexerTable& table) const {
  std::vector<uint32_t> inside(n_words_);
  table.base_->write_inside(inside);
  trie_->for_each_top(first_bytes, [&](uint32_t node, const Segment&) {
    const uint32_t end = trie_->end(node);
    for (TokenId token : trie_->tokens_between(node, end)) {
      if (has_bit(inside, token)) table.less_.push_back(token);
    }
    auto& replaced = table.replaced_;
    if (!replaced.empty() && replaced.back().last == node) {
      replaced.back().last = end;
    } else {
      replaced.push_back({node, end});
    }
  });
}

std::shared_ptr<const CountedTable> LexerTables::counted_table(RegexId unbounded) {
  if (const auto known = counted_tables_.find(unbounded.value)) return *known;
  auto table = CountedTable::build(*trie_, lexer_, regexes_, unbounded);
  counted_tables_.add(unbounded.value, table);
  return table;
}

// A pattern beside bounds on the length, such as [a-z]+@[a-z]+ within 254 characters, or one that begins with such: the
// pattern's table, but for tokens that come near the bounds. Each position has other bounds and few have another
// pattern.
std::shared_ptr<const LexerTable> LexerTables::bounded(LexerStateId state) {
  // Below that many characters a text is everywhere too short.
  constexpr uint32_t kFewCharacters = 2;
  const Words live = lexer_.residuals(state);
  if (live.size() != 2) return nullptr;
  const auto bounds = regexes_.bounded(RegexId(live[1]));
  if (!bounds || bounds->maximum < add_lengths(bounds->farthest, RegexStore::kNearBound)) return nullptr;
  const bool in_json = regexes_.kind(bounds->without) == RegexKind::kJsonString;
  if (bounds->minimum > kFewCharacters && !(bounds->grows && in_json)) return nullptr;
  const Room room{bounds->minimum, bounds->maximum, bounds->farthest, bounds->grows, in_json};
  const LexerStateId base = lexer_.inside(live[0], bounds->without);
  auto table = std::make_shared<LexerTable>();
  table->base_ = get(base);
  table->exits_base_ = table->base_;
  DifferenceWalk(*trie_, n_words_, regexes_, lexer_, *segment_answers_, *table, room).run(state, base);
  settle(*table);
  return table;
}

// A few residuals, of which some have bounds that no token reaches, as a plain scalar of YAML within 400 characters
// beside a key.
std::shared_ptr<const LexerTable> LexerTables::some_bounded(LexerStateId state) {
  const LexerStateId base = lexer_.without_far_bounds(state);
  if (base == state) return nullptr;
  auto table = std::make_shared<LexerTable>();
  table->base_ = get(base);
  table->exits_base_ = table->base_;
  return table;
}

// Property names that are told apart from all other names, and the like: one residual takes nearly everything, and is a
// known one but for a few texts. Only the part of the trie where the two differ is walked.
std::shared_ptr<const LexerTable> LexerTables::difference(LexerStateId state) {
  const auto simpler = simpler_state(regexes_, lexer_, state);
  if (!simpler) return nullptr;
  auto table = std::make_shared<LexerTable>();
  table->base_ = get(simpler->state);
  table->exits_base_ = table->base_;
  DifferenceWalk(*trie_, n_words_, regexes_, lexer_, *segment_answers_, *table).run(state, simpler->state);
  settle(*table);
  return table;
}

// The bytes that do not the same to both: lead to other states, or end other lexemes. nullopt if more nodes begin so.
std::optional<ByteSet> LexerTables::told_apart(LexerStateId a, LexerStateId b, uint32_t most_nodes) {
  const bool same_end = lexer_.matched(a) == lexer_.matched(b);
  ByteSet taken = lexer_.first(a);
  taken |= lexer_.first(b);
  ByteSet found = same_end ? ByteSet() : taken.complement();
  uint32_t n_nodes = trie_->n_nodes_of(found);
  for (unsigned byte = taken.lowest(); byte < 256 && n_nodes <= most_nodes; taken.remove(byte), byte = taken.lowest()) {
    const LexerStateId next = lexer_.next_of_many(a, byte);
    if (next == lexer_.next_of_many(b, byte) && (next != Lexer::dead() || same_end)) continue;
    found.add(byte);
    n_nodes += trie_->n_nodes_of(byte);
  }
  if (n_nodes > most_nodes) return std::nullopt;
  return found;
}

// A state that most bytes lead from to where they lead from another, whose tokens were walked: as inside of a name, or
// of a part of an address, beside its beginning. Only what begins with the other bytes is walked.
std::shared_ptr<const LexerTable> LexerTables::patched(LexerStateId state) {
  const uint32_t n_nodes = trie_->n_nodes_of(lexer_.first(state));
  for (size_t i = std::min(n_walked_, walked_.size()); i-- > 0;) {
    const auto base = tables_.find(walked_[i].value);
    if (!base) continue;
    const auto differs = told_apart(state, walked_[i], n_nodes / 2);
    if (!differs) continue;
    auto table = std::make_shared<LexerTable>();
    table->base_ = *base;
    table->exits_base_ = *base;
    drop_tops(*differs, *table);
    table_walk(*table).run(state, *differs);
    settle(*table);
    return table;
  }
  return nullptr;
}

size_t LexerTables::bytes() const {
  return tables_.bytes() + tables_apart_.bytes() + parts_.bytes() + counted_tables_.bytes() + common_tables_.bytes() +
         segment_answers_->bytes();
}

// A residual with far bounds in it, such as .{0,5000} & (\S+\s+){0,99}\S+: they are as good as none as long as no token
// gets there, and then all its residuals but for counts have one table.
std::shared_ptr<const LexerTable> LexerTables::clipped(LexerStateId state) {
  const Words live = lexer_.residuals(state);
  if (live.size() != 2) return nullptr;
  // Twice the longest token: what follows it must have room as well.
  const auto bounds = regexes_.clipped(RegexId(live[1]), 2 * static_cast<uint32_t>(trie_->max_depth()));
  return bounds ? common_table(bounds->smaller, bounds->larger) : nullptr;
}

// The table of all residuals whose language lies between the two; null if that is not one. With the language grow the
// nodes that stay inside, so if they are equally many, they are the same; and then only whether a lexeme is complete
// where it cannot go on is left to compare.
std::shared_ptr<const LexerTable> LexerTables::common_table(RegexId smaller, RegexId larger) {
  const uint64_t key = (uint64_t{smaller.value} << 32) | larger.value;
  if (const auto known = common_tables_.find(key)) return *known;
  auto table = std::make_shared<LexerTable>();
  LexerTable other;
  const size_t n_larger = table_walk(*table).run(lexer_.inside(0, larger));
  const size_t n_smaller = table_walk(other).run(lexer_.inside(0, smaller));
  const bool common = n_larger == n_smaller && table->exits_ == other.exits_;
  if (common) {
    settle(*table);
  } else {
    table = nullptr;
  }
  common_tables_.add(key, table);
  return table;
}

// Chooses the smaller form, or for a table that others are based on the faster one: a bit set by itself takes as long
// as eight words that are copied.
void LexerTables::settle(LexerTable& table) const {
  const size_t most = table.base_ == nullptr ? n_words_ / 8 : n_words_;
  if (!table.bits_.empty()) {
    for (TokenId token : table.more_) set_bit(table.bits_, token);
    table.more_ = {};
  } else if (table.more_.size() + table.less_.size() > most) {
    std::vector<uint32_t> bits(n_words_);
    table.write_inside(bits);
    table.bits_ = std::move(bits);
    table.base_.reset();
    table.more_ = {};
    table.less_ = {};
  }
  table.more_.shrink_to_fit();
  table.less_.shrink_to_fit();
  table.exits_.shrink_to_fit();
  table.exit_states_.shrink_to_fit();
  table.replaced_.shrink_to_fit();
}

const ExitTrie* LexerTables::below_exits(const LexerTable& table) {
  if (table.n_walks_ < kManyWalks && ++table.n_walks_ == kManyWalks && is_worth_joining(table.exits_)) {
    table.below_exits_ = std::make_shared<const ExitTrie>(*trie_, table.exits_);
    tables_.charge(table.below_exits_->bytes());
  }
  return table.below_exits_.get();
}

void LexerTables::trim(size_t max_bytes) {
  tables_.free_some();
  tables_apart_.free_some();
  parts_.free_some();
  counted_tables_.free_some();
  common_tables_.free_some();
  if (segment_answers_->bytes() > max_bytes / 8) segment_answers_->clear();
  const size_t young = tables_.young_bytes() + tables_apart_.young_bytes() + parts_.young_bytes() +
                       counted_tables_.young_bytes() + common_tables_.young_bytes();
  // There may be an older generation as large, and one that is being freed.
  if (young <= max_bytes / 4) return;
  tables_.age();
  tables_apart_.age();
  parts_.age();
  counted_tables_.age();
  common_tables_.age();
}

}  // namespace cfgmask
