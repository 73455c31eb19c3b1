#include "schema/object_forks.h"

#include <algorithm>
#include <string_view>

namespace cfgmask {

namespace {

// Keys and strings that may be listed at all states, for each member of an object.
constexpr uint64_t kRoom = 32;

}  // namespace

ObjectForks::Ways::Ways(std::span<const Way> ways) {
  places_.reserve(ways.size());
  for (const Way& way : ways) {
    if (texts_.empty() || *texts_.back() != *way.text) {
      texts_.push_back(way.text);
      starts_.push_back(0);
    }
    places_.push_back(way.place);
    starts_.back() = static_cast<uint32_t>(places_.size());
  }
}

void ObjectForks::add(uint32_t number, std::shared_ptr<const PlainSchema::Object> object) {
  room_ += kRoom * (object->members.size() + 1);
  if (number >= objects_.size()) objects_.resize(number + 1);
  objects_[number] = std::move(object);
}

uint32_t ObjectForks::after(std::span<const Place> members) {
  Places places(members.begin(), members.end());
  uint64_t size = 0;
  for (Place& place : places) {
    ++place.member;
    for_each_next(place, [&](uint32_t) { ++size; });
  }
  if (places.size() < kMany) return state(Kind::kEach, places);
  if (const auto known = states_.find(words_of(Kind::kFurther, places))) return *known;
  return state(take_room(size) ? Kind::kFurther : Kind::kEach, places);
}

uint32_t ObjectForks::state(Kind kind, const Places& places) { return states_.intern(words_of(kind, places)).first; }

std::vector<uint32_t> ObjectForks::words_of(Kind kind, const Places& places) {
  std::vector<uint32_t> words{static_cast<uint32_t>(kind)};
  for (Place place : places) words.insert(words.end(), {place.object, place.member});
  return words;
}

ObjectForks::State ObjectForks::at(uint32_t state) const {
  const Words words = states_.at(state);
  State found{static_cast<Kind>(words[0]), {}};
  for (size_t i = 1; i < words.size(); i += 2) found.places.push_back({words[i], words[i + 1]});
  return found;
}

template <class F>
bool ObjectForks::for_each_next(Place place, F f) const {
  const auto& members = object(place).members;
  for (uint32_t i = place.member; i < members.size(); ++i) {
    if (schema_.is_live(members[i].value)) f(i);
    if (members[i].required) return false;
  }
  return true;
}

ObjectForks::Next ObjectForks::next(const Places& places) const {
  Places members;
  Places ends;
  for (Place place : places) {
    const auto add = [&](uint32_t member) { members.push_back({place.object, member}); };
    if (for_each_next(place, add)) ends.push_back(place);
  }
  const auto name = [&](Place member) { return object(member).members[member.member].name; };
  const auto less = [&](Place a, Place b) { return name(a) < name(b); };
  if (!std::is_sorted(members.begin(), members.end(), less)) std::stable_sort(members.begin(), members.end(), less);
  std::vector<Ways::Way> ways;
  ways.reserve(members.size());
  for (Place member : members) ways.push_back({&schema_.name_at(name(member)), member});
  return {Ways(ways), std::move(ends)};
}

PlainValueId ObjectForks::value(Place member) const {
  return schema_.resolved(object(member).members[member.member].value);
}

std::optional<PlainValueId> ObjectForks::only_value(std::span<const Place> members) const {
  const PlainValueId first = value(members[0]);
  const bool same = std::all_of(members.begin(), members.end(), [&](Place member) { return value(member) == first; });
  return same ? std::optional(first) : std::nullopt;
}

ObjectForks::Held ObjectForks::held_at(std::span<const Place> members) {
  std::vector<Ways::Way> listed;
  Places others;
  size_t n_tagged = 0;
  for (Place member : members) {
    const auto* texts = tags(value(member));
    if (texts == nullptr) {
      others.push_back(member);
      continue;
    }
    ++n_tagged;
    for (const std::string& text : *texts) listed.push_back({&text, member});
  }
  if (n_tagged < kMany || !take_room(listed.size())) {
    others.assign(members.begin(), members.end());
    listed.clear();
  }
  const auto key = [](const Ways::Way& way) { return std::pair<std::string_view, Place>(*way.text, way.place); };
  const auto less = [&](const auto& a, const auto& b) { return key(a) < key(b); };
  const auto same = [&](const auto& a, const auto& b) { return key(a) == key(b); };
  std::sort(listed.begin(), listed.end(), less);
  listed.erase(std::unique(listed.begin(), listed.end(), same), listed.end());
  Held held{Ways(listed), {}};
  std::stable_sort(others.begin(), others.end(), [&](Place a, Place b) { return value(a) < value(b); });
  for (Place member : others) {
    if (held.values.empty() || held.values.back().value != value(member)) held.values.push_back({value(member), {}});
    held.values.back().places.push_back(member);
  }
  return held;
}

const std::vector<std::string>* ObjectForks::tags(PlainValueId id) const {
  const PlainSchema::Value& value = schema_.at(id);
  if (value.terminals.size() != 1 || value.array || value.object || !value.alternatives.empty()) return nullptr;
  const auto& terminal = schema_.terminal(value.terminals[0]);
  return terminal.spelling == PlainSchema::Spelling::kListed ? &terminal.listed : nullptr;
}

bool ObjectForks::take_room(uint64_t amount) {
  if (amount > room_) return false;
  room_ -= amount;
  return true;
}

}  // namespace cfgmask
