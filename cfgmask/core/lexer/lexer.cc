#include "lexer/lexer.h"

#include <algorithm>

#include "util/in_step.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

// Bytes that a state was left by one by one before those that lead to the same one are asked for. Beyond ASCII most do:
// a character has half a hundred first bytes, and 64 of each other kind.
constexpr uint8_t kMany = 3;
constexpr uint8_t kManyBeyondAscii = 1;
// So many derivatives that a byte took, those of parts counted as well, that the question pays with the first one: of
// labels of `idn-email` in their middle they take 8,000 cycles for each byte, of those at their beginning half a
// million, and the question 4,000.
constexpr size_t kManyDerivatives = 4;
// To make a state, or to leave it by a byte, is charged by its slots, so that the bound on states bounds time and
// memory as well: 20,000 strings of different lengths are as many slots, and each byte takes a derivative of each.
constexpr size_t kWordsPerCharge = 32;
// So many residuals at most are asked for far bounds: each may take a search for the ends of its texts.
constexpr size_t kFewSlots = 4;

}  // namespace

Lexer::Lexer(RegexStore& regexes, size_t longest) : regexes_(regexes), longest_(static_cast<uint32_t>(longest)) {
  slot_sets_.intern({});
  const uint32_t inside[] = {0};
  intern(inside);
}

LexerStateId Lexer::start(std::span<const RegexId> terminals) {
  slots_.clear();
  uint32_t slot = 0;
  for (RegexId terminal : terminals) {
    slots_.push_back(slot);
    slots_.push_back(terminal.value);
    slot += regexes_.n_numbers(terminal);
  }
  return intern_slots(kBoundary);
}

LexerStateId Lexer::start(LexerStateId all, std::span<const uint32_t> slots) {
  slots_.clear();
  size_t next = 0;
  const Words pairs = residuals(all);
  for (size_t i = 0; i < pairs.size() && next < slots.size(); i += 2) {
    if (pairs[i] != slots[next]) continue;
    slots_.push_back(pairs[i]);
    slots_.push_back(pairs[i + 1]);
    ++next;
  }
  return intern_slots(kBoundary);
}

LexerStateId Lexer::inside(uint32_t slot, RegexId residual) {
  const uint32_t pair[] = {slot, residual.value};
  return inside(pair);
}

LexerStateId Lexer::inside(Words pairs) {
  slots_.assign(pairs.begin(), pairs.end());
  return intern_slots(0);
}

LexerStateId Lexer::without_bounds_beyond(LexerStateId state, uint32_t n_bytes) {
  const Words live = residuals(state);
  if (is_boundary(state) || live.size() > 2 * kFewSlots) return state;
  slots_.assign(live.begin(), live.end());
  bool differs = false;
  for (size_t i = 1; i < slots_.size(); i += 2) {
    const RegexId loose = regexes_.without_far_bounds(RegexId(slots_[i]), n_bytes);
    differs |= loose.value != slots_[i];
    slots_[i] = loose.value;
  }
  return differs ? intern_slots(0) : state;
}

bool Lexer::goes_on(LexerStateId state) {
  ByteSet left = first(state);
  for (unsigned b = left.lowest(); b < 256; left.remove(b), b = left.lowest()) {
    if (next(state, b) != dead()) return true;
  }
  return false;
}

LexerStateId Lexer::intern_slots(uint32_t flags) {
  key_.assign(1, flags);
  key_.insert(key_.end(), slots_.begin(), slots_.end());
  return intern(key_);
}

LexerStateId Lexer::intern(std::span<const uint32_t> key) {
  const uint32_t hash = Interner::hash(key);
  if (auto known = ids_.find(key, hash)) return LexerStateId(*known);
  // Charged before it is entered: a state over the bound is refused each time it is asked for.
  charge(1 + key.size() / kWordsPerCharge);
  State state;
  state.boundary = (key[0] & kBoundary) != 0;
  const size_t n_slots = (key.size() - 1) / 2;
  std::vector<uint32_t> complete;
  for (size_t i = 0; i < n_slots; ++i) {
    const RegexId residual(key[2 + 2 * i]);
    if (regexes_.nullable(residual)) complete.push_back(key[1 + 2 * i]);
    state.first |= regexes_.first(residual);
    state.has_bounds |= regexes_.has_far_bounds(residual, longest_);
  }
  state.has_bounds &= !state.boundary && n_slots <= kFewSlots;
  state.can_continue = !state.first.empty();
  state.matched = complete.empty() ? no_slots() : SlotSetId(slot_sets_.intern(complete).first);
  return LexerStateId(add_with(ids_, key, hash, states_, std::move(state)));
}

LexerStateId Lexer::compute_next(LexerStateId state, unsigned b, bool of_many) {
  State& s = states_[state.value];
  const size_t n_derived = regexes_.n_derived();
  slots_.clear();
  const Words pairs = residuals(state);
  charge(pairs.size() / kWordsPerCharge);
  Pause::tick();
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const RegexId residual(pairs[i + 1]);
    if (!regexes_.first(residual).has(b)) continue;
    const RegexId rest = regexes_.derivative(residual, b);
    if (!regexes_.is_empty(rest)) add_slot(pairs[i], rest);
  }
  const LexerStateId next = intern_slots(0);
  remember(s, b, next);
  // A state that is left by many bytes is left by nearly all, and most of them lead to the same one.
  if (of_many || s.n_few > (b < 0x80 ? kMany : kManyBeyondAscii) ||
      regexes_.n_derived() - n_derived > kManyDerivatives) {
    ByteSet same = alike(state, b);
    same.remove(b);
    if (same.empty()) return next;
    if (s.row == nullptr) make_row(s);
    s.row->set(same, next.value);
  }
  return next;
}

// What is left of the terminal in a slot, to slots_.
void Lexer::add_slot(uint32_t slot, RegexId rest) {
  if (regexes_.is_numbered(rest)) {
    if (const auto only = regexes_.only_key(rest)) {
      slot += only->number;
      rest = only->rest;
    }
  }
  slots_.push_back(slot);
  slots_.push_back(rest.value);
}

std::optional<LexerStateId> Lexer::after(LexerStateId state, std::string_view text) {
  slots_.clear();
  const Words pairs = residuals(state);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const RegexId residual(pairs[i + 1]);
    if (!regexes_.first(residual).has(static_cast<uint8_t>(text[0]))) continue;
    const auto rest = regexes_.after(residual, text);
    if (!rest) return std::nullopt;
    if (!regexes_.is_empty(*rest)) add_slot(pairs[i], *rest);
  }
  return intern_slots(0);
}

bool Lexer::knows(LexerStateId state, unsigned b) const {
  const State& s = states_[state.value];
  if (!s.first.has(b)) return true;
  if (s.row != nullptr) return s.row->numbers[b] != Row::kUnknown;
  return std::find(s.few_bytes.begin(), s.few_bytes.begin() + s.n_few, b) != s.few_bytes.begin() + s.n_few;
}

ByteSet Lexer::alike(LexerStateId state, unsigned b) {
  ByteSet set = first(state);
  const Words live = residuals(state);
  for (size_t i = 1; i < live.size(); i += 2) {
    const RegexId residual(live[i]);
    const ByteSet& taken = regexes_.first(residual);
    if (taken.has(b)) {
      set &= regexes_.alike(residual, b);
    } else {
      set -= taken;
    }
  }
  return set;
}

void Lexer::Row::set(const ByteSet& bytes, uint32_t state) {
  const auto number = static_cast<size_t>(std::find(next.begin(), next.end(), state) - next.begin());
  if (number == kUnknown) return;  // hardly possible; it is worked out again
  if (number == next.size()) next.push_back(state);
  bytes.for_each([&](unsigned b) { numbers[b] = static_cast<uint8_t>(number); });
}

void Lexer::make_row(State& s) {
  s.row = std::make_unique<Row>();
  ++n_rows_;
  for (size_t i = 0; i < s.n_few; ++i) s.row->set(ByteSet::only(s.few_bytes[i]), s.few_next[i]);
}

void Lexer::remember(State& s, unsigned b, LexerStateId next) {
  if (s.row == nullptr && s.n_few == kFew) make_row(s);
  if (s.row == nullptr) {
    s.few_bytes[s.n_few] = static_cast<uint8_t>(b);
    s.few_next[s.n_few] = next.value;
  } else {
    s.row->set(ByteSet::only(b), next.value);
  }
  if (s.n_few < UINT8_MAX) ++s.n_few;
}

}  // namespace cfgmask
