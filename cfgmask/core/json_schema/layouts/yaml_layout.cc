#include "json_schema/layouts/yaml_layout.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "json_schema/document/text_names.h"

namespace cfgmask {

namespace {

constexpr uint32_t kDash = 2;  // the characters of "- "

// What YAML does not read as itself inside of quotes, though JSON does: as in `as_itself_in_yaml` of the regexes.
bool needs_escape(uint32_t c) {
  return (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
}

}  // namespace

YamlLayout::YamlLayout(Scalars scalars, uint32_t indent, uint32_t most_nested)
    : scalars_(std::move(scalars)),
      unit_(std::gcd(kDash, indent)),
      below_dash_(kDash / unit_),
      below_key_(indent / unit_),
      deepest_((most_nested - 1) * std::max(below_dash_, below_key_)) {}

// In the one way that JSON writes it, with more escapes where YAML needs them.
std::string YamlLayout::quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  const std::string json = shown(text);
  std::string made;
  for (size_t i = 0; i < json.size();) {
    const auto lead = static_cast<uint8_t>(json[i]);
    const size_t n_bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t c = n_bytes == 1 ? lead : lead & (0x7FU >> n_bytes);
    for (size_t j = 1; j < n_bytes; ++j) c = (c << 6) | (static_cast<uint8_t>(json[i + j]) & 0x3FU);
    if (needs_escape(c)) {
      made += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) made += kHex[(c >> shift) & 15];
    } else {
      made.append(json, i, n_bytes);
    }
    i += n_bytes;
  }
  return made;
}

bool YamlLayout::matches(RegexId regex, std::string_view text, RegexStore& r) {
  for (const char c : text) {
    if (regex == RegexStore::nothing()) return false;
    regex = r.derivative(regex, static_cast<uint8_t>(c));
  }
  return r.nullable(regex);
}

RegexId YamlLayout::number(RegexId of_json, RegexStore& r) const {
  return r.intersection({of_json, scalars_.numbers->in(r)});
}

RegexId YamlLayout::string(RegexId texts, RegexStore& r) const {
  const RegexId plain = scalars_.strings->in(r);
  const RegexId unquoted = texts == r.any_text() ? plain : r.intersection({texts, plain});
  return r.alternation({unquoted, r.json_string(texts, JsonEscapes::kYaml)});
}

RegexId YamlLayout::listed(const std::vector<std::string>& texts, RegexStore& r) const {
  const RegexId plain = scalars_.strings->in(r);
  std::vector<std::string_view> unquoted;
  for (const std::string& text : texts) {
    if (matches(plain, text, r)) unquoted.push_back(text);
  }
  return r.alternation({r.key_set(std::move(unquoted)), r.json_string(r.key_set(texts), JsonEscapes::kYaml)});
}

std::string YamlLayout::key(const std::string& name, RegexStore& r) const {
  return (matches(scalars_.keys->in(r), name, r) ? name : quoted(name)) + ':';
}

RegexId YamlLayout::other_keys(RegexId texts, RegexStore& r) const {
  const RegexId keys = r.intersection({texts, short_texts(r)});
  // Made first, so that it is asked first: that there are such keys is clear at sight.
  const RegexId quoted = r.json_string(keys, JsonEscapes::kYaml);
  const RegexId unquoted = r.intersection({keys, scalars_.keys->in(r)});
  return r.concatenation(r.alternation({unquoted, quoted}), r.literal(":"));
}

std::optional<bool> YamlLayout::can_be_key(const std::string& name, RegexStore* r) const {
  const size_t most = scalars_.most_of_written_key;
  // An escape has six characters.
  if (name.size() * 6 + 2 <= most || n_characters(quoted(name)) <= most) return true;
  if (n_characters(name) > most) return false;
  return r == nullptr ? std::nullopt : std::optional(matches(scalars_.keys->in(*r), name, *r));
}

}  // namespace cfgmask
