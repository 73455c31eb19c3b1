#include "schema/large_unions.h"

#include <algorithm>
#include <utility>

namespace cfgmask {

namespace {

// Whether it is plain that the other keys of some objects, if there are any, never run out.
bool takes_at_sight(const PlainSchema& schema, PlainValueId id) {
  if (!ObjectForks::takes(schema, id)) return false;
  const PlainSchema::Object& object = *schema.at(id).object;
  return !object.has_classes() && (!object.others || schema.is_live(*object.others));
}

// Objects that may have any key mostly need none: then the members that may come first are all of them.
bool have_same_texts(const ObjectForks::Ways& a, const ObjectForks::Ways& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (&a.text(i) != &b.text(i)) return false;
  }
  return true;
}

LargeUnion::Others others_of(const ObjectForks& forks, const ObjectForks::Ends::Of& of, const LargeWays& keys) {
  auto [names, missing] = forks.other_keys(of.places);
  LargeUnion::Others found{of.places, KeyList::of(std::move(names)), {}};
  if (have_same_texts(missing, *keys.ways)) {
    found.missing = {std::make_shared<const ObjectForks::Ways>(std::move(missing)), keys.texts};
  } else {
    found.missing = LargeWays::of(std::move(missing));
  }
  return found;
}

LargeUnion::Objects objects_of(const PlainSchema& schema, std::vector<PlainValueId> ids) {
  const ObjectForks forks(schema);
  ObjectForks::Places places = ObjectForks::at_beginning(std::move(ids));
  ObjectForks::Next next = forks.next(places);
  LargeUnion::Objects found{std::move(places), 0, LargeWays::of(std::move(next.keys)), {}, {}};
  found.room = ObjectForks::room_for(schema, found.places);
  found.ends = forks.ends(next.ends, [](const PlainSchema::Object&) { return false; });
  for (const ObjectForks::Ends::Of& of : found.ends.others) found.others.push_back(others_of(forks, of, found.keys));
  return found;
}

LargeUnion::Arrays arrays_of(const PlainSchema& schema, std::vector<PlainValueId> ids) {
  LargeUnion::Arrays found{ObjectForks::at_beginning(std::move(ids)), 0, {}, {}, {}};
  found.room = ArrayForks::room_for(schema, found.places);
  found.next = ArrayForks(schema).next(found.places);
  ObjectForks::Held held = ArrayForks::held_at(schema, found.next.items, found.room);
  found.strings = LargeWays::of(std::move(held.strings));
  found.values = std::move(held.values);
  return found;
}

}  // namespace

LargeWays LargeWays::of(ObjectForks::Ways ways) {
  LargeWays found{std::make_shared<const ObjectForks::Ways>(std::move(ways)), {}};
  std::vector<NumberedText> texts;
  texts.reserve(found.ways->size());
  for (uint32_t i = 0; i < found.ways->size(); ++i) texts.emplace_back(&found.ways->text(i), i);
  found.texts = numbered_texts(texts);
  return found;
}

std::shared_ptr<const LargeUnion> large_union(const PlainSchema& schema,
                                              const std::vector<PlainValueId>& alternatives) {
  if (alternatives.size() < kManyTexts) return nullptr;
  auto found = std::make_shared<LargeUnion>();
  std::vector<PlainValueId> objects;
  std::vector<PlainValueId> arrays;
  for (PlainValueId alternative : alternatives) {
    if (!schema.is_live(alternative)) continue;
    const PlainValueId id = schema.resolved(alternative);
    if (takes_at_sight(schema, id)) {
      objects.push_back(id);
    } else if (ArrayForks::takes(schema, id)) {
      arrays.push_back(id);
    } else {
      found->rest.push_back(id);
    }
  }
  const auto add = [&](std::vector<PlainValueId>& ids, auto& place, auto made_of) {
    if (ids.size() >= kManyTexts) {
      place = made_of(schema, std::move(ids));
    } else {
      found->rest.insert(found->rest.end(), ids.begin(), ids.end());
    }
  };
  add(objects, found->objects, objects_of);
  add(arrays, found->arrays, arrays_of);
  return found->objects || found->arrays ? found : nullptr;
}

}  // namespace cfgmask
