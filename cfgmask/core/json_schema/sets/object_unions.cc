#include "json_schema/sets/object_unions.h"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>

#include "regex/text_order.h"

namespace cfgmask {

namespace {

// Keys and strings that may be listed at all states, for each member of an object.
constexpr uint64_t kRoomOfMember = 32;

}  // namespace

ObjectUnions::Ways::Ways(std::span<const Way> ways) {
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

ObjectUnions::Places ObjectUnions::at_beginning(std::vector<ValueId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  Places places;
  places.reserve(ids.size());
  for (ValueId id : ids) places.push_back({id, 0});
  return places;
}

bool ObjectUnions::takes(const SchemaIR& schema, ValueId id) {
  const SchemaIR::Value& value = schema.at(id);
  if (!value.object || value.array || !value.terminals.empty() || !schema.can_be(*value.object)) return false;
  return value.object->bounds().are_idle() && value.object->witnesses.empty();
}

uint64_t ObjectUnions::room_for(const SchemaIR& schema, const Places& places) {
  uint64_t room = 0;
  for (Place place : places) room += kRoomOfMember * (schema.at(place.of).object->members.size() + 1);
  return room;
}

uint32_t ObjectUnions::after(std::span<const Place> members) {
  Places places(members.begin(), members.end());
  uint64_t size = 0;
  for (Place& place : places) {
    ++place.member;
    const bool may_end = for_each_next(place, [&](uint32_t) { ++size; });
    if (may_end && object(place).others) size += object(place).members.size();  // all names are in a list then
  }
  if (places.size() < kMany) return state(Kind::kEach, places);
  if (const auto known = states_.find(words_of(Kind::kFurther, places))) return *known;
  return state(take_room(size) ? Kind::kFurther : Kind::kEach, places);
}

uint32_t ObjectUnions::state(Kind kind, const Places& places) { return states_.intern(words_of(kind, places)).first; }

std::vector<uint32_t> ObjectUnions::words_of(Kind kind, const Places& places) {
  std::vector<uint32_t> words{static_cast<uint32_t>(kind)};
  for (Place place : places) words.insert(words.end(), {place.of.value, place.member});
  return words;
}

ObjectUnions::State ObjectUnions::at(uint32_t state) const {
  const Words words = states_.at(state);
  State found{static_cast<Kind>(words[0]), {}};
  size_t i = 1;
  if (found.kind == Kind::kWithout) found.of = words[i++];
  for (; i < words.size(); i += 2) found.places.push_back({ValueId(words[i]), words[i + 1]});
  return found;
}

uint32_t ObjectUnions::without(uint32_t others, const Places& missing) {
  std::vector<uint32_t> words = words_of(Kind::kWithout, missing);
  words.insert(words.begin() + 1, others);
  return states_.intern(words).first;
}

// Halves, which are smaller, come after the whole.
uint32_t ObjectUnions::order(uint32_t state) const {
  const Words words = states_.at(state);
  switch (static_cast<Kind>(words[0])) {
    case Kind::kFirstOther:
    case Kind::kFurtherOther:
      return kOrders - 1;
    case Kind::kWithout:
      return kOrders - 1 - static_cast<uint32_t>(std::bit_width(states_.at(words[1]).size() / 2 - 1));
    default:
      return 0;
  }
}

template <class F>
bool ObjectUnions::for_each_next(Place place, F f) const {
  const auto& members = object(place).members;
  for (uint32_t i = place.member; i < members.size(); ++i) {
    if (schema_.is_live(members[i].value)) f(i);
    if (members[i].required) return false;
  }
  return true;
}

ObjectUnions::Next ObjectUnions::next(const Places& places) const {
  Places members;
  Places ends;
  for (Place place : places) {
    const auto add = [&](uint32_t member) { members.push_back({place.of, member}); };
    if (for_each_next(place, add)) ends.push_back(place);
  }
  return {by_name(std::move(members), [](Place member) { return member; }), std::move(ends)};
}

ObjectUnions::Ends ObjectUnions::ends(const Places& places,
                                      const std::function<bool(const SchemaIR::Object&)>& is_apart) const {
  Ends found;
  std::map<ValueId, Places> others;
  for (Place place : places) {
    const SchemaIR::Object& ended = object(place);
    const Place passed{place.of, static_cast<uint32_t>(ended.members.size())};
    if (!ended.others && ended.classes.empty()) {
      found.may_close = true;
    } else if (is_apart(ended)) {
      found.apart.push_back(passed);
    } else {
      others[schema_.resolved(*ended.others)].push_back(passed);
    }
  }
  for (auto& [value, objects] : others) {
    if (objects.size() < kMany) {
      found.apart.insert(found.apart.end(), objects.begin(), objects.end());
    } else {
      found.others.push_back({value, std::move(objects)});
    }
  }
  return found;
}

ObjectUnions::OtherKeys ObjectUnions::other_keys(const Places& places) const {
  Places members;
  for (Place place : places) {
    for (uint32_t i = 0; i < object(place).members.size(); ++i) members.push_back({place.of, i});
  }
  const auto behind = [&](Place member) {
    return Place{member.of, static_cast<uint32_t>(object(member).members.size())};
  };
  OtherKeys found{{}, by_name(std::move(members), behind)};
  found.names.reserve(found.missing.size());
  for (size_t i = 0; i < found.missing.size(); ++i) found.names.push_back(found.missing.text(i));
  found.missing.drop_if([&](const auto& having) { return having.size() == places.size(); });
  return found;
}

std::array<ObjectUnions::Half, 2> ObjectUnions::halves(const State& state) const {
  const Places all = at(state.of).places;
  const auto middle = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
  std::array<Half, 2> found{Half{{all.begin(), middle}, {}}, Half{{middle, all.end()}, {}}};
  for (Place place : state.places) found[place < *middle ? 0 : 1].missing.push_back(place);
  return found;
}

template <class F>
ObjectUnions::Ways ObjectUnions::by_name(Places members, F place_of) const {
  const auto name = [&](Place member) { return object(member).members[member.member].name; };
  const auto less = [&](Place a, Place b) { return name(a) < name(b); };
  if (!std::is_sorted(members.begin(), members.end(), less)) std::stable_sort(members.begin(), members.end(), less);
  std::vector<Ways::Way> ways;
  ways.reserve(members.size());
  for (Place member : members) ways.push_back({&schema_.name_at(name(member)), place_of(member)});
  return Ways(ways);
}

ValueId ObjectUnions::value(Place member) const {
  return schema_.resolved(object(member).members[member.member].value);
}

std::optional<ValueId> ObjectUnions::only_value(std::span<const Place> members) const {
  const ValueId first = value(members[0]);
  const bool same = std::all_of(members.begin(), members.end(), [&](Place member) { return value(member) == first; });
  return same ? std::optional(first) : std::nullopt;
}

ObjectUnions::Held ObjectUnions::held_at(std::span<const Place> members) {
  return apart(
      schema_, members, [&](Place member) { return value(member); },
      [&](uint64_t amount) { return take_room(amount); });
}

ObjectUnions::Held ObjectUnions::apart(const SchemaIR& schema, std::span<const Place> places,
                                       const std::function<ValueId(Place)>& value_of,
                                       const std::function<bool(uint64_t)>& take_room) {
  std::vector<Ways::Way> listed;
  std::vector<std::pair<ValueId, Place>> others;
  size_t n_tagged = 0;
  for (Place place : places) {
    const ValueId value = value_of(place);
    const auto* texts = tags(schema, value);
    if (texts == nullptr) {
      others.emplace_back(value, place);
      continue;
    }
    ++n_tagged;
    for (const std::string& text : *texts) listed.push_back({&text, place});
  }
  if (n_tagged < kMany || !take_room(listed.size())) {
    others.clear();
    for (Place place : places) others.emplace_back(value_of(place), place);
    listed.clear();
  }
  sort_by_text(listed, [](const Ways::Way& way) -> std::string_view { return *way.text; });
  for (auto run = listed.begin(); run != listed.end();) {
    const auto end = std::find_if(run, listed.end(), [&](const Ways::Way& way) { return *way.text != *run->text; });
    std::sort(run, end, [](const auto& a, const auto& b) { return a.place < b.place; });
    run = end;
  }
  const auto same = [](const auto& a, const auto& b) { return a.place == b.place && *a.text == *b.text; };
  listed.erase(std::unique(listed.begin(), listed.end(), same), listed.end());
  Held held{Ways(listed), {}};
  std::stable_sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [value, place] : others) {
    if (held.values.empty() || held.values.back().value != value) held.values.push_back({value, {}});
    held.values.back().places.push_back(place);
  }
  return held;
}

const std::vector<std::string>* ObjectUnions::tags(const SchemaIR& schema, ValueId id) {
  const SchemaIR::Value& value = schema.at(id);
  if (value.terminals.size() != 1 || value.array || value.object || !value.alternatives.empty()) return nullptr;
  const auto& terminal = schema.terminal(value.terminals[0]);
  return terminal.spelling == SchemaIR::Spelling::kListed ? &terminal.listed : nullptr;
}

bool ObjectUnions::take_room(uint64_t amount) {
  if (amount > room_) return false;
  room_ -= amount;
  return true;
}

}  // namespace cfgmask
