// The scalars of a large union, read together: patterns and ranges of numbers whose texts begin with certain ones are
// one regex each, of parts that are made when a text comes to them (regex/prefixed_parts.h).
//
// Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "json_schema/sets/schema_ir.h"
#include "regex/prefixed_parts.h"

namespace cfgmask {

struct ScalarsTogether {
  std::shared_ptr<const PrefixedParts> texts;   // decoded, or null
  std::shared_ptr<const PrefixedTexts> starts;  // of `ranges`, or null
  std::vector<std::shared_ptr<const NumberSet>> ranges;
  std::vector<ValueId> others;  // what else the union is of

  // The ranges as parts; as they are written in a style. Null where there are none. `self` is this.
  static std::shared_ptr<const PrefixedParts> numbers(const std::shared_ptr<const ScalarsTogether>& self,
                                                      const NumberStyle& style);
};

// Null where too few belong together.
std::shared_ptr<const ScalarsTogether> scalars_together(const SchemaIR& schema,
                                                        const std::vector<ValueId>& alternatives);

}  // namespace cfgmask
