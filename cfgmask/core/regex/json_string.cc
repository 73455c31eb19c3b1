// The derivative of a JSON string literal: reads a spelling, feeds what it decodes to the regex of the decoded text.
//
// Rewriting the inner regex so that it accepts every escape of every character would multiply its size; here an escape
// costs a few nodes where one is read. Lone surrogates decode to no text and are refused. A half-read escape is alive
// exactly if some way to finish it leaves the inner regex something, so no residual is a dead end.
#include <algorithm>
#include <array>

#include "regex/regex.h"

namespace cfgmask {

namespace {

enum class Phase : uint32_t {
  kStart,      // before the opening quote
  kText,       // between characters, or inside the bytes of one
  kEscape,     // after a backslash
  kHex,        // after \u and fewer than four digits
  kAnyHex,     // likewise, of a character that has left the body as it is here whatever digits follow
  kLowEscape,  // after a high surrogate: a backslash must follow
  kLowU,       // then the u
  kLowHex,     // then the digits of the low surrogate
};

constexpr uint32_t kHighSurrogate = 0xD800;
constexpr uint32_t kLowSurrogate = 0xDC00;
constexpr uint32_t kSurrogateSpan = 0x400;
// In place of the low ten bits of a high surrogate: its characters have left the body as it is, whichever follows.
constexpr uint32_t kAnyHigh = kSurrogateSpan;

constexpr CodePointRange kAnyEscape[] = {{0, 0xD7FF}, {0xE000, 0xFFFF}};
constexpr CodePointRange kLiteralEscape[] = {{0, 0x1F},    {0x22, 0x22},   {0x2F, 0x2F},
                                             {0x5C, 0x5C}, {0x7F, 0xD7FF}, {0xE000, 0xFFFF}};
// Control characters that have no short escape.
constexpr CodePointRange kCanonicalEscape[] = {{0, 7}, {0xB, 0xB}, {0xE, 0x1F}};

std::span<const CodePointRange> hex_escapes(JsonEscapes escapes) {
  switch (escapes) {
    case JsonEscapes::kAny:
    case JsonEscapes::kYaml:
      return kAnyEscape;
    case JsonEscapes::kLiteral:
      return kLiteralEscape;
    case JsonEscapes::kCanonical:
      return kCanonicalEscape;
  }
  return {};
}

struct ShortEscape {
  char letter;
  uint32_t code_point;
};
constexpr ShortEscape kShortEscapes[] = {{'"', '"'},  {'\\', '\\'}, {'/', '/'},  {'b', 8},
                                         {'f', 0x0C}, {'n', 0x0A},  {'r', 0x0D}, {'t', 9}};

bool allows(JsonEscapes escapes, const ShortEscape& escape) {
  return escapes != JsonEscapes::kCanonical || escape.letter != '/';
}

// Whether two escapes may spell one character.
bool allows_pairs(JsonEscapes escapes) { return escapes == JsonEscapes::kAny || escapes == JsonEscapes::kLiteral; }

// From U+007F on, YAML 1.1 or 1.2 does not read as themselves inside of quotes: DEL and the controls that follow it,
// line breaks other than those of JSON, the byte order mark, and U+FFFE and U+FFFF. These are the first bytes of such
// characters, each with ways in which characters go on that it does read so.
struct YamlTail {
  uint8_t lead;
  size_t n_bytes;
  std::array<std::array<uint8_t, 2>, 2> bytes;
};
constexpr YamlTail kYamlTails[] = {
    {0xC2, 1, {{{0xA0, 0xBF}}}},
    {0xE2, 2, {{{0x80, 0x80}, {0x80, 0xA7}}}},
    {0xE2, 2, {{{0x80, 0x80}, {0xAA, 0xBF}}}},
    {0xE2, 2, {{{0x81, 0xBF}, {0x80, 0xBF}}}},
    {0xEF, 2, {{{0x80, 0xBA}, {0x80, 0xBF}}}},
    {0xEF, 2, {{{0xBB, 0xBB}, {0x80, 0xBE}}}},
    {0xEF, 2, {{{0xBC, 0xBE}, {0x80, 0xBF}}}},
    {0xEF, 2, {{{0xBF, 0xBF}, {0x80, 0xBD}}}},
};
constexpr unsigned kYamlLeads[] = {0xC2, 0xE2, 0xEF};
constexpr unsigned kDelete = 0x7F;

bool is_yaml_lead(unsigned b) {
  return std::any_of(std::begin(kYamlLeads), std::end(kYamlLeads), [&](unsigned lead) { return lead == b; });
}

std::optional<uint32_t> hex_value(unsigned b, JsonEscapes escapes) {
  if (b >= '0' && b <= '9') return b - '0';
  if (b >= 'a' && b <= 'f') return b - 'a' + 10;
  if (b >= 'A' && b <= 'F' && escapes != JsonEscapes::kCanonical) return b - 'A' + 10;
  return std::nullopt;
}

ByteSet hex_digits(JsonEscapes escapes) {
  ByteSet set;
  for (unsigned b = '0'; b <= 'f'; ++b) {
    if (hex_value(b, escapes)) set.add(b);
  }
  return set;
}

int encode_utf8(uint32_t c, std::array<uint8_t, 4>& out) {
  auto tail = [](uint32_t bits) { return static_cast<uint8_t>(0x80 | (bits & 0x3F)); };
  if (c < 0x80) {
    out = {static_cast<uint8_t>(c)};
    return 1;
  }
  if (c < 0x800) {
    out = {static_cast<uint8_t>(0xC0 | (c >> 6)), tail(c)};
    return 2;
  }
  if (c < 0x10000) {
    out = {static_cast<uint8_t>(0xE0 | (c >> 12)), tail(c >> 6), tail(c)};
    return 3;
  }
  out = {static_cast<uint8_t>(0xF0 | (c >> 18)), tail(c >> 12), tail(c >> 6), tail(c)};
  return 4;
}

// Of UTF-8 that is not empty.
uint32_t first_character(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return lead;
  const size_t n_bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  uint32_t c = lead & (0x7FU >> n_bytes);
  for (size_t i = 1; i < n_bytes; ++i) c = (c << 6) | (static_cast<uint8_t>(text[i]) & 0x3FU);
  return c;
}

}  // namespace

struct RegexStore::JsonState {
  RegexId body;
  JsonEscapes escapes;
  Phase phase;
  uint32_t n_digits = 0;
  uint32_t digits = 0;
  uint32_t high = 0;  // low ten bits of the high surrogate, or kAnyHigh

  // Whether digits may follow, of which all are alike.
  bool takes_any_digit() const {
    return phase == Phase::kAnyHex || (phase == Phase::kLowHex && high == kAnyHigh && n_digits >= 2);
  }
  bool is_after_high_surrogate() const {
    return phase == Phase::kLowEscape || phase == Phase::kLowU || phase == Phase::kLowHex;
  }
};

RegexStore::JsonState RegexStore::json_state(RegexId node) const {
  const Words o = operands(node);
  return {RegexId(o[0]), static_cast<JsonEscapes>(o[1] & 0xF), static_cast<Phase>((o[1] >> 4) & 0xF), o[1] >> 8, o[2],
          o[3]};
}

RegexId RegexStore::json_node(const JsonState& s) {
  const uint32_t place = static_cast<uint32_t>(s.escapes) | (static_cast<uint32_t>(s.phase) << 4) | (s.n_digits << 8);
  const uint32_t node[] = {s.body.value, place, s.digits, s.high};
  return intern(RegexKind::kJsonString, node);
}

RegexId RegexStore::json_string(RegexId body, JsonEscapes escapes) {
  if (body == nothing()) return nothing();
  return json_node({body, escapes, Phase::kStart});
}

RegexId RegexStore::json_string_without(RegexId node, RegexId unwanted) {
  if (unwanted == nothing()) return node;
  JsonState s = json_state(node);
  return json_string(intersection({s.body, complement(unwanted)}), s.escapes);
}

uint32_t RegexStore::shortest_json(RegexId node, uint32_t text) const {
  const JsonState s = json_state(node);
  // An escape under way writes one character, of which the rest of it may be all that is left to write.
  auto after_character = [&](uint32_t most_bytes) {
    if (s.high == kAnyHigh) most_bytes = 0;
    return (text > most_bytes ? text - most_bytes : 0) + 1;
  };
  switch (s.phase) {
    case Phase::kStart:
      return text + 2;
    case Phase::kText:
      return text + 1;
    case Phase::kEscape:
      return 1 + after_character(1);
    case Phase::kHex:
      return 4 - s.n_digits + after_character(3);
    case Phase::kAnyHex:
      return 4 - s.n_digits + after_character(0);
    case Phase::kLowEscape:
      return 6 + after_character(4);
    case Phase::kLowU:
      return 5 + after_character(4);
    case Phase::kLowHex:
      return 4 - s.n_digits + after_character(4);
  }
  return 1;
}

bool RegexStore::json_between_characters(RegexId node) const {
  return kind(node) == RegexKind::kJsonString && json_state(node).phase == Phase::kText;
}

bool RegexStore::json_inside_text(RegexId node) const {
  return kind(node) == RegexKind::kJsonString && json_state(node).phase != Phase::kStart;
}

RegexId RegexStore::json_with_body(RegexId node, RegexId body) {
  JsonState s = json_state(node);
  s.body = body;
  return json_node(s);
}

std::optional<RegexId> RegexStore::json_string_after(RegexId node, std::string_view text) {
  JsonState s = json_state(node);
  const auto is_itself = [](char c) { return c != '"' && c != '\\' && static_cast<uint8_t>(c) >= 0x20; };
  if (s.phase != Phase::kText || s.escapes == JsonEscapes::kYaml || !std::all_of(text.begin(), text.end(), is_itself))
    return std::nullopt;
  const auto body = after(s.body, text);
  if (!body) return std::nullopt;
  s.body = *body;
  return is_empty(s.body) ? nothing() : json_node(s);
}

RegexId RegexStore::derive_json_string(RegexId node, unsigned b) {
  JsonState s = json_state(node);
  switch (s.phase) {
    case Phase::kStart:
      if (b != '"') return nothing();
      s.phase = Phase::kText;
      return json_node(s);
    case Phase::kText:
      if (b == '"') {
        if (kind(s.body) == RegexKind::kNumberedKeys) return ended_key(s.body);
        return nullable(s.body) ? empty_text() : nothing();
      }
      if (b == '\\') {
        s.phase = Phase::kEscape;
        return can_complete_escape(s) ? json_node(s) : nothing();
      }
      if (b < 0x20) return nothing();
      s.body = derivative(s.body, b);
      if (s.escapes == JsonEscapes::kYaml) s.body = as_itself_in_yaml(s.body, b);
      return is_empty(s.body) ? nothing() : json_node(s);
    case Phase::kEscape:
      for (const ShortEscape& escape : kShortEscapes) {
        if (b == static_cast<unsigned>(escape.letter) && allows(s.escapes, escape))
          return after_character(s, escape.code_point);
      }
      if (b != 'u') return nothing();
      s.phase = Phase::kHex;
      return can_complete_escape(s) ? json_node(s) : nothing();
    case Phase::kLowEscape:
      if (b != '\\') return nothing();
      s.phase = Phase::kLowU;
      return json_node(s);
    case Phase::kLowU:
      if (b != 'u') return nothing();
      s.phase = Phase::kLowHex;
      return json_node(s);
    case Phase::kHex:
    case Phase::kAnyHex:
    case Phase::kLowHex:
      break;
  }
  const std::optional<uint32_t> digit = hex_value(b, s.escapes);
  if (!digit) return nothing();
  if (s.takes_any_digit()) {
    ++s.n_digits;
    return json_node(s.n_digits < 4 ? without_digits(s) : JsonState{s.body, s.escapes, Phase::kText});
  }
  s.digits = s.digits * 16 + *digit;
  ++s.n_digits;
  if (!can_complete_escape(s)) return nothing();
  if (s.n_digits < 4) return json_node(without_digits(s));
  if (s.phase == Phase::kLowHex) {
    return after_character(s, 0x10000 + s.high * kSurrogateSpan + (s.digits - kLowSurrogate));
  }
  if (s.digits >= kHighSurrogate && s.digits < kLowSurrogate) {
    const uint32_t high = s.digits - kHighSurrogate;
    const uint32_t first = 0x10000 + high * kSurrogateSpan;
    const auto left = after_any_of(s.body, first, first + kSurrogateSpan - 1);
    return json_node({left.value_or(s.body), s.escapes, Phase::kLowEscape, 0, 0, left ? kAnyHigh : high});
  }
  return after_character(s, s.digits);
}

// The same without those of its digits that make no difference any more. Where most characters are alike, the residuals
// of half-read escapes are a handful then, not one for each of thousands of beginnings.
RegexStore::JsonState RegexStore::without_digits(JsonState s) {
  const uint32_t shift = 4 * (4 - s.n_digits);
  if (s.takes_any_digit()) {
    s.digits = s.phase == Phase::kLowHex ? kLowSurrogate >> shift : 0;
  } else if (s.phase == Phase::kHex) {
    const uint32_t low = s.digits << shift;
    const uint32_t high = low + (1U << shift) - 1;
    const auto ranges = hex_escapes(s.escapes);
    const bool has_all =
        std::any_of(ranges.begin(), ranges.end(), [&](const auto& r) { return r.low <= low && high <= r.high; });
    const auto left = has_all ? after_any_of(s.body, low, high) : std::nullopt;
    if (left) return {*left, s.escapes, Phase::kAnyHex, s.n_digits};
  }
  return s;
}

// By the phase alone, or between characters by the body's own bytes: whether an escape finds a character that the body
// takes is asked only where one is read, since most residuals never read any.
ByteSet RegexStore::first_of_json_string(RegexId node) {
  const JsonState s = json_state(node);
  ByteSet set;
  switch (s.phase) {
    case Phase::kStart:
      set.add('"');
      return set;
    case Phase::kText:
      set = first(s.body);
      if (!set.empty()) set.add('\\');
      for (unsigned b = 0; b < 0x20; ++b) set.remove(b);
      set.remove('"');
      if (s.escapes == JsonEscapes::kYaml) set.remove(kDelete);
      if (nullable(s.body)) set.add('"');
      return set;
    case Phase::kEscape:
      for (const ShortEscape& escape : kShortEscapes) {
        if (allows(s.escapes, escape)) set.add(static_cast<uint8_t>(escape.letter));
      }
      set.add('u');
      return set;
    case Phase::kLowEscape:
      set.add('\\');
      return set;
    case Phase::kLowU:
      set.add('u');
      return set;
    case Phase::kHex:
    case Phase::kAnyHex:
    case Phase::kLowHex:
      return hex_digits(s.escapes);
  }
  return set;
}

ByteSet RegexStore::alike_in_json_string(RegexId node, unsigned b) {
  const JsonState s = json_state(node);
  if (s.takes_any_digit() && hex_value(b, s.escapes)) return hex_digits(s.escapes);
  if (s.phase != Phase::kText || b == '"' || b == '\\') return ByteSet::only(b);
  if (b < 0x20) return ByteSet::range(0, 0x1F);
  ByteSet set = alike_here(s.body, b);
  set -= ByteSet::range(0, 0x1F);
  for (unsigned other : {U'"', U'\\'}) set.remove(other);
  if (s.escapes == JsonEscapes::kYaml) {
    if (b == kDelete || is_yaml_lead(b)) return ByteSet::only(b);
    set.remove(kDelete);
    for (unsigned lead : kYamlLeads) set.remove(lead);
  }
  return set;
}

// What is left of a decoded text after the byte `b` of a character that stands for itself.
RegexId RegexStore::as_itself_in_yaml(RegexId left, unsigned b) {
  if (b == kDelete) return nothing();
  if (!is_yaml_lead(b) || left == nothing()) return left;
  std::vector<RegexId> tails;
  for (const YamlTail& tail : kYamlTails) {
    if (tail.lead != b) continue;
    RegexId rest = complement(nothing());
    for (size_t i = tail.n_bytes; i-- > 0;)
      rest = concatenation(bytes(ByteSet::range(tail.bytes[i][0], tail.bytes[i][1])), rest);
    tails.push_back(rest);
  }
  return intersection({left, alternation(std::move(tails))});
}

// The literal goes on after an escape that decoded to `code_point`.
RegexId RegexStore::after_character(const JsonState& state, uint32_t code_point) {
  std::array<uint8_t, 4> utf8{};
  const int n = encode_utf8(code_point, utf8);
  RegexId body = state.body;
  for (int i = 0; i < n; ++i) body = derivative(body, utf8[static_cast<size_t>(i)]);
  if (is_empty(body)) return nothing();
  return json_node({body, state.escapes, Phase::kText});
}

// Calls f(low, high) for ranges of the characters that an escape under way may yet spell, none of them a surrogate.
// Stops where it says true, and then does so.
template <class F>
bool RegexStore::may_spell_some(const JsonState& state, F f) const {
  if (state.phase == Phase::kEscape) {
    for (const ShortEscape& escape : kShortEscapes) {
      if (allows(state.escapes, escape) && f(escape.code_point, escape.code_point)) return true;
    }
  }
  const uint32_t shift = 4 * (4 - state.n_digits);
  const uint32_t low = state.digits << shift;
  const uint32_t high = low + (1U << shift) - 1;
  // The digits may have these values, of which each stands for so many characters, from `first` on.
  const auto spells = [&](uint32_t from, uint32_t to, uint32_t first, uint32_t n_each) {
    const uint32_t least = std::max(low, from);
    const uint32_t most = std::min(high, to);
    return least <= most && f(first + (least - from) * n_each, first + (most + 1 - from) * n_each - 1);
  };
  if (state.is_after_high_surrogate()) {
    const uint32_t first = 0x10000 + state.high * kSurrogateSpan;
    return spells(kLowSurrogate, kLowSurrogate + kSurrogateSpan - 1, first, 1);
  }
  for (const CodePointRange& range : hex_escapes(state.escapes)) {
    if (spells(range.low, range.high, range.low, 1)) return true;
  }
  return allows_pairs(state.escapes) &&
         spells(kHighSurrogate, kHighSurrogate + kSurrogateSpan - 1, 0x10000, kSurrogateSpan);
}

// Whether the escape under way can be completed to a character that the body takes. Before its first digit, the body is
// between characters exactly if it can.
bool RegexStore::can_complete_escape(const JsonState& state) {
  const bool has_left = state.high == kAnyHigh;
  return may_spell_some(state,
                        [&](uint32_t low, uint32_t high) { return has_left || can_take(state.body, low, high); });
}

bool RegexStore::may_spell(RegexId node, std::string_view text) const {
  const JsonState s = json_state(node);
  const bool has_left = s.phase == Phase::kAnyHex || s.high == kAnyHigh;
  if (s.phase == Phase::kStart || s.phase == Phase::kText || has_left) return true;
  if (text.empty()) return false;
  const uint32_t first = first_character(text);
  return may_spell_some(s, [first](uint32_t low, uint32_t high) { return low <= first && first <= high; });
}

// Calls f(residual) after each character of [low, high], none of them a surrogate; once for many that are alike. Stops
// where it says true, and then does so.
template <class F>
bool RegexStore::after_some(RegexId node, uint32_t low, uint32_t high, F f) {
  struct Form {
    uint32_t low, high, lead;
    int tail_bytes;
  };
  static constexpr Form kForms[] = {
      {0, 0x7F, 0, 0}, {0x80, 0x7FF, 0xC0, 1}, {0x800, 0xFFFF, 0xE0, 2}, {0x10000, 0x10FFFF, 0xF0, 3}};
  for (const Form& form : kForms) {
    const uint32_t from = std::max(low, form.low);
    const uint32_t to = std::min(high, form.high);
    if (from <= to && after_some_bytes(node, form.lead, form.tail_bytes, from, to, f)) return true;
  }
  return false;
}

// After a byte that is `lead` and the first bits of a value of [low, high], and so many that continue it.
template <class F>
bool RegexStore::after_some_bytes(RegexId node, unsigned lead, int n_more, uint32_t low, uint32_t high, F& f) {
  const uint32_t span = 1U << (6 * n_more);
  ByteSet known;  // bytes after which all values have been asked about
  for (uint32_t value = low / span; value <= high / span; ++value) {
    const unsigned b = lead | value;
    if (known.has(b)) continue;
    const RegexId next = first(node).has(b) ? derivative(node, b) : nothing();
    const uint32_t inner_low = value == low / span ? low % span : 0;
    const uint32_t inner_high = value == high / span ? high % span : span - 1;
    const bool leaf = n_more == 0 || next == nothing();
    if (leaf ? f(next) : after_some_bytes(next, 0x80, n_more - 1, inner_low, inner_high, f)) return true;
    if (inner_low == 0 && inner_high == span - 1) known |= alike(node, b);
  }
  return false;
}

// Whether the node goes on after some character of [low, high], none of them a surrogate.
bool RegexStore::can_take(RegexId node, uint32_t low, uint32_t high) {
  return after_some(node, low, high, [&](RegexId left) { return !is_empty(left); });
}

// What is left of the node after a character of [low, high], none of them a surrogate, if it goes on and is the same
// after all of them.
std::optional<RegexId> RegexStore::after_any_of(RegexId node, uint32_t low, uint32_t high) {
  std::optional<RegexId> same;
  const auto differs = [&](RegexId left) { return left == nothing() || *(same = same.value_or(left)) != left; };
  if (after_some(node, low, high, differs) || is_empty(*same)) return std::nullopt;
  return same;
}

std::string decode_json_string(std::string_view literal) {
  std::string out;
  const auto add = [&](uint32_t code_point) {
    std::array<uint8_t, 4> utf8{};
    const int n = encode_utf8(code_point, utf8);
    out.append(utf8.begin(), utf8.begin() + n);
  };
  const auto hex = [&](size_t at) {
    uint32_t value = 0;
    for (const char c : literal.substr(at, 4))
      value = value * 16 + hex_value(static_cast<uint8_t>(c), JsonEscapes::kAny).value_or(0);
    return value;
  };
  for (size_t i = 1; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') {
      out.push_back(literal[i]);
      continue;
    }
    ++i;
    for (const ShortEscape& escape : kShortEscapes) {
      if (escape.letter == literal[i]) add(escape.code_point);
    }
    if (literal[i] != 'u') continue;
    uint32_t code_point = hex(i + 1);
    i += 4;
    if (code_point >= kHighSurrogate && code_point < kLowSurrogate) {
      code_point = 0x10000 + (code_point - kHighSurrogate) * kSurrogateSpan + (hex(i + 3) - kLowSurrogate);
      i += 6;
    }
    add(code_point);
  }
  return out;
}

}  // namespace cfgmask
