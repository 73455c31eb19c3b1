#include "pattern/token_groups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "pattern/lazy.h"
#include "pattern/rewrite.h"

namespace cfgmask {

namespace {

class TokenGroups {
 public:
  using Id = SyntaxTree::Id;
  using Kind = SyntaxNode::Kind;

  TokenGroups(SyntaxTree& tree, const PatternQuestion& question, const PatternRules& rules, UnicodeSets& unicode,
              const NamedTexts& named, PatternProblems& problems, PatternMeaning& found)
      : tree_(tree),
        question_(question),
        rules_(rules),
        unicode_(unicode),
        named_(named),
        problems_(problems),
        found_(found) {}

  void split(Id root) {
    const std::vector<bool> needed = nodes_below(root, [&](Id id) { return tree_.inner(tree_[id]); });
    pieces_.resize(root + 1);
    for (Id id = 0; id <= root; ++id) {
      if (needed[id]) pieces_[id] = piece(id);
    }
    if (!pieces_[root]) {
      terminal(root, question_.use == PatternUse::kExtendedText);
      return;
    }
    each_matched(root, [&](Id id) {
      if (tree_[id].kind == Kind::kAnchor) report(id, "token-group.anchor");
    });
    // The last one is the whole.
    if (*pieces_[root] + 1 != found_.exprs.size()) found_.exprs.push_back(found_.exprs[*pieces_[root]]);
  }

 private:
  // What stands for a node that has tokens; none for others.
  std::optional<uint32_t> piece(Id id) {
    const SyntaxNode node = tree_[id];
    if (node.kind == Kind::kGroup && node.size > 0 && named_group(tree_.name(node)) == NamedGroup::kToken)
      return token(node, id);
    const std::vector<Id> parts(tree_.inner(node).begin(), tree_.inner(node).end());
    if (std::none_of(parts.begin(), parts.end(), [&](Id part) { return pieces_[part].has_value(); }))
      return std::nullopt;
    PatternExpr made{.kind = PatternExpr::Kind::kSequence, .start = node.start, .end = node.end};
    switch (node.kind) {
      case Kind::kSequence:
        made.parts = runs(parts);
        return add(std::move(made));
      case Kind::kChoice:
        made.kind = PatternExpr::Kind::kChoice;
        for (Id part : parts) made.parts.push_back(expr(part));
        return add(std::move(made));
      case Kind::kRepeat:
        made.kind = PatternExpr::Kind::kRepeat;
        made.parts = {expr(parts[0])};
        made.minimum = node.low;
        made.maximum = node.high;
        return add(std::move(made));
      default:
        break;
    }
    const bool looks =
        node.kind != Kind::kGroup || (node.size > 0 && named_group(tree_.name(node)) != NamedGroup::kNone);
    if (looks) report(id, "token-group.look");
    return pieces_[parts[0]];
  }

  uint32_t token(const SyntaxNode& node, Id id) {
    const SyntaxNode& body = tree_[node.low];
    const std::u32string name(tree_.name(node));
    if (body.kind != Kind::kSequence || body.size > 0) report(id, "token-group.body", {name});
    return add({.kind = PatternExpr::Kind::kToken, .start = node.start, .end = node.end, .name = name});
  }

  // The parts in order; neighbours without tokens are one terminal.
  std::vector<uint32_t> runs(const std::vector<Id>& parts) {
    std::vector<uint32_t> found;
    for (size_t first = 0; first < parts.size();) {
      if (pieces_[parts[first]]) {
        found.push_back(*pieces_[parts[first++]]);
        continue;
      }
      size_t last = first;
      while (last < parts.size() && !pieces_[parts[last]]) ++last;
      SyntaxNode run;
      run.kind = Kind::kSequence;
      run.start = tree_[parts[first]].start;
      run.end = tree_[parts[last - 1]].end;
      found.push_back(terminal(tree_.add_parts(run, std::span(parts).subspan(first, last - first)), false));
      first = last;
    }
    return found;
  }

  uint32_t expr(Id id) { return pieces_[id] ? *pieces_[id] : terminal(id, false); }

  uint32_t terminal(Id id, bool is_text) {
    PatternTranslator translator(tree_, rules_, unicode_, named_, found_.trees, problems_);
    PatternExpr made{.kind = PatternExpr::Kind::kText, .start = tree_[id].start, .end = tree_[id].end};
    if (is_text) {
      made.cases = {{translator.whole(id, PatternTranslator::Context::kText)}};
      return add(std::move(made));
    }
    made.kind = PatternExpr::Kind::kLexeme;
    made.cases = translator.lexeme(id);
    bool has_anchor = false;
    each_matched(id, [&](Id part) { has_anchor = has_anchor || tree_[part].kind == Kind::kAnchor; });
    // An anchor is refused by itself.
    if (!has_anchor && is_empty_by_assertion(made.cases)) report(id, "token-group.empty");
    return add(std::move(made));
  }

  // Whether the empty text matches, but only between certain others.
  bool is_empty_by_assertion(const LexemeCases& cases) const {
    bool is_empty = false;
    for (const LexemeTexts& one : cases) {
      if (!found_.trees.is_nullable(one.tree)) continue;
      if (one.before == TextTrees::kAnyText && one.after == TextTrees::kAnyText) return false;
      is_empty = true;
    }
    return is_empty;
  }

  // Every node that a match goes through.
  template <class See>
  void each_matched(Id root, See see) const {
    walk_syntax(tree_, root, [&](Id id) {
      see(id);
      return tree_[id].kind != Kind::kLookaround;
    });
  }

  uint32_t add(PatternExpr made) {
    found_.exprs.push_back(std::move(made));
    return static_cast<uint32_t>(found_.exprs.size() - 1);
  }
  void report(Id id, std::string_view code, std::vector<std::u32string> arguments = {}) {
    problems_.report(code, tree_[id].start, tree_[id].end, std::move(arguments));
  }

  SyntaxTree& tree_;
  const PatternQuestion& question_;
  const PatternRules& rules_;
  UnicodeSets& unicode_;
  const NamedTexts& named_;
  PatternProblems& problems_;
  PatternMeaning& found_;
  std::vector<std::optional<uint32_t>> pieces_;  // by node
};

}  // namespace

void split_at_tokens(SyntaxTree& tree, SyntaxTree::Id root, const PatternQuestion& question, const PatternRules& rules,
                     UnicodeSets& unicode, const NamedTexts& named, PatternProblems& problems, PatternMeaning& found) {
  TokenGroups(tree, question, rules, unicode, named, problems, found).split(root);
}

}  // namespace cfgmask
