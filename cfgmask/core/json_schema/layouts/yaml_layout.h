// How scalars and keys are written in YAML, and how far lines are indented. The patterns come from the front end:
// cfgmask/json_schema/yaml_scalars.py says why they are so.
//
// Threads: immutable; regexes are made as the store says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json_schema/sets/nesting.h"
#include "regex/regex.h"
#include "regex/regex_data.h"

namespace cfgmask {

class YamlLayout {
 public:
  using Regex = std::shared_ptr<const PortableRegex>;
  struct Scalars {
    Regex strings;                 // without quotes, to both versions of YAML
    Regex keys;                    // the same of keys
    Regex numbers;                 // those that both versions read as such
    uint32_t most_of_key;          // how many characters a key without a name has at most
    uint32_t most_of_written_key;  // and one with a name as it is written
  };

  // indent  by how many spaces a block below a key is indented, at least 1
  // most_nested  how many arrays and objects may at least be in each other
  YamlLayout(Scalars scalars, uint32_t indent, uint32_t most_nested);

  // ---- columns, which are counted in units
  uint32_t below_dash() const { return below_dash_; }
  uint32_t below_key() const { return below_key_; }
  // No block begins further to the right; only scalars may.
  uint32_t deepest() const { return deepest_; }
  uint32_t n_columns() const { return deepest_ + below_dash_ + 1; }
  Nesting nesting() const { return Nesting::of_blocks(deepest_, below_dash_, below_key_); }
  // A line break and what stands before a column.
  std::string line(uint32_t column) const { return '\n' + std::string(size_t{column} * unit_, ' '); }

  // ---- scalars
  RegexId number(RegexId of_json, RegexStore& r) const;
  // The strings that say one of these texts, with and without quotes.
  RegexId string(RegexId texts, RegexStore& r) const;
  RegexId listed(const std::vector<std::string>& texts, RegexStore& r) const;
  // A text in double quotes, in one spelling.
  static std::string quoted(std::string_view text);
  // The one spelling of a key with a name, colon included.
  std::string key(const std::string& name, RegexStore& r) const;
  // The keys among texts, colon included.
  RegexId other_keys(RegexId texts, RegexStore& r) const;
  // Only short texts are such keys, of at most so many characters.
  uint32_t most_of_key() const { return scalars_.most_of_key; }
  RegexId short_texts(RegexStore& r) const { return r.any_text(0, scalars_.most_of_key); }
  // Whether a key with a name can be written; nullopt where `r` would have to tell, and is null.
  std::optional<bool> can_be_key(const std::string& name, RegexStore* r) const;

 private:
  static bool matches(RegexId regex, std::string_view text, RegexStore& r);

  Scalars scalars_;
  uint32_t unit_;
  uint32_t below_dash_;
  uint32_t below_key_;
  uint32_t deepest_;
};

}  // namespace cfgmask
