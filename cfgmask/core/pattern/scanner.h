// A cursor over a pattern, shared by the readers of groups, escapes and classes.
//
// Threads: for one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pattern/dialect.h"
#include "pattern/problems.h"
#include "pattern/syntax_tree.h"
#include "util/ascii.h"
#include "util/character_kinds.h"

namespace cfgmask {

// What a reading asks about characters and may take. named: the character of a name in the Unicode standard.
struct PatternReadingOptions {
  CharacterKinds kinds;
  std::function<std::optional<char32_t>(std::u32string_view)> named;
  // Names that groups may share.
  std::vector<std::u32string> shared_names;
  uint64_t max_nesting;
  uint64_t max_parts;
  // Lazy repetitions that leave a choice.
  std::optional<uint64_t> max_lazy;
};

class PatternScanner {
 public:
  static constexpr char32_t kEnd = UINT32_MAX;
  static constexpr size_t kMaxProblems = PatternProblems::kMost;

  // Reading was given up; a limit, unless there are too many problems or lazy repetitions.
  enum class Stop : uint8_t { kProblems, kLazy, kNesting, kParts };

  PatternScanner(std::u32string_view pattern, const PatternDialect& dialect, const PatternReadingOptions& options)
      : pattern(pattern), dialect(dialect), options(options), tree(pattern) {}

  bool at_end() const { return position >= pattern.size(); }
  // The character so many places on, kEnd beyond the end.
  char32_t peek(size_t ahead = 0) const { return at(position + ahead); }
  char32_t at(size_t place) const { return place < pattern.size() ? pattern[place] : kEnd; }
  std::u32string_view rest() const { return pattern.substr(position); }
  std::u32string_view since(size_t start) const { return pattern.substr(start, position - start); }
  bool looking_at(std::u32string_view text) const { return rest().starts_with(text); }
  bool accept(std::u32string_view text) {
    const bool found = looking_at(text);
    if (found) position += text.size();
    return found;
  }
  // Steps over `text` and characters up to the first that is `last`, and that; the characters between. Those in
  // `without` must not come. Otherwise nothing is read.
  std::optional<std::u32string_view> accept_up_to(std::u32string_view text, char32_t last,
                                                  std::u32string_view without = {}) {
    if (!looking_at(text)) return std::nullopt;
    const size_t start = position + text.size();
    size_t end = start;
    while (end < pattern.size() && pattern[end] != last && without.find(pattern[end]) == without.npos) ++end;
    if (end >= pattern.size() || pattern[end] != last) return std::nullopt;
    position = end + 1;
    return pattern.substr(start, end - start);
  }
  template <typename Holds>
  std::u32string_view take_while(const Holds& holds) {
    const size_t start = position;
    while (position < pattern.size() && holds(pattern[position])) ++position;
    return since(start);
  }

  // Steps over the spaces and comments that the flag x allows, if it holds.
  void skip_verbose() {
    if (!flags.verbose) return;
    while (!at_end()) {
      if (is_verbose_space(pattern[position])) {
        ++position;
      } else if (pattern[position] == U'#') {
        const size_t line_end = pattern.find(U'\n', position);
        position = line_end == pattern.npos ? pattern.size() : line_end + 1;
      } else {
        return;
      }
    }
  }
  bool is_verbose_space(char32_t c) const { return dialect.verbose_space.find(c) != dialect.verbose_space.npos; }

  // A problem with the characters since `start`, or up to `end`.
  void report(std::string_view code, size_t start, std::vector<std::u32string> arguments = {}) {
    report_up_to(code, start, position, std::move(arguments));
  }
  void report_up_to(std::string_view code, size_t start, size_t end, std::vector<std::u32string> arguments = {}) {
    problems.push_back(
        {std::string(code), static_cast<uint32_t>(start), static_cast<uint32_t>(end), std::move(arguments)});
    if (problems.size() >= kMaxProblems) throw Stop::kProblems;
  }
  // Groups, classes and stacked repetitions may be nested so deep.
  void check_nesting(size_t depth) const {
    if (depth > options.max_nesting) throw Stop::kNesting;
  }
  // Notes that so many parts were read.
  void count(uint64_t parts) {
    n_parts += parts;
    if (n_parts > options.max_parts) throw Stop::kParts;
  }

  SyntaxNode node(SyntaxNode::Kind kind, size_t start) const { return node(kind, start, position); }
  SyntaxNode node(SyntaxNode::Kind kind, size_t start, size_t end) const {
    SyntaxNode made;
    made.kind = kind;
    made.flags = flags;
    made.start = static_cast<uint32_t>(start);
    made.end = static_cast<uint32_t>(end);
    return made;
  }

  const std::u32string_view pattern;
  const PatternDialect& dialect;
  const PatternReadingOptions& options;
  SyntaxTree tree;
  std::vector<PatternProblem> problems;
  size_t position = 0;
  PatternFlags flags;
  uint64_t n_parts = 0;
};

// Digits of a number, of which more than nine are too many.
uint32_t number_of(std::u32string_view digits, uint32_t base);
std::u32string wide(std::string_view ascii);

// Says that `letter` is none of the flags that are known at this place, if it is none.
void report_unknown_flag(PatternScanner& scan, char32_t letter, std::string_view known, size_t start, size_t end);

// What an escape is, the scanner being behind its backslash: a node outside of classes, kRange, kShorthand or kProperty
// inside. None where it was reported as wrong.
std::optional<SyntaxNode> read_escape(PatternScanner& scan, bool in_class, char32_t& character);
// The class that begins here, inside of `depth` groups. None where it does not end.
std::optional<SyntaxTree::Id> read_class(PatternScanner& scan, size_t depth);

}  // namespace cfgmask
