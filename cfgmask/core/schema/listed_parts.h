// Parts of a union that list scalars, as one part: a choice between thousands of constants is a list of them.
#pragma once

#include <string>
#include <vector>

#include "schema/plain_schema.h"

namespace cfgmask {

// The same parts, but one in place of those that list nothing but scalars which no other of these lists. So many of the
// parts have a value as before, one or not: it may stand for them where exactly one part must have a value. Linear in
// what they list.
std::vector<PlainValueId> listed_together(std::vector<PlainValueId> parts, PlainSchema& schema,
                                          const std::string& name);

}  // namespace cfgmask
