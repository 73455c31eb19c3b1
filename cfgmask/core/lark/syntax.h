// Parses the tokens of one statement, by the LALR tables of cfgmask/lark/syntax.lark.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "lark/lexer.h"

namespace cfgmask {

// How a statement is put together, from its leaves up: the next token, where this is null, or a rule of what stands on
// top. Rules that would leave their one part as it is are left out.
using LarkStep = const LarkReduction*;

struct LarkSyntaxError {
  size_t token;  // with which it cannot go on; the number of tokens at its end
  std::vector<LarkTerminal> expected;
};

// Fills `steps`; or says what is wrong. Linear.
std::optional<LarkSyntaxError> parse_lark_statement(std::span<const LarkToken> tokens, std::vector<LarkStep>& steps);

}  // namespace cfgmask
