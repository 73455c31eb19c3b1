#include "slow_regex.h"

#include <algorithm>
#include <array>
#include <bit>

namespace cfgmask::testing {

namespace {

std::string utf8(uint32_t c) {
  const auto byte = [](uint32_t value) { return static_cast<char>(static_cast<uint8_t>(value)); };
  const auto tail = [&](uint32_t bits) { return byte(0x80 | (bits & 0x3F)); };
  if (c < 0x80) return {byte(c)};
  if (c < 0x800) return {byte(0xC0 | (c >> 6)), tail(c)};
  if (c < 0x10000) return {byte(0xE0 | (c >> 12)), tail(c >> 6), tail(c)};
  return {byte(0xF0 | (c >> 18)), tail(c >> 12), tail(c >> 6), tail(c)};
}

// The character that text starts with and its length, if text starts with one in its shortest encoding.
struct Character {
  uint32_t code_point;
  size_t length;
};
std::optional<Character> first_character(std::string_view text) {
  constexpr std::array<uint32_t, 5> kLeadBits = {0, 0x7F, 0x1F, 0x0F, 0x07};
  if (text.empty()) return std::nullopt;
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return std::nullopt;
  uint32_t c = lead & kLeadBits[length];
  for (size_t i = 1; i < length; ++i) c = (c << 6) | (static_cast<uint8_t>(text[i]) & 0x3F);
  const bool is_character = c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
  if (!is_character || utf8(c) != text.substr(0, length)) return std::nullopt;
  return Character{c, length};
}

template <class Step>
uint64_t after_each(uint64_t starts, Step step) {
  uint64_t ends = 0;
  for (; starts != 0; starts &= starts - 1) ends |= step(static_cast<size_t>(std::countr_zero(starts)));
  return ends;
}

uint64_t repetition_ends(const SlowRegex& regex, std::string_view text, size_t start) {
  const auto once = [&](uint64_t starts) {
    return after_each(starts, [&](size_t s) { return match_ends(*regex.parts[0], text, s); });
  };
  uint64_t reached = uint64_t{1} << start;
  for (uint32_t i = 0; i < regex.minimum; ++i) {
    const uint64_t next = once(reached);
    if (next == reached) break;
    reached = next;
  }
  for (uint32_t i = regex.minimum; i < regex.maximum; ++i) {
    const uint64_t more = reached | once(reached);
    if (more == reached) break;
    reached = more;
  }
  return reached;
}

uint64_t json_string_ends(const SlowRegex& regex, std::string_view text, size_t start) {
  uint64_t ends = 0;
  for (size_t end = start + 2; end <= text.size(); ++end) {
    const auto decoded = decode_json_string(text.substr(start, end - start), regex.escapes);
    if (decoded && matches(*regex.parts[0], *decoded)) ends |= uint64_t{1} << end;
  }
  return ends;
}

std::optional<uint32_t> four_hex_digits(std::string_view text, bool lower_case_only) {
  if (text.size() < 4) return std::nullopt;
  uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<uint32_t>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F' && !lower_case_only) {
      value = value * 16 + static_cast<uint32_t>(c - 'A' + 10);
    } else {
      return std::nullopt;
    }
  }
  return value;
}

// What stands after \u: a character of the basic plane, or a surrogate pair.
std::optional<Character> hex_escape(std::string_view text, JsonEscapes escapes) {
  const bool canonical = escapes == JsonEscapes::kCanonical;
  const auto high = four_hex_digits(text, canonical);
  if (!high) return std::nullopt;
  if (*high < 0xD800 || *high > 0xDFFF) return Character{*high, 4};
  if (*high > 0xDBFF || escapes == JsonEscapes::kYaml || text.substr(4, 2) != "\\u") return std::nullopt;
  const auto low = four_hex_digits(text.substr(6), canonical);
  if (!low || *low < 0xDC00 || *low > 0xDFFF) return std::nullopt;
  return Character{0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00), 10};
}

// Whether a text begins with a character that YAML does not read as itself.
bool is_no_yaml(std::string_view text) {
  const auto character = first_character(text);
  if (!character) return false;  // in the middle of one
  const uint32_t c = character->code_point;
  return (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029 || c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
}

bool may_be_hex(uint32_t c, JsonEscapes escapes) {
  switch (escapes) {
    case JsonEscapes::kAny:
    case JsonEscapes::kYaml:
      return true;
    case JsonEscapes::kLiteral:
      return c < 0x20 || c > 0x7E || c == '"' || c == '\\' || c == '/';
    case JsonEscapes::kCanonical:
      return c < 0x20 && c != '\b' && c != '\f' && c != '\n' && c != '\r' && c != '\t';
  }
  return false;
}

}  // namespace

std::optional<std::string> decode_json_string(std::string_view literal, JsonEscapes escapes) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (literal.size() < 2 || literal.front() != '"' || literal.back() != '"') return std::nullopt;
  literal = literal.substr(1, literal.size() - 2);
  std::string out;
  for (size_t i = 0; i < literal.size(); ++i) {
    const char c = literal[i];
    if (static_cast<uint8_t>(c) < 0x20 || c == '"') return std::nullopt;
    if (c != '\\') {
      if (escapes == JsonEscapes::kYaml && is_no_yaml(literal.substr(i))) return std::nullopt;
      out += c;
      continue;
    }
    if (++i == literal.size()) return std::nullopt;
    if (literal[i] == 'u') {
      const auto character = hex_escape(literal.substr(i + 1), escapes);
      if (!character || !may_be_hex(character->code_point, escapes)) return std::nullopt;
      out += utf8(character->code_point);
      i += character->length;
      continue;
    }
    const size_t letter = kLetters.find(literal[i]);
    const bool forbidden = escapes == JsonEscapes::kCanonical && literal[i] == '/';
    if (letter == std::string_view::npos || forbidden) return std::nullopt;
    out += kMeanings[letter];
  }
  return out;
}

namespace {

// Whether a decimal is taken, by the value of its text: steps are small, so remainders of digits tell.
bool is_multiple(const SlowRegex& regex, std::string_view text) {
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = point == text.size() ? "" : text.substr(point + 1);
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!digits(whole) || (point < text.size() && !digits(fraction)) || (whole.size() > 1 && whole[0] == '0'))
    return false;
  if (whole.size() > regex.maximum) return false;
  std::string kept(fraction.substr(0, regex.minimum));
  const bool is_finer = fraction.size() > kept.size() && fraction.find_first_not_of('0', kept.size()) != fraction.npos;
  kept.resize(regex.minimum, '0');
  const auto is_one_of = [&](uint64_t step) {
    uint64_t remainder = 0;
    for (char digit : std::string(whole) + kept)
      remainder = (remainder * 10 + static_cast<uint64_t>(digit - '0')) % step;
    return remainder == 0;
  };
  return std::any_of(regex.cases.begin(), regex.cases.end(), [&](const Multiples::Case& given) {
    if (fraction.size() > std::min(given.most_places, given.most_places == kUnbounded ? regex.maximum : kUnbounded))
      return false;
    return is_finer ? given.finer
                    : is_one_of(given.step) && std::none_of(given.without.begin(), given.without.end(), is_one_of);
  });
}

}  // namespace

uint64_t match_ends(const SlowRegex& regex, std::string_view text, size_t start) {
  using Kind = SlowRegex::Kind;
  const uint64_t all_from_start = ((uint64_t{2} << text.size()) - 1) & ~((uint64_t{1} << start) - 1);
  uint64_t ends = 0;
  switch (regex.kind) {
    case Kind::kLiteral:
    case Kind::kKeySet:
      for (const std::string& key : regex.keys)
        if (text.substr(start).starts_with(key)) ends |= uint64_t{1} << (start + key.size());
      return ends;
    case Kind::kSubstring:
      for (size_t first = 0; first <= regex.keys.size(); ++first) {
        size_t end = start;
        ends |= uint64_t{1} << end;
        for (size_t i = first; i < regex.keys.size() && text.substr(end).starts_with(regex.keys[i]); ++i) {
          end += regex.keys[i].size();
          ends |= uint64_t{1} << end;
        }
      }
      return ends;
    case Kind::kDivisible: {
      ends = uint64_t{1} << start;
      uint64_t remainder = 0;
      for (size_t i = start; i < text.size() && (text[i] == '.' || (text[i] >= '0' && text[i] <= '9')); ++i) {
        if (text[i] != '.') remainder = (remainder * 10 + static_cast<uint64_t>(text[i] - '0')) % regex.modulus;
        if (remainder == 0) ends |= uint64_t{2} << i;
      }
      return ends;
    }
    case Kind::kMultiples: {
      for (size_t end = start + 1; end <= text.size(); ++end) {
        if (is_multiple(regex, text.substr(start, end - start))) ends |= uint64_t{1} << end;
      }
      return ends;
    }
    case Kind::kBytes:
      if (start == text.size() || !regex.bytes.has(static_cast<uint8_t>(text[start]))) return 0;
      return uint64_t{2} << start;
    case Kind::kCharacters:
      if (const auto character = first_character(text.substr(start))) {
        for (const auto [low, high] : regex.ranges)
          if (low <= character->code_point && character->code_point <= high)
            return uint64_t{1} << (start + character->length);
      }
      return 0;
    case Kind::kConcatenation:
      ends = uint64_t{1} << start;
      for (const auto& part : regex.parts)
        ends = after_each(ends, [&](size_t s) { return match_ends(*part, text, s); });
      return ends;
    case Kind::kAlternation:
      for (const auto& part : regex.parts) ends |= match_ends(*part, text, start);
      return ends;
    case Kind::kIntersection:
      ends = all_from_start;
      for (const auto& part : regex.parts) ends &= match_ends(*part, text, start);
      return ends;
    case Kind::kComplement:
      return all_from_start & ~match_ends(*regex.parts[0], text, start);
    case Kind::kRepetition:
      return repetition_ends(regex, text, start);
    case Kind::kJsonString:
      return json_string_ends(regex, text, start);
  }
  return 0;
}

bool matches(const SlowRegex& regex, std::string_view text) { return (match_ends(regex, text, 0) >> text.size()) & 1; }

}  // namespace cfgmask::testing
