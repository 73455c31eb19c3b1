// Which keys meet conditions: whether there are some, and whether a name is among them, told by the regexes of the
// conditions.
//
// Threads: as `SchemaIR`, while it is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json_schema/sets/schema_ir.h"
#include "regex/regex.h"
#include "util/limits.h"
#include "util/text_hash.h"

namespace cfgmask {

class KeyConditions {
 public:
  using Keys = SchemaIR::Keys;
  // No text has so many keys.
  static constexpr uint32_t kEndlesslyMany = 1U << 20;

  // max_search_steps: of one search; all take twice as many at most. most: how many characters a key has at most that
  // is written for its conditions.
  KeyConditions(const SchemaIR& schema, uint64_t max_nesting, uint64_t max_search_steps, uint32_t most = kUnbounded)
      : schema_(schema), max_nesting_(max_nesting), max_search_steps_(max_search_steps), most_(most) {}

  // For those to throw who need an answer where there is none.
  LimitExceeded exceeded() const { return {"max_search_steps", max_search_steps_}; }

  // The keys of both; nullopt where there are plainly none.
  static std::optional<Keys> both(const Keys& a, const Keys& b);
  // Whether it is certain that no key meets both conditions. Constant: patterns are mostly told apart by how they
  // begin.
  bool plainly_apart(uint32_t a, uint32_t b) const;
  // What all keys that meet a condition plainly begin with; valid until a pattern is added to the schema.
  std::string_view start(uint32_t condition) const;
  // nullopt where these take long to tell.
  std::optional<bool> has_keys(const Keys& keys, const std::vector<uint32_t>& besides);
  std::optional<bool> admits(const Keys& keys, uint32_t name);
  // How many there are beside some names, kUnbounded for at least `enough`; nullopt where that takes long to tell.
  std::optional<uint32_t> count(uint32_t enough, const Keys& keys, const std::vector<uint32_t>& besides);
  // Whether it is sure that there are so many.
  bool surely_has(uint32_t n, const Keys& keys, const std::vector<uint32_t>& besides);
  // Whether it is sure that there are infinitely many, or, where keys are short, more than any text has.
  bool surely_never_end(const Keys& keys);
  // How many texts the strings of a terminal have, up to `enough`; nullopt where that takes long to tell.
  std::optional<uint32_t> count_strings(const SchemaIR::Terminal& strings, uint32_t enough);

 private:
  std::optional<bool> admits(const Keys& keys, const std::string& key) const;
  const SchemaIR::Terminal& terminal(uint32_t condition) const {
    return schema_.terminal(schema_.key_condition(condition).terminal);
  }
  // The same by their regex, which is made once: for patterns of thousands of alternatives.
  std::optional<bool> admits_by_regex(const Keys& keys, std::string_view key);
  // Whether there are keys that meet a pattern, beside some names, where a look at that is enough.
  std::optional<bool> has_keys_of_pattern(const Keys& keys, const std::vector<uint32_t>& besides) const;
  bool plainly_has_keys(const Keys& keys, const std::vector<std::string>& names) const;
  std::optional<bool> search(const Keys& keys, std::vector<std::string> names);
  // What `tell` says of the regex of the keys beside the names; nullopt where that takes long.
  template <class Tell>
  std::optional<bool> searched(const Keys& keys, std::vector<std::string> names, Tell tell);
  // Whether regexes may be added; makes their store.
  bool has_room();
  std::vector<std::string> texts_of(const std::vector<uint32_t>& names) const;

  const SchemaIR& schema_;
  uint64_t max_nesting_;
  uint64_t max_search_steps_;
  uint32_t most_;
  std::unique_ptr<RegexStore> regexes_;  // made when a search needs it
  TextMap<std::string, std::optional<bool>> known_;
  TextMap<std::string, std::optional<uint32_t>> counts_;
  TextMap<std::string, RegexId> known_regexes_;
  size_t n_searched_ = 0;
};

}  // namespace cfgmask
