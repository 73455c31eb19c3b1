#include "earley/scalar_values.h"

#include <algorithm>

#include "regex/begun_string.h"
#include "regex/regex.h"

namespace cfgmask {

namespace {

bool is_word(std::string_view value) { return value == "null" || value == "true" || value == "false"; }

// -1.50 is -1.5, 2.0 is 2, -0 is 0.
std::string plain_number(std::string_view text) {
  if (text.find('.') != std::string_view::npos) {
    while (text.back() == '0') text.remove_suffix(1);
    if (text.back() == '.') text.remove_suffix(1);
  }
  if (text == "-0") text.remove_prefix(1);
  return std::string(text);
}

}  // namespace

bool is_number(std::string_view value) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (value.starts_with('-')) value.remove_prefix(1);
  const size_t whole = static_cast<size_t>(std::find_if_not(value.begin(), value.end(), is_digit) - value.begin());
  if (whole == 0) return false;
  value.remove_prefix(whole);
  if (value.empty()) return true;
  if (!value.starts_with('.')) return false;
  value.remove_prefix(1);
  return !value.empty() && std::all_of(value.begin(), value.end(), is_digit);
}

std::string value_of(std::string_view text) {
  if (text.ends_with(kAfterKey)) text.remove_suffix(kAfterKey.size());
  if (is_string(text)) return '"' + decode_json_string(text);
  if (is_word(text)) return std::string(text);
  return is_number(text) ? plain_number(text) : '"' + std::string(text);
}

bool ScalarSet::has_beginning(std::string_view begun) const {
  const auto first = values_.lower_bound(begun);
  return first != values_.end() && first->starts_with(begun);
}

bool ScalarSet::may_have(std::string_view begun) const {
  if (begun.empty()) return !values_.empty();
  if (is_string(begun)) return has_beginning('"' + decode_begun_string(begun).text);
  // A number may have come to its value before its last zeros, and -0 is 0.
  if (begun == "-" && has("0")) return true;
  if (begun.ends_with('.') && has(value_of(begun.substr(0, begun.size() - 1)))) return true;
  return has(value_of(begun)) || has_beginning(begun) || has_beginning('"' + std::string(begun));
}

}  // namespace cfgmask
