// Patterns to the syntax trees of Python (cfgmask.regex.syntax).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/interpreter.h"
#include "bindings/lark_nodes.h"
#include "pattern/parser.h"
#include "regex/regex.h"

namespace cfgmask {

namespace nb = nanobind;

// Looked up once: that takes as long as to read a small pattern.
class PatternReader {
 public:
  PatternReader() {
    const auto syntax = nb::module_::import_("cfgmask.regex.syntax");
    for (size_t i = 0; i < kNames.size(); ++i) types_[i] = syntax.attr(kNames[i]);
    const nb::object flags = syntax.attr("Flags");
    for (uint32_t bits = 0; bits < flags_.size(); ++bits) {
      const auto has = [&](uint32_t bit) { return nb::bool_((bits & bit) != 0); };
      flags_[bits] = flags(has(1), has(2), has(4), has(8), has(16));
    }
  }

  nb::tuple read(const nb::str& pattern, const std::string& dialect, const nb::str& flags, const nb::callable& named,
                 const nb::list& shared_names, uint64_t max_nesting, uint64_t max_parts,
                 std::optional<uint64_t> max_lazy) const {
    const std::u32string text = characters_of(pattern, 0, nb::len(pattern));
    PatternReadingOptions options{.kinds = python_characters(),
                                  .named = [&](std::u32string_view name) { return code_of(named(string(name))); },
                                  .shared_names = {},
                                  .max_nesting = max_nesting,
                                  .max_parts = max_parts,
                                  .max_lazy = max_lazy};
    for (nb::handle name : shared_names) {
      const auto as_text = nb::cast<nb::str>(name);
      options.shared_names.push_back(characters_of(as_text, 0, nb::len(as_text)));
    }
    using Name = PatternDialect::Name;
    const Name name = dialect == "python" ? Name::kPython : dialect == "rust" ? Name::kRust : Name::kEcma;
    const std::u32string letters = characters_of(flags, 0, nb::len(flags));
    const PatternSyntax found = read_pattern(text, name, letters, options);
    nb::list problems;
    for (const PatternProblem& problem : found.problems) {
      nb::list arguments;
      for (const std::u32string& argument : problem.arguments) arguments.append(string(argument));
      problems.append(nb::make_tuple(problem.code, problem.start, problem.end, nb::tuple(arguments)));
    }
    if (!found.stop) return nb::make_tuple(root(found.tree, found.root), problems, nb::none());
    static constexpr std::array kStops{"problems", "lazy", "max_nesting", "max_regex_nodes"};
    return nb::make_tuple(nb::none(), problems,
                          nb::make_tuple(kStops[static_cast<size_t>(*found.stop)], found.stopped_at));
  }

 private:
  using Kind = SyntaxNode::Kind;

  // In the order of SyntaxNode::Kind.
  static constexpr auto kNames = std::to_array<const char*>(
      {"Text", "Dot", "Shorthand", "Property", "CharacterSet", "SetTerm", "ClassRange", "PosixClass", "Anchor",
       "WordBoundary", "Backreference", "Group", "Lookaround", "Atomic", "Sequence", "Choice", "Repeat"});

  static nb::str string(std::u32string_view text) {
    return nb::steal<nb::str>(
        PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data(), static_cast<Py_ssize_t>(text.size())));
  }
  static std::optional<char32_t> code_of(const nb::object& found) {
    return found.is_none() ? std::nullopt : std::optional(static_cast<char32_t>(nb::cast<uint32_t>(found)));
  }

  // Parts come before what holds them, so that no depth of nesting takes a recursion.
  nb::object root(const SyntaxTree& tree, SyntaxTree::Id root) const {
    std::vector<nb::object> made(tree.size());
    for (SyntaxTree::Id id = 0; id < made.size(); ++id) made[id] = node(tree, tree[id], made);
    return made[root];
  }

  nb::object node(const SyntaxTree& tree, const SyntaxNode& node, const std::vector<nb::object>& made) const {
    const nb::object& type = types_[static_cast<size_t>(node.kind)];
    const nb::object& flags = flags_[node.flags.bits()];
    const auto parts = [&] {
      nb::list found;
      for (SyntaxTree::Id part : tree.parts(node)) found.append(made[part]);
      return nb::tuple(found);
    };
    const auto only = [&]() -> const nb::object& { return made[tree.parts(node)[0]]; };
    switch (node.kind) {
      case Kind::kText:
        return type(node.start, node.end, string(tree.text(node)), flags);
      case Kind::kDot:
        return type(node.start, node.end, flags);
      case Kind::kShorthand:
        return type(node.start, node.end, std::string(1, node.letter), node.negated, flags);
      case Kind::kProperty:
        return type(node.start, node.end, string(tree.name(node)), string(tree.value(node)), node.negated, flags);
      case Kind::kSet:
        return type(node.start, node.end, node.negated, parts(), flags);
      case Kind::kTerm:
        return type(std::string(node.letter == '|' ? 1 : 2, node.letter), parts());
      case Kind::kRange:
        return type(node.start, node.end, node.low, node.high);
      case Kind::kPosix:
        return type(node.start, node.end, string(tree.name(node)), node.negated);
      case Kind::kAnchor: {
        const char* kind = node.letter == 's' ? "start" : node.letter == 'e' ? "end" : "end-or-newline";
        return type(node.start, node.end, kind, node.option);
      }
      case Kind::kBoundary:
        return type(node.start, node.end, boundary(node.letter), flags);
      case Kind::kBackreference:
        return type(node.start, node.end, string(tree.name(node)));
      case Kind::kGroup: {
        nb::object name = nb::none();
        if (node.size > 0) name = string(tree.name(node));
        return type(node.start, node.end, only(), name, node.option);
      }
      case Kind::kLookaround:
        return type(node.start, node.end, only(), node.option, node.negated);
      case Kind::kAtomic:
        return type(node.start, node.end, only());
      case Kind::kSequence:
      case Kind::kChoice:
        return type(node.start, node.end, parts());
      case Kind::kRepeat:
        break;
    }
    nb::object maximum = nb::none();
    if (node.high != kUnbounded) maximum = nb::int_(node.high);
    const char* mode = node.letter == 'g' ? "greedy" : node.letter == 'l' ? "lazy" : "possessive";
    return type(node.start, node.end, only(), node.low, maximum, mode);
  }

  static const char* boundary(char letter) {
    switch (letter) {
      case 'b':
        return "boundary";
      case 'B':
        return "no-boundary";
      case 's':
        return "start";
      case 'e':
        return "end";
      case 'S':
        return "start-half";
      default:
        return "end-half";
    }
  }

  std::array<nb::object, kNames.size()> types_;
  std::array<nb::object, 32> flags_;
};

}  // namespace cfgmask
