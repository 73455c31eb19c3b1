#include "schema/array_forks.h"

#include <algorithm>

namespace cfgmask {

namespace {

// Places of all states, for each array and item with a position.
constexpr uint64_t kRoom = 32;

}  // namespace

uint32_t ArrayForks::add(PlainValueId array) {
  arrays_.push_back(array);
  room_ += kRoom * (schema_.at(array).array->prefix.size() + 1);
  return static_cast<uint32_t>(arrays_.size() - 1);
}

// Behind the items that have positions of their own and the bounds, all states of an array are one.
ArrayForks::Place ArrayForks::passed(Place item) const {
  const PlainSchema::Array& array = shape(item);
  const uint32_t most = array.maximum == kUnbounded ? 0 : array.maximum;
  const auto last = std::max({1U, static_cast<uint32_t>(array.prefix.size()), array.minimum, most});
  return {item.object, std::min(item.member + 1, last)};
}

uint32_t ArrayForks::after(std::span<const Place> items) {
  Places places;
  for (Place item : items) places.push_back(passed(item));
  if (places.size() < ObjectForks::kMany) return state(Kind::kEach, places);
  if (const auto known = states_.find(words_of(Kind::kItem, places))) return *known;
  return state(take_room(places.size()) ? Kind::kItem : Kind::kEach, places);
}

std::vector<uint32_t> ArrayForks::words_of(Kind kind, const Places& places) {
  std::vector<uint32_t> words{static_cast<uint32_t>(kind)};
  for (Place place : places) words.insert(words.end(), {place.object, place.member});
  return words;
}

ArrayForks::State ArrayForks::at(uint32_t state) const {
  const Words words = states_.at(state);
  State found{static_cast<Kind>(words[0]), {}};
  for (size_t i = 1; i < words.size(); i += 2) found.places.push_back({words[i], words[i + 1]});
  return found;
}

ArrayForks::Next ArrayForks::next(const Places& places) const {
  Next found;
  for (Place place : places) {
    const PlainSchema::Array& array = shape(place);
    found.may_end = found.may_end || place.member >= array.minimum;
    const auto item = array.item(place.member);
    if (item && place.member < array.maximum && schema_.is_live(*item)) found.items.push_back(place);
  }
  return found;
}

ObjectForks::Held ArrayForks::held_at(std::span<const Place> items) {
  const auto value = [&](Place item) { return schema_.resolved(*shape(item).item(item.member)); };
  return ObjectForks::apart(schema_, items, value, [&](uint64_t amount) { return take_room(amount); });
}

bool ArrayForks::take_room(uint64_t amount) {
  if (amount > room_) return false;
  room_ -= amount;
  return true;
}

}  // namespace cfgmask
