// What comes first in the objects and arrays of a large union, found when a schema is read: to sort thousands of names
// took most of a first mask, and took it anew for each grammar that the schema is compiled to.
//
// Threads: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "json_schema/sets/array_unions.h"
#include "json_schema/sets/indexed_lists.h"
#include "json_schema/sets/object_unions.h"
#include "json_schema/sets/schema_ir.h"
#include "regex/key_list.h"

namespace cfgmask {

// Texts that may come next, and the same by the spellings that a lexer tells apart.
struct IndexedWays {
  std::shared_ptr<const ObjectUnions::Ways> ways;
  std::array<NumberedTexts, 2> texts;

  static IndexedWays of(ObjectUnions::Ways ways);
};

struct IndexedUnion {
  // Behind the members of some objects, which hold the same in all other keys.
  struct Others {
    ObjectUnions::Places places;
    std::shared_ptr<const KeyList> names;  // of all members
    IndexedWays missing;                   // those that are no members of some
  };
  struct Objects {
    ObjectUnions::Places places;
    uint64_t room;
    IndexedWays keys;
    ObjectUnions::Ends ends;
    std::vector<Others> others;  // as many as `ends` has
  };
  struct Arrays {
    ArrayUnions::Places places;
    uint64_t room;  // what the strings leave of it
    ArrayUnions::Next next;
    IndexedWays strings;
    std::vector<ObjectUnions::Held::Of> values;
  };

  std::optional<Objects> objects;
  std::optional<Arrays> arrays;
  std::vector<ValueId> rest;  // what else may come
};

// Null where neither are many. Of the alternatives of a union; known once it is clear what is live.
std::shared_ptr<const IndexedUnion> indexed_union(const SchemaIR& schema, const std::vector<ValueId>& alternatives);

}  // namespace cfgmask
