// What sets of characters in a pattern match: dots, shorthands, properties and classes, with the flag i.
//
// The core has no tables of Unicode: whoever reads patterns provides them, and each is asked for once.
//
// Threads: for one.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "pattern/code_points.h"
#include "pattern/problems.h"
#include "pattern/rules.h"
#include "pattern/syntax_tree.h"

namespace cfgmask {

// Data of Unicode.
class UnicodeSets {
 public:
  // Why a property has no members: a sentence, and what to write.
  struct Unknown {
    std::u32string message;
    std::u32string help;
  };
  struct Source {
    // `\d`, `\w` or `\s` of Python, or of Rust.
    std::function<CodePoints(bool is_rust, char letter)> shorthand;
    // The classes of characters that the flag i makes equal, of two or more; only_ascii: those with a letter of ASCII.
    std::function<std::vector<std::vector<uint32_t>>(CaseFolding, bool only_ascii)> alike;
    // ignore_case makes a difference for Python only.
    std::function<std::variant<CodePoints, Unknown>(std::u32string_view name, std::u32string_view value,
                                                    PatternDialect::Name dialect, bool ignore_case)>
        property;
  };

  explicit UnicodeSets(Source source) : source_(std::move(source)) {}

  const CodePoints& shorthand(bool is_rust, char letter);
  // The set and every character that equals one of it. Linear in the cased characters among them.
  CodePoints with_alike(const CodePoints& set, CaseFolding folding);
  std::variant<CodePoints, Unknown> property(std::u32string_view name, std::u32string_view value,
                                             PatternDialect::Name dialect, bool ignore_case) const {
    return source_.property(name, value, dialect, ignore_case);
  }

 private:
  struct Alike {
    std::vector<std::pair<uint32_t, uint32_t>> cased;  // characters in order, and their classes
    std::vector<std::vector<uint32_t>> classes;
  };

  const Alike& alike(CaseFolding folding, bool only_ascii);

  Source source_;
  std::map<std::pair<bool, char>, CodePoints> shorthands_;
  std::map<std::pair<CaseFolding, bool>, Alike> alike_;
};

// Resolves the sets of one pattern. What has no meaning is reported and resolves to nothing.
class CharacterSets {
 public:
  CharacterSets(const SyntaxTree& tree, const PatternRules& rules, UnicodeSets& unicode, PatternProblems& problems)
      : tree_(tree), rules_(rules), unicode_(unicode), problems_(problems) {}

  // What a node matches that is a set of characters: a dot, a shorthand, a property or a class.
  CodePoints members(SyntaxTree::Id id);
  // What one character that stands for itself matches.
  CodePoints character(uint32_t c, const PatternFlags& flags);
  // The characters of words, for `\b`.
  CodePoints word(const PatternFlags& flags);

 private:
  using Kind = SyntaxNode::Kind;

  CodePoints dot(const SyntaxNode& node);
  CodePoints shorthand(const SyntaxNode& node);
  CodePoints property(const SyntaxNode& node);
  CodePoints whole_class(SyntaxTree::Id id);
  CodePoints one_class(const SyntaxNode& node, const std::unordered_map<SyntaxTree::Id, CodePoints>& inner);
  CodePoints member(SyntaxTree::Id id, const PatternFlags& flags,
                    const std::unordered_map<SyntaxTree::Id, CodePoints>& inner);
  CodePoints shorthand_members(char letter, const PatternFlags& flags);
  CodePoints cased(CodePoints set, const PatternFlags& flags);
  CaseFolding folding(const PatternFlags& flags) const { return flags.ascii ? CaseFolding::kAscii : rules_.folding; }
  // Reports what would match single bytes of a character: Rust without the flag u.
  bool only_bytes(const SyntaxNode& node, const PatternFlags& flags);

  const SyntaxTree& tree_;
  const PatternRules& rules_;
  UnicodeSets& unicode_;
  PatternProblems& problems_;
};

}  // namespace cfgmask
