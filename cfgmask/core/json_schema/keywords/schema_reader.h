// JSON Schemas to schemas (json_schema/sets/schema_ir.h), or the finding that one cannot be taken as it is.
//
// Whatever is unusual ends the reading: keywords that meet others, forms that are wrong, references that lead
// elsewhere. A survey in Python then tells what is malformed, and the rest is read leniently.
//
// Threads: immutable; a reading belongs to one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json_schema/document/json_document.h"
#include "json_schema/layouts/yaml_layout.h"
#include "json_schema/sets/nesting.h"
#include "json_schema/sets/refusals.h"
#include "json_schema/sets/schema_ir.h"
#include "json_schema/sets/writable.h"
#include "json_schema/spelling/character_properties.h"
#include "json_schema/spelling/known_strings.h"
#include "json_schema/spelling/string_conditions.h"
#include "util/limits.h"
#include "util/text_hash.h"

namespace cfgmask {

class SchemaReader;

// What is asked of the front end while a schema is read.
struct ReaderQuestions {
  StringConditions::AskAlike alike;
  KnownStrings::AskFormat format;
  CharacterProperties::Ask properties;
  // How a schema is read whose `$schema` is this, inside of one that is read as `around`. Null: the schema is not
  // taken. Valid until the reading ends, and the same for the same dialect.
  std::function<const SchemaReader*(const std::string& uri, const SchemaReader& around)> drafts;
  // The document with a URI, which the schema refers to and does not have; null without one. Valid until the next
  // question.
  std::function<const JsonDocument*(const std::string& uri)> documents;
};

struct ReadingLimits {
  uint64_t max_nesting = Limits().max_nesting;
  uint64_t max_rules = Limits().max_rules;
  uint64_t max_search_steps = Limits().max_search_steps;
};

// A limit that was crossed, and the JSON Pointer of the schema that did.
class SchemaLimitExceeded : public LimitExceeded {
 public:
  SchemaLimitExceeded(const char* limit, uint64_t value, std::string pointer)
      : LimitExceeded(limit, value), pointer_(std::move(pointer)) {}

  const std::string& pointer() const { return pointer_; }

 private:
  std::string pointer_;
};

// How the schemas of one dialect are read.
class SchemaReader {
 public:
  // Deeper schemas are read later, or refused.
  static constexpr uint64_t kMaxDepth = 200;

  // How a bound is exclusive: as draft 4 says it, by a boolean beside the bound, which also stands for that an integer
  // is written without a fraction; as the others do, by being the bound; or in either way, where no draft is declared.
  enum class Exclusive : uint8_t { kBoolean, kNumber, kEither };

  // asserted: the keywords that restrict instances; strings: the formats that do, and what is known of strings;
  // identifier: the keyword that gives a schema a URI. numbers: schemas have numbers that doubles hold, if they
  // are to be read as such. nestings: a schema is taken if a value of it fits into each; its values are sought within
  // the last. yaml: it is certain if it can be written so; or null. has_any_order: keys are to be written in any order,
  // and the schema is not taken where those that must hold something may run out then.
  SchemaReader(const std::vector<std::string>& asserted, std::shared_ptr<KnownStrings> strings,
               const std::string& identifier, bool reference_hides_siblings, Exclusive exclusive,
               NumberStyle::Spelling numbers, std::vector<Nesting> nestings = {},
               std::shared_ptr<const YamlLayout> yaml = nullptr, bool has_any_order = false);

  // Of a document whose root is in this dialect, to which the documents that it refers to are added. Null for a schema
  // that is not taken. Throws SchemaLimitExceeded (max_rules, max_search_steps), and what the answers throw. Linear.
  //
  // writable: which values are left, or null.
  // refusals: gets what cannot be enforced, which the schema that is read then allows; null: then it is not taken.
  std::shared_ptr<SchemaIR> read(JsonDocument& document, const ReaderQuestions& questions, const ReadingLimits& limits,
                                 std::vector<SchemaRefusal>* refusals = nullptr,
                                 const Writable* writable = nullptr) const;

 private:
  friend class SchemaReading;

  std::shared_ptr<SchemaIR> read_once(JsonDocument& document, const ReaderQuestions& questions,
                                      const ReadingLimits& limits, std::vector<SchemaRefusal>* refusals,
                                      const Writable* writable) const;

  TextMap<std::string, uint8_t> codes_;
  std::shared_ptr<KnownStrings> strings_;
  std::string identifier_;
  bool hides_siblings_;
  Exclusive exclusive_;
  NumberStyle::Spelling numbers_;
  std::vector<Nesting> nestings_;
  std::shared_ptr<const YamlLayout> yaml_;
  bool has_any_order_;
};

}  // namespace cfgmask
