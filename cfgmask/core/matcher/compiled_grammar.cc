#include "matcher/compiled_grammar.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "mask/exit_trie.h"
#include "matcher/budget_masks.h"
#include "matcher/completion.h"

namespace cfgmask {

namespace {

// A configuration is so many words of a state's.
constexpr size_t kWords = 6;

// Where many tokens begin a lexeme or go on with one, their part of the trie has a table of its own, as all of it has:
// behind white space, half of a vocabulary may be names.
//
// Nodes below which a walk is cheaper than a table, and than the question whether there is a part of so many. (Over the
// texts of sql_select.lark: 941 million instructions with 512 below one node, 635 with 1,024 below its siblings as
// well, 619 with 512, 604 with 256 for both.)
constexpr uint32_t kLargePart = 256;
constexpr uint32_t kLargeRange = 4096;
// Nodes that begin with the bytes of a lexeme, if it may be a name; those of JSON's punctuation are fewer.
constexpr uint32_t kManyNodes = 16'384;

Configuration configuration(Words words, size_t i) {
  return {ItemSetId(words[i]),          LexerStateId(words[i + 1]),  TextId(words[i + 2]),
          SurroundingsId(words[i + 3]), IndentationId(words[i + 4]), words[i + 5]};
}

}  // namespace

CompiledGrammar::Guard::Guard(CompiledGrammar& grammar) : grammar_(grammar), lock_(grammar.store_->mutex) {
  grammar_.store_->regexes.charge_to(&grammar_.regex_account_);
  grammar_.store_->lexer.charge_to(&grammar_.lexer_account_);
}

CompiledGrammar::Guard::~Guard() {
  grammar_.store_->regexes.charge_to(nullptr);
  grammar_.store_->lexer.charge_to(nullptr);
}

template <class F>
void CompiledGrammar::for_each_account(F f) {
  for (Account* account : {&regex_account_, &lexer_account_, &position_account_}) f(*account);
  for (Account* account : parser_.accounts()) f(*account);
  f(surroundings_.account());
  f(indentation_.account());
}

CompiledGrammar::HalfKept::HalfKept(CompiledGrammar& grammar) : grammar_(grammar) {
  grammar_.for_each_account([](Account& account) { account.keep_half(); });
}

CompiledGrammar::HalfKept::~HalfKept() {
  grammar_.for_each_account([](Account& account) { account.keep_none(); });
}

CompiledGrammar::CompiledGrammar(Grammar grammar, std::shared_ptr<const Vocabulary> vocabulary,
                                 std::shared_ptr<SharedStore> store, const Limits& limits)
    : grammar_(std::move(grammar)),
      vocabulary_(std::move(vocabulary)),
      store_(std::move(store)),
      number_(++store_->n_grammars),
      mask_cache_bytes_(limits.mask_cache_bytes),
      shared_cache_bytes_(limits.shared_cache_bytes),
      max_search_steps_(limits.max_search_steps),
      max_item_sets_(limits.max_item_sets),
      max_capture_bytes_(limits.max_capture_bytes),
      regex_account_{"max_regex_nodes", limits.max_regex_nodes},
      lexer_account_{"max_lexer_states", limits.max_lexer_states},
      parser_(grammar_, store_->regexes, store_->lexer, store_->closing, limits),
      surroundings_(store_->regexes, grammar_.befores, vocabulary_->held, limits.max_item_sets),
      indentation_(grammar_, parser_, store_->regexes, limits.max_item_sets),
      stepper_(grammar_, parser_, store_->regexes, store_->lexer, surroundings_, indentation_),
      walk_(store_->lexer, stepper_),
      position_account_{"max_item_sets", limits.max_item_sets},
      start_(intern({stepper_.at_boundary({parser_.start(), surroundings_.start(), Indentation::start()})})),
      learnt_at_first_(learnt()) {}

CompiledGrammar::~CompiledGrammar() = default;

CompiledGrammar::Learnt CompiledGrammar::learnt() const {
  const size_t own_bytes = parser_.bytes() + surroundings_.bytes() + indentation_.bytes() + stepper_.bytes() +
                           state_ids_.bytes() + states_.bytes() + position_ids_.bytes() + steps_.bytes() +
                           (completions_ == nullptr ? 0 : completions_->bytes()) +
                           (budget_masks_ == nullptr ? 0 : budget_masks_->bytes());
  const uint64_t item_sets =
      std::max({parser_.n_charged(), surroundings_.n_charged(), indentation_.n_charged(), position_account_.used});
  return {store_->bytes(), own_bytes, regex_account_.used, lexer_account_.used, item_sets};
}

bool CompiledGrammar::has_learnt_much() const {
  const Learnt now = learnt();
  const Learnt& first = learnt_at_first_;
  const auto is_half_used = [](uint64_t used, uint64_t at_first, uint64_t allowed) {
    return used - at_first > (allowed - at_first) / 2;
  };
  // Others may have filled the store just before this grammar came to it.
  const bool is_store_full =
      now.shared_bytes >= shared_cache_bytes_ && now.shared_bytes > first.shared_bytes + shared_cache_bytes_ / 4;
  return is_store_full || now.own_bytes > first.own_bytes + mask_cache_bytes_ ||
         is_half_used(now.regex_nodes, first.regex_nodes, regex_account_.allowed) ||
         is_half_used(now.lexer_states, first.lexer_states, lexer_account_.allowed) ||
         is_half_used(now.item_sets, first.item_sets, max_item_sets_);
}

Completions& CompiledGrammar::completions() {
  if (completions_ == nullptr) {
    // How much is left to write depends on all of the rules.
    parser_.define_all();
    completions_ = std::make_unique<Completions>(*this);
  }
  return *completions_;
}

BudgetMasks& CompiledGrammar::budget_masks() {
  if (budget_masks_ == nullptr) budget_masks_ = std::make_unique<BudgetMasks>(*this, completions());
  return *budget_masks_;
}

StateId CompiledGrammar::intern(std::vector<Configuration> configurations) {
  if (configurations.size() > 1) {
    std::sort(configurations.begin(), configurations.end());
    configurations.erase(std::unique(configurations.begin(), configurations.end()), configurations.end());
  }
  return intern_words({&configurations[0].items.value, configurations.size() * kWords});
}

StateId CompiledGrammar::intern(const Configuration& only) { return intern_words({&only.items.value, kWords}); }

StateId CompiledGrammar::intern_words(Words words) {
  static_assert(sizeof(Configuration) == kWords * sizeof(uint32_t));
  const uint32_t hash = Interner::hash(words);
  if (auto known = state_ids_.find(words, hash)) return StateId(*known);
  // As add_with does it; what is known of a state can't be moved.
  if (states_.size() == state_ids_.size()) states_.emplace_back();
  return StateId(state_ids_.add(words, hash));
}

std::vector<Configuration> CompiledGrammar::configurations(StateId state) const {
  const Words words = state_ids_.at(state.value);
  std::vector<Configuration> out;
  for (size_t i = 0; i < words.size(); i += kWords) out.push_back(configuration(words, i));
  return out;
}

Configuration CompiledGrammar::sole_configuration(StateId state) const {
  return configuration(state_ids_.at(state.value), 0);
}

std::optional<StateId> CompiledGrammar::step(StateId state, unsigned b) {
  Pause::tick();
  return grammar_.complete ? step_complete(state, b) : step_longest(state, b);
}

std::optional<StateId> CompiledGrammar::step_longest(StateId state, unsigned b) {
  const Words words = state_ids_.at(state.value);
  std::vector<Configuration> next;
  for (size_t i = 0; i < words.size(); i += kWords) {
    stepper_.longest(configuration(words, i), b, next);
  }
  if (next.empty()) return std::nullopt;
  return intern(std::move(next));
}

std::optional<StateId> CompiledGrammar::step_complete(StateId state, unsigned b) {
  const uint64_t key = (uint64_t{state.value} << 8) | b;
  if (auto known = steps_.find(key)) return *known == 0 ? std::nullopt : std::optional(StateId(*known - 1));
  std::vector<Configuration> next = stepper_.complete(configurations(state), b);
  std::optional<StateId> to;
  if (!next.empty()) to = intern(std::move(next));
  steps_.insert(key, to ? to->value + 1 : 0);
  return to;
}

// In nearly all grammars a text has one configuration: then the states between the bytes need no ids.
std::optional<StateId> CompiledGrammar::step_text_alone(Configuration at, std::string_view text, size_t* n_taken) {
  for (size_t i = stepper_.go_on(at, text); i < text.size(); ++i) {
    const auto next = stepper_.longest(at, static_cast<uint8_t>(text[i]));
    if (!next) {
      if (n_taken != nullptr) *n_taken = i;
      return std::nullopt;
    }
    at = *next;
  }
  if (n_taken != nullptr) *n_taken = text.size();
  return intern(at);
}

bool CompiledGrammar::has_one_way(Words configurations) const {
  return !grammar_.complete && configurations.size() == kWords &&
         stepper_.is_without_context(configuration(configurations, 0));
}

std::optional<StateId> CompiledGrammar::step_text(StateId state, std::string_view text, size_t* n_taken) {
  const Words words = state_ids_.at(state.value);
  if (has_one_way(words)) return step_text_alone(configuration(words, 0), text, n_taken);
  for (size_t i = 0; i < text.size(); ++i) {
    const auto next = step(state, static_cast<uint8_t>(text[i]));
    if (!next) {
      if (n_taken != nullptr) *n_taken = i;
      return std::nullopt;
    }
    state = *next;
  }
  if (n_taken != nullptr) *n_taken = text.size();
  return state;
}

std::optional<StateId> CompiledGrammar::end_token(StateId state) {
  if (!grammar_.counts_tokens() || has_one_way(state_ids_.at(state.value))) return state;
  std::vector<Configuration> next;
  bool fits = false;
  for (const Configuration& at : configurations(state)) {
    stepper_.end_token(
        at, [](const Configuration&, const Ended&) { return 0U; },
        [&](const Configuration& to, std::optional<uint32_t>) {
          next.push_back(to);
          fits = fits || stepper_.fits(to);
        });
  }
  if (!fits) return std::nullopt;
  return intern(std::move(next));
}

size_t CompiledGrammar::longest_token(StateId state, std::string_view text) {
  size_t longest = 0;
  for (size_t n = 1; n <= text.size(); ++n) {
    state = *step(state, static_cast<uint8_t>(text[n - 1]));
    if (end_token(state)) longest = n;
  }
  return longest;
}

std::vector<Boundary> CompiledGrammar::ends(StateId state) {
  std::vector<Boundary> found;
  for (const Configuration& at : configurations(state)) stepper_.ends(at, found);
  return found;
}

std::optional<StateId> CompiledGrammar::step_token(StateId state, TokenId token) {
  std::optional<StateId> by_bytes;
  const std::string_view text = vocabulary_->text(token);
  if (!text.empty()) by_bytes = step_text(state, text);
  if (by_bytes) by_bytes = end_token(*by_bytes);
  if (grammar_.token_sets.empty()) return by_bytes;
  std::vector<Configuration> next = step_by_id(state, token);
  if (next.empty()) return by_bytes;
  if (by_bytes) {
    const auto also = configurations(*by_bytes);
    next.insert(next.end(), also.begin(), also.end());
  }
  return intern(std::move(next));
}

// A token that is taken by its id has no text: what stands around it stays what it was. With every segmentation there
// is one parser for all readings that end here, else each goes on by itself.
std::vector<Configuration> CompiledGrammar::step_by_id(StateId state, TokenId token) {
  std::map<std::tuple<SurroundingsId, IndentationId, uint32_t, ItemSetId>, std::vector<ItemSetId>> sets;
  for (const Boundary& end : ends(state)) {
    const ItemSetId apart = grammar_.complete ? ItemSetId() : end.items;
    sets[{end.around, end.indentation, parser_.at(end.items).clock, apart}].push_back(end.items);
  }
  std::vector<Configuration> next;
  bool fits = false;
  for (const auto& [registers, items] : sets) {
    const auto to = parser_.scan_token(items, token);
    if (!to) continue;
    const Configuration at = stepper_.at_boundary({*to, std::get<0>(registers), std::get<1>(registers)});
    if (!stepper_.is_open(at)) continue;
    next.push_back(at);
    fits = fits || stepper_.fits(at);
  }
  if (!fits) next.clear();
  return next;
}

bool CompiledGrammar::accepting(StateId state) {
  auto& known = states_[state.value].accepting;
  if (known == StateInfo::kUnknown) {
    bool accepting = false;
    for (const Boundary& end : ends(state)) accepting = accepting || stepper_.may_end(end);
    known = accepting ? StateInfo::kYes : StateInfo::kNo;
  }
  return known == StateInfo::kYes;
}

bool CompiledGrammar::names_token(TokenId token) const {
  return std::any_of(grammar_.token_sets.begin(), grammar_.token_sets.end(),
                     [&](const TokenSet& set) { return std::binary_search(set.ids.begin(), set.ids.end(), token); });
}

bool CompiledGrammar::expects_token_set(StateId state) {
  if (grammar_.token_sets.empty()) return false;
  for (const Boundary& end : ends(state)) {
    if (!parser_.at(end.items).token_edges.empty()) return true;
  }
  return false;
}

// ---- masks

std::shared_ptr<const Mask> CompiledGrammar::mask(StateId state) {
  StateInfo& info = states_[state.value];
  if (info.mask == nullptr) {
    if (mask_bytes_ > mask_cache_bytes_) clear_masks();
    store_->tables.trim(shared_cache_bytes_);
    info.mask = new_mask(state);
    info.published = info.mask.get();
    ++n_masks_;
  }
  return info.mask;
}

// That of another state, if the same tokens lead on from there; else one that is made.
std::shared_ptr<const Mask> CompiledGrammar::new_mask(StateId state) {
  const Configuration at = sole_configuration(state);
  if (!steps_alone(state) || at.text != DistinctRegister::no_text()) return compute_mask(state);
  const std::shared_ptr<const LexerTable> table = store_->tables.get(at.lexer);
  const LexerTable::Essence essence(*table);
  const uint64_t shape = mix(parser_.shape(at.items) + essence.hash());
  const AlikeMasks::Entry* entry = store_->alike_masks.find(number_, shape);
  if (entry != nullptr && leads_on_alike(at, essence, *entry)) return states_[entry->state.value].mask;
  std::shared_ptr<const Mask> mask = compute_mask(state);
  const uint64_t depth = std::min<uint64_t>(1 + walk_.furthest(), kFarReach);
  store_->alike_masks.put({number_, shape, state, static_cast<uint32_t>(depth)});
  return mask;
}

// Whether the state of an entry has a mask still, and the same tokens lead on from there.
bool CompiledGrammar::leads_on_alike(const Configuration& at, const LexerTable::Essence& essence,
                                     const AlikeMasks::Entry& entry) const {
  const Configuration other = sole_configuration(entry.state);
  const Mask* mask = states_[entry.state.value].mask.get();
  if (mask == nullptr) return false;
  if (other.lexer != at.lexer) {
    if (mask->base == nullptr || !LexerTable::Essence(*mask->base).is_like(essence)) return false;
    if (grammar_.has_keys && is_in_string(other) != is_in_string(at)) return false;
  }
  if (at.items == other.items) return true;
  return entry.depth < kFarReach && parser_.alike(at.items, other.items, entry.depth);
}

CompiledGrammar::KnownMask CompiledGrammar::known_mask(StateId state) const {
  const StateInfo& info = states_[state.value];
  const StateInfo::Accepting accepting = info.accepting.load(std::memory_order_relaxed);
  if (accepting == StateInfo::kUnknown) return {};
  return {info.published.load(), accepting == StateInfo::kYes};
}

std::shared_ptr<const Mask> CompiledGrammar::compute_mask(StateId state) {
  auto mask = std::make_shared<Mask>();
  const auto all = configurations(state);
  std::vector<std::shared_ptr<const LexerTable>> tables;
  std::vector<TokenId>& more = store_->more;
  more.clear();
  walk_.forget_furthest();
  if (grammar_.complete) {
    add_complete(state, more);
  } else if (!std::all_of(all.begin(), all.end(), [&](const auto& at) { return stepper_.is_without_context(at); })) {
    for (const Configuration& at : all) add_conditional(at, more, tables);
  } else {
    for (const Configuration& at : all) {
      const std::shared_ptr<const LexerTable> table = store_->tables.get(at.lexer);
      tables.push_back(table);
      add_longest(at, *table, more, tables);
    }
  }
  if (tables.size() == 1) mask->base = std::move(tables[0]);
  add_token_sets(state, more);
  mask->more.assign(more.begin(), more.end());
  if (tables.size() > 1 || mask->more.size() > vocabulary_->n_words()) {
    std::vector<uint32_t> bits(vocabulary_->n_words());
    mask->write(bits);
    if (tables.size() > 1) add_inside(tables, bits);
    *mask = Mask{nullptr, {}, std::move(bits), nullptr};
  }
  if (grammar_.has_keys) add_whole_keys(state, *mask);
  mask_bytes_ += mask->bytes();
  ++n_masks_computed_;
  return mask;
}

// The tokens that leave the lexeme of `at`, but for those inside of the tables that are appended.
void CompiledGrammar::add_longest(Configuration at, const LexerTable& table, std::vector<TokenId>& out,
                                  ConditionalWalk::Tables& tables) {
  const bool counts = at.text != DistinctRegister::no_text();
  if (counts && parser_.distinct_register().may_be_met(at.text)) return add_after_values(at, table, out);
  const size_t n_before = out.size();
  const size_t n_tables = tables.size();
  const uint64_t n_overapproximate = walk_.n_overapproximate();
  Configuration fresh = at;
  if (counts) fresh.text = DistinctRegister::new_text();
  std::vector<WalkPart> later;
  add_exits(fresh, 0, table, out, later);
  while (!later.empty()) {
    const WalkPart part = later.back();
    later.pop_back();
    for (const Segment& segment : vocabulary_->trie->segments()) {
      const uint32_t first = std::max(part.first, segment.first);
      const uint32_t last = std::min(part.last, segment.last);
      if (first >= last) continue;
      auto its_own = store_->tables.part(part.at.lexer, first, last, segment);
      add_exits(part.at, part.reached, *its_own, out, later);
      if (!its_own->add_few_inside(out)) tables.push_back(std::move(its_own));
    }
  }
  if (walk_.n_overapproximate() == n_overapproximate) return;
  out.resize(n_before);
  tables.resize(n_tables);
  add_after_values(at, table, out);
}

// The same but for large parts, which are put off.
void CompiledGrammar::add_exits(Configuration at, uint64_t reached, const LexerTable& table, std::vector<TokenId>& out,
                                std::vector<WalkPart>& later) {
  const Trie& trie = *vocabulary_->trie;
  SlotSetId matched = Lexer::no_slots();
  WalkPart begun{at, reached, 0, 0};
  // Exits that complete the same slots come in runs.
  const auto after = [&](SlotSetId slots) {
    if (slots != matched) {
      const uint64_t before = parser_.reached();
      begun.at = stepper_.at_boundary({parser_.scan(at.items, slots, at.text, 0), at.around, at.indentation});
      begun.reached = reached + (parser_.reached() - before);
      walk_.reach(begun.reached);
    }
    matched = slots;
  };
  uint32_t end_of_few = 0;  // of siblings that were found to be few
  const auto is_large = [&](const WalkPart& part) {
    const Trie::Node& node = trie.nodes()[part.first];
    if (node.depth == 0) return false;
    if (node.end - part.first > kLargePart) return true;
    if (part.last - part.first <= kLargePart || part.last == end_of_few) return false;
    uint32_t n_nodes = 0;
    trie.for_each_sibling(part.first, part.last, store_->lexer.first(part.at.lexer),
                          [&](uint32_t sibling) { n_nodes += trie.end(sibling) - sibling; });
    if (n_nodes <= kLargePart) end_of_few = part.last;
    return n_nodes > kLargePart;
  };
  const auto walk = [&](uint32_t first, uint32_t last) {
    walk_.run(
        begun.at, begun.reached, trie, first, last,
        [&](auto tokens) { out.insert(out.end(), tokens.begin(), tokens.end()); },
        [&](const WalkPart& part) {
          if (part.at.text != DistinctRegister::no_text() || !is_large(part)) return false;
          later.push_back(part);
          return true;
        });
  };
  table.for_each_layer([&](const LexerTable::Layer& layer) {
    if (const ExitTrie* below = store_->tables.below_exits(*layer.table)) {
      for (const ExitTrie::Group& group : below->groups()) {
        after(layer.matched(group.matched));
        walk_.run(begun.at, begun.reached, *below, group.first, group.last, [&](auto tokens) {
          for (const ExitTrie::Token& token : tokens) {
            if (layer.holds(token.node)) out.push_back(token.id);
          }
        });
      }
      return;
    }
    layer.for_each_exit([&](const LexerTable::Exit& exit) {
      after(exit.matched);
      if (exit.last - exit.first > kLargeRange) {
        if (!trie.is_top(exit.first)) return walk(exit.first, exit.last);
        if (begins_many(begun.at)) return later.push_back({begun.at, begun.reached, exit.first, exit.last});
      }
      trie.for_each_sibling(exit.first, exit.last, store_->lexer.first(begun.at.lexer),
                            [&](uint32_t node) { walk(node, trie.end(node)); });
    });
  });
}

// Whether a large part of the vocabulary may follow, but for what begins with white space.
bool CompiledGrammar::begins_many(const Configuration& at) {
  if (at.text != DistinctRegister::no_text() || stepper_.is_overapproximate(at)) return false;
  const Trie& trie = *vocabulary_->trie;
  const ByteSet& first = store_->lexer.first(at.lexer);
  const uint32_t blanks = first.has(' ') ? trie.n_nodes_of(' ') : 0;
  return trie.n_nodes_of(first) - blanks > kManyNodes;
}

// The same where the text of the lexeme counts: what follows is another for each that has been met, and often the same
// for all others.
void CompiledGrammar::add_after_values(Configuration at, const LexerTable& table, std::vector<TokenId>& out) {
  walk_.reach(kFarReach);
  SlotSetId matched = Lexer::no_slots();
  Configuration any = at;
  Configuration fresh = at;
  table.for_each_exit([&](const LexerTable::Exit& exit) {
    const auto after = [&](TextId text) {
      return stepper_.at_boundary({parser_.scan(at.items, exit.matched, text, 0), at.around, at.indentation});
    };
    const auto add_from = [&](Configuration begun) {
      walk_.run(begun, 0, *vocabulary_->trie, exit.first, exit.last,
                [&](auto tokens) { out.insert(out.end(), tokens.begin(), tokens.end()); });
    };
    if (exit.matched != matched) {
      matched = exit.matched;
      any = after(DistinctRegister::any_text());
      fresh = after(DistinctRegister::new_text());
    }
    if (!begins(any, exit)) return;
    const std::vector<uint8_t> path = vocabulary_->trie->path(exit.first);
    const std::string_view more(reinterpret_cast<const char*>(path.data()), path.size());
    if (!parser_.is_overapproximate(fresh.items) && !parser_.distinct_register().is_met(at.text, more)) {
      const size_t n_before = out.size();
      const uint64_t n_overapproximate = walk_.n_overapproximate();
      add_from(fresh);
      if (walk_.n_overapproximate() == n_overapproximate) return;
      out.resize(n_before);
    }
    TextId text = at.text;
    for (const uint8_t b : path) text = stepper_.longer(text, b);
    add_from(after(text));
  });
}

// The same where lexemes have a context. Appends the tables of what stays inside.
void CompiledGrammar::add_conditional(Configuration at, std::vector<TokenId>& out, ConditionalWalk::Tables& tables) {
  LexerTables& all = store_->tables;
  ConditionalWalk walk(*vocabulary_->trie, all, stepper_, out);
  const auto add = [&](const ConditionalWalk::Tables& more) { tables.insert(tables.end(), more.begin(), more.end()); };
  const bool has_room = stepper_.has_room(at);
  if (!stepper_.is_up_to_lexer(at) || (!has_room && stepper_.asks_before())) return add(walk.run(at));
  if (has_room) {
    tables.push_back(all.apart(at.lexer));
  } else {
    const auto may_end = [&](LexerStateId state) {
      return stepper_.may_end_token(stepper_.inside(at, state, [] { return std::span<const uint8_t>(); }));
    };
    tables.push_back(std::make_shared<const LexerTable>(all.apart(at.lexer, may_end)));
  }
  const std::shared_ptr<const LexerTable> table = tables.back();
  add(walk.leave(at, *table));
}

// Whether some token of an exit fits, as far as its first byte can tell.
bool CompiledGrammar::begins(Configuration boundary, const LexerTable::Exit& exit) const {
  const Trie& trie = *vocabulary_->trie;
  const ByteSet& first = store_->lexer.first(boundary.lexer);
  for (uint32_t node = exit.first; node < exit.last; node = trie.end(node)) {
    if (first.has(trie.byte(node))) return true;
  }
  return false;
}

// Several readings of the text (by id and by bytes): what stays inside any of them.
void CompiledGrammar::add_inside(std::span<const std::shared_ptr<const LexerTable>> tables, std::span<uint32_t> bits) {
  std::vector<uint32_t> inside(bits.size());
  for (const auto& table : tables) {
    table->write_inside(inside);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] |= inside[i];
  }
}

void CompiledGrammar::add_complete(StateId state, std::vector<TokenId>& out) {
  struct Frame {
    uint32_t end;
    StateId at;
  };
  const Trie& trie = *vocabulary_->trie;
  const uint32_t n = trie.n_nodes();
  std::vector<Frame> stack{{n, state}};
  for (uint32_t node = 1; node < n;) {
    while (stack.back().end <= node) stack.pop_back();
    const uint32_t end = trie.end(node);
    const auto next = step_complete(stack.back().at, trie.byte(node));
    if (!next) {
      node = end;
      continue;
    }
    const auto tokens = trie.tokens(node);
    if (!tokens.empty() && end_token(*next)) out.insert(out.end(), tokens.begin(), tokens.end());
    if (node + 1 != end) stack.push_back({end, *next});
    ++node;
  }
}

void CompiledGrammar::add_token_sets(StateId state, std::vector<TokenId>& out) {
  if (grammar_.token_sets.empty()) return;
  for (const Boundary& end : ends(state)) {
    for (const auto& edge : parser_.at(end.items).token_edges) {
      for (TokenId token : grammar_.token_sets[edge.token_set].ids) {
        if ((!grammar_.has_conditions && !grammar_.has_deadlines) || !step_by_id(state, token).empty())
          out.push_back(token);
      }
    }
  }
}

std::optional<double> CompiledGrammar::temperature(StateId state) const {
  std::vector<Item> items;
  for (const Configuration& at : configurations(state)) {
    const ItemSet& set = parser_.at(at.items);
    const Words live = store_->lexer.residuals(at.lexer);
    for (size_t i = 0; i < live.size(); i += 2) {
      const ItemSet::Slot& slot = set.slot(live[i]);
      for (uint32_t e = slot.first_edge; e < slot.last_edge; ++e) {
        if (!set.edges[e].is_ignore()) items.push_back(set.edges[e].item);
      }
    }
    if (!store_->lexer.is_boundary(at.lexer)) continue;
    for (const auto& edge : set.token_edges) items.push_back(edge.item);
  }
  return parser_.temperature(items);
}

CompiledGrammar::Stats CompiledGrammar::stats() const {
  return {states_.size(),          parser_.n_item_sets(),
          parser_.n_items(),       store_->lexer.size(),
          store_->regexes.size(),  n_masks_,
          n_masks_computed_,       mask_bytes_,
          store_->tables.size(),   learnt().own_bytes + mask_bytes_,
          store_->regexes.bytes(), store_->lexer.bytes(),
          store_->tables.bytes(),  store_->tables.made()};
}

void CompiledGrammar::clear_masks() {
  for (size_t i = 0; i < states_.size(); ++i) states_[i].published = nullptr;
  store_->readers.wait();
  for (size_t i = 0; i < states_.size(); ++i) states_[i].mask.reset();
  n_masks_ = 0;
  mask_bytes_ = 0;
}

}  // namespace cfgmask
