// Lists of many texts in a schema, sorted when it is read: a first mask would wait for that otherwise, in each
// store that the schema is used in.
//
// Threads: immutable.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "json_schema/sets/schema_ir.h"
#include "regex/key_list.h"
#include "regex/regex.h"

namespace cfgmask {

// Lists of fewer are sorted when they are needed.
inline constexpr size_t kManyTexts = 64;

// A number that is one of some.
class IndexedNumbers {
 public:
  explicit IndexedNumbers(const std::vector<Decimal>& values);

  RegexId regex(RegexStore& store, const NumberStyle& style) const;

 private:
  std::shared_ptr<const KeyList> whole_;  // null for none
  std::shared_ptr<const KeyList> broken_;
  std::vector<Decimal> small_;  // those that programs print with an exponent
};

// A string that is one of some texts.
class IndexedChoice {
 public:
  explicit IndexedChoice(const std::vector<std::string>& texts);

  // is_canonical  whether strings are written in the spelling of RFC 8785
  RegexId regex(RegexStore& store, bool is_canonical) const;

 private:
  std::array<std::shared_ptr<const KeyList>, 2> of_;  // in quotes, and as they are; null for none
};

// Texts that have numbers, in ascending order: those of one spelling, or those that may be written with escapes.
struct NumberedTexts {
  std::vector<uint32_t> numbers = {};
  std::shared_ptr<const KeyList> list = nullptr;  // where they are several
};
using NumberedText = std::pair<const std::string*, uint32_t>;
// `are_several`: whether there is a list only for several.
std::array<NumberedTexts, 2> numbered_texts(const std::vector<NumberedText>& texts, bool are_several = true);

// The members of an object.
struct IndexedObject {
  struct OptionalRun {
    uint32_t first;
    std::array<NumberedTexts, 2> keys;
  };
  std::vector<OptionalRun> runs;         // of those with many members
  std::shared_ptr<const KeyList> names;  // of all members, where other keys may come; or null
};

// Null where the members are few.
std::shared_ptr<const IndexedObject> indexed_object(const SchemaIR& schema, const SchemaIR::Object& object);

}  // namespace cfgmask
