#include "matcher/completion.h"

#include <algorithm>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "util/in_step.h"

namespace cfgmask {

namespace {

// What a search may cost of which thousands are made for one mask.
constexpr uint64_t kLittleSteps = 2'000;
// Where the text of a lexeme counts, each byte is tried, and each leads to another state.
constexpr uint64_t kStepsPerText = 16;
// What a step of a search may make of states and regexes, all of which stay. A long way straight to an end takes three;
// for 20 words in any order, 200,000 steps made a million lexer states in 10 s. Once a whole search's was made in vain,
// searches are small.
constexpr uint64_t kMadePerStep = 3;
constexpr uint64_t kMostSteps = UINT64_MAX / kMadePerStep / 2;
constexpr uint64_t kLittleMade = 4 * kLittleSteps;
// What it may cost to look for a shorter way from lexeme to lexeme than one that is known.
constexpr uint64_t kNearestSteps = 400;
// The same before a budget is called too small. (At each start, it took 50 ms for eight required keys in any order.)
constexpr uint64_t kStepsBeforeRefusal = 20'000;
// What a lexeme may cost that a search for any end writes.
constexpr size_t kMostDerivatives = 2'000;
// How many of the keys that may come it looks at, shortest first.
constexpr size_t kMostKeys = 8;
// After so many lengths that were too short, and among so many states, a search asks whether it can succeed.
constexpr size_t kRoundsBeforeDoubt = 16;
constexpr size_t kMostDoubted = 1'000;
// Ways around a key that is there already, of which the shortest is taken.
constexpr size_t kDetours = 64;
// The last byte of a lexeme that ends an object, in all layouts that hold free objects but YAML's blocks.
constexpr char kEndOfObject = '}';

// Whether each byte that UTF-8 is made of is in the set.
bool spells_utf8(const ByteSet& single) {
  ByteSet needed = ByteSet::range(0, 0xF4);
  for (unsigned b : {0xC0U, 0xC1U}) needed.remove(b);
  needed -= single;
  return needed.empty();
}

}  // namespace

struct Completions::Frame {
  uint32_t fact;
  uint32_t left;  // bytes that a completion may have from here
  std::vector<Edge> edges;
  size_t next = 0;
};

Completions::Completions(CompiledGrammar& grammar)
    : grammar_(grammar),
      remaining_(grammar.grammar_, grammar.parser_, grammar.store_->lengths),
      pending_bytes_(grammar.parser_),
      max_steps_(std::min(grammar.max_search_steps_, kMostSteps)),
      single_bytes_(grammar.vocabulary_->trie->single_bytes()),
      spells_all_(spells_utf8(single_bytes_) && !grammar.counts_tokens()) {}

size_t Completions::bytes() const {
  return remaining_.bytes() + pending_bytes_.memory() + fact_ids_.bytes() + facts_.bytes() + number_ids_.bytes() +
         numbers_.bytes() + own_ids_.bytes() + own_ways_.bytes() + own_text_bytes_ +
         from_start_.size() * sizeof(std::pair<uint32_t, Number>);
}

// ---- closing texts

uint32_t Completions::estimate(StateId state) {
  if (grammar_.accepting(state)) return 0;
  uint32_t least = kNoLength;
  for (const Configuration& at : grammar_.configurations(state)) {
    const bool at_boundary = grammar_.store_->lexer.is_boundary(at.lexer);
    least = std::min(least, at_boundary ? remaining_.at_boundary(at.items) : inside_lexeme(at));
  }
  return least;
}

uint32_t Completions::inside_lexeme(const Configuration& at) {
  uint32_t least = kNoLength;
  RegexStore& regexes = grammar_.store_->regexes;
  const auto after = remaining_.after_slots(at.items);
  const Words live = grammar_.store_->lexer.residuals(at.lexer);
  for (size_t i = 0; i < live.size(); i += 2) {
    const RegexId residual(live[i + 1]);
    if (regexes.is_numbered(residual)) {
      regexes.for_each_number(residual, [&](uint32_t number, uint32_t length) {
        least = std::min(least, add_lengths(length, after[live[i] + number]));
      });
    } else {
      least = std::min(least, add_lengths(grammar_.store_->lengths.of(residual), after[live[i]]));
    }
  }
  return least;
}

uint32_t Completions::fact_of(Place place) {
  if (auto known = fact_ids_.find(place.packed())) return *known;
  Fact fact;
  fact.exact = place.node == 0 && grammar_.accepting(place.state);
  // Half of a token is still to come.
  fact.length = fact.exact ? 0 : std::max(estimate(place.state), 1U);
  return insert_with(fact_ids_, place.packed(), facts_, fact);
}

// In the order in which closing texts compare.
std::vector<Completions::Edge> Completions::edges(Place place) {
  std::vector<Edge> out;
  if (spells_all_) {
    add_byte_edges(place.state, out);
  } else {
    add_trie_edges(place, out);
  }
  if (place.node == 0) add_token_edges(place.state, out);
  return out;
}

void Completions::add_edge(StateId state, unsigned b, std::vector<Edge>& out) {
  if (!single_bytes_.has(b)) return;
  const auto to = grammar_.step(state, b);
  if (!to) return;
  const bool is_new = std::none_of(out.begin(), out.end(), [&](const Edge& e) { return e.to.state == *to; });
  if (is_new) out.push_back({b, {*to}});
}

void Completions::add_byte_edges(StateId state, std::vector<Edge>& out) {
  const auto all = grammar_.configurations(state);
  const Grammar& grammar = grammar_.grammar_;
  if (all.size() == 1 && !grammar.complete && !grammar.has_context() && is_up_to_lexer(all[0])) {
    add_lexer_edges(all[0], state, out);
  } else {
    for (unsigned b = 0; b < 256; ++b) add_edge(state, b, out);
  }
}

// Whether bytes that the lexer does not tell apart lead to the same, but for values of which none has been met and none
// is ruled out by another. Also behind a lexeme that may end: a comma after which there may be a blank is no boundary,
// and values of one byte would never be seen to be ruled out.
bool Completions::is_up_to_lexer(const Configuration& at) {
  if (!is_up_to_lexer_inside(at)) return false;
  if (grammar_.grammar_.set_bounds.empty() || grammar_.grammar_.complete) return true;
  const auto next = behind_lexeme(at);
  return !next || is_up_to_lexer_inside(*next);
}

// What the next lexeme begins in, if this one may end here and need not.
std::optional<Configuration> Completions::behind_lexeme(const Configuration& at) {
  const Lexer& lexer = grammar_.store_->lexer;
  const SlotSetId matched = lexer.matched(at.lexer);
  if (matched == Lexer::no_slots() || lexer.is_boundary(at.lexer)) return std::nullopt;
  const ItemSetId items = grammar_.parser_.scan(at.items, matched, at.text, at.clock);
  return grammar_.stepper_.at_boundary({items, at.around, at.indentation});
}

bool Completions::is_up_to_lexer_inside(const Configuration& at) const {
  if (at.text == DistinctRegister::no_text()) return true;
  const Lexer& lexer = grammar_.store_->lexer;
  const bool goes_on = lexer.matched(at.lexer) == Lexer::no_slots();
  if (at.text == DistinctRegister::other_text() && goes_on) return true;
  return !grammar_.parser_.at(at.items).excludes && !grammar_.parser_.distinct_register().may_be_met(at.text);
}

bool Completions::tries_all(Place place) {
  const auto all = grammar_.configurations(place.state);
  return std::any_of(all.begin(), all.end(), [&](const Configuration& at) { return !is_up_to_lexer(at); });
}

// One byte for each class of bytes that the lexer does not tell apart: most that a string takes lead to the same.
void Completions::add_lexer_edges(const Configuration& at, StateId state, std::vector<Edge>& out) {
  SharedStore& store = *grammar_.store_;
  ByteSet representatives;
  ByteSet taken;
  auto add_classes = [&](LexerStateId lexer) {
    ByteSet left = store.lexer.first(lexer);
    left -= taken;
    for (unsigned b = left.lowest(); !left.empty(); b = left.lowest()) {
      ByteSet same = ByteSet::all();
      const Words live = store.lexer.residuals(lexer);
      for (size_t i = 1; i < live.size(); i += 2) same &= store.regexes.alike(RegexId(live[i]), b);
      left -= same;
      if (store.lexer.next(lexer, b) == Lexer::dead()) continue;
      same &= store.lexer.first(lexer);
      taken |= same;
      representatives.add(b);
    }
  };
  add_classes(at.lexer);
  const SlotSetId matched = store.lexer.matched(at.lexer);
  if (matched != Lexer::no_slots() && !store.lexer.is_boundary(at.lexer)) {
    const TextId text = at.text == DistinctRegister::no_text() ? at.text : DistinctRegister::new_text();
    const ItemSetId items = grammar_.parser_.scan(at.items, matched, text, 0);
    add_classes(grammar_.stepper_.at_boundary({items, at.around, at.indentation}).lexer);
  }
  for (; !representatives.empty(); representatives.remove(representatives.lowest()))
    add_edge(state, representatives.lowest(), out);
}

void Completions::add_trie_edges(Place place, std::vector<Edge>& out) {
  const Trie& trie = *grammar_.vocabulary_->trie;
  for (uint32_t node = place.node + 1; node < trie.end(place.node); node = trie.end(node)) {
    const auto to = grammar_.step(place.state, trie.byte(node));
    if (!to) continue;
    if (trie.end(node) != node + 1) out.push_back({trie.byte(node), {*to, node}});
    if (trie.tokens(node).empty()) continue;
    if (const auto after = grammar_.end_token(*to)) out.push_back({trie.byte(node), {*after}});
  }
  std::stable_sort(out.begin(), out.end(), [](const Edge& a, const Edge& b) { return a.step < b.step; });
}

void Completions::add_token_edges(StateId state, std::vector<Edge>& out) {
  if (!grammar_.expects_token_set(state)) return;
  for (const Boundary& end : grammar_.ends(state)) {
    for (const auto& edge : grammar_.parser_.at(end.items).token_edges) {
      const TokenId token = grammar_.grammar_.token_sets[edge.token_set].ids[0];
      if (const auto to = grammar_.step_token(state, token)) out.push_back({kFirstToken + token, {*to}});
    }
  }
}

// Finds the closing text of a place, or that there is none. The shortest text is mostly found soon, if at all. Masks
// with a budget ask of hundreds of states, which it is too dear for where bounds are vague.
bool Completions::settle(Place place, Effort effort) {
  const uint32_t id = fact_of(place);
  if (facts_[id].has_end()) return true;
  if (facts_[id].given_up >= effort) return false;
  const CompiledGrammar::HalfKept kept(grammar_);
  const uint64_t before = n_made();
  const bool is_full = effort == Effort::kFull && made_in_vain_ < kMadePerStep * max_steps_;
  const Search little{.most_steps = std::min(kLittleSteps, max_steps_), .most_made = before + kLittleMade};
  const Search most =
      is_full ? Search{.most_steps = max_steps_, .most_made = before + kMadePerStep * max_steps_} : little;
  Search search = little;
  facts_[id].is_overapproximate = !deepen(place, search);
  if (!facts_[id].is_overapproximate) return facts_[id].exact;
  if (search.is_overapproximate && approach(place.state, most)) return true;
  if (is_full) {
    search = most;
    search.goes_anywhere = true;
    if (deepen(place, search)) return facts_[id].exact;
  }
  facts_[id].given_up = effort;
  made_in_vain_ += n_made() - before;
  return false;
}

// Whether the closing text is known, or little effort finds it.
bool Completions::prove(Place place) {
  const uint32_t id = fact_of(place);
  if (facts_[id].exact || facts_[id].is_overapproximate) return facts_[id].exact;
  Search little{.most_steps = std::min(kLittleSteps, max_steps_), .most_made = n_made() + kLittleMade};
  facts_[id].is_overapproximate = !deepen(place, little);
  return facts_[id].exact;
}

// Looks for longer and longer completions. False if the steps do not suffice.
bool Completions::deepen(Place place, Search& search) {
  const uint32_t id = fact_of(place);
  for (size_t round = 1; !facts_[id].exact && facts_[id].length < kNoLength; ++round) {
    if (!descend(place, search)) return false;
    if (round == kRoundsBeforeDoubt) rule_out(place);
  }
  return true;
}

// A search that goes deeper and deeper would never see that a few states lead nowhere but to each other.
void Completions::rule_out(Place from) {
  std::vector<uint32_t> seen{fact_of(from)};
  std::vector<Place> places{from};
  HashTable is_seen;
  is_seen.insert(seen[0], 0);
  for (size_t i = 0; i < places.size(); ++i) {
    if (facts_[seen[i]].length >= kNoLength) continue;
    for (const Edge& edge : edges(places[i])) {
      const uint32_t id = fact_of(edge.to);
      if (facts_[id].has_end() || places.size() > kMostDoubted) return;
      if (is_seen.find(id)) continue;
      is_seen.insert(id, 0);
      seen.push_back(id);
      places.push_back(edge.to);
    }
  }
  for (uint32_t id : seen) facts_[id].length = kNoLength;
}

uint64_t Completions::n_made() const {
  return grammar_.states_.size() + grammar_.store_->lexer.size() + grammar_.store_->regexes.size();
}

// Whether the edges of a place may be looked at.
bool Completions::may_go_on(Place at, Search& search) {
  if (search.steps >= search.most_steps || n_made() > search.most_made) return false;
  const bool each_byte = tries_all(at);
  search.is_overapproximate =
      search.is_overapproximate || (!grammar_.counts_tokens() && (each_byte || asks_for_more(at.state)));
  search.steps += each_byte ? kStepsPerText : 1;
  return search.goes_anywhere || !search.is_overapproximate;
}

// Looks for a completion of the length that one must have at least, depth first, smallest byte first. Afterwards the
// place's length is exact or larger. False if the steps do not suffice; what was found out holds all the same.
bool Completions::descend(Place from, Search& search) {
  std::vector<Frame> path;
  auto push = [&](Place place, uint32_t left) {
    if (!may_go_on(place, search)) return false;
    path.push_back({fact_of(place), left, edges(place)});
    return true;
  };
  if (!push(from, facts_[fact_of(from)].length)) return false;
  while (!path.empty()) {
    Frame& frame = path.back();
    if (frame.next < frame.edges.size()) {
      const Place to = frame.edges[frame.next].to;
      const Fact& there = facts_[fact_of(to)];
      if (there.length >= frame.left) {
        ++frame.next;
      } else if (!there.exact) {
        if (!push(to, frame.left - 1)) return false;
      } else {
        Way way;
        way.length = static_cast<uint32_t>(path.size()) + there.length;
        for (const Frame& passed : path) way.passed.push_back({passed.fact, passed.edges[passed.next]});
        prove(way);
        return true;
      }
      continue;
    }
    uint32_t least = kNoLength;
    for (const Edge& edge : frame.edges) least = std::min(least, add_lengths(facts_[fact_of(edge.to)].length, 1));
    facts_[frame.fact].length = least;
    path.pop_back();
  }
  return true;
}

// Whether a register asks for values beside those that the rules do.
bool Completions::asks_for_more(StateId state) {
  if (grammar_.grammar_.set_bounds.empty()) return false;
  const auto all = grammar_.configurations(state);
  return std::any_of(all.begin(), all.end(),
                     [&](const Configuration& at) { return pending_bytes_.bytes(at.items) > 0; });
}

// About how many bytes are left; kNoLength if there is no way. By the rules and what registers ask for: as if a bracket
// that may not come yet could, or it would seem better to go on inside of another than to come back to where it may
// not. And not by what is known of the few states that were looked at, or all others would seem to be nearer.
uint32_t Completions::distance(StateId state) {
  if (facts_[fact_of({state})].length >= kNoLength) return kNoLength;
  uint32_t least = kNoLength;
  for (const Configuration& at : grammar_.configurations(state)) {
    const bool at_boundary = grammar_.store_->lexer.is_boundary(at.lexer);
    const uint32_t length = at_boundary ? remaining_.of_rules(at.items) : inside_lexeme(at);
    least = std::min(least, add_lengths(length, pending_bytes_.bytes(at.items)));
  }
  return least;
}

// What may be written next: for each terminal that may come a lexeme, or what is left of it, and one with a value that
// a register asks for.
std::vector<Completions::NextText> Completions::next_texts(StateId state) {
  SharedStore& store = *grammar_.store_;
  std::vector<NextText> out;
  const auto add_lexemes = [&](ItemSetId items, LexerStateId lexer, TextId text) {
    const ItemSet& set = grammar_.parser_.at(items);
    const Words live = store.lexer.residuals(lexer);
    const std::vector<uint32_t> slots(live.begin(), live.end());
    const RegexId wanted = pending_bytes_.lexemes(items, text);
    for (size_t i = 0; i < slots.size(); i += 2) {
      // Ignored text is not begun.
      const bool is_ignored = set.edges[set.slot(slots[i]).first_edge].is_ignore();
      if (is_ignored && store.lexer.is_boundary(lexer)) continue;
      const RegexId left(slots[i + 1]);
      const auto add = [&](RegexId lexemes, bool is_wanted) {
        const size_t most = store.regexes.is_numbered(lexemes) ? kMostKeys : 1;
        for (std::string& text : store.regexes.shortest_within(lexemes, most, kMostDerivatives)) {
          const auto is_token = [&](char b) { return single_bytes_.has(static_cast<uint8_t>(b)); };
          if (!text.empty() && std::all_of(text.begin(), text.end(), is_token))
            out.push_back({std::move(text), is_wanted});
        }
      };
      add(left, false);
      if (store.regexes.is_numbered(left)) {
        if (const RegexId keys = pending_bytes_.keys(items, left); keys != RegexStore::nothing()) add(keys, true);
      } else if (wanted != RegexStore::nothing()) {
        add(store.regexes.intersection({left, wanted}), true);
      }
    }
  };
  for (const Configuration& at : grammar_.configurations(state)) {
    add_lexemes(at.items, at.lexer, at.text);
    // Where every segmentation counts, a lexeme that has ended is another reading.
    if (grammar_.grammar_.complete) continue;
    if (const auto next = behind_lexeme(at)) add_lexemes(next->items, next->lexer, next->text);
  }
  // Slots come in the order in which their regexes were made, which other texts have a say in.
  std::sort(out.begin(), out.end(), [](const NextText& a, const NextText& b) {
    return std::tie(a.text, a.is_wanted) < std::tie(b.text, b.is_wanted);
  });
  return out;
}

struct Completions::Reached {
  StateId at;
  size_t before;
  std::string by;
  bool is_wanted;
  uint32_t length;    // up to here
  uint32_t about;     // to the end of the text
  size_t n_expanded;  // of places, before this one was come to

  static auto by_length(const Reached& r) { return std::tuple(r.about, !r.is_wanted); }
  static auto by_depth(const Reached& r) { return std::tuple(SIZE_MAX - r.n_expanded, !r.is_wanted, r.about); }
};

// Looks for some completion from lexeme to lexeme: depth first for any, then by A* (Hart, Nilsson and Raphael 1968) for
// a shorter one. False if the steps do not suffice.
bool Completions::approach(StateId from, const Search& limits) {
  const auto way = find_ways(from, limits);
  if (way) keep(*way);
  return way.has_value();
}

std::optional<Completions::Way> Completions::find_ways(StateId from, const Search& limits) {
  Search search = limits;
  auto way = find_way(from, search, kNoLength, Reached::by_depth);
  if (!way) {
    // Registers may ask for a member that the object could do without.
    search = limits;
    search.adds_members = true;
    way = find_way(from, search, kNoLength, Reached::by_depth);
  }
  Search nearest = limits;
  nearest.most_steps = std::min(kNearestSteps, limits.most_steps);
  shorten(way, from, nearest);
  return way;
}

// Only a lower bound tells that no shorter way exists: `distance` may ask for a key where any other one will do.
void Completions::shorten(std::optional<Way>& way, StateId from, Search& search) {
  const uint32_t least = estimate(from);
  while (!way || way->length > least) {
    auto shorter = find_way(from, search, way ? way->length : kNoLength, Reached::by_length);
    if (!shorter) break;
    way = std::move(shorter);
  }
}

// Goes on where `rank` is least, and of equals from the last one, to a way that is shorter than `most` bytes.
template <class Rank>
std::optional<Completions::Way> Completions::find_way(StateId from, Search& search, uint32_t most, Rank rank) {
  std::vector<Reached> reached{{from, 0, {}, false, 0, 0, 0}};
  using Open = std::pair<decltype(rank(reached[0])), size_t>;
  const auto is_later = [](const Open& a, const Open& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  std::priority_queue<Open, std::vector<Open>, decltype(is_later)> open(is_later);
  open.emplace(rank(reached[0]), 0);
  // A place that waits may be come to again by a better way: it is the next one then.
  HashTable is_passed;
  while (!open.empty() && search.steps < search.most_steps && n_made() <= search.most_made) {
    const size_t i = open.top().second;
    open.pop();
    const StateId at = reached[i].at;
    const bool is_end = search.is_alone ? prove({at}) : facts_[fact_of({at})].has_end();
    if (is_end) {
      if (reached[i].length + facts_[fact_of({at})].to_end() >= most) continue;
      return way_to(reached, i);
    }
    if (is_passed.find(at.value)) continue;
    is_passed.insert(at.value, 0);
    std::vector<NextText> texts = next_texts(at);
    const auto ends_object = [](const NextText& next) { return next.text.back() == kEndOfObject; };
    const bool may_end = !search.adds_members && grammar_.steps_alone() && std::ranges::any_of(texts, ends_object);
    const bool may_begin_key = may_end && grammar_.may_begin_key(at);
    for (NextText& next : texts) {
      search.steps += next.text.size();
      const auto to = grammar_.step_text(at, next.text);
      if (!to || is_passed.find(to->value)) continue;
      const bool may_add_member = may_end && !next.is_wanted && !ends_object(next);
      if (may_add_member && (may_begin_key || grammar_.may_begin_key(*to))) continue;
      const uint32_t length = add_lengths(reached[i].length, static_cast<uint32_t>(next.text.size()));
      const uint32_t left = distance(*to);
      if (left == kNoLength || add_lengths(length, estimate(*to)) >= most) continue;
      const uint32_t about = add_lengths(length, left);
      reached.push_back({*to, i, std::move(next.text), next.is_wanted, length, about, is_passed.size()});
      open.emplace(rank(reached.back()), reached.size() - 1);
    }
  }
  return std::nullopt;
}

// To reached[end], whose closing text is known.
Completions::Way Completions::way_to(const std::vector<Reached>& reached, size_t end) {
  std::vector<size_t> through;
  for (size_t i = end; i != 0; i = reached[i].before) through.push_back(i);
  Way way;
  StateId passed = reached[0].at;
  for (; !through.empty(); through.pop_back()) {
    for (const char b : reached[through.back()].by) {
      const Step step = static_cast<uint8_t>(b);
      const StateId next = *grammar_.step(passed, step);  // as a text it fitted
      way.passed.push_back({fact_of({passed}), {step, {next}}});
      passed = next;
    }
  }
  way.length = reached[end].length + facts_[fact_of({passed})].to_end();
  return way;
}

// Of a way to a place whose closing text is known: it is the beginning of those on the way. A place that the way passes
// twice goes on as it does the last time.
void Completions::keep(const Way& way) {
  uint32_t length = way.length - static_cast<uint32_t>(way.passed.size());
  for (size_t i = way.passed.size(); i-- > 0;) {
    Fact& fact = facts_[way.passed[i].fact];
    if (!fact.has_end()) {
      fact.way = length + 1;
      fact.first = way.passed[i].by;
    }
    length = fact.to_end();
  }
}

// The same for a way that is the shortest.
void Completions::prove(const Way& way) {
  uint32_t length = way.length - static_cast<uint32_t>(way.passed.size());
  for (size_t i = way.passed.size(); i-- > 0;) {
    Fact& fact = facts_[way.passed[i].fact];
    if (!fact.exact) {
      fact.length = length + 1;
      fact.exact = true;
      fact.first = way.passed[i].by;
    }
    length = fact.length;
  }
}

// ---- numbers

const Completions::Number* Completions::known(StateId state) const {
  const auto id = number_ids_.find(state.value);
  return id ? &numbers_[*id] : nullptr;
}

// Unless a smaller one is known.
void Completions::set(StateId state, Number number) {
  if (const auto id = number_ids_.find(state.value)) {
    if (number.tokens < numbers_[*id].tokens) numbers_[*id] = number;
    return;
  }
  insert_with(number_ids_, state.value, numbers_, number);
}

std::optional<uint32_t> Completions::number(StateId state, Effort effort) {
  if (effort == Effort::kFull && has_own_ways()) take_own(state);
  if (const Number* number = known(state)) return number->tokens;
  if (grammar_.accepting(state)) {
    set(state, {});
    return 0;
  }
  if (const auto like = with_other_text(state); like && number(*like, effort)) {
    // Behind it may come a copy of the value itself, which no other has.
    const bool is_near = effort == Effort::kFull && find_near(state, facts_[fact_of({*like})].to_end());
    if (!is_near && adopt(state, *like)) return known(state)->tokens;
  }
  if (!settle({state}, effort)) return std::nullopt;
  if (grammar_.counts_tokens()) {
    spell_as_found(state);
  } else {
    spell(state);
  }
  return known(state)->tokens;
}

// Whether there is a way shorter than `most` bytes that takes little.
bool Completions::find_near(StateId state, uint32_t most) {
  const CompiledGrammar::HalfKept kept(grammar_);
  Search search{.most_steps = std::min(kNearestSteps, max_steps_), .most_made = n_made() + kLittleMade};
  const auto way = find_way(state, search, most, Reached::by_length);
  if (way) keep(*way);
  return way.has_value();
}

// The state of some text that no value begins like which is told apart from others there, if that of `state` is such a
// one.
std::optional<StateId> Completions::with_other_text(StateId state) {
  if (grammar_.grammar_.set_bounds.empty() || !grammar_.steps_alone()) return std::nullopt;
  Configuration at = grammar_.sole_configuration(state);
  if (!DistinctRegister::is_begun(at.text)) return std::nullopt;
  if (!scalars_ || scalars_->first != at.items) {
    scalars_.emplace(at.items, ScalarSet());
    grammar_.parser_.add_scalars(at.items, scalars_->second);
  }
  if (scalars_->second.may_have(grammar_.parser_.distinct_register().spelled(at.text))) return std::nullopt;
  at.text = DistinctRegister::other_text();
  return grammar_.intern(at);
}

bool Completions::adopt(StateId state, StateId like) {
  std::vector<std::pair<StateId, Number>> way;
  for (;;) {
    const Number number = *known(like);
    const Number* own = known(state);
    if (own != nullptr && own->tokens <= number.tokens) break;
    if (number.tokens == 0) {
      if (!grammar_.accepting(state)) return false;
      set(state, {});
      break;
    }
    way.emplace_back(state, number);
    const auto after = grammar_.step_token(state, number.next);
    if (!after) return false;
    state = *after;
    like = *grammar_.step_token(like, number.next);
  }
  for (; !way.empty(); way.pop_back()) set(way.back().first, way.back().second);
  return true;
}

// ---- own ways

// Without registers all searches prove what they find; tokens that are taken by id, or counted, have no text.
bool Completions::has_own_ways() const {
  const Grammar& grammar = grammar_.grammar_;
  return !grammar.set_bounds.empty() && grammar.token_sets.empty() && !grammar_.counts_tokens();
}

std::optional<uint32_t> Completions::own_number(StateId state) {
  if (!has_own_ways()) return number(state, Effort::kLittle);
  const uint32_t tokens = own_way(state).tokens;
  return tokens == kNoLength ? std::nullopt : std::optional(tokens);
}

TokenId Completions::own_next(StateId state) { return has_own_ways() ? own_way(state).next : next(state); }

std::string Completions::own_text(StateId state) {
  if (has_own_ways()) return own_way(state).text;
  std::string text;
  for (const TokenId token : way_of(state)) text += grammar_.vocabulary_->text(token);
  return text;
}

const Completions::OwnWay& Completions::own_way(StateId state) {
  if (const auto known = own_ids_.find(state.value)) return own_ways_[*known];
  OwnWay way = find_own_way(state);
  const size_t n_bytes = way.text.capacity();
  const OwnWay& kept = own_ways_[insert_with(own_ids_, state.value, own_ways_, std::move(way))];
  own_text_bytes_ += n_bytes;
  return kept;
}

// That of some other text where it fits, and else one of its own.
Completions::OwnWay Completions::find_own_way(StateId state) {
  if (grammar_.accepting(state)) return {{}, 0, 0};
  if (const auto like = with_other_text(state)) {
    const OwnWay& other = own_way(*like);
    const auto end = other.tokens == kNoLength ? std::nullopt : grammar_.step_text(state, other.text);
    if (end && grammar_.accepting(*end)) return other;
  }
  OwnWay found;
  const CompiledGrammar::HalfKept kept(grammar_);
  const Place at{state};
  if (!prove(at)) {
    if (facts_[fact_of(at)].length >= kNoLength) return found;
    // What is made stays, and other searches may have made it: only steps count.
    const Search alone{.most_steps = std::min(kLittleSteps, max_steps_), .most_made = UINT64_MAX, .is_alone = true};
    const auto way = find_ways(state, alone);
    if (!way) return found;
    found.text = text_of(*way, at);
  } else {
    found.text = text_of({}, at);
  }
  const Number number = spelled(found.text)[0];
  found.tokens = number.tokens;
  found.next = number.next;
  return found;
}

// The bytes of a way from a place, and of the closing text that is known from its end.
std::string Completions::text_of(const Way& way, Place at) {
  std::string text;
  for (const Passed& passed : way.passed) text.push_back(static_cast<char>(passed.by.step));
  if (!way.passed.empty()) at = way.passed.back().by.to;
  while (at.node != 0 || !grammar_.accepting(at.state)) {
    const Edge& first = facts_[fact_of(at)].first;
    text.push_back(static_cast<char>(first.step));
    at = first.to;
  }
  return text;
}

// Behind a text that is told apart from no other may come a copy of itself, which the way of other texts does not have.
std::optional<std::string> Completions::nearer(StateId state, size_t most) {
  if (!with_other_text(state)) return std::nullopt;
  const CompiledGrammar::HalfKept kept(grammar_);
  Search search{.most_steps = std::min(kNearestSteps, max_steps_), .most_made = UINT64_MAX, .is_alone = true};
  const auto way = find_way(state, search, static_cast<uint32_t>(most), Reached::by_length);
  return way ? std::optional(text_of(*way, {state})) : std::nullopt;
}

std::vector<TokenId> Completions::own_tokens(StateId state) {
  if (!has_own_ways()) return way_of(state);
  const std::string& text = own_way(state).text;
  const std::vector<Number> numbers = spelled(text);
  std::vector<TokenId> tokens;
  for (size_t i = 0; i < text.size(); i += grammar_.vocabulary_->text(tokens.back()).size())
    tokens.push_back(numbers[i].next);
  return tokens;
}

std::optional<std::vector<TokenId>> Completions::own_way(const Position& at) {
  if (!has_own_ways()) return way(at, Effort::kFull);
  if (!own_number(at.state)) return std::nullopt;
  std::vector<TokenId> tokens = own_tokens(at.state);
  return fits(at, tokens) ? tokens : detour(at, Effort::kFull);
}

// For each place in the text the fewest tokens for the rest of it; kNoLength in the middle of a token.
std::vector<Completions::Number> Completions::spelled(std::string_view text) const {
  std::vector<Number> found(text.size() + 1, {kNoLength, 0});
  found.back().tokens = 0;
  for (size_t i = text.size(); i-- > 0;) {
    grammar_.vocabulary_->trie->for_each_prefix(text.substr(i), [&](size_t length, TokenId token) {
      const uint32_t tokens = add_lengths(found[i + length].tokens, 1);
      if (tokens < found[i].tokens) found[i] = {tokens, token};
    });
  }
  return found;
}

// Keeps the own way of a state, and those of the states on it, unless a way of fewer tokens is known.
void Completions::take_own(StateId state) {
  const OwnWay& own = own_way(state);
  const Number* number = known(state);
  if (own.tokens == kNoLength || (number != nullptr && number->tokens <= own.tokens)) return;
  const std::string text = nearer(state, own.text.size()).value_or(own.text);
  const std::vector<Number> numbers = spelled(text);
  std::vector<StateId> states{state};
  for (const char b : text) states.push_back(*grammar_.step(states.back(), static_cast<uint8_t>(b)));
  for (size_t i = states.size(); i-- > 0;) {
    if (numbers[i].tokens < kNoLength) set(states[i], numbers[i]);
  }
}

std::optional<uint32_t> Completions::least_budget(uint32_t max_tokens) {
  const StateId start = grammar_.start();
  const auto found = number(start, Effort::kFull);
  if (!has_own_ways()) return found;
  const auto own = own_number(start);
  if (!own || *own <= max_tokens) return own ? own : found;
  if (!least_at_start_) least_at_start_ = search_from_start();
  return std::min(*own, *least_at_start_);
}

uint32_t Completions::search_from_start() {
  const CompiledGrammar::HalfKept kept(grammar_);
  const StateId start = grammar_.start();
  const uint64_t most_steps = std::min(kStepsBeforeRefusal, max_steps_);
  Search search{.most_steps = most_steps, .most_made = n_made() + kMadePerStep * most_steps, .is_alone = true};
  std::optional<Way> way(std::in_place);
  way->length = static_cast<uint32_t>(own_way(start).text.size());
  shorten(way, start, search);
  if (way->passed.empty()) return kNoLength;
  const std::string text = text_of(*way, {start});
  const std::vector<Number> numbers = spelled(text);
  StateId at = start;
  for (size_t i = 0; i < text.size(); ++i) {
    if (numbers[i].tokens < kNoLength) {
      set(at, numbers[i]);
      from_start_.insert_or_assign(at.value, numbers[i]);
    }
    at = *grammar_.step(at, static_cast<uint8_t>(text[i]));
  }
  set(at, {});
  return numbers[0].tokens;
}

std::optional<TokenId> Completions::next_from_start(StateId state, uint32_t left) const {
  const auto found = from_start_.find(state.value);
  return found != from_start_.end() && found->second.tokens <= left ? std::optional(found->second.next) : std::nullopt;
}

bool Completions::adopt_own(StateId state, StateId like) {
  take_own(like);
  return known(like) != nullptr && adopt(state, like);
}

bool Completions::hopeless(StateId state) const {
  const auto id = fact_ids_.find(Place{state}.packed());
  return id && facts_[*id].length >= kNoLength;
}

TokenId Completions::next(StateId state) const { return known(state)->next; }

std::optional<uint32_t> Completions::number_after(StateId after, std::optional<StateId> by_bytes, Effort effort) {
  const auto own = number(after, effort);
  if (!by_bytes || *by_bytes == after) return own;
  const auto plain = number(*by_bytes, effort);
  if (!plain) return own;
  inherit(after, *by_bytes);
  return known(after)->tokens;
}

// The fewest tokens for the closing text of a materialized state, and of all states on the way that have no number yet.
// The way is followed until so many states in a row have one that no token is longer.
void Completions::spell(StateId state) {
  const Trie& trie = *grammar_.vocabulary_->trie;
  std::vector<StateId> states;
  std::vector<Step> steps;
  std::string text;  // a byte for each step, whatever it is
  size_t n_known = 0;
  for (Place at{state};;) {
    states.push_back(at.state);
    if (at.node == 0 && grammar_.accepting(at.state)) break;
    n_known = known(at.state) != nullptr ? n_known + 1 : 0;
    if (n_known > trie.max_depth()) break;
    const Edge first = facts_[fact_of(at)].first;
    steps.push_back(first.step);
    text.push_back(static_cast<char>(first.step < kFirstToken ? first.step : 0));
    at = first.to;
  }
  struct Best {
    uint32_t tokens = kNoLength;
    TokenId token = 0;
    size_t after = 0;
  };
  std::vector<Best> best(states.size());
  size_t end_of_text = steps.size();
  for (size_t i = states.size(); i-- > 0;) {
    if (i < steps.size() && steps[i] >= kFirstToken) end_of_text = i;
    if (const Number* number = known(states[i])) {
      best[i].tokens = number->tokens;
      continue;
    }
    if (i + 1 == states.size()) {
      best[i].tokens = 0;
      set(states[i], {});
      continue;
    }
    auto offer = [&](size_t length, TokenId token) {
      const uint32_t tokens = add_lengths(best[i + length].tokens, 1);
      if (tokens < best[i].tokens) best[i] = {tokens, token, i + length};
    };
    if (end_of_text == i) {
      offer(1, steps[i] - kFirstToken);
    } else {
      trie.for_each_prefix(std::string_view(text).substr(i, end_of_text - i), offer);
    }
    if (best[i].tokens >= kNoLength) continue;  // a place in the middle of a token
    set_by_token(states[i], best[i].token, states[best[i].after]);
  }
}

// The tokens of the materialized state's way as the search has found them, until a state has a number.
void Completions::spell_as_found(StateId state) {
  const Trie& trie = *grammar_.vocabulary_->trie;
  struct Taken {
    StateId from;
    TokenId token;
    StateId to;
  };
  std::vector<Taken> way;
  Place at{state};
  for (StateId from = state; at.node != 0 || known(at.state) == nullptr;) {
    if (at.node == 0 && grammar_.accepting(at.state)) {
      set(at.state, {});
      break;
    }
    const Edge first = facts_[fact_of(at)].first;
    // A byte may begin several segments of the trie, in not all of which it is a token.
    uint32_t node = at.node + 1;
    at = first.to;
    if (at.node != 0) continue;
    TokenId token = first.step - kFirstToken;
    if (first.step < kFirstToken) {
      while (trie.byte(node) != first.step || trie.tokens(node).empty()) node = trie.end(node);
      token = trie.tokens(node)[0];
    }
    way.push_back({from, token, at.state});
    from = at.state;
  }
  for (; !way.empty(); way.pop_back()) set_by_token(way.back().from, way.back().token, way.back().to);
}

// The number of a state, by a token whose bytes lead to a state that has one.
void Completions::set_by_token(StateId from, TokenId token, StateId to) {
  const uint32_t tokens = known(to)->tokens + 1;
  if (!grammar_.grammar_.token_sets.empty()) inherit(*grammar_.step_token(from, token), to);
  set(from, {tokens, token});
}

// `state` has all readings of `from`, so what completes that completes it. From the end of the way, so that the state
// after each token has a number before that counts.
void Completions::inherit(StateId state, StateId from) {
  std::vector<std::pair<StateId, Number>> found;
  while (state != from) {
    const Number number = *known(from);
    const Number* own = known(state);
    if (own != nullptr && own->tokens <= number.tokens) break;
    found.emplace_back(state, number);
    if (number.tokens == 0) break;
    state = *grammar_.step_token(state, number.next);
    from = *grammar_.step_token(from, number.next);
  }
  for (; !found.empty(); found.pop_back()) set(found.back().first, found.back().second);
}

// ---- where keys are known

std::optional<uint32_t> Completions::number(const Position& at, Effort effort) {
  if (!grammar_.may_repeat_key(at)) return number(at.state, effort);
  const auto found = way(at, effort);
  return found ? std::optional(static_cast<uint32_t>(found->size())) : std::nullopt;
}

// The way of the state, unless it repeats a key. A shortest way can only do so with the next key: it writes others only
// if an object needs them, and then the grammar tells them apart. Any other way is checked to its end.
std::optional<std::vector<TokenId>> Completions::way(const Position& at, Effort effort) {
  if (!number(at.state, effort)) return std::nullopt;
  std::vector<TokenId> plain = way_of(at.state);
  if (has_own_ways()) return fits(at, plain) ? plain : own_way(at);
  return !grammar_.may_repeat_key(at) || fits(at, plain) ? plain : detour(at, effort);
}

std::vector<TokenId> Completions::way_of(StateId state) {
  std::vector<TokenId> tokens;
  while (known(state)->tokens > 0) {
    tokens.push_back(next(state));
    state = *grammar_.step_token(state, tokens.back());
  }
  return tokens;
}

bool Completions::fits(const Position& at, std::span<const TokenId> way) {
  std::optional<Position> here = at;
  for (size_t i = 0; i < way.size() && here; ++i) here = grammar_.step_token(*here, way[i]);
  return here.has_value();
}

// Tokens that lead to where the way of the state repeats no key, breadth first. Those that do not have come to the
// beginning of some key that is there, so they are no more than the keys are long.
std::optional<std::vector<TokenId>> Completions::detour(const Position& from, Effort effort) {
  struct Tried {
    Position at;
    size_t before;
    TokenId token;
  };
  uint64_t steps_left = effort == Effort::kFull ? max_steps_ : std::min(kLittleSteps, max_steps_);
  std::vector<uint32_t> bits(grammar_.vocabulary_->n_words());
  std::vector<Tried> tried{{from, 0, 0}};
  for (size_t i = 0; i < tried.size(); ++i) {
    grammar_.mask(tried[i].at.state)->write(bits);
    std::optional<std::vector<TokenId>> best;
    size_t n_found = 0;
    for (TokenId token = 0; token < grammar_.vocabulary_->n_vocab && n_found < kDetours; ++token) {
      if (!has_bit(bits, token)) continue;
      if (steps_left-- == 0) return std::nullopt;
      auto after = grammar_.step_token(tried[i].at, token);
      if (!after || !own_number(after->state)) continue;
      std::vector<TokenId> rest = own_tokens(after->state);
      if ((has_own_ways() || grammar_.may_repeat_key(*after)) && !fits(*after, rest)) {
        tried.push_back({std::move(*after), i, token});
        continue;
      }
      ++n_found;
      if (best && best->size() <= rest.size() + 1) continue;
      rest.insert(rest.begin(), token);
      best = std::move(rest);
    }
    if (!best) continue;
    for (size_t at = i; at != 0; at = tried[at].before) best->insert(best->begin(), tried[at].token);
    return best;
  }
  return std::nullopt;
}

}  // namespace cfgmask
