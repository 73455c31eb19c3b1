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

#include "regex/key_list.h"
#include "schema/array_forks.h"
#include "schema/large_lists.h"
#include "schema/object_forks.h"
#include "schema/plain_schema.h"

namespace cfgmask {

// Texts that may come next, and the same by the spellings that a lexer tells apart.
struct LargeWays {
  std::shared_ptr<const ObjectForks::Ways> ways;
  std::array<NumberedTexts, 2> texts;

  static LargeWays of(ObjectForks::Ways ways);
};

struct LargeUnion {
  // Behind the members of some objects, which hold the same in all other keys.
  struct Others {
    ObjectForks::Places places;
    std::shared_ptr<const KeyList> names;  // of all members
    LargeWays missing;                     // those that are no members of some
  };
  struct Objects {
    ObjectForks::Places places;
    uint64_t room;
    LargeWays keys;
    ObjectForks::Ends ends;
    std::vector<Others> others;  // as many as `ends` has
  };
  struct Arrays {
    ArrayForks::Places places;
    uint64_t room;  // what the strings leave of it
    ArrayForks::Next next;
    LargeWays strings;
    std::vector<ObjectForks::Held::Of> values;
  };

  std::optional<Objects> objects;
  std::optional<Arrays> arrays;
  std::vector<PlainValueId> rest;  // what else may come
};

// Null where neither are many. Of the alternatives of a union; known once it is clear what is live.
std::shared_ptr<const LargeUnion> large_union(const PlainSchema& schema, const std::vector<PlainValueId>& alternatives);

}  // namespace cfgmask
