// Texts that look like patterns, in all dialects: whatever comes is read to its end or given up for a bound, what is
// wrong lies in the pattern, and nodes lie in the pattern, each after its parts.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "byte_source.h"
#include "check.h"
#include "json_schema/spelling/simple_pattern.h"
#include "pattern/parser.h"

namespace cfgmask::testing {
namespace {

constexpr std::array kPieces = std::to_array<const char32_t*>({
    U"a",       U"b",        U"-",     U" ",       U"\n",     U"#",       U"\u00e9",    U"\u0663",  U"|",
    U"(",       U")",        U"[",     U"]",       U"{",      U"}",       U"*",         U"+",       U"?",
    U".",       U"^",        U"$",     U"\\",      U"&&",     U"--",      U"~~",        U"[^",      U"]]",
    U"{2}",     U"{,2}",     U"{2,1}", U"{ 2 , }", U"{9",     U"(?",      U"(?:",       U"(?=",     U"(?<!",
    U"(?>",     U"(?P<n>",   U"(?<n>", U"(?<",     U"(?P=n)", U"(?i)",    U"(?x:",      U"(?-u:",   U"(?is-m",
    U"(?#",     U"(?R)",     U"(?+1)", U"(?&n",    U"(?(1)",  U"(?P>",    U"\\d",       U"\\W",     U"\\p{L}",
    U"\\P{^L",  U"\\p{sc=",  U"\\pL",  U"\\x4",    U"\\x41",  U"\\x{41}", U"\\u{",      U"\\uD83D", U"\\uDE00",
    U"\\U0001", U"\\012",    U"\\400", U"\\1",     U"\\k<n>", U"\\g{",    U"\\cA",      U"\\N{a}",  U"\\N{",
    U"\\b",     U"\\b{end}", U"\\B",   U"\\A",     U"\\z",    U"\\q{",    U"[:alpha:]", U"[:^",     U"{99999999999}",
    U"\xD800",
});

bool is_word(char32_t c) { return (U'a' <= c && c <= U'z') || c == U'\u00e9' || c == U'\u0663'; }
bool is_digit(char32_t c) { return c == U'\u0663' || (U'0' <= c && c <= U'9'); }
bool is_space(char32_t c) { return c == U' ' || c == U'\n'; }

void check_tree(const PatternSyntax& found, size_t size) {
  CHECK(found.root < found.tree.size());
  for (SyntaxTree::Id id = 0; id < found.tree.size(); ++id) {
    const SyntaxNode& node = found.tree[id];
    CHECK(node.start <= node.end && node.end <= size);
    for (SyntaxTree::Id part : found.tree.parts(node)) CHECK(part < id);
    using Kind = SyntaxNode::Kind;
    switch (node.kind) {
      case Kind::kText:
        CHECK(found.tree.text(node).size() == node.size);
        break;
      case Kind::kRange:
        CHECK(node.low <= node.high && node.high <= 0x10FFFF);
        break;
      case Kind::kProperty:
      case Kind::kPosix:
      case Kind::kBackreference:
      case Kind::kGroup:
        CHECK(found.tree.name(node).size() == node.size && node.first + node.size <= size);
        CHECK(node.value_first + node.value_size <= size);
        break;
      case Kind::kRepeat:
        CHECK(node.low <= node.high && found.tree.parts(node).size() == 1);
        break;
      default:
        break;
    }
  }
}

void check_pattern(ByteSource& source, std::u32string_view pattern) {
  using Name = PatternDialect::Name;
  const Name name = std::array{Name::kPython, Name::kRust, Name::kEcma}[source.below(3)];
  static constexpr std::array<std::u32string_view, 6> kFlags{U"", U"u", U"v", U"ix", U"s", U"zu"};
  PatternReadingOptions options{
      .kinds = {is_word, is_digit, is_space},
      .named = [](std::u32string_view) { return std::optional<char32_t>(U'x'); },
      .shared_names = {},
      .max_nesting = source.flip() ? 200 : source.below(6),
      .max_parts = source.flip() ? 1'000'000 : source.below(256),
      .max_lazy = source.flip() ? std::nullopt : std::optional<uint64_t>(source.below(3)),
  };
  const PatternSyntax found = read_pattern(pattern, name, kFlags[source.below(kFlags.size())], options);
  for (const PatternProblem& problem : found.problems) {
    CHECK(problem.start <= problem.end && !problem.code.empty());
    CHECK(problem.end <= pattern.size());
  }
  CHECK(found.problems.size() <= PatternScanner::kMaxProblems);
  if (!found.stop) check_tree(found, pattern.size());
}

}  // namespace
}  // namespace cfgmask::testing

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cfgmask::testing;
  ByteSource source(std::span(data, size));
  ByteSource choices(std::span(data, size));
  std::u32string pattern;
  const bool any_character = source.below(8) == 0;
  while (!source.used_up()) {
    if (any_character) {
      pattern += static_cast<char32_t>(source.byte());
    } else {
      pattern += kPieces[source.below(static_cast<uint32_t>(kPieces.size()))];
    }
  }
  for (int i = 0; i < 4; ++i) check_pattern(choices, pattern);
  std::string text;
  for (char32_t c : pattern) {
    if (c < 0xD800 || c > 0xDFFF) cfgmask::append_utf8(c, text);
  }
  cfgmask::SimplePattern::parse(text, choices.below(200));
  return 0;
}
