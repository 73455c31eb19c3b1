// What all values of a schema that a text may reach have in common: for notes, which tell what the rules leave out.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <vector>

#include "json_schema/sets/schema_ir.h"

namespace cfgmask {

class ReachedValues {
 public:
  // Linear in the schema.
  explicit ReachedValues(const SchemaIR& schema);

  // Whether some value has more than so many brackets inside each other. Items that must meet a witness are taken for
  // any items. Linear in the values, times the depth.
  bool nest_deeper(uint32_t depth) const;
  // Whether some object may have a key that is no member.
  bool have_keys_without_names() const;

 private:
  // Calls with each value that stands in the array or object of a value.
  template <class F>
  void for_each_in_brackets(const SchemaIR::Value& value, F call) const;
  bool is_array(const SchemaIR::Value& value) const { return value.array && schema_.can_be(*value.array); }
  bool is_object(const SchemaIR::Value& value) const { return value.object && schema_.can_be(*value.object); }

  const SchemaIR& schema_;
  std::vector<ValueId> reached_;  // those that have a value
};

}  // namespace cfgmask
