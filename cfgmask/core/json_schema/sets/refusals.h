// What a schema asks for that cannot be enforced, or why nothing can be made of it. Python has the words.
#pragma once

#include <cstdint>
#include <string>

namespace cfgmask {

struct SchemaRefusal {
  // In the order of `REFUSALS` in cfgmask/json_schema/refusals.py.
  enum class Kind : uint8_t {
    kUnread,               // what the survey of a schema should have reported
    kMultipleOf,           // numbers whose multiples take too large a regex
    kUniqueItems,          // items that cannot be told apart, or counted
    kEqualItems,           // that two items are equal
    kContainsSize,         // bounds beside `contains` that are counted too far
    kMinProperties,        // keys without names may run out before there are as many as are needed
    kNegatedValues,        // keys without names that must hold a certain value may run out
    kAnyOrder,             // the same in any order
    kTooManyAlternatives,  // of a combination
    kReferenceLoop,        // a set that is made of itself
    kTooDeep,              // schemas for one value, in each other
    kIndentDepth,          // every value is nested too deep to be indented
    kYamlKey,              // a key is too long for YAML
    kUnsatisfiable,        // no value at all
    kKeyClasses,           // patterns of keys overlap in too many ways
  };

  Kind kind = Kind::kUnread;
  std::string pointer;  // a JSON Pointer

  bool operator==(const SchemaRefusal&) const = default;
};

}  // namespace cfgmask
