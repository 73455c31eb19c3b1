// How the values of a schema are written.
//
// Threads: immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json_schema/layouts/yaml_layout.h"
#include "json_schema/sets/schema_ir.h"
#include "regex/regex_data.h"

namespace cfgmask {

// How the punctuation of JSON is written, with white space that belongs to it.
struct JsonMarks {
  using Regex = std::shared_ptr<const PortableRegex>;  // null: as the mark alone

  Regex open_object, open_array;
  // The closing mark after a member or an item, and the one directly after the opening mark.
  Regex close_object, close_empty_object;
  Regex close_array, close_empty_array;
  Regex comma, colon;
};

// How values are written: the same for all schemas with the same options.
struct ValueLayout {
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
struct SchemaWithLayout {
  std::shared_ptr<const SchemaIR> schema;
  std::shared_ptr<const ValueLayout> layout = std::make_shared<const ValueLayout>();
};

}  // namespace cfgmask
