#include "pattern/excluded_words.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cfgmask {

namespace {

constexpr size_t kMostExcluded = 10'000;

using ExcludedTexts = std::vector<std::pair<std::u32string, PatternFlags>>;

bool same_flags(const PatternFlags& a, const PatternFlags& b) { return a.bits() == b.bits(); }

// The texts of a text or of a group of alternatives that are texts, with the flags of all their characters; otherwise
// none.
ExcludedTexts ways_of(const SyntaxTree& tree, SyntaxTree::Id id) {
  using Kind = SyntaxNode::Kind;
  const SyntaxNode& node = tree[id];
  if (node.kind == Kind::kText) return {{std::u32string(tree.text(node)), node.flags}};
  if (node.kind != Kind::kGroup || node.size > 0) return {};
  const auto branches = tree[node.low].kind == Kind::kChoice ? tree.parts(tree[node.low]) : tree.parts(node);
  ExcludedTexts found;
  for (SyntaxTree::Id branch : branches) {
    if (tree[branch].kind != Kind::kSequence || found.size() >= kMostExcluded) return {};
    const auto texts = tree.parts(tree[branch]);
    if (texts.empty()) return {};
    std::u32string whole;
    for (SyntaxTree::Id text : texts) {
      if (tree[text].kind != Kind::kText || !same_flags(tree[text].flags, tree[texts[0]].flags)) return {};
      whole += tree.text(tree[text]);
    }
    found.emplace_back(std::move(whole), tree[texts[0]].flags);
  }
  return found;
}

// The texts of nodes in order if these are few; otherwise none.
ExcludedTexts words_of(const SyntaxTree& tree, std::span<const SyntaxTree::Id> parts) {
  std::optional<ExcludedTexts> found;
  for (SyntaxTree::Id part : parts) {
    const ExcludedTexts more = ways_of(tree, part);
    if (!found) {
      found = more;
      continue;
    }
    if (found->size() * more.size() > kMostExcluded) return {};
    ExcludedTexts joined;
    for (const auto& [text, flags] : *found) {
      for (const auto& [end, other] : more) {
        if (!same_flags(flags, other)) return {};
        joined.emplace_back(text + end, flags);
      }
    }
    found = std::move(joined);
  }
  return found.value_or(ExcludedTexts());
}

}  // namespace

std::optional<WordsAndRest> excluded_words(SyntaxTree& tree, SyntaxTree::Id root, const PatternRules& rules,
                                           UnicodeSets& unicode, TextTrees& trees) {
  using Kind = SyntaxNode::Kind;
  const auto parts = tree.parts(tree[root]);
  if (tree[root].kind != Kind::kSequence || parts.size() < 2 || tree[parts[0]].kind != Kind::kLookaround)
    return std::nullopt;
  const SyntaxNode& look = tree[parts[0]];
  const SyntaxNode& body = tree[tree.parts(look)[0]];
  if (look.option || !look.negated || body.kind != Kind::kSequence || body.size < 2) return std::nullopt;
  const auto inside = tree.parts(body);
  const SyntaxNode& boundary = tree[inside.back()];
  if (boundary.kind != Kind::kBoundary || boundary.letter != 'b') return std::nullopt;
  const ExcludedTexts words = words_of(tree, inside.first(inside.size() - 1));
  if (words.empty()) return std::nullopt;
  PatternProblems unseen;
  CharacterSets sets(tree, rules, unicode, unseen);
  const CodePoints word = sets.word(boundary.flags);
  const PatternFlags flags = words[0].second;
  std::map<char32_t, CodePoints> of_character;
  for (const auto& [text, other] : words) {
    if (!same_flags(flags, other)) return std::nullopt;
    for (char32_t c : text) of_character.emplace(c, CodePoints());
  }
  for (auto& [c, members] : of_character) members = sets.character(c, flags);
  CodePoints letters;
  std::vector<TextTrees::Id> ways;
  for (const auto& [text, other] : words) {
    if (text.empty() || !is_within(of_character.at(text.back()), word)) return std::nullopt;
    std::vector<TextTrees::Id> characters;
    for (size_t i = 0; i < text.size(); ++i) {
      const CodePoints& members = of_character.at(text[i]);
      characters.push_back(trees.char_class(members));
      if (i > 0) letters.insert(letters.end(), members.begin(), members.end());
    }
    ways.push_back(trees.concatenation(characters));
  }
  SyntaxNode rest = tree[root];
  rest.start = tree[parts[1]].start;
  const std::vector<SyntaxTree::Id> others(parts.begin() + 1, parts.end());
  return WordsAndRest{{trees.alternation(ways), word, code_point_set(std::move(letters))},
                      tree.add_parts(rest, others)};
}

}  // namespace cfgmask
