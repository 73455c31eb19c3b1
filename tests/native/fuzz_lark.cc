// Texts that look like Lark grammars, and do not: tokens lie in the text one after the other, statements share none,
// what is JSON ends in its own brace, and what is parsed is put together of all its tokens.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "byte_source.h"
#include "check.h"
#include "lark/lexer.h"
#include "lark/statements.h"
#include "lark/syntax.h"

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

}  // namespace
}  // namespace cfgmask::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cfgmask::testing;
  ByteSource source(std::span(data, size));
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
