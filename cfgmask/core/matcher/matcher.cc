#include "matcher/matcher.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "matcher/budget_masks.h"
#include "matcher/completion.h"
#include "matcher/repetition.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

void add_end_tokens(const Vocabulary& vocabulary, std::span<uint32_t> bits) {
  for (TokenId token : vocabulary.end_tokens) set_bit(bits, token);
}

// Stop tokens are allowed where the text may end, and nowhere else.
void set_stops(const StopTokens& stops, bool may_end, std::span<uint32_t> bits) {
  if (stops == nullptr) return;
  for (TokenId token : *stops) {
    if (may_end) {
      set_bit(bits, token);
    } else {
      clear_bit(bits, token);
    }
  }
}

}  // namespace

void NextMask::write(const Vocabulary& vocabulary, std::span<uint32_t> bits) const {
  if (mask_ != nullptr) {
    mask_->write(bits);
  } else {
    clear_words(bits);
  }
  for (TokenId token : repeated_keys_) clear_bit(bits, token);
  if (may_end_) add_end_tokens(vocabulary, bits);
  set_stops(stops_, may_end_, bits);
}

namespace {

// Of the text of one step, for the guard: a step may be as long as a whole text, and is looked at again at each.
constexpr size_t kSymbolsPerStep = 16;

}  // namespace

Matcher::Matcher(std::shared_ptr<CompiledGrammar> grammar, std::optional<uint32_t> max_tokens, uint32_t stall_after)
    : Matcher(std::move(grammar)) {
  max_tokens_ = max_tokens;
  stall_after_ = stall_after;
  if (!max_tokens) return;
  const CompiledGrammar::Guard guard(*grammar_);
  Completions& completions = grammar_->completions();
  const auto needed = completions.least_budget(*max_tokens);
  if (!needed && !completions.hopeless(position().state))
    throw LimitExceeded("max_search_steps", grammar_->max_search_steps());
  if (!needed || *needed > *max_tokens) throw BudgetTooSmall{*max_tokens, needed};
}

std::optional<uint32_t> Matcher::tokens_left() const {
  if (!max_tokens_) return std::nullopt;
  const size_t used = history_.size();
  return used < *max_tokens_ ? *max_tokens_ - static_cast<uint32_t>(used) : 0;
}

Matcher::Bound Matcher::compute_bound() {
  const auto left = tokens_left();
  const auto number = stalled_number();
  if (number && (!left || *number < *left)) return {number, true};
  return {left, number.has_value()};
}

// The number of the state where it has stalled; nullopt elsewhere.
std::optional<uint32_t> Matcher::stalled_number() {
  if (stall_after_ == 0 || n_steps() < stall_after_ || !only_repeats() || is_free()) return std::nullopt;
  const Position before = position_before(stall_after_);
  Completions& completions = grammar_->completions();
  const auto number = completions.number(position(), Completions::Effort::kFull);
  const auto number_before = completions.number(before, Completions::Effort::kFull);
  return number && number_before && *number >= *number_before ? number : std::nullopt;
}

// Whether the grammar asks nothing here: the text may end, or go on with any characters that a token has. What a model
// writes there is its own affair. Inside of a character it is as before that.
bool Matcher::is_free() {
  const size_t n = steps_in_character();
  const StateId state = (n == 0 ? position() : position_before(n)).state;
  if (!grammar_->accepting(state)) return false;
  const Vocabulary& vocabulary = grammar_->vocabulary();
  std::vector<uint32_t> bits(vocabulary.n_words());
  grammar_->mask(state)->write(bits);
  for (TokenId token = 0; token < vocabulary.n_vocab; ++token) {
    if (!has_bit(bits, token) && vocabulary.is_text(token)) return false;
  }
  return true;
}

// How many of the last steps have written the beginning of a character and nothing else.
size_t Matcher::steps_in_character() const {
  std::string tail;
  size_t steps = 0;
  history_.for_each_back([&](TokenId token, std::string_view text) {
    if (token != CompiledGrammar::Consumed::kBytes) text = grammar_->vocabulary().text(token);
    tail.insert(0, text);
    if (text.empty() || tail.size() > 3) return false;
    ++steps;
    return is_continuation(tail[0]);
  });
  return begins_character(tail) ? steps : 0;
}

// Whether the text of the last `stall_after_` steps is one piece over and over.
bool Matcher::only_repeats() const {
  return history_.remember([&] {
    const size_t piece = shortest_piece(last_symbols(kDecisive));
    return piece != 0 && repeats(last_symbols(SIZE_MAX), piece);
  });
}

// From the last to the first, of the last `stall_after_` steps: bytes, or 256 + a token without text.
std::vector<uint32_t> Matcher::last_symbols(size_t most) const {
  std::vector<uint32_t> symbols;
  symbols.reserve(std::min(most, kDecisive));
  size_t steps = 0;
  history_.for_each_back([&](TokenId token, std::string_view text) {
    if (token != CompiledGrammar::Consumed::kBytes) text = grammar_->vocabulary().text(token);
    if (text.empty()) symbols.push_back(256 + token);
    const size_t n = std::min({text.size(), kSymbolsPerStep, most - symbols.size()});
    for (size_t i = text.size(); i-- > text.size() - n;) symbols.push_back(static_cast<uint8_t>(text[i]));
    return ++steps < stall_after_ && symbols.size() < most;
  });
  return symbols;
}

bool Matcher::is_stalled() {
  if (is_finished()) return false;
  const CompiledGrammar::Guard guard(*grammar_);
  return stalled_number().has_value();
}

bool Matcher::fill_known_mask(std::span<uint32_t> bits) const {
  if (is_bounded() || is_finished()) return false;
  const Position& at = place().of;
  const Readers::Pin pin(grammar_->readers(), this);
  const auto [mask, accepting] = grammar_->known_mask(at.state);
  if (mask == nullptr || grammar_->asks_for_keys(at, *mask)) return false;
  mask->write(bits);
  if (accepting) add_end_tokens(grammar_->vocabulary(), bits);
  set_stops(stops_, accepting, bits);
  grammar_->counts()->add_copied(this);
  return true;
}

NextMask Matcher::next_mask() {
  const auto begin = std::chrono::steady_clock::now();
  bool is_new = false;
  NextMask next = find_next_mask(is_new);
  next.cost_ = {is_new, std::chrono::steady_clock::now() - begin};
  grammar_->counts()->add(this, next.cost_);
  return next;
}

NextMask Matcher::find_next_mask(bool& is_new) {
  NextMask next;
  next.stops_ = stops_;
  if (is_finished()) {
    next.may_end_ = true;
    return next;
  }
  const CompiledGrammar::Guard guard(*grammar_);
  const size_t n_before = grammar_->n_masks_computed();
  const Position& at = place().of;
  const auto left = bound().steps;
  next.may_end_ = grammar_->accepting(at.state);
  if (left) {
    auto [mask, repeated_keys] = grammar_->budget_masks().mask(at, *left);
    next.mask_ = std::move(mask);
    next.repeated_keys_ = std::move(repeated_keys);
    is_new = grammar_->n_masks_computed() != n_before;
    return next;
  }
  next.mask_ = grammar_->mask(at.state);
  is_new = grammar_->n_masks_computed() != n_before;
  if (grammar_->asks_for_keys(at, *next.mask_)) next.repeated_keys_ = grammar_->repeated_keys(at, *next.mask_);
  return next;
}

NextMask Matcher::next_mask_over_limit() {
  NextMask next;
  next.stops_ = stops_;
  try {
    next.may_end_ = is_accepting();
  } catch (const LimitExceeded&) {
    next.may_end_ = false;  // not even that may be asked
  }
  return next;
}

MaskCost Matcher::fill_mask(std::span<uint32_t> bits) {
  if (fill_known_mask(bits)) return {};
  try {
    const NextMask next = next_mask();
    next.write(grammar_->vocabulary(), bits);
    return next.cost();
  } catch (const LimitExceeded&) {
    clear_words(bits);
    next_mask_over_limit().write(grammar_->vocabulary(), bits);
    throw;
  } catch (...) {
    clear_words(bits);
    throw;
  }
}

bool Matcher::advance(TokenId token) {
  if (token >= grammar_->vocabulary().n_vocab) return false;
  if (stops_ != nullptr && is_stop(token)) return advance_end(token);
  if (!is_bounded() && !is_finished()) {
    if (auto next = grammar_->known_step(place(), token)) {
      history_.push(std::move(*next), false, token, false);
      return true;
    }
  }
  const bool is_end = grammar_->vocabulary().is_end(token);
  const CompiledGrammar::Guard guard(*grammar_);
  if (!is_finished()) {
    if (!is_bounded()) {
      if (auto next = grammar_->new_step(place(), token)) {
        history_.push(std::move(*next), false, token, false);
        return true;
      }
    } else if (auto next = grammar_->step_token(position(), token)) {
      const Bound most = bound();
      if (!most.steps || grammar_->budget_masks().allows(position(), token, *next, *most.steps)) {
        history_.push({std::move(*next)}, false, token, most.stalled);
        return true;
      }
    }
  }
  if (!is_end || !(is_finished() || grammar_->accepting(place().of.state))) return false;
  history_.push(place(), true, token, false);
  return true;
}

bool Matcher::is_stop(TokenId token) const {
  return stops_ != nullptr && std::binary_search(stops_->begin(), stops_->end(), token);
}

bool Matcher::advance_end(TokenId token) {
  const CompiledGrammar::Guard guard(*grammar_);
  if (!is_finished() && !grammar_->accepting(place().of.state)) return false;
  history_.push(place(), true, token, false);
  return true;
}

size_t Matcher::try_advance(std::span<const TokenId> tokens, bool consume) {
  size_t n = 0;
  try {
    for (; n < tokens.size() && advance(tokens[n]); ++n) Pause::tick();
  } catch (...) {
    history_.pop(n);
    throw;
  }
  if (!consume || n < tokens.size()) history_.pop(n);
  return n;
}

size_t Matcher::advance_bytes(std::string_view text) {
  if (is_finished()) return 0;
  const CompiledGrammar::Guard guard(*grammar_);
  size_t n = 0;
  auto next = grammar_->step_text(position(), text, &n);
  if (next && !text.empty()) {
    // One step is one token.
    next = grammar_->end_token(*next);
    if (!next) return grammar_->longest_token(position(), text);
  }
  const Bound most = bound();
  if (most.steps) {
    // The bytes that some text within the bound goes on with.
    n = fitting_bytes(text.substr(0, n), *most.steps);
    if (!next || n < text.size()) return n;
  }
  if (next) history_.push({std::move(*next)}, false, CompiledGrammar::Consumed::kBytes, most.stalled, text);
  return n;
}

// How many bytes, taken as one step, leave a text that can be completed in `left` steps with it.
size_t Matcher::fitting_bytes(std::string_view text, uint32_t left) {
  if (left == 0) return 0;
  for (size_t n = text.size(); n > 0; --n) {
    const auto after = grammar_->end_token(*grammar_->step_text(position(), text.substr(0, n)));
    if (!after) continue;
    const auto number = grammar_->completions().number(*after, Completions::Effort::kFull);
    if (number && *number < left) return n;
  }
  return 0;
}

std::optional<std::vector<TokenId>> Matcher::completion() {
  if (is_finished()) return std::vector<TokenId>();
  const CompiledGrammar::Guard guard(*grammar_);
  Completions& completions = grammar_->completions();
  auto way = completions.way(position(), Completions::Effort::kFull);
  if (!way) {
    if (completions.hopeless(position().state)) return std::nullopt;
    throw LimitExceeded("max_search_steps", grammar_->max_search_steps());
  }
  if (std::any_of(way->begin(), way->end(), [&](TokenId token) { return is_stop(token); }))
    throw std::invalid_argument("the completion that was found writes one of stop_token_ids as text");
  return way;
}

uint64_t Matcher::state_number() {
  if (is_finished()) return 0;
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->number_of(position());
}

void Matcher::reset(std::shared_ptr<CompiledGrammar> anew) {
  reset();
  grammar_ = std::move(anew);
  start_ = {{grammar_->start(), {}, {}}};
}

bool Matcher::rollback(size_t n) {
  if (n > history_.size()) return false;
  history_.pop(n);
  return true;
}

bool Matcher::is_accepting() {
  if (is_finished()) return true;
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->accepting(place().of.state);
}

std::vector<std::string> Matcher::expected() {
  if (is_finished()) return {};
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->expected(place().of.state);
}

std::vector<CompiledGrammar::Capture> Matcher::captures() {
  if (!grammar_->has_captures()) return {};
  std::vector<CompiledGrammar::Consumed> consumed;
  history_.for_each_back([&](TokenId token, std::string_view text) {
    const bool is_token = token != CompiledGrammar::Consumed::kBytes;
    consumed.push_back({token, is_token ? grammar_->vocabulary().text(token) : text});
    return true;
  });
  std::reverse(consumed.begin(), consumed.end());
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->captures(consumed);
}

std::optional<double> Matcher::temperature() {
  if (is_finished()) return std::nullopt;
  const CompiledGrammar::Guard guard(*grammar_);
  return grammar_->temperature(place().of.state);
}

}  // namespace cfgmask
