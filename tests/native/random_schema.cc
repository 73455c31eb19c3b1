#include "random_schema.h"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "json_schema/document/json_document.h"
#include "json_schema/keywords/keywords.h"
#include "json_schema/keywords/schema_reader.h"
#include "json_schema/rules/hand_over.h"

namespace cfgmask::testing {

namespace {

constexpr int kMaxDepth = 3;

// As they are spelled in a schema.
constexpr std::array<std::string_view, 12> kKeys{"a",    "b",    "ab",      "aa", "ba",  "",
                                                 "\\\"", "a\\n", "\\u00e9", "k1", "k10", "k2"};
constexpr std::array<std::string_view, 10> kScalars{"1",  "-2",   "0.5",       "\"a\"", "\"b\"",
                                                    "12", "null", "\"a\\\"\"", "true",  "1.0"};
constexpr std::array<std::string_view, 7> kTypes{"string", "integer", "number", "boolean", "null", "array", "object"};
constexpr std::array<std::string_view, 10> kPatterns{"^a",   "b$", "^[ab]{1,2}$", "a|b",          "^k[0-9]*$",
                                                     "[^a]", "^$", ".",           R"(^\\p{L}+$)", R"([^\\p{L}b])"};
constexpr std::array<std::string_view, 6> kNumbers{"0", "1", "-3", "10", "2.5", "100"};

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (std::string_view part : parts) out += part;
  return out;
}

class SchemaMaker {
 public:
  explicit SchemaMaker(ByteSource& source) : source_(source) {}

  std::string root() {
    std::string out = "{";
    say_composite(out, 0);
    say(out, "$defs", joined({R"({"d":)", schema(1), "}"}));
    return out += '}';
  }

 private:
  template <size_t N>
  std::string one_of(const std::array<std::string_view, N>& all) {
    return std::string(all[source_.below(N)]);
  }
  std::string count(uint32_t most) { return std::to_string(source_.below(most + 1)); }

  void say(std::string& out, std::string_view keyword, const std::string& value) {
    out += out.size() > 1 ? "," : "";
    out += '"';
    out += keyword;
    out += "\":";
    out += value;
  }
  // Each with some chance.
  void maybe(std::string& out, std::string_view keyword, const std::string& value) {
    if (source_.below(3) == 0) say(out, keyword, value);
  }
  template <class F>
  std::string list(uint32_t n, F f) {
    std::string out = "[";
    for (uint32_t i = 0; i < n; ++i) {
      if (i > 0) out += ',';
      out += f();
    }
    return out += ']';
  }

  std::string schema(int depth) {
    if (source_.below(8) == 0) return source_.flip() ? "true" : "false";
    std::string out = "{";
    if (depth < kMaxDepth && source_.flip()) {
      say_composite(out, depth);
    } else {
      say_scalars(out, depth);
    }
    return out += '}';
  }

  void say_scalars(std::string& out, int depth) {
    switch (source_.below(5)) {
      case 0:
        return say(out, "type", source_.flip() ? type() : list(2, [&] { return type(); }));
      case 1:
        return say(out, "enum", list(1 + source_.below(4), [&] { return value(depth); }));
      case 2:
        say(out, "type", "\"string\"");
        maybe(out, "pattern", joined({"\"", one_of(kPatterns), "\""}));
        maybe(out, "minLength", count(2));
        return maybe(out, "maxLength", count(4));
      case 3:
        say(out, "type", source_.flip() ? "\"integer\"" : "\"number\"");
        maybe(out, "minimum", one_of(kNumbers));
        return maybe(out, source_.flip() ? "maximum" : "exclusiveMaximum", one_of(kNumbers));
      default:
        say(out, "$ref", source_.flip() ? R"("#/$defs/d")" : "\"#\"");
    }
  }

  void say_composite(std::string& out, int depth) {
    constexpr std::array<std::string_view, 3> kAll{"anyOf", "oneOf", "allOf"};
    switch (source_.below(8)) {
      case 0:
      case 1:
        return say_array(out, depth);
      case 2:
      case 3:
        return say_object(out, depth, source_.below(4) == 0 ? 12 : 3);
      case 4:
        return say(out, one_of(kAll), list(1 + source_.below(3), [&] { return schema(depth + 1); }));
      case 5:  // so many that they are read together, or that what comes first is found before
        return say(out, one_of(kAll), list(many() + source_.below(3), [&] { return small_object(); }));
      case 6:
        return say(out, "not", schema(depth + 1));
      default:
        say(out, "if", schema(depth + 1));
        maybe(out, "then", schema(depth + 1));
        maybe(out, "else", schema(depth + 1));
    }
  }

  uint32_t many() { return source_.below(8) == 0 ? 64 : 8; }
  std::string type() { return joined({"\"", one_of(kTypes), "\""}); }
  std::string key() { return joined({"\"", one_of(kKeys), "\""}); }
  std::string value(int depth) {
    if (depth >= kMaxDepth || source_.below(4) != 0) return one_of(kScalars);
    if (source_.flip()) return list(source_.below(3), [&] { return value(depth + 1); });
    std::string out = "{";
    for (uint32_t first = source_.below(kKeys.size()), n = source_.below(3), i = 0; i < n; ++i)
      say(out, kKeys[(first + i) % kKeys.size()], value(depth + 1));
    return out += '}';
  }

  void say_array(std::string& out, int depth) {
    if (source_.flip()) say(out, "type", "\"array\"");
    maybe(out, "prefixItems", list(1 + source_.below(2), [&] { return schema(depth + 1); }));
    maybe(out, "items", schema(depth + 1));
    maybe(out, "minItems", count(3));
    maybe(out, "maxItems", count(4));
    maybe(out, "uniqueItems", "true");
    maybe(out, "contains", schema(depth + 1));
  }

  void say_object(std::string& out, int depth, uint32_t most) {
    if (source_.flip()) say(out, "type", "\"object\"");
    std::string properties = "{";
    for (uint32_t first = source_.below(kKeys.size()), n = source_.below(most + 1), i = 0; i < n; ++i)
      say(properties, kKeys[(first + i) % kKeys.size()], schema(most > 3 ? kMaxDepth : depth + 1));
    say(out, "properties", properties += '}');
    maybe(out, "required", list(1 + source_.below(2), [&] { return key(); }));
    maybe(out, "additionalProperties", source_.flip() ? "false" : schema(depth + 1));
    maybe(out, "patternProperties", joined({"{\"", one_of(kPatterns), "\":", schema(depth + 1), "}"}));
    maybe(out, "minProperties", count(2));
    maybe(out, "maxProperties", count(3));
    maybe(out, "dependentRequired", joined({"{", key(), ":[", key(), "]}"}));
  }

  std::string small_object() {
    std::string out = "{";
    std::string properties = "{";
    for (uint32_t first = source_.below(kKeys.size()), n = 1 + source_.below(3), i = 0; i < n; ++i)
      say(properties, kKeys[(first + i) % kKeys.size()],
          source_.flip() ? joined({R"({"const":)", one_of(kScalars), "}"}) : joined({R"({"type":)", type(), "}"}));
    say(out, "properties", properties += '}');
    if (source_.below(4) != 0) say(out, "type", "\"object\"");
    maybe(out, "required", joined({"[", key(), "]"}));
    maybe(out, "additionalProperties", "false");
    return out += '}';
  }

  ByteSource& source_;
};

}  // namespace

std::shared_ptr<const Vocabulary> json_vocabulary(ByteSource& source) {
  constexpr std::string_view kLetters = "{}[]\"\",,::aabb k10-2.5e\\nu0\n";
  std::vector<std::string> tokens{"", "\",\"", "\":", "\\u00e9", "\xc3\xa9", "true", "null", "\"}", "[\"", "{\""};
  for (int b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(b));
  std::mt19937_64 random(source.byte());
  for (int i = 0; i < 64; ++i) {
    std::string word;
    for (uint64_t n = 2 + random() % 5; n > 0; --n) word += kLetters[random() % kLetters.size()];
    tokens.push_back(std::move(word));
  }
  const std::vector<std::string_view> views(tokens.begin(), tokens.end());
  return std::make_shared<const Vocabulary>(views, std::vector<TokenId>{0});
}

std::string random_schema(ByteSource& source) { return SchemaMaker(source).root(); }

std::optional<SchemaWithLayout> schema_parts(std::string_view schema, const Limits& limits) {
  const std::vector<std::string> keywords(kKeywordNames.begin() + 1, kKeywordNames.end());
  // Half of all schemas: those of an even number of bytes.
  const bool has_any_order = schema.size() % 2 == 0;
  const SchemaReader reader(keywords, std::make_shared<KnownStrings>(std::vector<KnownStrings::Format>(), 0), "$id",
                            false, SchemaReader::Exclusive::kEither, NumberStyle::Spelling::kPlain, {}, nullptr,
                            has_any_order);
  auto document = JsonDocument::parse(schema, limits.max_nesting);
  if (!document || document->kind(document->root()) != JsonDocument::Kind::kObject) return std::nullopt;
  const auto same = [](const std::string&, const SchemaReader& around) { return &around; };
  const auto letters = [](const std::string& name) {
    using Ranges = CharacterProperties::Ranges;
    return name == "L" ? std::optional(Ranges{{'a', 'b'}, {0xE0, 0xF6}, {0x3041, 0x3096}}) : std::nullopt;
  };
  const auto alike = [](CaseFolding, bool) { return std::vector<std::vector<uint32_t>>(); };
  const auto no_regex = [](const std::string&) { return nullptr; };
  auto found =
      reader.read(*document, {alike, no_regex, letters, same, nullptr}, {limits.max_nesting, limits.max_rules});
  if (!found) return std::nullopt;
  RegexData blanks;
  static constexpr CodePointRange kBlanks[] = {{'\n', '\n'}, {' ', ' '}};
  blanks.repetition(blanks.ranges(RegexData::Kind::kCharClass, kBlanks), 1, 2);
  ValueLayout layout;
  layout.numbers = {kUnbounded, NumberStyle::Spelling::kPlain};
  layout.ignored = std::make_shared<const PortableRegex>(std::move(blanks));
  layout.ignored_name = "blanks";
  layout.ignore_once = true;
  layout.has_any_order = has_any_order;
  return SchemaWithLayout{std::move(found), std::make_shared<const ValueLayout>(std::move(layout))};
}

std::shared_ptr<CompiledGrammar> schema_grammar(std::string_view schema, VocabularyStores& stores,
                                                const Limits& limits) {
  auto parts = schema_parts(schema, limits);
  if (!parts) return nullptr;
  GrammarBuilder builder(stores, limits);
  const auto [start, scope] = hand_over(std::make_shared<const SchemaWithLayout>(*std::move(parts)), builder);
  return builder.build(start, scope, false, false, false);
}

}  // namespace cfgmask::testing
