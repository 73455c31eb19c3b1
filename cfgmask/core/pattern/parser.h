// Pattern text to syntax tree: one pass with an explicit stack, so that nesting costs no recursion. Errors are reported
// and stepped over, so that one reading finds all of them.
//
// The only reader of patterns: pattern/translator.h translates its trees, and json_schema/spelling/simple_pattern.h
// those of the plainest kind.
//
// Threads: functions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "pattern/scanner.h"

namespace cfgmask {

struct PatternSyntax {
  SyntaxTree tree{U""};
  SyntaxTree::Id root = 0;
  std::vector<PatternProblem> problems;
  // Why and where reading was given up: there is no root then.
  std::optional<PatternScanner::Stop> stop;
  size_t stopped_at = 0;
};

// The syntax tree of `pattern`, whose flags are those letters; it stands for what could be read if something is wrong.
// The tree refers to `pattern`. Linear.
PatternSyntax read_pattern(std::u32string_view pattern, PatternDialect::Name dialect, std::u32string_view flags,
                           const PatternReadingOptions& options);

}  // namespace cfgmask
