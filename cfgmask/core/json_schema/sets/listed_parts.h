// Parts of a union that list scalars, joined: a choice between thousands of constants is a list of them, and long lists
// that share most of their values need not be compared with each other.
#pragma once

#include <string>
#include <vector>

#include "json_schema/sets/schema_ir.h"

namespace cfgmask {

// The same parts, but in place of those that list nothing but scalars a list of the scalars that one of them has, and
// twice a list of those that several have. So a value is in exactly one of the parts, or in none, if it was so before.
// Linear in what they list.
std::vector<ValueId> listed_together(std::vector<ValueId> parts, SchemaIR& schema, const std::string& name);

}  // namespace cfgmask
