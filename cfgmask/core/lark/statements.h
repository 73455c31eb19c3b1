// Cuts a grammar text into statements: lists of tokens, without line breaks, each to be parsed by itself.
//
// A statement ends at a line break outside brackets, unless the next line goes on with `|`, `&`, `->` or `%if`.
// Parsing statement by statement is what lets one reading find all syntax errors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lark/lexer.h"

namespace cfgmask {

// What is wrong with a text before its statements are parsed.
struct LarkLexicalProblem {
  enum class Kind : uint8_t { kUnreadable, kUnclosed, kTooDeep, kTooManyTokens };
  Kind kind;
  LarkToken token;                           // the character, or the bracket
  std::optional<uint32_t> next_begins = {};  // of a bracket that is not closed: where the next statement was found
};

struct LarkStatements {
  struct Statement {
    uint32_t first;  // among the tokens
    uint32_t size;
    bool broken;  // an error in it is among the problems, and it should not be parsed
  };

  std::span<const LarkToken> tokens_of(const Statement& statement) const {
    return {tokens.data() + statement.first, statement.size};
  }

  std::vector<LarkToken> tokens;
  std::vector<Statement> statements;
  std::vector<LarkLexicalProblem> problems;  // in the order of the text; kTooDeep or kTooManyTokens is the last
};

// A keyword such as `%json` makes one token of the type kBlock of what stands in braces behind it, whatever that holds.
// max_tokens   what may be in the text, those in braces included unless they are JSON
// max_nesting  how many brackets may be open
// Linear in the text.
LarkStatements cut_lark(std::u32string_view text, const CharacterKinds& kinds, uint64_t max_tokens,
                        uint64_t max_nesting);

}  // namespace cfgmask
