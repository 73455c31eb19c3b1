#include "pattern/lazy.h"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pattern/rewrite.h"
#include "regex/regex.h"

namespace cfgmask {

namespace {

// Rewrites one pattern.
class LazyRepetitions {
 public:
  using Id = SyntaxTree::Id;
  using Kind = SyntaxNode::Kind;

  LazyRepetitions(SyntaxTree& tree, Id root, PatternProblems& problems)
      : tree_(tree), root_(root), problems_(problems), sizes_(syntax_sizes(tree, root)) {
    has_lazy_.resize(root + 1);
    for (Id id = 0; id <= root; ++id) {
      has_lazy_[id] = is_choice(tree[id]);
      for (Id part : matched(id)) has_lazy_[id] = has_lazy_[id] || has_lazy_[part];
    }
  }

  static bool is_choice(const SyntaxNode& node) {
    return node.kind == Kind::kRepeat && node.letter == 'l' && node.low != node.high;
  }

  Id without() {
    if (!has_lazy_[root_]) return root_;
    find_rests();
    uint64_t size = 0;
    for (const auto& [id, rest] : rest_of_) size += rest ? rests_[*rest].size : 0;
    if (rest_of_.size() > kMostLazyNodes || size > kMostLazyNodes) {
      problems_.report("lazy-too-many", tree_[root_].start, tree_[root_].end);
      return root_;
    }
    return rebuilt(tree_, root_, [&](Id id, const std::vector<Id>& parts) {
      // What lookaround finds no repetition in it decides.
      if (tree_[id].kind == Kind::kLookaround || parts.empty()) return id;
      const auto rest = rest_of_.find(id);
      return rest == rest_of_.end() ? tree_.add_copy(tree_[id], parts) : guarded(tree_[id], parts[0], rest->second);
    });
  }

 private:
  // What follows a node: a node, and what follows that; `size` is that of all of it, in nodes.
  struct Rest {
    Id node;
    std::optional<size_t> behind;
    uint64_t size;
  };

  std::span<const Id> matched(Id id) const {
    return tree_[id].kind == Kind::kLookaround ? std::span<const Id>() : tree_.inner(tree_[id]);
  }

  // What follows each lazy repetition, up to the end of the pattern.
  void find_rests() {
    std::vector<std::pair<Id, std::optional<size_t>>> pending{{root_, std::nullopt}};
    while (!pending.empty()) {
      auto [id, rest] = pending.back();
      pending.pop_back();
      const SyntaxNode node = tree_[id];
      if (is_choice(node)) rest_of_.insert_or_assign(id, rest);
      if (!has_lazy_[id]) continue;
      const std::vector<Id> parts(matched(id).begin(), matched(id).end());
      if (node.kind == Kind::kSequence) {
        for (size_t i = parts.size(); i-- > 0;) {
          pending.emplace_back(parts[i], rest);
          rest = before(parts[i], rest, sizes_[parts[i]]);
        }
      } else if (node.kind == Kind::kRepeat) {
        pending.emplace_back(parts[0], after_round(node, parts[0], rest, sizes_[id]));
      } else {
        for (Id part : parts) pending.emplace_back(part, rest);
      }
    }
  }

  std::optional<size_t> before(Id node, std::optional<size_t> rest, uint64_t size) {
    rests_.push_back({node, rest, size + (rest ? rests_[*rest].size : 0)});
    return rests_.size() - 1;
  }

  // What follows a round of a repetition.
  std::optional<size_t> after_round(SyntaxNode node, Id body, std::optional<size_t> rest, uint64_t size) {
    if (node.high == 1) return rest;
    if ((node.low > 1 || node.high != kUnbounded) && has_lazy_[body])
      problems_.report("lazy-in-count", node.start, node.end);
    node.low = 0;
    node.high = kUnbounded;
    node.letter = 'g';
    return before(tree_.add(node), rest, size);
  }

  // A lazy repetition as rounds that must be, and rounds before which the rest fails.
  Id guarded(SyntaxNode node, Id body, std::optional<size_t> rest) {
    SyntaxNode must = node;
    must.high = node.low;
    must.letter = 'g';
    const Id rounds_that_must = tree_.add_parts(must, {&body, 1});
    if (!rest) return rounds_that_must;
    std::vector<Id> follows;
    for (std::optional<size_t> at = rest; at; at = rests_[*at].behind) follows.push_back(rests_[*at].node);
    SyntaxNode made;
    made.start = node.start;
    made.end = node.end;
    made.kind = Kind::kSequence;
    const Id ahead = tree_.add_parts(made, follows);
    made.kind = Kind::kLookaround;
    made.negated = true;
    made.letter = 'g';
    const Id guard = tree_.add_parts(made, {&ahead, 1});
    made = SyntaxNode();
    made.start = node.start;
    made.end = node.end;
    made.kind = Kind::kSequence;
    const Id round_parts[] = {guard, body};
    const Id round = tree_.add_parts(made, round_parts);
    SyntaxNode more = must;
    more.low = 0;
    more.high = node.high == kUnbounded ? kUnbounded : node.high - node.low;
    const Id both[] = {rounds_that_must, tree_.add_parts(more, {&round, 1})};
    return tree_.add_parts(made, node.low > 0 ? std::span(both) : std::span(both).subspan(1));
  }

  SyntaxTree& tree_;
  Id root_;
  PatternProblems& problems_;
  std::vector<uint64_t> sizes_;
  std::vector<bool> has_lazy_;
  std::vector<Rest> rests_;
  std::unordered_map<Id, std::optional<size_t>> rest_of_;
};

}  // namespace

bool is_lazy(const SyntaxTree& tree, SyntaxTree::Id root) {
  bool found = false;
  walk_syntax(tree, root, [&](SyntaxTree::Id id) {
    found = found || LazyRepetitions::is_choice(tree[id]);
    return !found && tree[id].kind != SyntaxNode::Kind::kLookaround;
  });
  return found;
}

SyntaxTree::Id without_lazy(SyntaxTree& tree, SyntaxTree::Id root, PatternProblems& problems) {
  return LazyRepetitions(tree, root, problems).without();
}

}  // namespace cfgmask
