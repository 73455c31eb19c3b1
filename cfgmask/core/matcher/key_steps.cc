#include "matcher/key_steps.h"

#include <algorithm>

namespace cfgmask {

SlotSetId KeySteps::end_lexeme(ItemSetId items, SlotSetId matched) {
  const bool is_whole = !std::exchange(is_pending_, false);
  const bool is_known = std::exchange(is_known_, true);
  const ItemSet& set = parser_.at(items);
  if (!set.has_key_roles) return matched;
  const Words slots = lexer_.slots(matched);
  const auto has = [&](KeyRole role) {
    return std::any_of(slots.begin(), slots.end(), [&](uint32_t slot) { return set.slots[slot].key_role == role; });
  };
  if (has(KeyRole::kOpensObject)) {
    keys_.open();
  } else if (has(KeyRole::kClosesObject)) {
    keys_.close();
  } else if (is_known && has(KeyRole::kKey)) {
    if (is_whole) ++n_whole_keys_;
    std::string key = decode_json_string(lexeme_.string() + fresh_);
    if (keys_.has(key)) return without_keys(set, matched);
    keys_.add(std::move(key), endings_);
  }
  return matched;
}

SlotSetId KeySteps::without_keys(const ItemSet& set, SlotSetId matched) {
  std::vector<uint32_t> others;
  for (uint32_t slot : lexer_.slots(matched)) {
    if (set.slots[slot].key_role != KeyRole::kKey) others.push_back(slot);
  }
  return others.empty() ? Lexer::no_slots() : lexer_.slot_set(others);
}

}  // namespace cfgmask
