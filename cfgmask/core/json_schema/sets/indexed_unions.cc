#include "json_schema/sets/indexed_unions.h"

#include <algorithm>
#include <utility>

namespace cfgmask {

namespace {

// Whether it is certain that the other keys of some objects, if there are any, never run out.
bool takes_at_sight(const SchemaIR& schema, ValueId id) {
  if (!ObjectUnions::takes(schema, id)) return false;
  const SchemaIR::Object& object = *schema.at(id).object;
  return !object.has_classes() && (!object.others || schema.is_live(*object.others));
}

// Objects that may have any key mostly need none: then the members that may come first are all of them.
bool have_same_texts(const ObjectUnions::Ways& a, const ObjectUnions::Ways& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (&a.text(i) != &b.text(i)) return false;
  }
  return true;
}

IndexedUnion::Others others_of(const ObjectUnions& unions, const ObjectUnions::Ends::Of& of, const IndexedWays& keys) {
  auto [names, missing] = unions.other_keys(of.places);
  IndexedUnion::Others found{of.places, KeyList::of(std::move(names)), {}};
  if (have_same_texts(missing, *keys.ways)) {
    found.missing = {std::make_shared<const ObjectUnions::Ways>(std::move(missing)), keys.texts};
  } else {
    found.missing = IndexedWays::of(std::move(missing));
  }
  return found;
}

IndexedUnion::Objects objects_of(const SchemaIR& schema, std::vector<ValueId> ids) {
  const ObjectUnions unions(schema);
  ObjectUnions::Places places = ObjectUnions::at_beginning(std::move(ids));
  ObjectUnions::Next next = unions.next(places);
  IndexedUnion::Objects found{std::move(places), 0, IndexedWays::of(std::move(next.keys)), {}, {}};
  found.room = ObjectUnions::room_for(schema, found.places);
  found.ends = unions.ends(next.ends, [](const SchemaIR::Object&) { return false; });
  for (const ObjectUnions::Ends::Of& of : found.ends.others) found.others.push_back(others_of(unions, of, found.keys));
  return found;
}

IndexedUnion::Arrays arrays_of(const SchemaIR& schema, std::vector<ValueId> ids) {
  IndexedUnion::Arrays found{ObjectUnions::at_beginning(std::move(ids)), 0, {}, {}, {}};
  found.room = ArrayUnions::room_for(schema, found.places);
  found.next = ArrayUnions(schema).next(found.places);
  ObjectUnions::Held held = ArrayUnions::held_at(schema, found.next.items, found.room);
  found.strings = IndexedWays::of(std::move(held.strings));
  found.values = std::move(held.values);
  return found;
}

}  // namespace

IndexedWays IndexedWays::of(ObjectUnions::Ways ways) {
  IndexedWays found{std::make_shared<const ObjectUnions::Ways>(std::move(ways)), {}};
  std::vector<NumberedText> texts;
  texts.reserve(found.ways->size());
  for (uint32_t i = 0; i < found.ways->size(); ++i) texts.emplace_back(&found.ways->text(i), i);
  found.texts = numbered_texts(texts);
  return found;
}

std::shared_ptr<const IndexedUnion> indexed_union(const SchemaIR& schema, const std::vector<ValueId>& alternatives) {
  if (alternatives.size() < kManyTexts) return nullptr;
  auto found = std::make_shared<IndexedUnion>();
  std::vector<ValueId> objects;
  std::vector<ValueId> arrays;
  for (ValueId alternative : alternatives) {
    if (!schema.is_live(alternative)) continue;
    const ValueId id = schema.resolved(alternative);
    if (takes_at_sight(schema, id)) {
      objects.push_back(id);
    } else if (ArrayUnions::takes(schema, id)) {
      arrays.push_back(id);
    } else {
      found->rest.push_back(id);
    }
  }
  const auto add = [&](std::vector<ValueId>& ids, auto& place, auto made_of) {
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
