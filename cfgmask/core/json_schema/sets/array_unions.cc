#include "json_schema/sets/array_unions.h"

#include <algorithm>

namespace cfgmask {

namespace {

// Places of all states, for each array and item with a position.
constexpr uint64_t kRoomOfItem = 32;

}  // namespace

bool ArrayUnions::takes(const SchemaIR& schema, ValueId id) {
  const SchemaIR::Value& value = schema.at(id);
  return value.array && !value.object && value.terminals.empty() && value.array->witnesses.empty() &&
         !value.array->forbids_equal_items() && !value.array->repeats && schema.can_be(*value.array);
}

uint64_t ArrayUnions::room_for(const SchemaIR& schema, const Places& places) {
  uint64_t room = 0;
  for (Place place : places) room += kRoomOfItem * (schema.at(place.of).array->prefix.size() + 1);
  return room;
}

// Behind the items that have positions of their own and the bounds, all states of an array are one.
ArrayUnions::Place ArrayUnions::passed(Place item) const {
  const SchemaIR::Array& array = shape(item);
  const uint32_t most = array.maximum == kUnbounded ? 0 : array.maximum;
  const auto last = std::max({1U, static_cast<uint32_t>(array.prefix.size()), array.minimum, most});
  return {item.of, std::min(item.member + 1, last)};
}

uint32_t ArrayUnions::after(std::span<const Place> items) {
  Places places;
  for (Place item : items) places.push_back(passed(item));
  if (places.size() < ObjectUnions::kMany) return state(Kind::kEach, places);
  if (const auto known = states_.find(words_of(Kind::kItem, places))) return *known;
  return state(taken(places.size(), room_) ? Kind::kItem : Kind::kEach, places);
}

std::vector<uint32_t> ArrayUnions::words_of(Kind kind, const Places& places) {
  std::vector<uint32_t> words{static_cast<uint32_t>(kind)};
  for (Place place : places) words.insert(words.end(), {place.of.value, place.member});
  return words;
}

ArrayUnions::State ArrayUnions::at(uint32_t state) const {
  const Words words = states_.at(state);
  State found{static_cast<Kind>(words[0]), {}};
  for (size_t i = 1; i < words.size(); i += 2) found.places.push_back({ValueId(words[i]), words[i + 1]});
  return found;
}

ArrayUnions::Next ArrayUnions::next(const Places& places) const {
  Next found;
  for (Place place : places) {
    const SchemaIR::Array& array = shape(place);
    found.may_end = found.may_end || place.member >= array.minimum;
    const auto item = array.item(place.member);
    if (item && place.member < array.maximum && schema_.is_live(*item)) found.items.push_back(place);
  }
  return found;
}

ObjectUnions::Held ArrayUnions::held_at(std::span<const Place> items) { return held_at(schema_, items, room_); }

ObjectUnions::Held ArrayUnions::held_at(const SchemaIR& schema, std::span<const Place> items, uint64_t& room) {
  const auto value = [&](Place item) { return schema.resolved(*schema.at(item.of).array->item(item.member)); };
  return ObjectUnions::apart(schema, items, value, [&](uint64_t amount) { return taken(amount, room); });
}

bool ArrayUnions::taken(uint64_t amount, uint64_t& room) {
  if (amount > room) return false;
  room -= amount;
  return true;
}

}  // namespace cfgmask
