// Arrays whose items are of kinds that share no value: those in which some items are equal, and those without equal
// items, where some kind may be used up.
//
// Of the first: until an item is equal to one before it, items are written as if none were, so that the parser's set
// has them, or as one that came (Holds::kAgain); from then on as in any array. A state of the array has the kinds of
// the items that came: of others there is none that could come again.
//
// Of the others: the set does not look ahead. So a state is how many items of each kind came, as far as there may be
// too few of it; whichever they were, no other number is left. Nothing is begun that would leave too few items for the
// places and witnesses that are still to come.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "json_schema/sets/schema_ir.h"

namespace cfgmask {

struct KindStates {
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
std::optional<KindStates> equal_item_states(const SchemaIR::Array& array,
                                            const std::function<bool(ValueId)>& is_possible);

// Of an array without equal items whose kinds are known, with the number of values of each. nullopt for too many
// states.
std::optional<KindStates> unique_item_states(const SchemaIR::Array& array, const std::vector<uint32_t>& n_values,
                                             const std::function<bool(ValueId)>& is_possible);
// A kind with so many values is not used up before it is needed. In a place that must be filled fewer came, and of
// those that a witness asks for, at most `start` went uncounted.
uint32_t most_needed(const SchemaIR::Array& array);

}  // namespace cfgmask
