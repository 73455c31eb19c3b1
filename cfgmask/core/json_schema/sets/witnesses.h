// Arrays and objects in which some value must be there, or not too often: the states of writing one.
//
// What is needed of values on the way is what two sets have in common; whoever asks says how to get at that.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "json_schema/sets/schema_ir.h"

namespace cfgmask {

using CommonValue = std::function<ValueId(ValueId, ValueId)>;
using IsPossible = std::function<bool(ValueId)>;

// So many items are written, and so many of them met each of the witnesses.
struct ItemState {
  struct Item {
    ValueId value;
    uint32_t after;  // the state
  };

  uint32_t position = 0;
  std::vector<uint32_t> met = {};
  bool may_end = false;
  bool is_met = false;  // nothing is asked of the items any more but what the array says of each, and its bounds
  std::vector<Item> items = {};
};

// All states, the first one being that before the first item; nullopt for more than some thousand.
std::optional<std::vector<ItemState>> item_states(const SchemaIR::Array& array, const CommonValue& common);
// Whether there is such an array.
bool can_be_met(const SchemaIR::Array& array, const CommonValue& common, const IsPossible& possible);

// What the value of a key may be, with the witnesses that are missing after it, as bits.
struct KeyWay {
  ValueId value;
  uint32_t missing;
};

// Of the key of a member, or of keys without names.
std::vector<KeyWay> key_ways(const SchemaIR::Object& object, const SchemaIR::Member& member, uint32_t missing,
                             const CommonValue& common);
std::vector<KeyWay> key_ways(const SchemaIR::Object& object, const SchemaIR::KeyClass& keys, uint32_t missing,
                             const CommonValue& common);
// Whether there is such an object, if keys without names that have to hold a certain value never run out. Looks at all
// that may be common.
bool can_be_met(const SchemaIR::Object& object, const CommonValue& common, const IsPossible& possible);

}  // namespace cfgmask
