#include "schema/yaml_layout.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "regex/count.h"
#include "schema/text_names.h"

namespace cfgmask {

namespace {

constexpr uint32_t kDash = 2;  // the characters of "- "

size_t n_characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

// What YAML does not read as itself inside of quotes, though JSON does: as in `as_itself_in_yaml` of the regexes.
bool needs_escape(uint32_t c) {
  return (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
}

// A string between quotes, in the one way that JSON writes it, with more escapes where YAML needs them.
std::string quoted(std::string_view text) {
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

}  // namespace

YamlLayout::YamlLayout(Scalars scalars, uint32_t indent, uint32_t most_nested)
    : scalars_(std::move(scalars)),
      unit_(std::gcd(kDash, indent)),
      below_dash_(kDash / unit_),
      below_key_(indent / unit_),
      deepest_((most_nested - 1) * std::max(below_dash_, below_key_)) {}

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
  const RegexId unquoted = r.intersection({keys, scalars_.keys->in(r)});
  return r.concatenation(r.alternation({unquoted, r.json_string(keys, JsonEscapes::kYaml)}), r.literal(":"));
}

std::optional<bool> YamlLayout::can_be_key(const std::string& name, RegexStore* r) const {
  const size_t most = scalars_.most_of_written_key;
  // An escape has six characters.
  if (name.size() * 6 + 2 <= most || n_characters(quoted(name)) <= most) return true;
  if (n_characters(name) > most) return false;
  return r == nullptr ? std::nullopt : std::optional(matches(scalars_.keys->in(*r), name, *r));
}

// ---- whole schemas

namespace {

class YamlReading {
 public:
  YamlReading(const PlainSchema& schema, const YamlLayout& layout, RegexStore* r)
      : schema_(schema), layout_(layout), r_(r) {}

  std::optional<bool> fits() {
    std::vector<PlainValueId> values{schema_.root()};
    std::vector<bool> seen(schema_.n_values(), false);
    std::optional<bool> found = true;
    while (!values.empty()) {
      const PlainValueId next = values.back();
      values.pop_back();
      if (seen[next.value] || !schema_.is_live(next)) continue;
      seen[next.value] = true;
      const PlainSchema::Value& value = schema_.at(next);
      // Whatever may be added to an object, its keys are short, and may run out.
      if (value.array && schema_.has_composite_items(*value.array)) return false;
      const std::optional<bool> one = value.object ? fits(*value.object) : true;
      if (one && !*one) return false;
      if (!one) found = std::nullopt;
      PlainSchema::for_each_inside(value, [&](PlainValueId inside) { values.push_back(inside); });
      if (!value.may_have_many_states()) continue;
      // An item that must meet a witness is a set of its own, which `for_each_inside` does not visit.
      for (uint32_t i = 0; i < schema_.n_values(); ++i) values.emplace_back(i);
    }
    return found;
  }

 private:
  std::optional<bool> fits(const PlainSchema::Object& object) {
    if (needs_endless_keys(object)) return false;
    std::optional<bool> found = true;
    for (const auto& member : object.members) {
      if (!schema_.is_live(member.value)) continue;
      const auto one = layout_.can_be_key(schema_.name_at(member.name), r_);
      if (one && !*one) return false;
      if (!one) found = std::nullopt;
    }
    if (!object.has_classes()) return found;
    if (r_ == nullptr) return std::nullopt;
    const bool has_keys = std::ranges::all_of(object.kinds(), [&](const PlainSchema::KeyClass& kind) {
      return !schema_.is_live(kind.value) || has_short_keys(object, kind);
    });
    return has_keys ? found : false;
  }

  // Whether keys that a witness waits for must not run out: short ones might.
  static bool needs_endless_keys(const PlainSchema::Object& object) {
    const auto kinds = object.kinds();
    for (size_t i = 0; i < object.witnesses.size(); ++i) {
      const auto meets = [&](const PlainSchema::KeyClass& kind) { return (kind.meets & (1U << i)) != 0; };
      if (object.witnesses[i].value != PlainSchema::any() && std::ranges::any_of(kinds, meets)) return true;
    }
    return false;
  }

  // Whether there are as many keys of a kind that are short as the rules may ask for.
  bool has_short_keys(const PlainSchema::Object& object, const PlainSchema::KeyClass& kind) {
    std::vector<std::string_view> names;
    for (const auto& member : object.members) names.push_back(schema_.name_at(member.name));
    RegexStore& r = *r_;
    const RegexId keys = r.intersection(
        {schema_.keys_regex(kind.keys, r), r.complement(r.key_set(std::move(names))), layout_.short_texts(r)});
    const size_t asked = std::max<size_t>(1, object.minimum + object.witnesses.size());
    const size_t needed = kind.count == kUnbounded ? asked : std::min<size_t>(kind.count, asked);
    if (needed == 1) return !r.is_empty(keys);
    if (needed > kMostCounted) return false;
    const auto counted = count_texts(r, keys, static_cast<uint32_t>(needed));
    return !counted || *counted >= needed;
  }

  static constexpr size_t kMostCounted = 1'000;

  const PlainSchema& schema_;
  const YamlLayout& layout_;
  RegexStore* r_;
};

}  // namespace

std::optional<bool> fits_yaml(const PlainSchema& schema, const YamlLayout& layout, RegexStore* r) {
  return YamlReading(schema, layout, r).fits();
}

}  // namespace cfgmask
