#include "json_schema/sets/witnesses.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace cfgmask {

namespace {

constexpr size_t kMaxStates = 10'000;

using Array = SchemaIR::Array;
using Object = SchemaIR::Object;
using ItemWitness = SchemaIR::ItemWitness;

bool has_limits(const Array& array) {
  return std::any_of(array.witnesses.begin(), array.witnesses.end(),
                     [](const ItemWitness& witness) { return witness.most != kUnbounded; });
}

// The number of items beyond which all states are alike.
uint32_t counted_to(const Array& array) {
  uint32_t most = std::max({1U, static_cast<uint32_t>(array.prefix.size()), array.minimum});
  if (array.maximum != kUnbounded) most = std::max(most, array.maximum);
  for (const ItemWitness& witness : array.witnesses) most = std::max(most, witness.start);
  return most;
}

struct ItemWay {
  ValueId value;
  std::vector<uint32_t> met;
};

// What the next item may be, with the counts after it.
std::vector<ItemWay> item_ways(const Array& array, ValueId item, const ItemState& state, const CommonValue& common) {
  std::vector<ItemWay> found{{item, state.met}};
  for (size_t i = 0; i < array.witnesses.size(); ++i) {
    const ItemWitness& witness = array.witnesses[i];
    const bool is_limited = witness.most != kUnbounded;
    if (state.position < witness.start || (!is_limited && state.met[i] >= witness.least)) continue;
    std::vector<ItemWay> met;
    for (const ItemWay& way : found) {
      met.push_back({common(way.value, witness.value), way.met});
      ++met.back().met[i];
    }
    if (is_limited) {
      for (ItemWay& way : found) way.value = common(way.value, witness.opposite);
    }
    // Where there may be more of them, an item that meets the witness may go uncounted; that does no harm.
    if (!is_limited || state.met[i] < witness.most) found.insert(found.end(), met.begin(), met.end());
  }
  return found;
}

// So many keys are written, and these witnesses are missing, as bits.
using KeyState = std::pair<uint32_t, uint32_t>;

// Of a key that may meet these witnesses, as bits.
std::vector<KeyWay> key_ways(const Object& object, uint32_t meets, ValueId value, uint32_t missing,
                             const CommonValue& common) {
  std::vector<KeyWay> found{{value, missing}};
  for (size_t i = 0; i < object.witnesses.size(); ++i) {
    const auto& witness = object.witnesses[i];
    if ((missing & meets & (1U << i)) == 0) continue;
    const size_t n_found = found.size();
    for (size_t j = 0; j < n_found; ++j) {
      const KeyWay way = found[j];
      found.push_back({common(way.value, witness.value), way.missing & ~(1U << i)});
    }
    // A value that meets the witness may be written by the other way as well, if it is not just any; that does no harm.
    if (witness.value == SchemaIR::any()) found.erase(found.begin(), found.begin() + static_cast<ptrdiff_t>(n_found));
  }
  return found;
}

}  // namespace

std::optional<std::vector<ItemState>> item_states(const Array& array, const CommonValue& common) {
  const uint32_t last = counted_to(array);
  const bool limited = has_limits(array);
  std::vector<ItemState> states;
  std::map<std::pair<uint32_t, std::vector<uint32_t>>, uint32_t> known;
  const auto state_of = [&](uint32_t position, const std::vector<uint32_t>& met) {
    const auto [at, is_new] = known.try_emplace({position, met}, static_cast<uint32_t>(states.size()));
    if (is_new) states.push_back({position, met});
    return at->second;
  };
  state_of(0, std::vector<uint32_t>(array.witnesses.size(), 0));
  for (size_t i = 0; i < states.size(); ++i) {
    if (states.size() > kMaxStates) return std::nullopt;
    const ItemState here = states[i];
    bool enough = true;
    for (size_t w = 0; w < here.met.size(); ++w) enough = enough && here.met[w] >= array.witnesses[w].least;
    states[i].may_end = enough && here.position >= array.minimum;
    states[i].is_met = enough && here.position >= array.prefix.size() && !limited;
    const auto item = here.position < array.maximum ? array.item(here.position) : std::nullopt;
    if (states[i].is_met || !item) continue;
    std::vector<ItemState::Item> items;
    for (const ItemWay& way : item_ways(array, *item, here, common))
      items.push_back({way.value, state_of(std::min(here.position + 1, last), way.met)});
    states[i].items = std::move(items);
  }
  return states;
}

bool can_be_met(const Array& array, const CommonValue& common, const IsPossible& possible) {
  const auto states = item_states(array, common);
  if (!states) return false;
  std::set<uint32_t> seen{0};
  std::vector<uint32_t> todo{0};
  while (!todo.empty()) {
    const ItemState& state = (*states)[todo.back()];
    todo.pop_back();
    const bool goes_on = state.is_met && array.rest && possible(*array.rest);
    if (state.may_end || goes_on) return true;
    for (const auto& item : state.items) {
      if (possible(item.value) && seen.insert(item.after).second) todo.push_back(item.after);
    }
  }
  return false;
}

std::vector<KeyWay> key_ways(const Object& object, const SchemaIR::Member& member, uint32_t missing,
                             const CommonValue& common) {
  uint32_t meets = 0;
  for (size_t i = 0; i < object.witnesses.size(); ++i) {
    if (object.witnesses[i].admits(member.name)) meets |= 1U << i;
  }
  return key_ways(object, meets, member.value, missing, common);
}

std::vector<KeyWay> key_ways(const Object& object, const SchemaIR::KeyClass& keys, uint32_t missing,
                             const CommonValue& common) {
  return key_ways(object, keys.meets, keys.value, missing, common);
}

bool can_be_met(const Object& object, const CommonValue& common, const IsPossible& possible) {
  const uint32_t most = object.maximum == kUnbounded ? 0 : object.maximum;
  const uint32_t last = std::max({1U, object.minimum, most});
  std::set<KeyState> now{{0, (1U << object.witnesses.size()) - 1}};
  const auto add_ways = [&](const auto& key, KeyState state, std::set<KeyState>& next) {
    for (const KeyWay& way : key_ways(object, key, state.second, common)) {
      if (state.first < object.maximum && possible(way.value))
        next.insert({std::min(state.first + 1, last), way.missing});
    }
  };
  for (const auto& member : object.members) {
    std::set<KeyState> next;
    for (const KeyState& state : now) {
      add_ways(member, state, next);
      if (!member.required) next.insert(state);
    }
    now = std::move(next);
  }
  const auto kinds = object.kinds();
  std::vector<KeyState> todo(now.begin(), now.end());
  while (!todo.empty()) {
    std::set<KeyState> next;
    for (const auto& kind : kinds) add_ways(kind, todo.back(), next);
    todo.pop_back();
    for (const KeyState& state : next) {
      if (now.insert(state).second) todo.push_back(state);
    }
  }
  return std::any_of(now.begin(), now.end(),
                     [&](const KeyState& state) { return state.second == 0 && state.first >= object.minimum; });
}

}  // namespace cfgmask
