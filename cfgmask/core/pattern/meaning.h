// Patterns to regexes: the way in.
//
// Threads: functions; what they are given is for one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pattern/character_sets.h"
#include "pattern/excluded_words.h"
#include "pattern/parser.h"
#include "pattern/problems.h"
#include "pattern/rules.h"
#include "pattern/text_trees.h"
#include "pattern/translator.h"

namespace cfgmask {

// What a pattern is wanted as.
enum class PatternUse : uint8_t {
  kText,            // the whole text must match
  kSearch,          // some part of it must
  kLexeme,          // a lexeme in a larger text: lazy repetitions end as soon as the rest of the pattern can match
  kExtendedText,    // a rule: terminals, and tokens where a group is a token; without such groups one as of kText
  kExtendedLexeme,  // the same, without such groups as of kLexeme
};

struct PatternQuestion {
  std::u32string_view pattern;
  PatternDialect::Name dialect;
  std::u32string_view flags;
  PatternUse use;
  bool named_groups = false;  // groups of some names mean more than grouping
  bool ascii_digits = false;  // `\d` matches those of ASCII
  // Whether words that a lexeme must not begin with may stay words of its only case; see pattern/excluded_words.h.
  bool keep_excluded = false;
};

// What a pattern is in a rule.
struct PatternExpr {
  enum class Kind : uint8_t { kText, kLexeme, kToken, kSequence, kChoice, kRepeat };

  Kind kind;
  uint32_t start;
  uint32_t end;
  LexemeCases cases = {};            // of a text only its tree
  std::u32string name = {};          // of a token
  std::vector<uint32_t> parts = {};  // places in the list
  uint32_t minimum = 0;
  uint32_t maximum = 0;
};

struct PatternMeaning {
  std::vector<PatternProblem> problems;  // with any, the rest is of no use
  // Why and where reading was given up.
  std::optional<PatternScanner::Stop> stop;
  size_t stopped_at = 0;
  TextTrees trees;
  TextTrees::Id tree = TextTrees::kNothing;  // of a text
  LexemeCases cases;                         // of a lexeme, one for each pair of conditions
  std::optional<ExcludedWords> excluded;     // of a lexeme that has one case
  std::vector<PatternExpr> exprs;            // the last one is the whole
};

// Linear in the pattern; assertions other than anchors take up to tenths of a second.
PatternMeaning meaning_of(const PatternQuestion& question, const PatternReadingOptions& options, UnicodeSets& unicode,
                          const NamedTexts& named);

// Whether a pattern has lazy repetitions that leave it a choice. False where it has errors.
bool has_lazy_choice(const PatternQuestion& question, const PatternReadingOptions& options);

}  // namespace cfgmask
