// Texts that look like Lark grammars, and do not: tokens lie in the text one after the other, statements share none,
// what is JSON ends in its own brace, and what is parsed is put together of all its tokens. And plain grammars: their
// masks against trying every token.
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "byte_source.h"
#include "check.h"
#include "grammar/numbering.h"
#include "lark/lexer.h"
#include "lark/plain_grammar.h"
#include "lark/statements.h"
#include "lark/syntax.h"
#include "matcher/grammar_builder.h"
#include "matcher_checks.h"
#include "random_grammar.h"
#include "random_schema.h"
#include "schema/plain_rules.h"
#include "util/limits.h"

namespace cfgmask::testing {
namespace {

constexpr std::array kPieces = std::to_array<const char32_t*>({
    U"a",          U"B",         U"_",        U":",
    U"\n",         U"\n|",       U" ",        U"|",
    U"(",          U")",         U"[",        U"]",
    U"{",          U"}",         U"{2,3}",    U"~1..2",
    U"?",          U"*",         U"!",        U"&",
    U"~",          U"\"",        U"\"s\"",    U"\\",
    U"/",          U"/r/",       U"/r\n/x",   U"//",
    U"#",          U"<t>",       U"<[",       U"@g",
    U"%json ",     U"%lark {",   U"%regex",   U"%if",
    U"->",         U"-",         U"::",       U"..",
    U".2",         U"0x1f",      U"-1.5e3",   U"\u00e9",
    U"\u0663",     U"\u00a0",    U"\ufeff",   U"\u2028",
    U"%ignore ",   U"start: ",   U"%import ", U"{\"k\": [1, \"}\"]}",
    U"%override ", U"%declare ", U"\\\n",     U"\"i",
    U"=",          U",",         U"'",        U"\0",
});

bool is_word(char32_t c) { return c == U'\u00e9' || c == U'\u0663'; }
bool is_digit(char32_t c) { return c == U'\u0663'; }
bool is_space(char32_t c) { return c == U'\u00a0' || c == U'\u2028'; }
constexpr CharacterKinds kKinds{is_word, is_digit, is_space};

void check_order(const std::vector<LarkToken>& tokens, size_t size) {
  uint32_t behind = 0;
  for (const LarkToken& token : tokens) {
    CHECK(token.start >= behind && token.end > token.start && token.end <= size);
    CHECK(token.type != LarkTerminal::kEnd && token.type != LarkTerminal::kBlank);
    behind = token.end;
  }
}

void check_lexer(std::u32string_view text) {
  LarkLexer lexer(text, kKinds);
  std::vector<LarkToken> tokens;
  for (LarkToken token = lexer.next(); token.type != LarkTerminal::kEnd; token = lexer.next()) tokens.push_back(token);
  check_order(tokens, text.size());
  CHECK(lexer.next().type == LarkTerminal::kEnd);
}

// What the steps of a statement leave: as many values as there are tokens, less what each rule puts together.
void check_steps(std::span<const LarkStep> steps, size_t n_tokens) {
  size_t n_read = 0, n_values = 0;
  for (const LarkStep step : steps) {
    if (step == nullptr) {
      ++n_read;
    } else {
      CHECK(n_values >= step->taken.size());
      n_values -= step->taken.size();
    }
    ++n_values;
  }
  CHECK(n_read == n_tokens && n_values == 1);
}

void check_statements(std::u32string_view text, uint64_t max_tokens, uint64_t max_nesting) {
  const LarkStatements found = cut_lark(text, kKinds, max_tokens, max_nesting);
  check_order(found.tokens, text.size());
  CHECK(found.tokens.size() <= max_tokens);
  size_t first = 0;
  std::vector<LarkStep> steps;
  for (const auto& statement : found.statements) {
    CHECK(statement.first == first && statement.size > 0);
    CHECK(!statement.broken || !found.problems.empty());
    first += statement.size;
    const auto tokens = found.tokens_of(statement);
    for (const LarkToken& token : tokens) {
      CHECK(token.type != LarkTerminal::kNewline && token.type != LarkTerminal::kUnreadable);
    }
    const auto error = parse_lark_statement(tokens, steps);
    if (error) {
      CHECK(error->token <= tokens.size() && !error->expected.empty());
    } else {
      check_steps(steps, tokens.size());
    }
  }
  CHECK(first == found.tokens.size());
  for (size_t i = 0; i + 1 < found.problems.size(); ++i) {
    using Kind = LarkLexicalProblem::Kind;
    CHECK(found.problems[i].kind == Kind::kUnreadable || found.problems[i].kind == Kind::kUnclosed);
  }
}

// Plain grammars.

// Of rules alone, and of both.
constexpr std::array kUses = std::to_array<const char32_t*>({U"a", U"b", U"p::1", U"p::_", U"p::incr([0:2])"});
constexpr std::array kAtoms = std::to_array<const char32_t*>({
    U"A",
    U"B",
    U"\"a\"",
    U"\"ab\"",
    U"\"b\"i",
    U"\"\\n\"",
    U"\"\u00e9\"",
    U"\"a\"..\"c\"",
    U"/[a-c]+/",
    U"/a|b{2}/",
    U"/./s",
});
constexpr std::array kCounts = std::to_array<const char32_t*>({U"", U"?", U"*", U"+", U"{2}", U"{1,2}", U"~0..1"});
constexpr std::array kEnds = std::to_array<const char32_t*>({U"", U"", U" -> x"});
constexpr std::array kConditions = std::to_array<const char32_t*>(
    {U" %if true", U" %if lt([0:2], 3)", U" %if not(is_zeros(_))", U" %if or(bit_set(0), ge(_, 2))"});

template <typename List>
std::u32string one_of(ByteSource& source, const List& list) {
  return list[source.below(static_cast<uint32_t>(list.size()))];
}

enum class Definition : uint8_t { kTerminal, kRule, kParametric };

std::u32string random_body(ByteSource& source, Definition of, int depth) {
  std::u32string body;
  do {
    if (!body.empty()) body += source.flip() ? U" | " : of == Definition::kTerminal && source.flip() ? U" & " : U" ";
    if (of == Definition::kTerminal && source.below(6) == 1) body += U'~';
    if (depth > 0 && source.below(3) == 1) {
      const bool optional = source.flip();
      body += (optional ? U"[" : U"(") + random_body(source, of, depth - 1) + (optional ? U"]" : U")");
    } else if (of != Definition::kTerminal && source.flip()) {
      body += one_of(source, kUses);
    } else {
      // A terminal that used itself would have no regex.
      body += one_of(source, std::span(kAtoms).subspan(of == Definition::kTerminal ? 1 : 0));
    }
    body += one_of(source, kCounts);
  } while (source.flip());
  if (of != Definition::kTerminal) body += one_of(source, kEnds);
  return of == Definition::kParametric && source.flip() ? body + one_of(source, kConditions) : body;
}

std::u32string random_plain_grammar(ByteSource& source) {
  std::u32string text = U"start: a | b | p::2 | A | B\n";
  text += U"a: " + random_body(source, Definition::kRule, 2) + U"\n?b: " + random_body(source, Definition::kRule, 2);
  // An end for each.
  text += U" | \"a\" | a\np::_: " + random_body(source, Definition::kParametric, 2) + U" | \"b\"\n";
  text += U"A: " + random_body(source, Definition::kTerminal, 2) + U"\nB.1: \"b\" | \"c\"";
  if (source.flip()) text += U"\n%ignore \" \"";
  return text;
}

// Schemas beside each other, one behind the other, and beside words.
std::u32string random_grammar_of_schemas(ByteSource& source) {
  std::u32string text = U"start: A";
  const uint32_t n = 1 + source.below(4);
  for (uint32_t i = 0; i < n; ++i) {
    std::string schema = random_schema(source);
    if (!schema_parts(schema, Limits())) schema = "{}";
    text += source.flip() ? U" | " : U" ";
    if (source.flip()) text += U"\"{\" ";
    text += U"%json " + std::u32string(schema.begin(), schema.end());
    if (source.flip()) text += U" A?";
  }
  static constexpr std::array<std::u32string_view, 4> kWords = {U"\"a\"", U"/[a-c]+/", U"/\"[a-z]*\"/", U"/[0-9]+x|{/"};
  text += U"\nA: " + std::u32string(kWords[source.below(kWords.size())]);
  if (source.flip()) text += U"\n%ignore \" \"";
  return text;
}

void check_plain_grammar(ByteSource& source) {
  PlainLarkQuestions questions;
  questions.kinds = kKinds;
  questions.library = [](std::u32string_view) -> const LarkLibrary* { return nullptr; };
  std::vector<CodePointRange> alike;
  questions.options = [](const PlainLarkDocument&) { return std::nullopt; };
  questions.any_case = [&](char32_t c) -> std::span<const CodePointRange> {
    alike = {{c, c}};
    if (c == U'b') alike = {{U'B', U'B'}, {U'b', U'b'}};
    return alike;
  };
  questions.pattern = [](auto, auto) -> std::shared_ptr<const PortableRegex> { return nullptr; };
  questions.schema = [](std::u32string_view text) -> std::shared_ptr<const PlainSchemaParts> {
    auto parts = schema_parts(std::string(text.begin(), text.end()), Limits());
    return parts ? std::make_shared<const PlainSchemaParts>(*std::move(parts)) : nullptr;
  };
  // Ids are not told to what is made of it, so none are taken.
  questions.tokens = [](std::u32string_view) { return false; };
  Limits limits;
  limits.max_regex_nodes = 50'000;
  limits.max_items = 2'000;
  limits.max_item_sets = 5'000;
  // A walk through a schema takes longer than others.
  const bool has_schemas = source.below(16) == 0;
  try {
    std::u32string text = has_schemas ? random_grammar_of_schemas(source) : random_plain_grammar(source);
    const auto grammar = PlainLark::read(std::move(text), U"start", questions, limits, 1'000);
    if (grammar == nullptr) return;
    VocabularyStores stores(has_schemas ? json_vocabulary(source) : random_vocabulary(source));
    const auto compiled = compile(grammar->form(), {}, stores, limits).grammar;
    // Lexemes that are the longest, and conditions, may leave no way on.
    if (compiled != nullptr) check_walk(source, compiled, false);
  } catch (const LimitExceeded&) {
    // A bound that holds is an answer.
  }
}

}  // namespace
}  // namespace cfgmask::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cfgmask::testing;
  ByteSource source(std::span(data, size));
  if (source.below(4) == 0) {
    check_plain_grammar(source);
    return 0;
  }
  const uint64_t max_tokens = source.flip() ? 10'000 : source.below(40);
  const uint64_t max_nesting = source.below(20);
  std::u32string text;
  while (!source.used_up()) {
    const char32_t* piece = kPieces[source.below(static_cast<uint32_t>(kPieces.size()))];
    text += *piece == U'\0' ? std::u32string(1, U'\0') : std::u32string(piece);
  }
  check_lexer(text);
  check_statements(text, max_tokens, max_nesting);
  return 0;
}
