// A plain schema to rules, and how its values are written.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "matcher/grammar_builder.h"
#include "regex/regex_data.h"
#include "schema/plain_schema.h"
#include "schema/yaml_layout.h"

namespace cfgmask {

struct SchemaForm;

// How the punctuation of JSON is written, with white space that belongs to it.
struct JsonMarks {
  using Regex = std::shared_ptr<const PortableRegex>;  // null: as the mark alone

  Regex open_object, open_array;
  // What closes after a member or an item, and what closes right after the opening mark.
  Regex close_object, close_empty_object;
  Regex close_array, close_empty_array;
  Regex comma, colon;
};

// How values are written: the same for all schemas with the same options.
struct PlainLayout {
  NumberStyle numbers = {};
  JsonMarks marks = {};
  std::shared_ptr<const PortableRegex> ignored = nullptr;  // what may stand between lexemes; or null
  std::string ignored_name = {};
  bool ignore_once = false;
  // Spaces per level. With it, brackets, commas and colons are those of indented lines, and `marks` is not used.
  std::optional<uint32_t> indent = std::nullopt;
  std::shared_ptr<const YamlLayout> yaml = nullptr;        // of YAML, which has neither `marks` nor `indent`; or null
  bool has_canonical_strings = false;                      // each string in the one spelling of RFC 8785
  std::shared_ptr<const PortableRegex> strings = nullptr;  // what strings of JSON are written; null: all
  bool has_any_order = false;                              // of the keys of objects; else that of the schema
};

// A schema, and how it is written.
struct PlainSchemaParts {
  std::shared_ptr<const PlainSchema> schema;
  std::shared_ptr<const PlainLayout> layout = std::make_shared<const PlainLayout>();
};

// Hands the builder the rules of a schema, each value of which becomes rules when a text first comes to it, and returns
// the start symbol and its scope. Values that may need more rules than the reader counts become rules with the first.
// Throws LimitExceeded.
// form    that the outermost object is written in, if that is not JSON; then without the empty text
// tokens  the symbols of the form's tokens
// place   of the schema
std::pair<uint32_t, uint32_t> hand_over(std::shared_ptr<const PlainSchemaParts> parts, GrammarBuilder& builder,
                                        std::shared_ptr<const SchemaForm> form = nullptr,
                                        std::vector<uint32_t> tokens = {}, uint32_t place = kNoPlace);

// Texts, and a schema for each, as symbols that are captured under names, if these are not empty.
struct Rows {
  std::vector<std::string> texts;
  std::vector<std::shared_ptr<const PlainSchemaParts>> schemas;
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
