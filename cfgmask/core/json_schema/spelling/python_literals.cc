#include "json_schema/spelling/python_literals.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "json_schema/document/text_names.h"

namespace cfgmask {

namespace {

constexpr uint32_t kLastCharacter = 0x10FFFF;

std::string in_single_quotes(std::string_view text) {
  std::string made = "'";
  made += text;
  made += '\'';
  return made;
}

std::string python_word(std::string_view word) {
  if (word == "null") return "None";
  std::string made(word);
  made[0] = static_cast<char>(made[0] - ('a' - 'A'));
  return made;
}

bool is_control(char c) { return static_cast<uint8_t>(c) < 0x20; }

// The characters of strings in single quotes, if the strings are not listed.
RegexId plain_character(RegexStore& r) {
  return r.char_class({{0x20, 0x26}, {0x28, 0x5B}, {0x5D, 0x7E}, {0xA0, 0xD7FF}, {0xE000, kLastCharacter}});
}

// The characters of keys: the same without double quotes.
RegexId key_character(RegexStore& r) {
  return r.char_class(
      {{0x20, 0x21}, {0x23, 0x26}, {0x28, 0x5B}, {0x5D, 0x7E}, {0xA0, 0xD7FF}, {0xE000, kLastCharacter}});
}

RegexId quoted(RegexId inside, RegexStore& r) {
  const RegexId quote = r.literal("'");
  return r.concatenation(quote, r.concatenation(inside, quote));
}

}  // namespace

RegexId python_words(std::string_view word, RegexStore& r) {
  return r.alternation({r.literal(word), r.literal(python_word(word))});
}

RegexId python_strings(RegexId texts, RegexStore& r) {
  const RegexId plain = r.repetition(plain_character(r), 0, kUnbounded);
  return r.alternation({r.json_string(texts, JsonEscapes::kCanonical), quoted(r.intersection({texts, plain}), r)});
}

RegexId python_strings(const std::vector<std::string>& listed, RegexStore& r) {
  std::vector<std::string> written;
  for (const std::string& text : listed) {
    written.push_back(shown(text));
    const auto is_plain = [](char c) { return !is_control(c) && c != '\'' && c != '\\'; };
    if (std::all_of(text.begin(), text.end(), is_plain)) written.push_back(in_single_quotes(text));
  }
  return r.key_set(written);
}

bool is_python_key(std::string_view name) {
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (is_control(c) || c == '\'' || c == '"' || c == '\\' || c == '\x7f') return false;
    // U+0080 to U+009F.
    if (c == '\xC2' && i + 1 < name.size() && static_cast<uint8_t>(name[i + 1]) < 0xA0) return false;
  }
  return !name.empty();
}

RegexId python_key(std::string_view name, RegexStore& r) {
  return r.key_set(std::vector<std::string>{in_single_quotes(name), shown(name)});
}

RegexId python_keys(RegexId texts, RegexStore& r) {
  return quoted(r.intersection({texts, r.repetition(key_character(r), 1, kUnbounded)}), r);
}

}  // namespace cfgmask
