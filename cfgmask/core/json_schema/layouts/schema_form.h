// Forms of arguments: how the outermost object of a schema is written where that is not JSON.
//
// A member is a key, a value and an end. Most forms write strings without quotes. So a value is JSON if its text is
// JSON that the schema allows there, and otherwise the string of its text. Others write literals of Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "json_schema/layouts/value_layout.h"
#include "json_schema/sets/schema_ir.h"
#include "regex/regex.h"

namespace cfgmask {

// A form, as data. Immutable.
struct SchemaForm {
  struct Piece {
    // A text; a key between two texts; white space that may be missing; a token, by its number among those that a part
    // is given.
    enum class Kind : uint8_t { kText, kKey, kGap, kToken };

    Kind kind;
    std::string text = {};
    std::string behind = {};  // the text after a key
    uint32_t token = 0;
  };
  using Pieces = std::vector<Piece>;

  // How values are written. kJson: strings as bare text, arrays and objects as JSON. kPythonInside: arrays and objects
  // as literals of Python instead. kPython: all values as such literals. kPythonObject: the outermost object as well.
  // kDelimitedObject: objects have keys without quotes, strings are bare text between delimiters, and all else is JSON,
  // everywhere. kTags: everywhere the form's own keys, items and ends, without brackets.
  enum class Values : uint8_t { kJson, kPythonInside, kPython, kPythonObject, kDelimitedObject, kTags };

  // The kinds of values that keys may tell, in the order of SchemaIR::Kind.
  static constexpr size_t kKinds = 6;

  std::vector<Pieces> keys;  // up to a value: the same for all, or by its kind
  std::string end;           // of a value, up to a token
  Pieces after_end;          // from that token on
  std::string stop;          // strings do not hold it
  std::string pad;           // may stand around a string with conditions, and is no part of it
  bool has_gaps = false;     // whether white space may stand before each member and after the last one
  bool has_python_words = false;
  Values values = Values::kJson;
  std::string separator = {};                                     // between members
  Pieces delimiter = {};                                          // around strings, if they are delimited
  Pieces before_item = {}, after_item = {};                       // of tags
  std::shared_ptr<const PortableRegex> key_characters = nullptr;  // of delimited objects

  bool has_python() const {
    return values == Values::kPythonInside || values == Values::kPython || values == Values::kPythonObject;
  }
  bool delimits() const { return values == Values::kDelimitedObject; }
  bool has_tags() const { return values == Values::kTags; }
  // Whether the outermost object is written like all others, between braces.
  bool has_braces() const { return values == Values::kPythonObject || delimits(); }
  bool has_text() const { return values == Values::kJson || values == Values::kPythonInside; }
  bool has_kinds() const { return keys.size() == kKinds; }
};

// What a schema says in a form. Small; made where it is needed.
class FormReading {
 public:
  // The kinds of a value, without those that cannot be written.
  struct Values {
    std::vector<uint32_t> terminals = {};
    std::vector<std::pair<ValueId, SchemaIR::Kind>> brackets = {};  // arrays and objects

    bool is_empty() const { return terminals.empty() && brackets.empty(); }
  };

  FormReading(const SchemaWithLayout& parts, const SchemaForm& form)
      : parts_(parts), schema_(*parts.schema), form_(form) {}

  // What keeps a schema from being written in the form.
  struct Refusals {
    std::vector<std::string> keys = {};  // that cannot be written inside of values, or not told from other values
    bool any_order = false;              // keys in any order, and no mark that closes their object
    bool equal_numbers = false;          // that must differ, in tags
    bool counted_keys = false;           // keys in any order, of which some without names must be there
    bool equal_composites = false;       // arrays and objects that must differ, and cannot be told apart
  };

  // Whether it is certain that all that the schema allows can be written, so that SchemaRules makes rules as texts
  // come to them. nullopt if only regexes can tell, and `r` is null. Throws LimitExceeded.
  std::optional<bool> fits(RegexStore* r) const;
  // The same, and false if that takes too long to tell.
  bool is_plain(RegexStore& r) const;
  // Linear.
  Refusals refusals() const;
  // Whether there are no lines.
  bool takes_layout() const;
  // Whether some outermost object has a text that is not empty, if all that the schema allows can be written.
  bool has_some() const {
    return std::ranges::any_of(objects(), [&](const auto& object) { return has_some(*object); });
  }
  // The outermost objects that have a value.
  std::vector<std::shared_ptr<const SchemaIR::Object>> objects() const;
  // The members of one that have a value.
  std::vector<SchemaIR::Member> members(const SchemaIR::Object& object) const;
  // The names of members that are no words of letters, digits and `_`, which every form writes; of those inside of
  // values too where the form is theirs, too.
  std::vector<std::string> unusual_keys() const;
  // Whether an object without members is allowed: with most forms the empty text.
  bool may_be_empty() const;

  Values values(ValueId id) const;
  // Those of one kind.
  Values of_kind(const Values& values, SchemaIR::Kind kind) const;
  bool is_any_string(uint32_t terminal) const;
  RegexId bare_keys(RegexId texts, RegexStore& r) const;
  // The texts of a scalar among others, without the end; nothing() if there are none.
  RegexId texts(uint32_t terminal, const Values& among, RegexStore& r) const;

 private:
  static constexpr uint32_t kMostSpace = 64;

  friend class SchemaRules;

  static RegexId space(RegexStore& r, uint32_t minimum);
  static bool is_string(const SchemaIR::Terminal& terminal);
  std::optional<RegexId> body(const SchemaIR::Terminal& terminal, RegexStore& r) const;
  RegexId json(const SchemaIR::Terminal& terminal, RegexStore& r) const;
  RegexId string(uint32_t terminal, const Values& among, RegexStore& r) const;
  std::optional<bool> fits(const SchemaIR::Object& object, RegexStore* r) const;
  std::optional<bool> fits(ValueId id, RegexStore* r) const;
  std::optional<bool> fits_inside(std::vector<ValueId> values, RegexStore* r) const;
  std::optional<bool> fits_inside(ValueId id, RegexStore* r) const;
  std::optional<bool> is_python(const SchemaIR::Value& value, RegexStore* r) const;
  std::optional<bool> is_delimited(const SchemaIR::Value& value, RegexStore* r) const;
  std::optional<bool> has_tags(ValueId id, RegexStore* r) const;
  bool has_readable_names(const SchemaIR::Object& object) const;
  bool has_keys(const SchemaIR::Object& object, RegexStore& r, bool are_bare) const;
  bool has_some(const SchemaIR::Object& object) const;
  bool is_in_any_order(const SchemaIR::Object& object) const;
  // The objects and arrays that are written in the form: outermost objects, and those in values if it has a way of its
  // own for them.
  struct Written {
    std::vector<std::shared_ptr<const SchemaIR::Object>> objects = {};
    std::vector<std::shared_ptr<const SchemaIR::Array>> arrays = {};
  };
  Written written() const;
  void add_unusual_keys(std::vector<std::string>& to, const SchemaIR::Object& object) const;
  std::optional<bool> fits(const Values& values, RegexStore* r) const;
  std::optional<bool> has_texts(uint32_t string, const Values& among, RegexStore* r) const;
  bool plainly_has_texts(const SchemaIR::Terminal& string, const Values& among) const;

  const SchemaWithLayout& parts_;
  const SchemaIR& schema_;
  const SchemaForm& form_;
};

}  // namespace cfgmask
