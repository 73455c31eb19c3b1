// Patterns to the regex trees of Python (cfgmask.grammar.regex_tree), and lexemes put together.
//
// Threads: as of Python objects. Whoever reads long lets other threads run in between.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "bindings/interpreter.h"
#include "bindings/lark_nodes.h"
#include "bindings/long_call.h"
#include "bindings/regex_trees.h"
#include "bindings/tree_maker.h"
#include "json_schema/spelling/pattern_nodes.h"
#include "pattern/combiner.h"
#include "pattern/lazy.h"
#include "pattern/meaning.h"
#include "regex/regex.h"

namespace cfgmask {

namespace nb = nanobind;

inline nb::str python_text(std::u32string_view text) {
  return nb::steal<nb::str>(
      PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data(), static_cast<Py_ssize_t>(text.size())));
}

// Python's trees for some of these; the same object for each that comes again.
class PythonTrees {
 public:
  using Id = TextTrees::Id;

  PythonTrees(const TextTrees& trees, TreeMaker& maker) : trees_(trees), maker_(maker) {}

  nb::object operator()(Id root) {
    made_.resize(trees_.size());
    trees_.each(root, [&](Id tree) { return made_[tree].is_valid(); }, [&](Id tree) { made_[tree] = made(tree); });
    return made_[root];
  }
  // None for any text.
  nb::object condition(Id tree) { return tree == TextTrees::kAnyText ? nb::none() : (*this)(tree); }
  nb::list cases(const LexemeCases& cases) {
    nb::list found;
    for (const LexemeTexts& one : cases)
      found.append(nb::make_tuple((*this)(one.tree), condition(one.before), condition(one.after)));
    return found;
  }
  nb::object char_class(const CodePoints& members) { return maker_.char_class(members); }

 private:
  nb::object made(Id tree) {
    using Kind = TextTrees::Kind;
    static constexpr std::array kConstants{"NOTHING", "EMPTY_TEXT", "ANY_CHAR", "ANY_TEXT"};
    if (tree < kConstants.size()) return maker_.constant(kConstants[tree]);
    std::vector<nb::object> parts;
    for (Id part : trees_.parts(tree)) parts.push_back(made_[part]);
    switch (trees_.kind(tree)) {
      case Kind::kLiteral: {
        std::string text;
        for (uint32_t c : trees_.characters(tree)) append_utf8(c, text);
        return maker_.literal(text);
      }
      case Kind::kClass:
        return maker_.char_class(trees_.members(tree));
      case Kind::kConcatenation:
        return maker_.concatenation(parts);
      case Kind::kAlternation:
        return maker_.alternation(parts);
      case Kind::kIntersection:
        return maker_.intersection(parts);
      case Kind::kComplement:
        return maker_.complement(parts[0]);
      case Kind::kRepetition: {
        const uint64_t maximum = trees_.maximum(tree);
        const auto most = maximum == TextTrees::kNoMaximum ? std::nullopt : std::optional(maximum);
        return maker_.counted(parts[0], trees_.minimum(tree), most);
      }
      case Kind::kSubstring:
        break;
    }
    std::vector<std::string> chunks;
    for (uint32_t c : trees_.characters(tree)) append_utf8(c, chunks.emplace_back());
    return maker_.substring(chunks);
  }

  const TextTrees& trees_;
  TreeMaker& maker_;
  std::vector<nb::object> made_;  // by tree
};

// As `CaseFolding` is called in Python.
inline const char* folding_name(CaseFolding folding) {
  static constexpr std::array kNames{"python", "simple", "ecma", "ascii"};
  return kNames[static_cast<size_t>(folding)];
}
inline std::vector<std::vector<uint32_t>> alike_classes(const nb::object& found) {
  return nb::cast<std::vector<std::vector<uint32_t>>>(found);
}

inline CodePoints code_points_of(const nb::object& found) {
  CodePoints ranges;
  for (const auto& [low, high] : nb::cast<std::vector<std::pair<uint32_t, uint32_t>>>(found))
    ranges.push_back({low, high});
  return ranges;
}

inline const char* dialect_name(PatternDialect::Name name) {
  using Name = PatternDialect::Name;
  return name == Name::kPython ? "python" : name == Name::kRust ? "rust" : "ecma";
}
inline PatternDialect::Name dialect_named(const std::string& name) {
  using Name = PatternDialect::Name;
  return name == "python" ? Name::kPython : name == "rust" ? Name::kRust : Name::kEcma;
}

// Data of Unicode from an object of Python; see `cfgmask.regex.unicode_data.PatternData`.
class PythonPatternData {
 public:
  explicit PythonPatternData(nb::object data) : data_(std::move(data)) {}

  template <typename... Arguments>
  nb::object ask(const char* method, const Arguments&... arguments) const {
    return in_python([&]() -> nb::object { return data_.attr(method)(arguments...); });
  }

  // Both keep a reference of their own to the object.
  UnicodeSets::Source source() const {
    return {
        .shorthand = [*this](bool is_rust,
                             char letter) { return code_points_of(ask("shorthand", is_rust, std::string(1, letter))); },
        .alike = [*this](CaseFolding folding,
                         bool only_ascii) { return alike_classes(ask("alike", folding_name(folding), only_ascii)); },
        .property = [*this](std::u32string_view name, std::u32string_view value, PatternDialect::Name dialect,
                            bool ignore_case) -> std::variant<CodePoints, UnicodeSets::Unknown> {
          const nb::object found =
              ask("property", python_text(name), python_text(value), dialect_name(dialect), ignore_case);
          const auto [ranges, message, help] = nb::cast<std::tuple<nb::object, nb::str, nb::str>>(found);
          if (!ranges.is_none()) return code_points_of(ranges);
          return UnicodeSets::Unknown{characters_of(message, 0, nb::len(message)),
                                      characters_of(help, 0, nb::len(help))};
        }};
  }
  PatternReadingOptions options(uint64_t max_nesting, uint64_t max_parts) const {
    const auto named = [*this](std::u32string_view name) -> std::optional<char32_t> {
      const nb::object found = ask("character_named", python_text(name));
      return found.is_none() ? std::nullopt : std::optional(static_cast<char32_t>(nb::cast<uint32_t>(found)));
    };
    return {.kinds = python_characters(),
            .named = named,
            .shared_names = {},
            .max_nesting = max_nesting,
            .max_parts = max_parts,
            .max_lazy = std::nullopt};
  }

 private:
  nb::object data_;
};

class PatternReader {
 public:
  // data: see `cfgmask.regex.unicode_data.PatternData`.
  explicit PatternReader(nb::object data) : data_(std::move(data)), unicode_(data_.source()) {}

  // The result, problems, and why and where reading was given up.
  nb::tuple read(const nb::str& pattern, const std::string& dialect, const nb::str& flags, const std::string& use,
                 bool named_groups, bool ascii_digits, bool keep_excluded, uint64_t max_nesting, uint64_t max_parts) {
    LongCall call(nullptr, LongCall::Gil::kHeld);
    const std::u32string text = characters_of(pattern, 0, nb::len(pattern));
    const std::u32string letters = characters_of(flags, 0, nb::len(flags));
    PatternQuestion question{.pattern = text,
                             .dialect = dialect_named(dialect),
                             .flags = letters,
                             .use = use_named(use),
                             .named_groups = named_groups,
                             .ascii_digits = ascii_digits,
                             .keep_excluded = keep_excluded};
    PatternReadingOptions reading = data_.options(max_nesting, max_parts);
    if (named_groups) {
      for (const std::u32string_view name : named_group_names()) reading.shared_names.emplace_back(name);
    }
    if (question.use == PatternUse::kLexeme) reading.max_lazy = kMostLazyNodes;
    const PatternMeaning found = meaning_of(question, reading, unicode_, named_texts());
    nb::list problems;
    for (const PatternProblem& problem : found.problems) {
      nb::list arguments;
      for (const std::u32string& argument : problem.arguments) arguments.append(python_text(argument));
      problems.append(nb::make_tuple(problem.code, problem.start, problem.end, nb::tuple(arguments)));
    }
    if (found.stop) {
      static constexpr std::array kStops{"problems", "lazy", "max_nesting", "max_regex_nodes"};
      const auto stop = nb::make_tuple(kStops[static_cast<size_t>(*found.stop)], found.stopped_at);
      return nb::make_tuple(nb::none(), problems, stop);
    }
    if (!found.problems.empty()) return nb::make_tuple(nb::none(), problems, nb::none());
    return nb::make_tuple(result(question.use, found), problems, nb::none());
  }

  bool has_lazy(const nb::str& pattern, const std::string& dialect, const nb::str& flags, uint64_t max_nesting,
                uint64_t max_parts) {
    LongCall call(nullptr, LongCall::Gil::kHeld);
    const std::u32string text = characters_of(pattern, 0, nb::len(pattern));
    const std::u32string letters = characters_of(flags, 0, nb::len(flags));
    const PatternQuestion question{
        .pattern = text, .dialect = dialect_named(dialect), .flags = letters, .use = PatternUse::kLexeme};
    return has_lazy_choice(question, data_.options(max_nesting, max_parts));
  }

 private:
  static PatternUse use_named(const std::string& name) {
    if (name == "text") return PatternUse::kText;
    if (name == "search") return PatternUse::kSearch;
    if (name == "lexeme") return PatternUse::kLexeme;
    return name == "extended-text" ? PatternUse::kExtendedText : PatternUse::kExtendedLexeme;
  }

  NamedTexts named_texts() {
    return [this](std::u32string_view name, std::span<const TextTrees::Id> parts, TextTrees& trees) {
      PythonTrees objects(trees, maker_);
      nb::list given;
      for (TextTrees::Id part : parts) given.append(objects(part));
      RegexData data;
      const uint32_t number =
          RegexTreeReader(kMostNesting).add(data_.ask("named_texts", python_text(name), given), data);
      const auto adopted = trees.adopt(data);
      if (!adopted) throw TooEntangled();
      return (*adopted)[number];
    };
  }

  nb::object result(PatternUse use, const PatternMeaning& found) {
    PythonTrees objects(found.trees, maker_);
    if (use == PatternUse::kText || use == PatternUse::kSearch) return objects(found.tree);
    if (use == PatternUse::kLexeme) {
      nb::object excluded = nb::none();
      if (found.excluded) {
        excluded = nb::make_tuple(objects(found.excluded->words), objects.char_class(found.excluded->word),
                                  objects.char_class(found.excluded->letters));
      }
      return nb::make_tuple(objects.cases(found.cases), excluded);
    }
    nb::list all;
    for (const PatternExpr& expr : found.exprs) all.append(expression(expr, objects));
    return all;
  }

  static nb::tuple expression(const PatternExpr& expr, PythonTrees& objects) {
    using Kind = PatternExpr::Kind;
    static constexpr std::array kNames{"text", "lexeme", "token", "sequence", "choice", "repeat"};
    const char* name = kNames[static_cast<size_t>(expr.kind)];
    switch (expr.kind) {
      case Kind::kText:
        return nb::make_tuple(name, expr.start, expr.end, objects(expr.cases[0].tree));
      case Kind::kLexeme:
        return nb::make_tuple(name, expr.start, expr.end, objects.cases(expr.cases));
      case Kind::kToken:
        return nb::make_tuple(name, expr.start, expr.end, python_text(expr.name));
      case Kind::kRepeat: {
        nb::object most = nb::none();
        if (expr.maximum != kUnbounded) most = nb::int_(expr.maximum);
        return nb::make_tuple(name, expr.start, expr.end, expr.parts, expr.minimum, most);
      }
      default:
        return nb::make_tuple(name, expr.start, expr.end, expr.parts);
    }
  }

  PythonPatternData data_;
  UnicodeSets unicode_;
  TreeMaker maker_;
};

// Trees with what must stand before and after them; None: anything.
using PythonLexeme = std::vector<std::tuple<nb::object, nb::object, nb::object>>;

// Lexemes put together, of which some look at what stands beside them. None where that takes too much, or there is a
// tree of other kinds than patterns are made of.
inline nb::object combined_lexemes(const std::string& how, const std::vector<PythonLexeme>& lexemes, uint64_t minimum,
                                   std::optional<uint64_t> maximum) {
  LongCall call(nullptr, LongCall::Gil::kHeld);
  RegexTreeReader reader(kMostNesting);
  RegexData data;
  // As the parts of cases are read: a tree, and for both conditions whether there is one.
  std::vector<uint32_t> numbers;
  const auto read = [&](const nb::object& tree) { numbers.push_back(tree.is_none() ? 0 : reader.add(tree, data)); };
  for (const PythonLexeme& lexeme : lexemes) {
    for (const auto& [tree, before, after] : lexeme) {
      read(tree);
      read(before);
      read(after);
    }
  }
  TextTrees trees;
  const auto adopted = trees.adopt(data);
  if (!adopted) return nb::none();
  MeaningCombiner combiner(trees);
  try {
    std::vector<Meaning> meanings;
    size_t place = 0;
    const auto next = [&](const nb::object& tree) {
      const uint32_t number = numbers[place++];
      return tree.is_none() ? TextTrees::kAnyText : (*adopted)[number];
    };
    for (const PythonLexeme& lexeme : lexemes) {
      Meaning& meaning = meanings.emplace_back();
      for (const auto& [tree, before, after] : lexeme) {
        TextCase made;
        made.tree = next(tree);
        made.before = combiner.reversal(next(before));
        made.after = next(after);
        meaning.push_back(made);
      }
    }
    Meaning found;
    if (how == "alternation") {
      found = combiner.alternation(meanings);
    } else if (how == "intersection") {
      found = combiner.intersection(meanings);
    } else {
      PatternPartList parts(meanings.begin(), meanings.end());
      if (how == "repetition")
        parts = {combiner.repetition(std::move(parts), minimum, maximum.value_or(TextTrees::kNoMaximum))};
      found = combiner.sequence(std::move(parts));
    }
    TreeMaker maker;
    return PythonTrees(trees, maker).cases(lexeme_cases(found, combiner));
  } catch (const TooEntangled&) {
    return nb::none();
  }
}

}  // namespace cfgmask
