#include "matcher/budget_masks.h"

#include <algorithm>
#include <map>

namespace cfgmask {

namespace {

using Effort = Completions::Effort;

constexpr size_t kNarrowedBytes = 16U << 20;
// Residuals of a lexeme that are looked at one by one.
constexpr size_t kMostResiduals = 256;
// JSON strings that may be live together.
constexpr size_t kMostStrings = 4;
// Different states after the tokens of one mask; the tokens of those beyond are refused.
constexpr size_t kMostStates = 4096;
// What one token may add to the way to the end, where that is not looked up.
constexpr uint32_t kSlack = 64;

}  // namespace

// The states after all tokens of the vocabulary that fit a state, as far as their bytes go.
class BudgetMasks::Walk {
 public:
  Walk(BudgetMasks& owner, StateId state) : owner_(owner), grammar_(owner.grammar_), state_(state) {}

  // Calls f(tokens, number) for the tokens of each node of the trie, with the number of the state after them.
  template <class F>
  void run(F f) {
    const auto all = grammar_.configurations(state_);
    const bool is_alone = all.size() == 1 && !grammar_.grammar_.complete && !grammar_.grammar_.has_context();
    if (is_alone) {
      walk(all[0], [&](const Configuration& at, unsigned b) { return grammar_.stepper_.longest(at, b); }, f);
    } else {
      walk(state_, [&](StateId at, unsigned b) { return grammar_.step(at, b); }, f);
    }
  }

 private:
  template <class At, class StepOne, class F>
  void walk(At from, StepOne step, F f) {
    struct Frame {
      uint32_t end;
      At at;
    };
    const Trie& trie = *grammar_.vocabulary_->trie;
    const uint32_t n = trie.n_nodes();
    std::vector<Frame> stack{{n, from}};
    for (uint32_t node = 1; node < n;) {
      while (stack.back().end <= node) stack.pop_back();
      const uint32_t end = trie.end(node);
      const auto next = step(stack.back().at, trie.byte(node));
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

  uint32_t number(const Configuration& at) {
    // Most tokens of a string lead to the same.
    if (at != last_) {
      last_number_ = look_up(at);
      last_ = at;
    }
    return last_number_;
  }
  uint32_t look_up(const Configuration& at) {
    const uint64_t key = (uint64_t{at.items.value} << 32) | at.lexer.value;
    const bool plain = at.text == SeenValues::no_text();
    if (plain) {
      if (auto known = numbers_.find(key)) return *known;
    }
    if (n_states_++ >= kMostStates) return kNoLength;
    const uint32_t result = owner_.number(at);
    if (plain) numbers_.insert(key, result);
    return result;
  }
  uint32_t number(StateId at) {
    if (auto known = numbers_.find(at.value)) return *known;
    if (n_states_++ >= kMostStates) return kNoLength;
    const auto end = grammar_.end_token(at);
    const auto found = end ? owner_.completions_.number(*end, Effort::kLittle) : std::nullopt;
    const uint32_t result = found.value_or(kNoLength);
    numbers_.insert(at.value, result);
    return result;
  }

  BudgetMasks& owner_;
  CompiledGrammar& grammar_;
  StateId state_;
  HashTable numbers_;
  size_t n_states_ = 0;
  Configuration last_{};
  uint32_t last_number_ = kNoLength;
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
  const auto way = completions_.way(at, Effort::kFull);
  if (way && !way->empty() && way->size() <= left) set_bit(bits, way->front());
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
    const auto number = completions_.number(*after, Effort::kFull);
    if (!number || *number >= left) clear_bit(bits, token);
  };
  if (plain.bits.empty() && !grammar_.may_repeat_key(at)) {
    for (TokenId token : plain.more) check(token);
    const Configuration from = grammar_.sole_configuration(at.state);
    // What follows a string is no key.
    if (!grammar_.is_in_string(from)) for_each_bound(from.lexer, check);
    return;
  }
  if (const auto tokens = tokens_about_keys(at)) {
    for (TokenId token : *tokens) check(token);
    return;
  }
  for (TokenId token = 0; token < grammar_.vocabulary_->n_vocab; ++token) check(token);
}

// Calls f(token) for the tokens behind which the lexeme is not complete, or cannot go on, as commas cannot.
template <class F>
void BudgetMasks::for_each_bound(LexerStateId from, F f) {
  struct Frame {
    uint32_t end;
    LexerStateId at;
  };
  Lexer& lexer = grammar_.store_->lexer;
  const Trie& trie = *grammar_.vocabulary_->trie;
  std::vector<Frame> stack{{trie.n_nodes(), from}};
  for (uint32_t node = 1; node < trie.n_nodes();) {
    while (stack.back().end <= node) stack.pop_back();
    const uint32_t end = trie.end(node);
    const LexerStateId next = lexer.next(stack.back().at, trie.byte(node));
    if (next == Lexer::dead()) {
      node = end;
      continue;
    }
    if (!lexer.can_continue(next) || lexer.matched(next) == Lexer::no_slots()) {
      for (TokenId token : trie.tokens(node)) f(token);
    }
    stack.push_back({end, next});
    ++node;
  }
}

// In a JSON string, the tokens after which a way may repeat a key: those that may end the string, and in a key those
// that begin another one of its object. nullopt where only a look at every token can tell.
std::optional<std::vector<TokenId>> BudgetMasks::tokens_about_keys(const Position& at) {
  if (is_guess(at.state) || !grammar_.is_in_string(grammar_.sole_configuration(at.state))) return std::nullopt;
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
  const auto number = completions_.number(after, Effort::kFull);
  return number && *number < left;
}

std::shared_ptr<const Mask> BudgetMasks::mask(StateId state, uint32_t left) {
  if (left >= enough(state)) return grammar_.mask(state);
  const auto own = completions_.number(state, Effort::kFull);
  const Narrowed& known = narrowed(state);
  const auto above = std::lower_bound(known.numbers.begin(), known.numbers.end(), left);
  auto mask = above == known.numbers.begin() ? std::make_shared<const Mask>()
                                             : known.masks[static_cast<size_t>(above - known.numbers.begin()) - 1];
  // Its way is known, whatever was found out of the other tokens.
  if (!own || *own == 0 || *own > left) return mask;
  return with_token(mask, completions_.next(state));
}

std::shared_ptr<const Mask> BudgetMasks::with_token(const std::shared_ptr<const Mask>& mask, TokenId token) const {
  std::vector<uint32_t> bits(grammar_.vocabulary_->n_words());
  mask->write(bits);
  if (has_bit(bits, token)) return mask;
  set_bit(bits, token);
  return std::make_shared<const Mask>(Mask{nullptr, {}, std::move(bits), nullptr});
}

bool BudgetMasks::allows(StateId state, TokenId token, StateId after, uint32_t left) {
  if (left == 0) return false;
  const auto known = enough_.find(state.value);
  if (known && left >= *known && !is_guess(state)) return true;
  const auto number = number_after(state, token, after, Effort::kFull);
  return number && *number < left;
}

// The number of `after`, the state after a token.
std::optional<uint32_t> BudgetMasks::number_after(StateId state, TokenId token, StateId after, Effort effort) {
  std::optional<StateId> by_bytes;
  const std::string_view text = grammar_.vocabulary_->text(token);
  if (!grammar_.grammar_.token_sets.empty() && !text.empty()) by_bytes = grammar_.step_text(state, text);
  if (by_bytes) by_bytes = grammar_.end_token(*by_bytes);
  return completions_.number_after(after, by_bytes, effort);
}

// Whether what is enough is not proved: `allows` looks again.
bool BudgetMasks::is_guess(StateId state) const {
  if (grammar_.counts_tokens()) return true;
  const auto all = grammar_.configurations(state);
  return std::any_of(all.begin(), all.end(), [](const auto& at) { return at.text != SeenValues::no_text(); });
}

const BudgetMasks::Narrowed& BudgetMasks::narrowed(StateId state) {
  const auto found = narrowed_.find(state.value);
  if (found != narrowed_.end()) return found->second;
  std::map<uint32_t, std::vector<uint32_t>> by_number;
  auto allow = [&](TokenId token, uint32_t number) {
    auto& mask = by_number[number];
    if (mask.empty()) mask.resize(grammar_.vocabulary_->n_words());
    set_bit(mask, token);
  };
  Walk(*this, state).run([&](std::span<const TokenId> tokens, uint32_t number) {
    if (number >= kNoLength) return;
    for (TokenId token : tokens) allow(token, number);
  });
  std::vector<TokenId> by_id;
  grammar_.add_token_sets(state, by_id);
  for (TokenId token : by_id) {
    const auto number = number_after(state, token, *grammar_.step_token(state, token), Effort::kLittle);
    if (number) allow(token, *number);
  }
  // A token that repeats a key of its own never fits, which the walk does not see.
  std::vector<uint32_t> fits;
  if (grammar_.grammar_.has_keys) {
    fits.resize(grammar_.vocabulary_->n_words());
    grammar_.mask(state)->write(fits);
  }
  Narrowed out;
  for (auto& [number, mask] : by_number) {
    for (size_t i = 0; i < fits.size(); ++i) mask[i] &= fits[i];
    if (!out.masks.empty()) {
      for (size_t i = 0; i < mask.size(); ++i) mask[i] |= out.masks.back()->bits[i];
    }
    out.numbers.push_back(number);
    out.masks.push_back(std::make_shared<const Mask>(Mask{nullptr, {}, std::move(mask), {}}));
  }
  if (narrowed_bytes_ > kNarrowedBytes) {
    narrowed_.clear();
    narrowed_bytes_ = 0;
  }
  narrowed_bytes_ += sizeof(Narrowed) + out.masks.size() * grammar_.vocabulary_->n_words() * sizeof(uint32_t);
  return narrowed_.emplace(state.value, std::move(out)).first->second;
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
  return completions_.number(grammar_.intern({at}), Effort::kLittle).value_or(kNoLength);
}

// kNoLength where only a walk of all tokens can tell.
uint32_t BudgetMasks::compute_enough(StateId state) {
  const auto all = grammar_.configurations(state);
  const Grammar& grammar = grammar_.grammar_;
  if (all.size() > 1 || grammar.complete || grammar.has_context() || grammar_.expects_token_set(state))
    return kNoLength;
  if (is_guess(state)) return guess_enough(state);
  const uint32_t in_lexeme = enough_in_lexeme(all[0]);
  return in_lexeme < kNoLength ? std::max(in_lexeme, enough_at_exits(all[0])) : kNoLength;
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
    const ItemSetId after = grammar_.parser_.scan(at.items, store.lexer.slot_set(matched), SeenValues::no_text(), 0);
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
    if (residuals.size() > kMostResiduals) most = kNoLength;
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
        const auto after = grammar_.parser_.scan(from.items, store.lexer.matched(next), SeenValues::no_text(), 0);
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

// The largest number after the tokens that leave the lexeme.
uint32_t BudgetMasks::enough_at_exits(const Configuration& at) {
  const Trie& trie = *grammar_.vocabulary_->trie;
  const auto table = grammar_.store_->tables.get(at.lexer);
  struct Frame {
    uint32_t end;
    Configuration at;
  };
  HashTable seen;
  uint32_t most = 0;
  auto see = [&](const Configuration& after) {
    const uint64_t key = (uint64_t{after.items.value} << 32) | after.lexer.value;
    if (after.text == SeenValues::no_text()) {
      if (seen.find(key)) return;
      seen.insert(key, 0);
    }
    most = std::max(most, number(after));
  };
  std::vector<Frame> stack;
  table->for_each_exit([&](const LexerTable::Exit& exit) {
    const Configuration boundary = grammar_.stepper_.at_boundary(
        {grammar_.parser_.scan(at.items, exit.matched, SeenValues::no_text(), 0), at.around, at.indentation});
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
  return most;
}

// A value that must differ from earlier ones: after every text of it is another state, so that they cannot all be
// asked. Neither can those of a lexeme that has so many tokens left. A token is taken to add no more than so much to
// the state's own way.
uint32_t BudgetMasks::guess_enough(StateId state) {
  const auto number = completions_.number(state, Effort::kLittle);
  return number ? add_lengths(*number, kSlack) : kNoLength;
}

}  // namespace cfgmask
