#include "matcher/key_steps.h"

#include <algorithm>

namespace cfgmask {

SlotSetId KeySteps::end_lexeme(ItemSetId items, SlotSetId matched, size_t end) {
  const bool is_whole = !std::exchange(is_pending_, false);
  const bool is_known = std::exchange(is_known_, true);
  const ItemSet& set = parser_.at(items);
  if (!set.has_key_roles) return matched;
  const Words slots = lexer_.slots(matched);
  const auto has = [&](KeyRole role) {
    return std::any_of(slots.begin(), slots.end(), [&](uint32_t slot) { return set.slot(slot).key_role == role; });
  };
  if (has(KeyRole::kOpens)) {
    keys_.open();
    note(KeyEffects::kOpens, end);
  } else if (has(KeyRole::kCloses)) {
    keys_.close();
    has_closed_ = true;
    note(KeyEffects::kCloses, end);
  } else if (has(KeyRole::kKey)) {
    note(KeyEffects::kEndsKey, end);
    if (!is_known) return matched;
    std::string key = decode_json_string(lexeme_.string() + fresh_);
    if (is_whole) {
      whole_keys_.push_back(key);
      whole_outside_ = whole_outside_ || has_closed_;
    }
    if (keys_.has(key)) {
      is_repeatable_ = false;
      return without_keys(set, matched);
    }
    keys_.add(std::move(key), endings_);
  }
  return matched;
}

void KeySteps::note(KeyEffects::Kind kind, size_t end) {
  is_repeatable_ = is_repeatable_ && effects_.n_events() < KeyEffects::kMostEvents && end < KeyEffects::kNone;
  if (!is_repeatable_) return;
  effects_.add({kind, static_cast<uint8_t>(begin_), static_cast<uint8_t>(end)});
}

std::optional<KeyEffects> KeySteps::effects() const {
  if (!is_repeatable_ || n_taken_ >= KeyEffects::kNone) return std::nullopt;
  KeyEffects effects = effects_;
  if (is_in_key()) effects.lexeme = static_cast<uint8_t>(begin_);
  return effects;
}

SlotSetId KeySteps::without_keys(const ItemSet& set, SlotSetId matched) {
  std::vector<uint32_t> others;
  for (uint32_t slot : lexer_.slots(matched)) {
    if (set.slot(slot).key_role != KeyRole::kKey) others.push_back(slot);
  }
  return others.empty() ? Lexer::no_slots() : lexer_.slot_set(others);
}

}  // namespace cfgmask
