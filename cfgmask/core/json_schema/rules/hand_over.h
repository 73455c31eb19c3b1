// A schema to rules, each value when a text first comes to it.
//
// Threads: as the builder's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "json_schema/layouts/value_layout.h"
#include "matcher/grammar_builder.h"

namespace cfgmask {

struct SchemaForm;

// Hands the builder the rules of a schema, each value of which becomes rules when a text first comes to it, and returns
// the start symbol and its scope. Values that may need more rules than the reader counts become rules with the first.
// Throws LimitExceeded.
// form    that the outermost object is written in, if that is not JSON; then without the empty text
// tokens  the symbols of the form's tokens
// place   of the schema
std::pair<uint32_t, uint32_t> hand_over(std::shared_ptr<const SchemaWithLayout> parts, GrammarBuilder& builder,
                                        std::shared_ptr<const SchemaForm> form = nullptr,
                                        std::vector<uint32_t> tokens = {}, uint32_t place = kNoPlace);

// Texts, and a schema for each, as symbols that are captured under names, if these are not empty.
struct Rows {
  std::vector<std::string> texts;
  std::vector<std::shared_ptr<const SchemaWithLayout>> schemas;
  std::vector<bool> may_be_empty;  // whether a value may be the empty text
  std::string text_capture, schema_capture;
  std::shared_ptr<const SchemaForm> form = nullptr;
  uint32_t text_place = kNoPlace, schema_place = kNoPlace;
};
struct RowSymbols {
  std::vector<uint32_t> texts, schemas;
};

// Hands over all rows at once. Throws LimitExceeded.
// scope   of the texts
// tokens  the symbols of the form's tokens
RowSymbols hand_over(const Rows& rows, GrammarBuilder& builder, uint32_t scope, const std::vector<uint32_t>& tokens);

}  // namespace cfgmask
