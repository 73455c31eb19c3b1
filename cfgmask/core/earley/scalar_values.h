// Scalars as registers keep them: a string as a quote and what it decodes to, a number without superfluous zeros,
// anything else as it is spelled.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace cfgmask {

// In YAML a key is one lexeme with its colon.
inline constexpr std::string_view kAfterKey = ":";

inline bool is_string(std::string_view value) { return value.starts_with('"'); }
bool is_number(std::string_view value);
// The value of a lexeme. What is no scalar of JSON is a string that YAML writes without quotes.
std::string value_of(std::string_view text);

class ScalarSet {
 public:
  void add(std::string value) { values_.insert(std::move(value)); }
  size_t size() const { return values_.size(); }
  // False if no lexeme that begins with these bytes has one of the values. Logarithmic in them.
  bool may_have(std::string_view begun) const;

 private:
  bool has(std::string_view value) const { return values_.find(value) != values_.end(); }
  bool has_beginning(std::string_view begun) const;

  std::set<std::string, std::less<>> values_;
};

}  // namespace cfgmask
