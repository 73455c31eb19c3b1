// A plain schema to rules, the same as cfgmask/json_schema/{lower,lower_objects,lower_arrays}.py make of it: the
// general way is what this is tested against.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "matcher/grammar_builder.h"
#include "regex/regex_data.h"
#include "schema/plain_schema.h"

namespace cfgmask {

// How the punctuation of JSON is written, with white space that belongs to it.
struct JsonMarks {
  using Regex = std::shared_ptr<const PortableRegex>;  // null: as the mark alone

  Regex open_object, open_array;
  // What closes after a member or an item, and what closes right after the opening mark.
  Regex close_object, close_empty_object;
  Regex close_array, close_empty_array;
  Regex comma, colon;
};

// A schema, and what it says in other words than the core's.
struct PlainSchemaParts {
  std::shared_ptr<const PlainSchema> schema;
  OutsideRegexes outside = {};  // those that terminals of the schema refer to
  std::vector<std::string> outside_names = {};
  NumberStyle numbers = {};
  JsonMarks marks = {};
  std::shared_ptr<const PortableRegex> ignored = nullptr;  // what may stand between lexemes; or null
  std::string ignored_name = {};
  bool ignore_once = false;
};

// Hands the builder the rules of a schema, each value of which becomes rules when a text first comes to it, and returns
// the start symbol and its scope. Values that may need more rules than the reader counts become rules with the first.
// Throws LimitExceeded.
std::pair<uint32_t, uint32_t> hand_over(std::shared_ptr<const PlainSchemaParts> parts, GrammarBuilder& builder);

}  // namespace cfgmask
