// Syntax tree to regex: flags, dialects and assertions are resolved here.
//
// Threads: for one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pattern/cases.h"
#include "pattern/character_sets.h"
#include "pattern/combiner.h"
#include "pattern/problems.h"
#include "pattern/rules.h"
#include "pattern/syntax_tree.h"
#include "pattern/text_trees.h"
#include "util/text_hash.h"

namespace cfgmask {

// Groups whose names stand for more than grouping: `(?P<QUOTED_TEXT>)`, `(?P<SUBSTRING_OF>...)`, `(?P<TEXT_TOKEN>)`.
enum class NamedGroup : uint8_t { kNone, kToken, kText, kUntil, kSubstring, kList };
NamedGroup named_group(std::u32string_view name);
// All names of such groups.
std::span<const std::u32string_view> named_group_names();

// Texts of a lexeme, where all of the text before and after is one of certain others; any text: no condition.
struct LexemeTexts {
  TextTrees::Id tree;
  TextTrees::Id before = TextTrees::kAnyText;
  TextTrees::Id after = TextTrees::kAnyText;
};
using LexemeCases = std::vector<LexemeTexts>;

// A meaning, told as lexemes are: with what stands before read forwards.
LexemeCases lexeme_cases(const Meaning& meaning, MeaningCombiner& combiner);

// The texts of a named group of these parts, one each of a list's alternatives, if it has a body.
using NamedTexts =
    std::function<TextTrees::Id(std::u32string_view name, std::span<const TextTrees::Id> parts, TextTrees& trees)>;

class PatternTranslator {
 public:
  using Id = SyntaxTree::Id;
  using Tree = TextTrees::Id;
  // A whole text must match; or some part of it, as for `pattern` in JSON Schema.
  enum class Context : uint8_t { kText, kSearch };

  PatternTranslator(const SyntaxTree& tree, const PatternRules& rules, UnicodeSets& unicode, const NamedTexts& named,
                    TextTrees& trees, PatternProblems& problems);

  // The texts that match. What cannot be translated is reported, all of it; the tree is then of no use. Linear in a
  // pattern whose assertions are anchors; bounded by constants for each other assertion.
  Tree whole(Id root, Context context);
  // The texts that match as a lexeme in a larger text, and what they ask of that.
  LexemeCases lexeme(Id root);

 private:
  using Kind = SyntaxNode::Kind;
  using Branches = std::vector<PatternPartList>;

  Branches folded(Id root);
  // What is translated before a node: of a group that is a list, its alternatives one by one.
  std::span<const Id> below(Id id) const;
  NamedGroup named(const SyntaxNode& node) const;
  PatternPartList taken(Id id);
  PatternPartList combined(Id id);
  Tree whole_of(const Branches& branches, Context context);
  std::vector<Meaning> evaluated(std::span<const Id> parts);
  // With guards of lazy repetitions at the edges, which see nothing beyond the lexeme.
  LexemeCases guarded(Id root, const Branches& branches, const Meaning& meaning);
  Meaning named_meaning(const SyntaxNode& node, Id id);
  Meaning misused(const SyntaxNode& node, std::string_view code);
  Meaning leaf(Id id);
  // What characters mean. Those that come again mean the same, or have the same problem at another place.
  Meaning characters(Id id);
  Tree text(const SyntaxNode& node);
  Meaning anchor(const SyntaxNode& node);
  Meaning word_boundary(const SyntaxNode& node);
  Meaning lookaround(const SyntaxNode& node, PatternPartList body);
  // The result of some work, or `instead` and a report that names the node.
  template <class Work, class Result>
  Result bounded(Id id, Work work, Result instead);

  const SyntaxTree& tree_;
  const PatternRules& rules_;
  UnicodeSets& unicode_;
  const NamedTexts& named_;
  TextTrees& trees_;
  PatternProblems& problems_;
  CharacterSets sets_;
  MeaningCombiner combiner_;
  std::vector<PatternPartList> values_;  // by node
  std::vector<uint32_t> n_uses_;         // of these values, still to come
  TextMap<std::u32string, Tree> known_;
  std::unordered_map<uint64_t, Tree> cased_;  // by character and flags
};

}  // namespace cfgmask
