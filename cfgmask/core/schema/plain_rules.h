// A plain schema to rules, the same as cfgmask/json_schema/{lower,lower_objects,lower_arrays}.py make of it: the
// general way is what this is tested against.
#pragma once

#include <cstdint>
#include <span>

#include "matcher/grammar_builder.h"
#include "schema/plain_schema.h"

namespace cfgmask {

// Adds the rules and returns the start symbol. `outside` are the regexes that terminals of the schema refer to, nodes
// of the builder. Linear. Throws LimitExceeded.
uint32_t add_rules(const PlainSchema& schema, GrammarBuilder& builder, uint32_t scope,
                   std::span<const uint32_t> outside, std::span<const std::string> outside_names, uint32_t max_digits);

}  // namespace cfgmask
