// Unions of many arrays, read all at once, as object_unions.h does it for objects: a place is kept for each of the
// arrays that the text may still be of, and the strings that they list for an item are one list of texts.
//
// Threads: guarded by the owner of the grammar.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "json_schema/sets/object_unions.h"
#include "json_schema/sets/schema_ir.h"
#include "util/interner.h"

namespace cfgmask {

class ArrayUnions {
 public:
  // So many items of an array are written, as far as that makes a difference; or, where something is said of an item,
  // its index.
  using Place = ObjectUnions::Place;
  using Places = ObjectUnions::Places;

  enum class Kind : uint32_t {
    kItem,  // an item or the end is due, behind a comma but for the first one
    kHeld,  // a value is due
    kEach,  // as kItem, but each array goes on by itself
  };
  struct State {
    Kind kind;
    Places places;
  };
  // What may come at some places where an item is due.
  struct Next {
    bool may_end = false;
    Places items;
  };

  explicit ArrayUnions(const SchemaIR& schema) : schema_(schema) {}

  // Whether a value is arrays whose items tell nothing of each other, and nothing else.
  static bool takes(const SchemaIR& schema, ValueId id);
  // The room that some arrays need.
  static uint64_t room_for(const SchemaIR& schema, const Places& places);
  void add_room(uint64_t room) { room_ += room; }

  // The states by their numbers. Places are in ascending order.
  uint32_t first(const Places& places) { return state(Kind::kItem, places); }
  uint32_t held(const Places& places) { return state(Kind::kHeld, places); }
  // What comes after some items. Takes of the room, and is kEach where too little is left.
  uint32_t after(std::span<const Place> items);
  // The place after an item.
  Place passed(Place item) const;

  // States that another one may begin with have a greater order, all less than ObjectUnions::kOrders.
  uint32_t order(uint32_t state) const { return at(state).kind == Kind::kHeld ? 1 : 0; }
  State at(uint32_t state) const;
  Next next(const Places& places) const;
  ObjectUnions::Held held_at(std::span<const Place> items);
  // The same, with room for so many places, of which it takes what it needs.
  static ObjectUnions::Held held_at(const SchemaIR& schema, std::span<const Place> items, uint64_t& room);

 private:
  uint32_t state(Kind kind, const Places& places) { return states_.intern(words_of(kind, places)).first; }
  static std::vector<uint32_t> words_of(Kind kind, const Places& places);
  const SchemaIR::Array& shape(Place place) const { return *schema_.at(place.of).array; }
  static bool taken(uint64_t amount, uint64_t& room);

  const SchemaIR& schema_;
  Interner states_;
  uint64_t room_ = 0;
};

}  // namespace cfgmask
