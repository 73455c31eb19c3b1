#include "matcher/grammar_builder.h"

#include <algorithm>
#include <functional>
#include <new>
#include <tuple>

#include "earley/closings.h"
#include "earley/instances.h"
#include "util/workers.h"

namespace cfgmask {

namespace {

constexpr size_t kFreedAtOnce = size_t{1} << 18;

// Of a quarter of a gigabyte, to free what is in it takes 20 to 40 milliseconds, for which the compilation waited that
// began the next generation.
void free_store(SharedStore* store) {
  if (store->bytes() > kFreedAtOnce) {
    try {
      return Workers::shared().later([store] { delete store; });
    } catch (const std::bad_alloc&) {
      // To free it now is what helps.
    }
  }
  delete store;
}

}  // namespace

std::shared_ptr<SharedStore> VocabularyStores::acquire(uint32_t shard, const Limits& limits) {
  if (shard >= kMostShards) throw std::out_of_range("no such shard");
  const LockSlowly lock(mutex_);
  auto& [store, max_nesting, max_search_steps] = current_[shard];
  bool fits = store != nullptr && max_nesting == limits.max_nesting && max_search_steps == limits.max_search_steps;
  if (fits) {
    const LockSlowly store_lock(store->mutex);
    fits = store->bytes() < limits.shared_cache_bytes;
  }
  if (!fits) {
    store = new_store(limits);
    max_nesting = limits.max_nesting;
    max_search_steps = limits.max_search_steps;
  }
  return store;
}

// The first nodes have the lowest ids, so what is common has the first slots where it is live (Parser::make_slots): the
// states that the lexer comes to in it are those of most grammars, and stand together.
std::shared_ptr<SharedStore> VocabularyStores::new_store(const Limits& limits) const {
  const std::shared_ptr<SharedStore> store(
      new SharedStore(vocabulary_->trie, vocabulary_->n_words(), limits, key_endings_), free_store);
  try {
    std::vector<RegexId> terminals;
    for (const auto& regex : common_) terminals.push_back(regex->in(store->regexes));
    store->tables.get(store->lexer.start(terminals));
  } catch (const LimitExceeded&) {
    // Limits that keep out what is common may still hold a grammar.
  }
  return store;
}

RegexBuilder::RegexBuilder(const Limits& limits)
    : RegexBuilder(std::make_shared<SharedStore>(std::make_shared<const Trie>(Texts()), 0, limits), limits) {}

RegexBuilder::RegexBuilder(std::shared_ptr<SharedStore> store, const Limits& limits)
    : store_(std::move(store)), limits_(limits), account_{"max_regex_nodes", limits.max_regex_nodes} {}

std::optional<Automaton> RegexBuilder::automaton(std::span<const uint32_t> ids, size_t max_states) {
  std::vector<RegexId> regexes = nodes(ids);
  const LockSlowly lock(store_->mutex);
  store_->regexes.charge_to(&account_);
  const Uncharge at_exit{store_->regexes};
  for (RegexId& regex : regexes) {
    regex = store_->regexes.without_empty_text(regex);
    if (store_->regexes.is_empty(regex)) regex = RegexStore::nothing();
  }
  return cfgmask::automaton(store_->lexer, regexes, max_states);
}

GrammarBuilder::GrammarBuilder(VocabularyStores& stores, const Limits& limits, uint32_t shard)
    : RegexBuilder(stores.acquire(shard, limits), limits),
      vocabulary_(stores.vocabulary()),
      rules_{"max_rules", limits.max_rules} {
  if (vocabulary_->held != ByteSet::all()) held_.emplace(store_->regexes, vocabulary_->held);
}

void GrammarBuilder::count_rule() { rules_.charge(); }

void GrammarBuilder::check_scope(uint32_t scope) const {
  if (scope >= grammar_.scopes.size()) throw std::out_of_range("no such scope");
}

Symbol GrammarBuilder::symbol(uint32_t value) const {
  const Symbol s{value};
  const size_t sizes[] = {grammar_.terminals.size(), grammar_.nonterminals.size(), grammar_.token_sets.size(),
                          grammar_.repeats.size(), grammar_.calls.size()};
  const auto kind = static_cast<size_t>(s.kind());
  if (kind >= std::size(sizes) || s.index() >= sizes[kind]) throw std::out_of_range("no such symbol");
  return s;
}

uint32_t GrammarBuilder::scope(bool ignore_once) {
  grammar_.scopes.push_back({{}, ignore_once});
  return static_cast<uint32_t>(grammar_.scopes.size() - 1);
}

void GrammarBuilder::ignore(uint32_t scope, uint32_t regex, std::string name, const Around& around) {
  check_scope(scope);
  const Conditions asked = conditions(around);
  const RegexId skip = visible(node(regex), asked);
  if (skip != RegexStore::nothing()) grammar_.scopes[scope].ignored.push_back({skip, asked, std::move(name)});
}

RegexId GrammarBuilder::visible(RegexId regex, const Conditions& around) {
  return with([&](RegexStore& r) {
    const RegexId visible = r.without_empty_text(writable(regex));
    const bool possible = around.before == kNoCondition || !r.is_empty(writable(grammar_.befores[around.before]));
    return possible && !r.is_empty(around.after) && !r.is_empty(visible) ? visible : RegexStore::nothing();
  });
}

RegexId GrammarBuilder::writable(RegexId regex) {
  if (!held_) return regex;
  const RegexId left = held_->of(regex);
  lacks_texts_ = lacks_texts_ || left != regex;
  return left;
}

Conditions GrammarBuilder::conditions(const Around& around) {
  Conditions found;
  if (around.after) {
    const RegexId after = node(*around.after);
    found.after = with([&](RegexStore&) { return writable(after); });
  }
  if (around.before) {
    const RegexId before = node(*around.before);
    auto& befores = grammar_.befores;
    const auto place = std::find(befores.begin(), befores.end(), before);
    found.before = static_cast<uint32_t>(place - befores.begin());
    if (place == befores.end()) befores.push_back(before);
  }
  grammar_.has_conditions = grammar_.has_conditions || found != Conditions{};
  return found;
}

uint32_t GrammarBuilder::terminal(uint32_t regex, uint32_t scope, int32_t priority, std::string name, bool distinct,
                                  bool closes_set, bool lazy, const Around& around, std::optional<uint32_t> max_tokens,
                                  uint32_t place) {
  check_scope(scope);
  const RegexId whole = node(regex);
  Terminal terminal;
  terminal.scope = scope;
  terminal.priority = priority;
  terminal.name = std::move(name);
  terminal.place = place;
  terminal.distinct = distinct;
  terminal.closes_set = closes_set;
  terminal.lazy = lazy;
  terminal.around = conditions(around);
  const bool anywhere = terminal.around == Conditions{};
  if (lazy && !anywhere) throw std::invalid_argument("a lazy terminal asks nothing of the text around it");
  terminal.nullable = anywhere && with([&](RegexStore& r) { return r.nullable(whole); });
  terminal.regex =
      visible(lazy ? with([&](RegexStore& r) { return r.not_longer_than(whole, whole); }) : whole, terminal.around);
  terminal.max_tokens = max_tokens.value_or(kUnbounded);
  if (max_tokens) {
    grammar_.has_limits = true;
    const bool fits = with([&](RegexStore&) { return store_->closing.needed(terminal.regex) <= *max_tokens; });
    if (!fits) terminal.regex = RegexStore::nothing();
  }
  grammar_.terminals.push_back(std::move(terminal));
  return Symbol::make(SymbolKind::kTerminal, grammar_.terminals.size() - 1).value;
}

void GrammarBuilder::also_at(uint32_t terminal, uint32_t place) {
  uint32_t& least = grammar_.terminals[symbol(terminal).index()].place;
  least = std::min(least, place);
}

bool GrammarBuilder::matches_text(uint32_t terminal) const {
  const Symbol asked = symbol(terminal);
  if (asked.kind() != SymbolKind::kTerminal) throw std::invalid_argument("only a terminal has texts of its own");
  return grammar_.terminals[asked.index()].regex != RegexStore::nothing();
}

uint32_t GrammarBuilder::token_set(std::vector<uint32_t> ids, uint32_t scope, std::string name, uint32_t place) {
  check_scope(scope);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (!ids.empty() && ids.back() >= vocabulary_->n_vocab) throw std::out_of_range("token id beyond the vocabulary");
  grammar_.token_sets.push_back({std::move(ids), scope, std::move(name), place});
  return Symbol::make(SymbolKind::kTokenSet, grammar_.token_sets.size() - 1).value;
}

uint32_t GrammarBuilder::indent(bool is_dedent, uint32_t scope, std::string name, uint32_t place) {
  check_scope(scope);
  grammar_.token_sets.push_back({{is_dedent ? kDedent : kIndent}, scope, std::move(name), place});
  return Symbol::make(SymbolKind::kTokenSet, grammar_.token_sets.size() - 1).value;
}

void GrammarBuilder::role(uint32_t terminal, LineRole role) {
  const Symbol made = symbol(terminal);
  if (made.kind() != SymbolKind::kTerminal) throw std::invalid_argument("only a terminal has a role");
  grammar_.terminals[made.index()].role = role;
}

void GrammarBuilder::endless(uint32_t terminal, Endless what) {
  const Symbol made = symbol(terminal);
  if (made.kind() != SymbolKind::kTerminal || !grammar_.terminals[made.index()].distinct)
    throw std::invalid_argument("only a distinct terminal is endless");
  grammar_.terminals[made.index()].endless = what;
}

void GrammarBuilder::step(uint32_t terminal, Step step) {
  const Symbol made = symbol(terminal);
  if (made.kind() != SymbolKind::kTerminal) throw std::invalid_argument("only a terminal has a step");
  grammar_.terminals[made.index()].step = step;
}

void GrammarBuilder::indenter(uint32_t newline, uint32_t scope, uint32_t tab_len, std::string name) {
  check_scope(scope);
  grammar_.indenter = Indenter{visible(node(newline), {}), scope, tab_len, std::move(name)};
}

uint32_t GrammarBuilder::nonterminal(uint32_t place, std::optional<SetBounds> opens_set) {
  count_rule();
  Nonterminal& made = grammar_.nonterminals.emplace_back();
  made.place = place;
  if (opens_set) {
    made.opens_set = static_cast<uint32_t>(grammar_.set_bounds.size());
    grammar_.set_bounds.push_back(std::move(*opens_set));
  }
  return Symbol::make(SymbolKind::kNonterminal, grammar_.nonterminals.size() - 1).value;
}

void GrammarBuilder::mark(uint32_t nonterminal, std::string capture, std::optional<double> temperature) {
  const Symbol marked = symbol(nonterminal);
  if (marked.kind() != SymbolKind::kNonterminal) throw std::invalid_argument("only a nonterminal can be marked");
  if (capture.empty() && !temperature) return;
  grammar_.nonterminals[marked.index()].mark = std::make_unique<const Mark>(Mark{std::move(capture), temperature});
}

void GrammarBuilder::limit(uint32_t nonterminal, uint32_t max_tokens) {
  const Symbol limited = symbol(nonterminal);
  if (limited.kind() != SymbolKind::kNonterminal) throw std::invalid_argument("only a nonterminal can be limited");
  if (max_tokens == kUnbounded) throw std::out_of_range("more tokens than a limit may have");
  grammar_.nonterminals[limited.index()].max_tokens = max_tokens;
  grammar_.has_deadlines = true;
}

bool GrammarBuilder::is_closed(uint32_t nonterminal) const {
  return grammar_.nonterminals.at(symbol(nonterminal).index()).closing_tokens != kUnbounded;
}

void GrammarBuilder::suffix(uint32_t terminal, uint32_t body, uint32_t end, std::string capture) {
  const Symbol ended = symbol(terminal);
  if (ended.kind() != SymbolKind::kTerminal) throw std::invalid_argument("only a terminal has a suffix");
  grammar_.terminals[ended.index()].suffix =
      std::make_unique<const Suffix>(Suffix{node(body), node(end), std::move(capture)});
}

uint32_t GrammarBuilder::repeat(uint32_t body, uint32_t minimum, uint32_t maximum) {
  if (minimum > maximum) throw std::invalid_argument("a repetition's minimum exceeds its maximum");
  const Symbol inner = symbol(body);
  if (inner.kind() == SymbolKind::kRepeat)
    throw std::invalid_argument("a repetition needs a nonterminal around its repetition");
  grammar_.repeats.push_back({inner, minimum, maximum});
  return Symbol::make(SymbolKind::kRepeat, grammar_.repeats.size() - 1).value;
}

uint32_t GrammarBuilder::call(uint32_t nonterminal, const Argument& argument) {
  const Symbol called = symbol(nonterminal);
  if (called.kind() != SymbolKind::kNonterminal) throw std::invalid_argument("only a nonterminal has a parameter");
  if (argument.bits.low >= argument.bits.high || argument.bits.high > 64) throw std::out_of_range("no such bits");
  const Call made{called.index(), argument};
  const auto [at, is_new] = calls_.try_emplace(made, static_cast<uint32_t>(grammar_.calls.size()));
  if (is_new) grammar_.calls.push_back(made);
  return Symbol::make(SymbolKind::kCall, at->second).value;
}

void GrammarBuilder::alternative(uint32_t nonterminal, std::span<const uint32_t> symbols, Condition condition) {
  count_rule();
  if (!condition.empty() && !is_well_formed(condition)) throw std::invalid_argument("the condition is not well-formed");
  const Symbol owner = symbol(nonterminal);
  if (owner.kind() != SymbolKind::kNonterminal) throw std::invalid_argument("only a nonterminal has alternatives");
  std::vector<Symbol> checked;
  checked.reserve(symbols.size());
  for (uint32_t s : symbols) checked.push_back(symbol(s));
  grammar_.nonterminals[owner.index()].alternatives.push_back({std::move(checked), std::move(condition)});
}

// Whether a matcher of the grammar has one configuration at any time, whose lexemes no limit ends.
bool GrammarBuilder::has_one_reading() const {
  const auto& sets = grammar_.token_sets;
  const auto has_text = [&](TokenId token) { return !vocabulary_->text(token).empty(); };
  return !grammar_.complete && !grammar_.has_context() && std::none_of(sets.begin(), sets.end(), [&](const auto& set) {
    return !set.is_indent() && std::any_of(set.ids.begin(), set.ids.end(), has_text);
  });
}

// Endless terminals become roles of lexemes; see mask/written_keys.h. All readings of a text in which a key may come
// next have read the same brackets since that object was opened, so one list of keys serves all of them: it is enough
// that every object of such a scope opens and closes one. Items are kept alike, and arrays open and close lists where
// some are.
void GrammarBuilder::keep_keys_apart() {
  struct Kept {
    bool keys = false, items = false;
  };
  std::vector<Kept> kept(grammar_.scopes.size());
  for (Terminal& terminal : grammar_.terminals) {
    if (terminal.endless == Endless::kNone) continue;
    (terminal.endless == Endless::kKeys ? kept[terminal.scope].keys : kept[terminal.scope].items) = true;
    grammar_.has_keys = true;
    terminal.distinct = false;
    terminal.key_role = KeyRole::kKey;
  }
  if (std::none_of(kept.begin(), kept.end(), [](const Kept& of) { return of.keys || of.items; })) return;
  // White space may belong to brackets. Nothing else in such a scope begins with one, or with a line break.
  for (Terminal& terminal : grammar_.terminals) {
    const auto [keys, items] = kept[terminal.scope];
    if (!keys && !items) continue;
    const ByteSet first = with([&](RegexStore& r) { return r.first(terminal.regex); });
    if ((keys && first.has('{')) || (items && first.has('['))) terminal.key_role = KeyRole::kOpens;
    if ((keys && first.has('}')) || (items && first.has(']'))) terminal.key_role = KeyRole::kCloses;
  }
  for (Nonterminal& n : grammar_.nonterminals) {
    if (n.opens_set && grammar_.set_bounds[*n.opens_set].endless) n.opens_set.reset();
  }
}

uint32_t GrammarBuilder::defer(std::shared_ptr<DeferredPart> part, uint32_t place) {
  count_rule();
  Nonterminal& made = grammar_.nonterminals.emplace_back();
  made.is_deferred = true;
  made.place = place;
  if (grammar_.deferred == nullptr) grammar_.deferred = std::make_shared<DeferredRules>();
  const auto index = static_cast<uint32_t>(grammar_.nonterminals.size() - 1);
  grammar_.deferred->add(index, std::move(part));
  return Symbol::make(SymbolKind::kNonterminal, index).value;
}

void GrammarBuilder::variants(uint32_t nonterminal, std::span<const uint32_t> symbols, std::span<const uint32_t> texts,
                              std::span<const uint32_t> parts) {
  if (texts.size() != parts.size()) throw std::out_of_range("a row has a text and a part");
  std::vector<uint32_t> row(symbols.begin(), symbols.end());
  for (size_t i = 0; i < texts.size(); ++i) {
    for (size_t at = 0; at < row.size(); ++at) {
      if (symbols[at] == kText) row[at] = texts[i];
      if (symbols[at] == kPart) row[at] = parts[i];
    }
    alternative(nonterminal, row);
  }
}

// Finds what closes the nonterminals within limits where these lead to parts. Those fail here that have to be rules for
// that, and limits that are too small, which are told of with rules.
GrammarBuilder::Failure GrammarBuilder::close_within_limits(const std::vector<uint32_t>& limited, RegexStore& regexes) {
  if (!grammar_.set_bounds.empty() && !find_distinct(limited)) return Failure::kDistinct;
  bool have_parts = false;
  for (const uint32_t index : limited) {
    if (!grammar_.nonterminals[index].is_deferred) continue;
    if (!grammar_.deferred->limit(index)) return Failure::kNeedsRules;
    have_parts = true;
  }
  if (!have_parts) return Failure::kNone;
  Closings closings(grammar_, regexes, store_->closing, nullptr, limits_.max_search_steps);
  for (const uint32_t index : limited) {
    const uint32_t tokens = closings.of(index, DistinctRegister::none());
    Nonterminal& n = grammar_.nonterminals[index];
    if (tokens == kUnbounded && n.max_tokens != kUnbounded && !n.alternatives.empty()) return Failure::kNeedsRules;
    n.closing_tokens = tokens;
  }
  return Failure::kNone;
}

// Whether no set within a limit needs several values that differ, or composite ones, to be closed: what closes it is
// found without asking which values would be there then. Else the limits around are in `distinct_`.
bool GrammarBuilder::find_distinct(const std::vector<uint32_t>& limited) {
  // How many values of the set that is open a nonterminal writes at least.
  std::vector<uint64_t> least(grammar_.nonterminals.size(), kUnbounded);
  const std::function<uint64_t(Symbol)> values = [&](Symbol symbol) -> uint64_t {
    if (symbol.kind() == SymbolKind::kRepeat) {
      const Repeat& repeat = grammar_.repeats[symbol.index()];
      return repeat.minimum == 0 ? 0 : saturated(values(repeat.body) * repeat.minimum);
    }
    symbol = grammar_.skeleton(symbol);
    if (symbol.kind() == SymbolKind::kTerminal) return grammar_.terminals[symbol.index()].distinct ? 1 : 0;
    if (symbol.kind() != SymbolKind::kNonterminal) return 0;
    const Nonterminal& n = grammar_.nonterminals[symbol.index()];
    return n.is_deferred || n.opens_set ? 0 : least[symbol.index()];
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const uint32_t index : limited) {
      for (const Alternative& alternative : grammar_.nonterminals[index].alternatives) {
        uint64_t sum = 0;
        for (const Symbol symbol : alternative.symbols) sum = saturated(sum + values(symbol));
        changed = changed || sum < least[index];
        least[index] = std::min(least[index], sum);
      }
    }
  }
  const auto is_too_much = [&](uint32_t index) {
    const auto& opens = grammar_.nonterminals[index].opens_set;
    if (!opens) return false;
    const SetBounds& bounds = grammar_.set_bounds[*opens];
    const bool asks = bounds.minimum > 0 || !bounds.required.empty() || bounds.holds != Holds::kValues;
    return asks || (least[index] > 1 && least[index] != kUnbounded);
  };
  if (std::ranges::none_of(limited, is_too_much)) return true;
  for (const uint32_t index : limited) {
    const Nonterminal& n = grammar_.nonterminals[index];
    if (n.max_tokens == kUnbounded) continue;
    if (std::ranges::any_of(reached_from(grammar_, std::span(&index, 1)), is_too_much)) distinct_.push_back(n.place);
  }
  std::ranges::sort(distinct_);
  return false;
}

bool GrammarBuilder::analyse_rules() {
  if (grammar_.deferred != nullptr) {
    // Instances of nonterminals have the numbers behind those of the nonterminals themselves.
    if (!grammar_.calls.empty()) throw std::invalid_argument("deferred rules do not go together with parameters");
    grammar_.deferred->set_key_roles(has_one_reading());
    grammar_.has_keys = grammar_.deferred->has_keys();
    grammar_.deferred->set_account(rules_);
    // All that the text may come to is known to be analysed: a first mask takes 5% more otherwise.
    if (grammar_.nonterminals[grammar_.start.index()].is_deferred) return true;
  }
  // Strings of which some cannot be written may run out.
  if (has_one_reading() && !lacks_texts_) keep_keys_apart();
  const auto needed = [&](RegexId regex) { return store_->closing.needed(regex); };
  std::vector<uint32_t> limited;
  if (grammar_.has_deadlines) limited = with([&](RegexStore&) { return find_closing_tokens(grammar_, needed); });
  if (!analyse(grammar_)) return false;
  if (grammar_.has_deadlines) failure_ = with([&](RegexStore& r) { return close_within_limits(limited, r); });
  if (failure_ != Failure::kNone) return false;
  if (!with([&](RegexStore&) {
        return Instances(grammar_, store_->closing, limits_).productive(grammar_.start.index());
      }))
    return false;
  for (const Nonterminal& n : grammar_.nonterminals) {
    if (n.opens_set && n.left_recursive) throw std::logic_error("a left-recursive nonterminal opens a set");
  }
  if (grammar_.deferred == nullptr) fit(grammar_);
  return true;
}

std::shared_ptr<CompiledGrammar> GrammarBuilder::build(uint32_t start, uint32_t start_scope, bool complete,
                                                       bool ignore_initial, bool ignore_final) {
  check_scope(start_scope);
  grammar_.start = symbol(start);
  if (grammar_.start.kind() != SymbolKind::kNonterminal)
    throw std::invalid_argument("the start symbol must be a nonterminal");
  grammar_.start_scope = start_scope;
  if (complete && grammar_.indenter) throw std::invalid_argument("an indenter needs the longest match");
  grammar_.complete = complete;
  grammar_.ignore_initial = ignore_initial;
  grammar_.ignore_final = ignore_final;
  if (grammar_.has_limits && grammar_.has_conditions)
    throw std::invalid_argument("terminals that are limited and conditions do not go together");
  if (complete) {
    // Every segmentation counts, so no terminal is chosen over another.
    for (Terminal& terminal : grammar_.terminals) terminal.priority = 0;
  }
  if (!analyse_rules()) return nullptr;
  return with([&](RegexStore&) {
    return std::make_shared<CompiledGrammar>(std::move(grammar_), vocabulary_, store_, limits_);
  });
}

}  // namespace cfgmask
