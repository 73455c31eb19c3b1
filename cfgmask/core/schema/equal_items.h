// Arrays in which some items are equal.
//
// Until an item is equal to one before it, items are written as if none were, so that the parser's set has them, or as
// one that came (Holds::kAgain); from then on as in any array. A state of the array has the kinds of the items that
// came: of others there is none that could come again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "schema/plain_schema.h"

namespace cfgmask {

struct EqualItemStates {
  enum class How : uint8_t { kNew, kAgain, kAny };
  struct Item {
    uint32_t kind;
    How how;
    uint32_t after;  // the state
  };
  struct State {
    bool some = false;  // whether items are written
    bool may_end = false;
    std::vector<Item> items = {};
  };

  std::vector<State> states;  // those that lead to an end, the first being that before the first item; none: no array
  // Of these kinds, as bits, an item may have to come again where no new one may.
  uint64_t needed_again = 0;
};

// Of an array whose kinds of items are known. nullopt for more states than some thousand.
std::optional<EqualItemStates> equal_item_states(const PlainSchema::Array& array,
                                                 const std::function<bool(PlainValueId)>& is_possible);

}  // namespace cfgmask
