#include "matcher/budget_masks.h"

#include <algorithm>
#include <array>
#include <map>

namespace cfgmask {

namespace {

using Effort = Completions::Effort;

constexpr size_t kNarrowedBytes = 16U << 20;
// Residuals of a lexeme that are looked at one by one.
constexpr size_t kMostBudgetResiduals = 256;
// JSON strings that may be live together.
constexpr size_t kMostStrings = 4;
// Different states after the tokens of one mask; the tokens of those beyond are refused.
constexpr size_t kMostStates = 4096;
// What one token may add to the way to the end, where that is not looked up.
constexpr uint32_t kSlack = 64;
// As much as the way to the end takes behind tokens of which little effort finds none.
constexpr uint32_t kFar = 4096;

}  // namespace

// The states after all tokens of the vocabulary that fit a state, as far as their bytes go, by one configuration.
//
// A text whose value must differ is replaced by some other (DistinctRegister::other_text) as soon as no value begins
// like it that is in a register or is written on the way from some state of the walk: for all such texts that way is
// one to the end. Once such a lexeme has ended, that is not done again in the same token, since two such texts might be
// equal.
class BudgetMasks::Walk {
 public:
  Walk(BudgetMasks& owner, const Configuration& from)
      : owner_(owner), grammar_(owner.grammar_), answers_(grammar_.store_->tables.segment_answers()), from_(from) {
    grammar_.parser_.add_scalars(from.items, differs_);
  }

  // Calls f(tokens, number) for the tokens of each node of the trie, or of a subtree, with the number of the state
  // after them. Walks again and again until no value turns up that an earlier state did not know of.
  template <class F>
  void run(F f) {
    see_way_of_other_text();
    do {
      found_.clear();
      places_.clear();
      steps_.clear();
      place_ids_ = {};
      grew_ = false;
      ++rounds_;
      walk();
    } while (grew_);
    for (const Found& found : found_) {
      f(grammar_.vocabulary_->trie->tokens_between(found.first, found.last), found.number);
    }
  }
  // The values that a text must not begin with for which the walk of some other text is to hold.
  ScalarSet take_differs() { return std::move(differs_); }

 private:
  struct At {
    Configuration configuration;
    bool is_sealed = false;  // a lexeme has ended that was replaced
  };
  // The walk comes to few, and nearly always to one that it knows, by a byte that it knows: most of its nodes take a
  // look at these alone. (One step of the parser for each node: 12 milliseconds instead of 2.)
  struct Place {
    At at;
    std::optional<uint32_t> number;
  };
  static constexpr uint32_t kUnknown = 0;
  static constexpr uint32_t kDead = 1;
  static constexpr uint32_t kFirstPlace = 2;
  using Steps = std::array<uint32_t, 256>;
  struct Found {
    uint32_t first;  // nodes [first, last)
    uint32_t last;
    uint32_t number;
  };

  void walk() {
    struct Frame {
      uint32_t end;
      uint32_t place;
    };
    const Trie& trie = *grammar_.vocabulary_->trie;
    const uint32_t from = place_of({from_});
    std::vector<Frame> stack;
    for (const Segment& segment : trie.segments()) {
      if (stays(from, segment)) {
        add(segment.first, segment.last, from);
        continue;
      }
      stack.assign(1, {segment.last, from});
      for (uint32_t node = segment.first; node < segment.last;) {
        while (stack.back().end <= node) stack.pop_back();
        const uint32_t end = trie.end(node);
        uint32_t next = steps_[stack.back().place][trie.byte(node)];
        if (next == kUnknown) next = step(stack.back().place, trie.byte(node));
        if (next == kDead) {
          node = end;
          continue;
        }
        const uint32_t place = next - kFirstPlace;
        if (end - node > kLargeSubtree && stays(place, trie.below(segment))) {
          add(node, end, place);
          node = end;
          continue;
        }
        if (!trie.tokens(node).empty()) add(node, node + 1, place);
        if (node + 1 != end) stack.push_back({end, place});
        ++node;
      }
    }
  }

  uint32_t step(uint32_t place, unsigned b) {
    const At at = places_[place].at;
    const auto to = grammar_.stepper_.longest(at.configuration, b);
    if (!to) return steps_[place][b] = kDead;
    At next{*to, at.is_sealed};
    TextId& text = next.configuration.text;
    if (at.configuration.text == DistinctRegister::other_text()) {
      next.is_sealed = next.is_sealed || text != DistinctRegister::other_text();
    } else if (!next.is_sealed && DistinctRegister::is_begun(text) && grammar_.steps_alone()) {
      if (!differs_.may_have(grammar_.parser_.distinct_register().spelled(text))) text = DistinctRegister::other_text();
    }
    const uint32_t known = place_of(next) + kFirstPlace;
    return steps_[place][b] = known;
  }

  uint32_t place_of(const At& at) {
    const uint64_t key = key_of(at);
    if (auto known = place_ids_.find(key)) return *known;
    const auto place = static_cast<uint32_t>(places_.size());
    place_ids_.insert(key, place);
    places_.push_back({at, std::nullopt});
    steps_.emplace_back();
    return place;
  }
  uint64_t key_of(const At& at) {
    return (uint64_t{grammar_.intern(at.configuration).value} << 1) | static_cast<uint64_t>(at.is_sealed);
  }

  // Whether all texts of a segment's class lead back.
  bool stays(uint32_t place, const Segment& segment) {
    const Configuration& at = places_[place].at.configuration;
    if (DistinctRegister::is_begun(at.text) || at.text == DistinctRegister::empty_text()) return false;
    const auto index = static_cast<uint64_t>(&segment - grammar_.vocabulary_->trie->segments().data());
    const uint64_t key = (index << 32) | at.lexer.value;
    if (auto known = stays_.find(key)) return *known != 0;
    const bool found = answers_.keeps(at.lexer, segment);
    stays_.insert(key, found ? 1 : 0);
    return found;
  }

  void add(uint32_t first, uint32_t last, uint32_t place) {
    auto& number = places_[place].number;
    if (!number) number = look_up(places_[place].at);
    if (*number < kNoLength) found_.push_back({first, last, *number});
  }

  uint32_t look_up(const At& at) {
    const uint64_t key = key_of(at);
    if (auto known = numbers_.find(key)) return *known;
    if (n_states_++ >= kMostStates || rounds_ > kMostRounds) return kNoLength;
    const StateId state(static_cast<uint32_t>(key >> 1));
    const uint32_t result = owner_.completions_.own_number(state).value_or(kNoLength);
    const bool is_replaced = at.is_sealed || at.configuration.text == DistinctRegister::other_text();
    if (result < kNoLength && is_replaced) see_way(at, state);
    numbers_.insert(key, result);
    return result;
  }

  // Most walks inside of a value come to that.
  void see_way_of_other_text() {
    if (from_.text == DistinctRegister::no_text() || !grammar_.steps_alone()) return;
    Configuration at = from_;
    at.text = DistinctRegister::other_text();
    if (!grammar_.stepper_.is_at_boundary(at)) look_up({at});
  }

  // What is written on the way to the end must not be the text that was replaced.
  void see_way(const At& at, StateId state) {
    const size_t n_before = differs_.size();
    const auto add_value = [&](TextId text) {
      if (DistinctRegister::is_begun(text)) differs_.add(value_of(grammar_.parser_.distinct_register().spelled(text)));
    };
    // Those of whole lexemes in the token.
    if (at.configuration.items != from_.items) grammar_.parser_.add_scalars(at.configuration.items, differs_);
    Configuration here = at.configuration;
    const auto end = [&](const Configuration& lexeme, SlotSetId matched, bool) {
      add_value(lexeme.text);
      return matched;
    };
    for (const char b : owner_.completions_.own_text(state)) {
      here = *grammar_.stepper_.longest(here, static_cast<uint8_t>(b), end);
    }
    add_value(here.text);
    grew_ = grew_ || differs_.size() > n_before;
  }

  // Nodes below which a walk is cheaper than the question whether it is needed.
  static constexpr uint32_t kLargeSubtree = 48;
  // Then no more states are looked at.
  static constexpr size_t kMostRounds = 8;

  BudgetMasks& owner_;
  CompiledGrammar& grammar_;
  SegmentAnswers& answers_;
  Configuration from_;
  ScalarSet differs_;
  std::vector<Found> found_;
  bool grew_ = false;
  size_t rounds_ = 0;
  HashTable stays_;  // by segment and lexer state
  std::vector<Place> places_;
  std::vector<Steps> steps_;  // of each place
  HashTable place_ids_;       // by state, and whether it is sealed
  HashTable numbers_;         // the same
  size_t n_states_ = 0;
};

// Where a key may come that is there already, a way to the end may be longer than the state's. As with other values
// that must differ from earlier ones, that is looked up only where little is left.
BudgetMasks::Allowed BudgetMasks::mask(const Position& at, uint32_t left) {
  auto mask = this->mask(at.state, left);
  if (at.keys.is_empty()) return {std::move(mask), {}};
  const auto plain = grammar_.mask(at.state);
  std::vector<TokenId> repeated_keys = grammar_.repeated_keys(at, *plain);
  if (left >= add_lengths(enough(at.state), kSlack)) return {std::move(mask), std::move(repeated_keys)};
  std::vector<uint32_t> bits(grammar_.vocabulary_->n_words());
  mask->write(bits);
  for (TokenId token : repeated_keys) clear_bit(bits, token);
  leave_out_far(at, *plain, left, bits);
  if (const auto next = next_on_way(at, left)) set_bit(bits, *next);
  return {std::make_shared<const Mask>(Mask{nullptr, {}, std::move(bits), nullptr}), {}};
}

// Of the tokens in `bits`, those after which the next key makes the way too long. That takes a token that leaves the
// lexeme, leads on to one that a key must follow, or stays inside of a key. (Every token was looked at once: 200
// milliseconds for 128k in a JSON string.)
void BudgetMasks::leave_out_far(const Position& at, const Mask& plain, uint32_t left, std::span<uint32_t> bits) {
  const auto check = [&](TokenId token) {
    if (!has_bit(bits, token)) return;
    const auto after = grammar_.step_token(at, token);
    if (!after || !grammar_.may_repeat_key(*after)) return;
    const auto way = completions_.own_way(*after);
    if (!way || way->size() >= left) clear_bit(bits, token);
  };
  if (plain.bits.empty() && !grammar_.may_repeat_key(at)) {
    for (TokenId token : plain.more) check(token);
    const Configuration from = grammar_.sole_configuration(at.state);
    // What follows a string is no key.
    if (!grammar_.is_in_string(from)) for_each_bound(from, check);
    return;
  }
  if (const auto tokens = tokens_about_keys(at)) {
    for (TokenId token : *tokens) check(token);
    return;
  }
  for (TokenId token = 0; token < grammar_.vocabulary_->n_vocab; ++token) check(token);
}

// Calls f(token) for the tokens behind which the lexeme is not complete, or cannot go on, or may be followed by a key,
// as a comma is that may have white space in it.
template <class F>
void BudgetMasks::for_each_bound(const Configuration& from, F f) {
  struct Frame {
    uint32_t end;
    LexerStateId at;
  };
  Lexer& lexer = grammar_.store_->lexer;
  const Trie& trie = *grammar_.vocabulary_->trie;
  const TextId text = from.text == DistinctRegister::no_text() ? from.text : DistinctRegister::any_text();
  std::map<SlotSetId, bool> known;
  const auto is_before_key = [&](SlotSetId matched) {
    const auto [found, is_new] = known.try_emplace(matched, false);
    if (is_new)
      found->second = grammar_.parser_.at(grammar_.parser_.scan(from.items, matched, text, from.clock)).has_keys;
    return found->second;
  };
  std::vector<Frame> stack{{trie.n_nodes(), from.lexer}};
  for (uint32_t node = 1; node < trie.n_nodes();) {
    while (stack.back().end <= node) stack.pop_back();
    const uint32_t end = trie.end(node);
    const LexerStateId next = lexer.next(stack.back().at, trie.byte(node));
    if (next == Lexer::dead()) {
      node = end;
      continue;
    }
    const SlotSetId matched = lexer.matched(next);
    if (!lexer.can_continue(next) || matched == Lexer::no_slots() || is_before_key(matched)) {
      for (TokenId token : trie.tokens(node)) f(token);
    }
    stack.push_back({end, next});
    ++node;
  }
}

// In a JSON string, the tokens after which a way may repeat a key: those that may end the string, and in a key those
// that begin another one of its object. nullopt where only a look at every token can tell.
std::optional<std::vector<TokenId>> BudgetMasks::tokens_about_keys(const Position& at) {
  if (!grammar_.is_in_string(grammar_.sole_configuration(at.state))) return std::nullopt;
  std::vector<TokenId> out = grammar_.store_->key_endings->with_quote();
  if (!grammar_.may_repeat_key(at)) return out;
  const std::string lexeme = at.lexeme.string();
  if (lexeme.empty() || lexeme[0] != '"') return std::nullopt;
  BegunString begun = decode_begun_string(lexeme);
  if (!at.keys.has_beginning(begun.text)) return out;
  if (begun.in_escape) return std::nullopt;
  add_beginnings(at.keys, std::move(begun.text), out);
  return out;
}

// The tokens that go on with `begun` as some key does; what an escape spells is not looked at.
void BudgetMasks::add_beginnings(const WrittenKeys& keys, std::string begun, std::vector<TokenId>& out) const {
  const Trie& trie = *grammar_.vocabulary_->trie;
  const auto add = [&](uint32_t node) {
    const auto tokens = trie.tokens(node);
    out.insert(out.end(), tokens.begin(), tokens.end());
  };
  std::vector<uint32_t> ends;
  for (uint32_t node = 1; node < trie.n_nodes();) {
    for (; !ends.empty() && ends.back() <= node; ends.pop_back()) begun.pop_back();
    const uint32_t end = trie.end(node);
    if (trie.byte(node) == '\\') {
      for (; node < end; ++node) add(node);
      continue;
    }
    begun.push_back(static_cast<char>(trie.byte(node)));
    ends.push_back(end);
    if (keys.has_beginning(begun)) {
      add(node++);
    } else {
      node = end;
    }
  }
}

bool BudgetMasks::allows(const Position& at, TokenId token, const Position& after, uint32_t left) {
  if (!grammar_.may_repeat_key(after)) return allows(at.state, token, after.state, left);
  const auto way = completions_.own_way(after);
  return (way && way->size() < left) || next_on_way(at, left) == token;
}

// The first token of the way of a position where `left` more may come: of its own one if that fits.
std::optional<TokenId> BudgetMasks::next_on_way(const Position& at, uint32_t left) {
  const auto is_fit = [&](const auto& way) { return way && !way->empty() && way->size() <= left; };
  const auto own = completions_.own_way(at);
  if (is_fit(own)) return own->front();
  const auto way = completions_.way(at, Effort::kFull);
  return is_fit(way) ? std::optional(way->front()) : std::nullopt;
}

std::shared_ptr<const Mask> BudgetMasks::mask(StateId state, uint32_t left) {
  if (left >= enough(state)) return grammar_.mask(state);
  const Narrowed& known = narrowed_of(state);
  const auto above = std::lower_bound(known.numbers.begin(), known.numbers.end(), left);
  std::vector<uint32_t> bits(grammar_.vocabulary_->n_words());
  if (above != known.numbers.begin()) bits = known.masks[static_cast<size_t>(above - known.numbers.begin()) - 1];
  // A token that repeats a key or a value of its own never fits, which the walk does not see.
  if (grammar_.grammar_.has_keys || !grammar_.grammar_.set_bounds.empty()) {
    std::vector<uint32_t> fits(bits.size());
    grammar_.mask(state)->write(fits);
    for (size_t i = 0; i < bits.size(); ++i) bits[i] &= fits[i];
  }
  // Its way is known, whatever was found out of the other tokens.
  if (const auto next = next_on_way(state, left)) set_bit(bits, *next);
  return std::make_shared<const Mask>(Mask{nullptr, {}, std::move(bits), nullptr});
}

bool BudgetMasks::allows(StateId state, TokenId token, StateId after, uint32_t left) {
  if (left == 0) return false;
  const auto known = enough_.find(state.value);
  if (known && left >= *known && !is_guess(state)) return true;
  const auto own = number_after(state, token, after);
  if (own && *own < left) return true;
  // That of a mask may be of the way behind some other text.
  for (const StateId like : after_other_text(state, token)) {
    const auto number = completions_.own_number(like);
    if (number && *number < left && completions_.adopt_own(after, like)) return true;
  }
  return next_on_way(state, left) == token;
}

// The first token of the way of a state where `left` more may come: of its own one if that fits.
std::optional<TokenId> BudgetMasks::next_on_way(StateId state, uint32_t left) {
  const auto number = completions_.number(state, Effort::kFull);
  const auto own = completions_.own_number(state);
  if (own && *own > 0 && *own <= left) return completions_.own_next(state);
  if (const auto next = completions_.next_from_start(state, left)) return next;
  return number && *number > 0 && *number <= left ? std::optional(completions_.next(state)) : std::nullopt;
}

// The states after a token if one of the lexemes whose texts count is some other text: the pending one, or one that
// begins in the token.
std::vector<StateId> BudgetMasks::after_other_text(StateId state, TokenId token) {
  if (grammar_.grammar_.set_bounds.empty() || !grammar_.steps_alone()) return {};
  Configuration at = grammar_.sole_configuration(state);
  std::vector<Configuration> found;
  const auto replace = [&] {
    found.push_back(at);
    found.back().text = DistinctRegister::other_text();
  };
  if (DistinctRegister::is_begun(at.text)) replace();
  for (const char b : grammar_.vocabulary_->text(token)) {
    const auto step = [&](Configuration& each) {
      const auto next = grammar_.stepper_.longest(each, static_cast<uint8_t>(b));
      if (next) each = *next;
      return next.has_value();
    };
    std::erase_if(found, [&](Configuration& each) { return !step(each); });
    if (!step(at)) return {};
    if (DistinctRegister::is_begun(at.text) && grammar_.parser_.distinct_register().spelled(at.text).size() == 1)
      replace();
  }
  std::vector<StateId> out;
  for (const Configuration& each : found) out.push_back(grammar_.intern(each));
  return out;
}

// The number of `after`, the state after a token.
std::optional<uint32_t> BudgetMasks::number_after(StateId state, TokenId token, StateId after) {
  if (grammar_.grammar_.token_sets.empty()) return completions_.own_number(after);
  std::optional<StateId> by_bytes;
  const std::string_view text = grammar_.vocabulary_->text(token);
  if (!text.empty()) by_bytes = grammar_.step_text(state, text);
  if (by_bytes) by_bytes = grammar_.end_token(*by_bytes);
  return completions_.number_after(after, by_bytes, Effort::kLittle);
}

// Whether what is enough is not proved: `allows` looks again.
bool BudgetMasks::is_guess(StateId state) const {
  return grammar_.counts_tokens() || counts_text(state) || guesses_.find(state.value).has_value();
}

// Whether the pending lexeme may be a value that must differ.
bool BudgetMasks::counts_text(StateId state) const {
  const auto all = grammar_.configurations(state);
  return std::any_of(all.begin(), all.end(), [](const auto& at) { return at.text != DistinctRegister::no_text(); });
}

// That of some other text, if the state's text is one.
const BudgetMasks::Narrowed& BudgetMasks::narrowed_of(StateId state) {
  const Configuration at = grammar_.sole_configuration(state);
  if (!grammar_.steps_alone() || !DistinctRegister::is_begun(at.text)) return narrowed(state);
  Configuration other = at;
  other.text = DistinctRegister::other_text();
  const Narrowed& of_other = narrowed(grammar_.intern(other));
  const bool differs = !of_other.differs.may_have(grammar_.parser_.distinct_register().spelled(at.text));
  return differs ? of_other : narrowed(state);
}

const BudgetMasks::Narrowed& BudgetMasks::narrowed(StateId state) {
  const auto found = narrowed_.find(state.value);
  if (found != narrowed_.end()) return found->second;
  std::map<uint32_t, std::vector<uint32_t>> by_number;
  std::vector<uint32_t>* last = nullptr;
  uint32_t last_number = kNoLength;
  const auto allow = [&](std::span<const TokenId> tokens, uint32_t number) {
    if (number >= kNoLength) return;
    if (number != last_number) last = &by_number[last_number = number];
    if (last->empty()) last->resize(grammar_.vocabulary_->n_words());
    for (TokenId token : tokens) set_bit(*last, token);
  };
  Narrowed out;
  const auto all = grammar_.configurations(state);
  if (all.size() == 1 && !grammar_.grammar_.complete && !grammar_.grammar_.has_context()) {
    Walk walk(*this, all[0]);
    walk.run(allow);
    out.differs = walk.take_differs();
  } else {
    walk_readings(state, allow);
  }
  std::vector<TokenId> by_id;
  grammar_.add_token_sets(state, by_id);
  for (TokenId token : by_id) {
    const auto number = number_after(state, token, *grammar_.step_token(state, token));
    if (number) allow({&token, 1}, *number);
  }
  for (auto& [number, bits] : by_number) {
    if (!out.masks.empty()) {
      for (size_t i = 0; i < bits.size(); ++i) bits[i] |= out.masks.back()[i];
    }
    out.numbers.push_back(number);
    out.masks.push_back(std::move(bits));
  }
  if (narrowed_bytes_ > kNarrowedBytes) {
    narrowed_.clear();
    narrowed_bytes_ = 0;
  }
  narrowed_bytes_ += sizeof(Narrowed) + out.masks.size() * grammar_.vocabulary_->n_words() * sizeof(uint32_t);
  return narrowed_.emplace(state.value, std::move(out)).first->second;
}

// Calls f(tokens, number) for the tokens of each node of the trie, with the number of the state after them, whatever
// the readings are.
template <class F>
void BudgetMasks::walk_readings(StateId from, F f) {
  struct Frame {
    uint32_t end;
    StateId at;
  };
  const Trie& trie = *grammar_.vocabulary_->trie;
  HashTable numbers;
  size_t n_states = 0;
  const auto number = [&](StateId at) {
    if (auto known = numbers.find(at.value)) return *known;
    if (n_states++ >= kMostStates) return kNoLength;
    const auto end = grammar_.end_token(at);
    const auto found = end ? completions_.own_number(*end) : std::nullopt;
    numbers.insert(at.value, found.value_or(kNoLength));
    return found.value_or(kNoLength);
  };
  std::vector<Frame> stack{{trie.n_nodes(), from}};
  for (uint32_t node = 1; node < trie.n_nodes();) {
    while (stack.back().end <= node) stack.pop_back();
    const uint32_t end = trie.end(node);
    const auto next = grammar_.step(stack.back().at, trie.byte(node));
    if (!next) {
      node = end;
      continue;
    }
    const auto tokens = trie.tokens(node);
    if (!tokens.empty()) f(tokens, number(*next));
    if (node + 1 != end) stack.push_back({end, *next});
    ++node;
  }
}

// ---- how many tokens suffice for every token

// With so many left, no token has to be refused.
uint32_t BudgetMasks::enough(StateId state) {
  if (auto known = enough_.find(state.value)) return *known;
  const uint32_t tokens = add_lengths(compute_enough(state), 1);
  enough_.insert(state.value, tokens);
  return tokens;
}

uint32_t BudgetMasks::number(const Configuration& at) {
  return completions_.own_number(grammar_.intern({at})).value_or(kNoLength);
}

// kNoLength where only a walk of all tokens can tell.
uint32_t BudgetMasks::compute_enough(StateId state) {
  const auto all = grammar_.configurations(state);
  const Grammar& grammar = grammar_.grammar_;
  if (all.size() > 1 || grammar.complete || grammar.has_context() || grammar_.expects_token_set(state))
    return kNoLength;
  if (counts_text(state)) return guess_enough(state, farthest(all[0].lexer));
  const uint32_t in_lexeme = enough_in_lexeme(all[0]);
  if (in_lexeme == kNoLength) return kNoLength;
  const AtExits at_exits = enough_at_exits(all[0]);
  if (!at_exits.begins_value) return std::max(in_lexeme, at_exits.tokens);
  guesses_.insert(state.value, 0);
  return std::max(in_lexeme, guess_enough(state, at_exits.farthest));
}

// The largest number inside the lexeme; kNoLength if that is not found without its tokens.
uint32_t BudgetMasks::enough_in_lexeme(const Configuration& at) {
  if (auto known = enough_inside_.find(grammar_.intern({at}).value)) return *known;
  const Lexer& lexer = grammar_.store_->lexer;
  const auto strings = enough_in_strings(at);
  if (!strings) return search_lexeme(at, {}, 0);
  ByteSet others = lexer.first(at.lexer);
  others -= strings->first;
  return others.empty() ? strings->tokens : search_lexeme(at, strings->first, strings->tokens);
}

// Whether what is left of a lexeme ends where a JSON string would: it is one, or fixed names beside one.
bool BudgetMasks::is_of_string(RegexId residual) const {
  RegexStore& regexes = grammar_.store_->regexes;
  const RegexKind kind = regexes.kind(residual);
  return kind == RegexKind::kJsonString || kind == RegexKind::kNumberedKeys ||
         (kind == RegexKind::kKeySet && regexes.is_prefix_free(residual));
}

// JSON strings have too many residuals, one for each half-read escape, but end at their quote whatever stands in them.
// nullopt if there are none, or the others that are live do not part from them at the first byte.
std::optional<BudgetMasks::InStrings> BudgetMasks::enough_in_strings(const Configuration& at) {
  SharedStore& store = *grammar_.store_;
  if (!completions_.spells_all()) return std::nullopt;
  const ItemSet& set = grammar_.parser_.at(at.items);
  const Words live = store.lexer.residuals(at.lexer);
  InStrings out;
  ByteSet others;
  std::vector<uint32_t> slots;
  uint32_t farthest = 0;
  for (size_t i = 0; i < live.size(); i += 2) {
    const RegexId residual(live[i + 1]);
    const bool is_string = is_of_string(residual);
    (is_string ? out.first : others) |= store.regexes.first(residual);
    if (!is_string) continue;
    if (!slots.empty() && set.slot(slots[0]).priority != set.slot(live[i]).priority) return std::nullopt;
    if (store.regexes.is_numbered(residual)) {
      store.regexes.for_each_number(residual, [&](uint32_t key, uint32_t) { slots.push_back(live[i] + key); });
    } else {
      slots.push_back(live[i]);
    }
    farthest = std::max(farthest, store.lengths.farthest(residual));
  }
  others &= out.first;
  if (slots.empty() || slots.size() > kMostStrings || !others.empty() || farthest >= kNoLength) return std::nullopt;
  for (uint32_t chosen = 1; chosen < (1U << slots.size()); ++chosen) {
    std::vector<uint32_t> matched;
    for (size_t i = 0; i < slots.size(); ++i) {
      if ((chosen >> i) & 1) matched.push_back(slots[i]);
    }
    const ItemSetId after =
        grammar_.parser_.scan(at.items, store.lexer.slot_set(matched), DistinctRegister::no_text(), 0);
    out.tokens = std::max(out.tokens, number(grammar_.stepper_.at_boundary({after, at.around, at.indentation})));
  }
  out.tokens = add_lengths(out.tokens, farthest);
  return out;
}

// Every residual of the lexeme, breadth first, but for those that begin with a byte of `known`, for which `most` is
// enough. They all get the same answer, so the next state inside it has one.
uint32_t BudgetMasks::search_lexeme(const Configuration& from, const ByteSet& known, uint32_t most) {
  SharedStore& store = *grammar_.store_;
  std::vector<LexerStateId> residuals{from.lexer};
  HashTable seen;
  for (size_t i = 0; i < residuals.size() && most < kNoLength; ++i) {
    if (residuals.size() > kMostBudgetResiduals) most = kNoLength;
    ByteSet left = store.lexer.first(residuals[i]);
    if (i == 0) left -= known;
    for (unsigned b = left.lowest(); !left.empty(); b = left.lowest()) {
      ByteSet same = ByteSet::all();
      const Words live = store.lexer.residuals(residuals[i]);
      for (size_t j = 1; j < live.size(); j += 2) same &= store.regexes.alike(RegexId(live[j]), b);
      left -= same;
      const LexerStateId next = store.lexer.next(residuals[i], b);
      if (next == Lexer::dead() || seen.find(next.value)) continue;
      seen.insert(next.value, 0);
      if (!store.lexer.can_continue(next)) {
        const auto after = grammar_.parser_.scan(from.items, store.lexer.matched(next), DistinctRegister::no_text(), 0);
        most = std::max(most, number(grammar_.stepper_.at_boundary({after, from.around, from.indentation})));
      } else {
        most = std::max(most, number({from.items, next, from.text, from.around, from.indentation, 0}));
        residuals.push_back(next);
      }
    }
  }
  if (most == kNoLength) residuals.resize(1);
  for (LexerStateId residual : residuals) {
    const StateId state = grammar_.intern({{from.items, residual, from.text, from.around, from.indentation, 0}});
    if (!enough_inside_.find(state.value)) enough_inside_.insert(state.value, most);
  }
  return most;
}

// The largest number after the tokens that leave the lexeme, if none of them begins a value that must differ, after
// which each text is another state.
BudgetMasks::AtExits BudgetMasks::enough_at_exits(const Configuration& at) {
  const Trie& trie = *grammar_.vocabulary_->trie;
  const auto table = grammar_.store_->tables.get(at.lexer);
  struct Frame {
    uint32_t end;
    Configuration at;
  };
  HashTable seen;
  AtExits out;
  auto see = [&](const Configuration& after) {
    const uint64_t key = (uint64_t{after.items.value} << 32) | after.lexer.value;
    if (seen.find(key)) return;
    seen.insert(key, 0);
    if (DistinctRegister::is_begun(after.text)) {
      out.begins_value = true;
      out.farthest = std::max(out.farthest, farthest(after.lexer));
    } else if (!out.begins_value) {
      out.tokens = std::max(out.tokens, number(after));
    }
  };
  std::vector<Frame> stack;
  table->for_each_exit([&](const LexerTable::Exit& exit) {
    const Configuration boundary = grammar_.stepper_.at_boundary(
        {grammar_.parser_.scan(at.items, exit.matched, DistinctRegister::no_text(), 0), at.around, at.indentation});
    const ByteSet& first = grammar_.store_->lexer.first(boundary.lexer);
    for (uint32_t top = exit.first; top < exit.last; top = trie.end(top)) {
      if (!first.has(trie.byte(top))) continue;
      stack.assign(1, {trie.end(top), boundary});
      for (uint32_t node = top; node < trie.end(top);) {
        while (stack.back().end <= node) stack.pop_back();
        const uint32_t end = trie.end(node);
        const auto next = grammar_.stepper_.longest(stack.back().at, trie.byte(node));
        if (!next) {
          node = end;
          continue;
        }
        if (!trie.tokens(node).empty()) see(*next);
        if (node + 1 != end) stack.push_back({end, *next});
        ++node;
      }
    }
  });
  return out;
}

// A value that must differ from earlier ones: after every text of it is another state, so that they cannot all be
// asked. Neither can those of a lexeme that has so many tokens left. A token is taken to add no more to the state's own
// way than such a value may take, and a little; where it is not known how much that is, all are looked at.
uint32_t BudgetMasks::guess_enough(StateId state, uint32_t farthest) {
  if (farthest == kNoLength) {
    const Narrowed& known = narrowed_of(state);
    if (known.numbers.empty()) return kNoLength;
    std::vector<uint32_t> fits(grammar_.vocabulary_->n_words());
    grammar_.mask(state)->write(fits);
    const std::vector<uint32_t>& found = known.masks.back();
    bool is_found = true;
    for (size_t i = 0; i < fits.size(); ++i) is_found = is_found && (fits[i] & ~found[i]) == 0;
    return add_lengths(known.numbers.back(), is_found ? 0 : kFar);
  }
  const auto number = completions_.own_number(state);
  return number ? add_lengths(*number, add_lengths(kSlack, farthest)) : kNoLength;
}

// How many bytes the values may take to their end that are begun, or begin, whatever they go on with: a token that ends
// one leaves fewer for the next.
uint32_t BudgetMasks::farthest(LexerStateId at) {
  MinimumLengths& lengths = grammar_.store_->lengths;
  uint32_t most = 0;
  const auto see = [&](RegexId regex) {
    const uint32_t known = lengths.farthest(regex);
    most = std::max(most, known < kNoLength ? known : lengths.longest(regex));
  };
  const Words live = grammar_.store_->lexer.residuals(at);
  for (size_t i = 1; i < live.size(); i += 2) see(RegexId(live[i]));
  for (const Terminal& terminal : grammar_.grammar_.terminals) {
    if (terminal.distinct) see(terminal.regex);
  }
  return most;
}

}  // namespace cfgmask
