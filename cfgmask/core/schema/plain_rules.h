// A plain schema to rules, the same as cfgmask/json_schema/{lower,lower_objects,lower_arrays}.py make of it: the
// general way is what this is tested against.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "matcher/grammar_builder.h"
#include "schema/plain_schema.h"

namespace cfgmask {

// Hands the builder the rules of a schema, each value of which becomes rules when a text first comes to it, and returns
// the start symbol. `outside` are the regexes that terminals of the schema refer to. Values that
// may need more rules than the reader counts become rules at once. Throws LimitExceeded.
uint32_t defer_rules(std::shared_ptr<const PlainSchema> schema, GrammarBuilder& builder, uint32_t scope,
                     OutsideRegexes outside, std::vector<std::string> outside_names, uint32_t max_digits);

}  // namespace cfgmask
