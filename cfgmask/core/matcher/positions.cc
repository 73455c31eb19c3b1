// Steps and masks where no key may come twice in an object. The grammar's states do not know which keys were written,
// so their masks hold tokens that would repeat one: those that end the pending key so that it is one of the others,
// found by what they add to it, and those that hold a whole key, which are few in any vocabulary.
#include <algorithm>
#include <cstring>
#include <utility>

#include "matcher/compiled_grammar.h"
#include "matcher/key_steps.h"

namespace cfgmask {

std::optional<Position> CompiledGrammar::step_text(const Position& at, std::string_view text, size_t* n_taken) {
  if (!grammar_.has_keys) {
    const auto next = step_text(at.state, text, n_taken);
    return next ? std::optional(Position{*next, {}, {}}) : std::nullopt;
  }
  KeySteps steps = key_steps(at, sole_configuration(at.state));
  const size_t n = steps.take(text);
  if (n_taken != nullptr) *n_taken = n;
  if (n < text.size()) return std::nullopt;
  return Position{intern(steps.at()), steps.keys(), steps.lexeme()};
}

// Grammars with keys have no limits on the tokens of a lexeme.
std::optional<Position> CompiledGrammar::end_token(const Position& at) {
  if (grammar_.has_keys) return at;
  const auto next = end_token(at.state);
  return next ? std::optional(Position{*next, {}, {}}) : std::nullopt;
}

size_t CompiledGrammar::longest_token(const Position& at, std::string_view text) {
  return grammar_.has_keys ? text.size() : longest_token(at.state, text);
}

std::optional<OffsetPosition> CompiledGrammar::known_step(const OffsetPosition& from, TokenId token) const {
  const Position& at = from.of;
  const StateInfo& info = states_[at.state.value];
  const uint16_t loops = info.loops.load(std::memory_order_acquire);
  if (loops != 0 && (loops & store_->known_loops.bit(token)) != 0) {
    const uint32_t room = info.room.load(std::memory_order_relaxed);
    if (room == 0) return OffsetPosition{inside(at, at.state, token, info.in_key.load(std::memory_order_relaxed))};
    const uint32_t n = vocabulary_->in_strings.n_characters(token);
    if (n != 0 && from.n_ahead + n <= room) return OffsetPosition{at, from.n_ahead + n};
  }
  // Whatever ends the string leads from there to where it leads from here.
  if (from.n_ahead > 0 && !vocabulary_->in_strings.ends(token)) return std::nullopt;
  // What was taken last is mostly taken again, and lies beside the state's mask.
  auto known = info.last.read();
  if (known && known->token != token) known = store_->known_steps.find(number_, at.state, token);
  if (!known) return std::nullopt;
  if (known->effects.is_nothing()) return OffsetPosition{{known->next, at.keys, {}}};
  auto next = repeat(*known, at, vocabulary_->text(token));
  return next ? std::optional(OffsetPosition{std::move(*next)}) : std::nullopt;
}

// Most states are left by one token only, which needs no place in the table of all steps: that is seldom in a cache.
void CompiledGrammar::learn_step(StateId state, const KnownStep& step) {
  SeqLock<KnownStep>& last = states_[state.value].last;
  if (const auto before = last.read()) store_->known_steps.put(number_, state, *before);
  last.write(step);
}

std::optional<Position> CompiledGrammar::step_token(const Position& at, TokenId token) {
  if (const auto known = known_step({at}, token)) return materialized(*known);
  return settled_step(at, token);
}

Position CompiledGrammar::materialized(const OffsetPosition& at) {
  if (at.n_ahead == 0) return at.of;
  Configuration to = sole_configuration(at.of.state);
  to.lexer = store_->bounded_strings.after(to.lexer, at.n_ahead, vocabulary_->in_strings);
  return {intern(to), at.of.keys, {}};
}

std::optional<OffsetPosition> CompiledGrammar::new_step(const OffsetPosition& at, TokenId token) {
  if (steps_alone(at.of.state)) {
    if (auto next = step_ahead(at, sole_configuration(at.of.state), token)) return next;
    if (at.n_ahead > 0 && !vocabulary_->in_strings.ends(token)) return new_step({materialized(at)}, token);
  }
  auto next = settled_step(at.of, token);
  return next ? std::optional(OffsetPosition{std::move(*next)}) : std::nullopt;
}

// Where the pending lexeme is text within bounds, and the token leads back but for these.
std::optional<OffsetPosition> CompiledGrammar::step_ahead(const OffsetPosition& at, const Configuration& from,
                                                          TokenId token) {
  const uint32_t n = vocabulary_->in_strings.n_characters(token);
  if (n == 0 || from.text != DistinctRegister::no_text() || may_end_key(from)) return std::nullopt;
  const BoundedString string = store_->bounded_strings.from(from.lexer, vocabulary_->in_strings);
  if (at.n_ahead + n > string.reach()) return std::nullopt;
  KnownLoops& loops = store_->known_loops;
  if ((loops.kept(string.loop) & loops.bit(token)) == 0) {
    LexerStateId to = string.loop;
    for (const char c : vocabulary_->text(token)) to = store_->lexer.next(to, static_cast<uint8_t>(c));
    if (to != string.loop) return std::nullopt;
    loops.learn(store_->lexer, string.loop, token);
  }
  const OffsetPosition next{at.of, at.n_ahead + n};
  if (next.n_ahead > string.room) {
    OffsetPosition behind{materialized(next)};
    if (at.n_ahead == 0) learn_step(at.of.state, {token, behind.of.state, {}});
    return behind;
  }
  StateInfo& info = states_[at.of.state.value];
  info.room.store(string.room, std::memory_order_relaxed);
  info.loops.store(loops.kept(string.loop), std::memory_order_release);
  return next;
}

// The step of a position that has a state of its own to another such, if it is not known.
std::optional<Position> CompiledGrammar::settled_step(const Position& at, TokenId token) {
  const std::string_view text = vocabulary_->text(token);
  if (text.empty() || !steps_alone(at.state)) return new_step_apart(at, token, text);
  const Configuration from = sole_configuration(at.state);
  if (leads_back(at.state, from, token)) return inside(at, at.state, token, may_end_key(from));
  Configuration to = from;
  const size_t n_inside = stepper_.go_on(to, text);
  if (n_inside == text.size()) return step_inside(at, from, to, token);
  if (grammar_.has_keys) return step_with_keys(at, from, to, token, n_inside);
  const auto next = step_text_alone(to, text.substr(n_inside), nullptr);
  if (!next) return std::nullopt;
  learn_step(at.state, {token, *next, {}});
  return Position{*next, {}, {}};
}

// Where a text has several configurations, or a token may be taken by its id.
std::optional<Position> CompiledGrammar::new_step_apart(const Position& at, TokenId token, std::string_view text) {
  // No token has two readings, by its bytes and by its id.
  if (grammar_.has_keys && !text.empty()) {
    const Configuration from = sole_configuration(at.state);
    return step_with_keys(at, from, from, token, 0);
  }
  const auto next = step_token(at.state, token);
  if (!next) return std::nullopt;
  if (!grammar_.has_keys) learn_step(at.state, {token, *next, {}});
  return Position{*next, at.keys, {}};
}

// The first `n_inside` bytes lead to `to`.
std::optional<Position> CompiledGrammar::step_with_keys(const Position& at, const Configuration& from,
                                                        const Configuration& to, TokenId token, size_t n_inside) {
  const std::string_view text = vocabulary_->text(token);
  KeySteps steps = key_steps(at, from);
  steps.go_on(to, text.substr(0, n_inside));
  if (steps.take(text.substr(n_inside)) < text.size() - n_inside) return std::nullopt;
  Position next{intern(steps.at()), steps.keys(), steps.lexeme()};
  if (const auto effects = steps.effects()) learn_step(at.state, {token, next.state, *effects});
  return next;
}

// Whether the pending lexeme is free text, and all tokens like this one are known to lead back to it.
bool CompiledGrammar::leads_back(StateId state, const Configuration& from, TokenId token) {
  if (from.text != DistinctRegister::no_text()) return false;
  const uint16_t loops = store_->known_loops.kept(from.lexer);
  if ((loops & store_->known_loops.bit(token)) == 0) return false;
  StateInfo& info = states_[state.value];
  info.in_key.store(may_end_key(from), std::memory_order_relaxed);
  info.loops.store(loops, std::memory_order_release);
  return true;
}

// Where a token goes on with the pending lexeme, or begins one, to its last byte, neither parser nor keys are asked.
// That takes half of what other steps take that are not known.
Position CompiledGrammar::step_inside(const Position& at, const Configuration& from, const Configuration& to,
                                      TokenId token) {
  const bool in_key = may_end_key(from);
  if (to == from) {
    store_->known_loops.learn(store_->lexer, from.lexer, token);
    return inside(at, at.state, token, in_key);
  }
  Position next = inside(at, intern(to), token, in_key);
  if (vocabulary_->text(token).size() >= KeyEffects::kNone) return next;
  KeyEffects effects;
  if (in_key) effects.lexeme = stepper_.is_at_boundary(from) ? 0 : KeyEffects::kBefore;
  learn_step(at.state, {token, next.state, effects});
  return next;
}

// After a token of the lexeme that is pending, or begins with it. `in_key`: whether that may be a key.
Position CompiledGrammar::inside(const Position& at, StateId next, TokenId token, bool in_key) const {
  Position to{next, at.keys, {}};
  if (in_key) {
    to.lexeme = at.lexeme;
    to.lexeme.append(vocabulary_->text(token));
  }
  return to;
}

// nullopt where a key would come twice: whether the token is something else as well, the lexer tells.
std::optional<Position> CompiledGrammar::repeat(const KnownStep& step, const Position& at,
                                                std::string_view text) const {
  Position next{step.next, at.keys, {}};
  const KeyEffects& effects = step.effects;
  for (size_t i = 0; i < effects.n_events(); ++i) {
    const KeyEffects::Event event = effects.event(i);
    if (event.kind == KeyEffects::kOpens) {
      next.keys.open();
    } else if (event.kind == KeyEffects::kCloses) {
      next.keys.close();
    } else {
      const bool is_whole = event.begin != KeyEffects::kBefore;
      if (!is_whole && at.lexeme.empty()) continue;  // nothing is known of the key
      std::string spelling = is_whole ? std::string() : at.lexeme.string();
      const size_t begin = is_whole ? event.begin : 0;
      spelling += text.substr(begin, event.end - begin);
      std::string key = decode_json_string(spelling);
      if (next.keys.has(key)) return std::nullopt;
      next.keys.add(std::move(key), *store_->key_endings);
    }
  }
  if (effects.lexeme == KeyEffects::kBefore) {
    next.lexeme = at.lexeme;
    next.lexeme.append(text);
  } else if (effects.lexeme != KeyEffects::kNone) {
    next.lexeme.append(text.substr(effects.lexeme));
  }
  return next;
}

KeySteps CompiledGrammar::key_steps(const Position& at, const Configuration& from) {
  return {parser_, store_->lexer, stepper_, *store_->key_endings, from, at};
}

bool CompiledGrammar::may_repeat_key(const Position& at) { return at.keys.has_any() && may_begin_key(at.state); }

bool CompiledGrammar::may_begin_key(StateId state) {
  const Configuration from = sole_configuration(state);
  if (parser_.at(from.items).has_keys) return true;
  Lexer& lexer = store_->lexer;
  if (lexer.is_boundary(from.lexer)) return false;
  // A comma that may have white space in it is over, and may go on.
  const SlotSetId matched = lexer.matched(from.lexer);
  if (matched != Lexer::no_slots() && parser_.at(parser_.scan(from.items, matched, from.text, from.clock)).has_keys) {
    return true;
  }
  const Words live = lexer.residuals(from.lexer);
  const TextId text = from.text == DistinctRegister::no_text() ? from.text : DistinctRegister::any_text();
  for (size_t i = 0; i < live.size(); i += 2) {
    const ItemSetId after = parser_.scan(from.items, lexer.slot_set(live[i]), text, from.clock);
    if (parser_.at(after).has_keys) return true;
  }
  return false;
}

uint64_t CompiledGrammar::number_of(const Position& at) {
  if (at.keys.is_empty()) return uint64_t{at.state.value} + 1;
  const std::string content = std::to_string(at.lexeme.size()) + ':' + at.lexeme.string() + at.keys.content();
  std::vector<uint32_t> words(1 + (content.size() + sizeof(uint32_t) - 1) / sizeof(uint32_t));
  words[0] = at.state.value;
  std::memcpy(&words[1], content.data(), content.size());
  const uint32_t hash = Interner::hash(words);
  auto id = position_ids_.find(words, hash);
  if (!id) {
    position_account_.charge(words.size());
    id = position_ids_.add(words, hash);
  }
  return (uint64_t{1} << 32) + *id + 1;
}

// What the pending lexeme says, where it may end as a key that is there already.
std::optional<BegunString> CompiledGrammar::begun_key(const Position& at) {
  if (at.lexeme.empty() || !at.keys.has_any()) return std::nullopt;
  const std::string lexeme = at.lexeme.string();
  return lexeme[0] == '"' ? std::optional(decode_begun_string(lexeme)) : std::nullopt;
}

bool CompiledGrammar::asks_for_keys(const Position& at, const Mask& mask) const {
  if (at.keys.is_empty()) return false;
  if (const WholeKeys* whole = mask.whole_keys.get()) {
    // The pending lexeme may be the same key.
    if (whole->outside || !at.lexeme.empty()) return true;
    if (std::ranges::any_of(whole->keys, [&](const std::string& key) { return at.keys.has(key); })) return true;
  }
  const auto begun = begun_key(at);
  if (!begun) return false;
  if (begun->in_escape) return at.keys.has_beginning(begun->text);
  bool asks = false;
  at.keys.for_each_rest(begun->text,
                        [&](std::string_view rest) { asks = asks || !store_->key_endings->of(rest).empty(); });
  return asks;
}

std::vector<TokenId> CompiledGrammar::repeated_keys(const Position& at, const Mask& mask) {
  std::vector<TokenId> out;
  const auto add_unfit = [&](std::span<const TokenId> tokens) {
    for (TokenId token : tokens) {
      if (!step_text(at, vocabulary_->text(token))) out.push_back(token);
    }
  };
  if (mask.whole_keys != nullptr) add_unfit(mask.whole_keys->tokens);
  const auto begun = begun_key(at);
  if (!begun) return out;
  const KeyEndings& endings = *store_->key_endings;
  if (begun->in_escape) {
    if (at.keys.has_beginning(begun->text)) add_unfit(endings.with_quote());
    return out;
  }
  at.keys.for_each_rest(begun->text, [&](std::string_view rest) {
    for (const KeyEndings::Ending& ending : endings.of(rest)) {
      // Where the key may be something else as well, what follows it decides.
      if (step_text(at, ending.spelling)) {
        add_unfit(ending.tokens);
      } else {
        out.insert(out.end(), ending.tokens.begin(), ending.tokens.end());
      }
    }
  });
  return out;
}

// Whatever comes before: only that the token fits the state is known, or that it never does, as it repeats a key of its
// own.
void CompiledGrammar::add_whole_keys(StateId state, Mask& mask) {
  const Configuration at = sole_configuration(state);
  WholeKeys found;
  for (TokenId token : mask.allowed(store_->key_endings->with_string(is_in_string(at)))) {
    KeySteps steps = key_steps({state, {}, {}}, at);
    const uint64_t before = parser_.reached();
    const std::string_view text = vocabulary_->text(token);
    const bool fits = steps.take(text) == text.size();
    walk_.reach(parser_.reached() - before);
    if (!fits) {
      mask.remove(token);
    } else if (!steps.whole_keys().empty()) {
      found.tokens.push_back(token);
      found.keys.insert(found.keys.end(), steps.whole_keys().begin(), steps.whole_keys().end());
      found.outside = found.outside || steps.whole_outside();
    }
  }
  if (found.tokens.empty()) return;
  std::ranges::sort(found.keys);
  found.keys.erase(std::ranges::unique(found.keys).begin(), found.keys.end());
  found.keys.shrink_to_fit();
  found.tokens.shrink_to_fit();
  mask.whole_keys = std::make_unique<WholeKeys>(std::move(found));
}

// Whether the pending lexeme is a JSON string.
bool CompiledGrammar::is_in_string(const Configuration& at) const {
  if (store_->lexer.is_boundary(at.lexer)) return false;
  const Words live = store_->lexer.residuals(at.lexer);
  // Others that are live began with the same quote.
  for (size_t i = 1; i < live.size(); i += 2) {
    if (store_->regexes.kind(RegexId(live[i])) == RegexKind::kJsonString) return true;
  }
  return false;
}

}  // namespace cfgmask
