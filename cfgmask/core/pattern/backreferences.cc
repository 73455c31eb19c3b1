#include "pattern/backreferences.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pattern/rewrite.h"
#include "regex/regex.h"
#include "util/ascii.h"

namespace cfgmask {

namespace {

// Alternatives of one group, and nodes of all alternatives together.
constexpr size_t kMostGroupTexts = 32;
constexpr uint64_t kMostReferenceNodes = 20'000;
// Nodes made on the way: each group makes all that is around it anew.
constexpr size_t kMostMadeNodes = 200'000;
// Looks at nodes to find where the groups of one pattern are, and where they are referred to.
constexpr uint64_t kMostScopeSteps = 20'000'000;
// Groups inside of groups.
constexpr size_t kMostReferenceDepth = 400;

// A text of a group, with the flags of its characters; the empty text has none.
struct GroupText {
  std::u32string text;
  std::optional<PatternFlags> flags;

  bool operator==(const GroupText& other) const {
    return text == other.text && flags.has_value() == other.flags.has_value() &&
           (!flags || flags->bits() == other.flags->bits());
  }
};
using GroupTexts = std::vector<GroupText>;

// Expands the backreferences of one pattern. Groups are known by where they begin.
class Backreferences {
 public:
  using Id = SyntaxTree::Id;
  using Kind = SyntaxNode::Kind;

  Backreferences(SyntaxTree& tree, Id root) : tree_(tree), root_(root) {}

  Id without() {
    std::vector<Id> references;
    std::vector<Id> groups;
    walk_syntax(tree_, root_, [&](Id id) {
      if (tree_[id].kind == Kind::kBackreference) references.push_back(id);
      if (tree_[id].kind == Kind::kGroup && tree_[id].option) groups.push_back(id);
      if (tree_[id].kind == Kind::kRepeat && tree_[id].letter == 'l') has_lazy_ = true;
      return true;
    });
    if (references.empty() || is_larger(tree_, root_, kMostReferenceNodes)) return root_;
    std::stable_sort(groups.begin(), groups.end(), [&](Id a, Id b) { return tree_[a].start < tree_[b].start; });
    std::vector<std::pair<uint32_t, std::set<uint32_t>>> by_group;
    for (Id reference : references) {
      const auto group = group_of(tree_[reference], groups);
      if (!group || tree_[*group].end > tree_[reference].start) continue;
      const uint32_t start = tree_[*group].start;
      auto known = std::find_if(by_group.begin(), by_group.end(), [&](const auto& one) { return one.first == start; });
      if (known == by_group.end()) known = by_group.insert(by_group.end(), {start, {}});
      known->second.insert(tree_[reference].start);
    }
    struct Scope {
      uint32_t start;
      uint32_t end;
      uint32_t group;
      std::set<uint32_t> references;
    };
    std::vector<Scope> scopes;
    for (auto& [group, its] : by_group) {
      const auto scope = scope_of(group, its);
      if (n_steps_ > kMostScopeSteps) return root_;
      if (scope) scopes.push_back({tree_[*scope].start, tree_[*scope].end, group, std::move(its)});
    }
    // What is further out first: its alternatives then hold what is further in. Of one sequence, the inner group first.
    std::stable_sort(scopes.begin(), scopes.end(), [](const Scope& a, const Scope& b) {
      return std::tuple(a.start, b.end, b.group) < std::tuple(b.start, a.end, a.group);
    });
    for (const Scope& scope : scopes) referring_.emplace_back(scope.group, scope.references);
    for (const Scope& scope : scopes) {
      if (tree_.size() > kMostMadeNodes || n_steps_ > kMostScopeSteps) break;
      root_ = expanded(scope.start, scope.end, scope.group, scope.references);
    }
    return root_;
  }

 private:
  std::optional<Id> group_of(const SyntaxNode& reference, const std::vector<Id>& in_order) const {
    const std::u32string_view name = tree_.name(reference);
    if (!name.empty() && std::all_of(name.begin(), name.end(), is_ascii_digit)) {
      if (name.size() > 9) return std::nullopt;
      size_t number = 0;
      for (char32_t c : name) number = number * 10 + (c - U'0');
      return 0 < number && number <= in_order.size() ? std::optional(in_order[number - 1]) : std::nullopt;
    }
    std::optional<Id> found;
    for (Id group : in_order) {
      if (tree_[group].size == 0 || tree_.name(tree_[group]) != name) continue;
      if (found) return std::nullopt;
      found = group;
    }
    return found;
  }

  // The innermost sequence with the group and all that refers to it, if the group is matched whenever that is.
  std::optional<Id> scope_of(uint32_t group, const std::set<uint32_t>& references) {
    std::set<uint32_t> wanted = references;
    wanted.insert(group);
    Id at = root_;
    std::optional<Id> scope;
    while (true) {
      if (tree_[at].kind == Kind::kSequence) scope = at;
      const auto parts = tree_.inner(tree_[at]);
      const auto inside = std::find_if(parts.begin(), parts.end(), [&](Id part) { return holds_all(part, wanted); });
      if (inside == parts.end()) break;
      at = *inside;
    }
    if (!scope || at != *scope) return std::nullopt;
    std::optional<Id> part = part_with(*scope, group);
    while (part && !is_group(*part, group)) {
      if (tree_[*part].kind != Kind::kSequence && tree_[*part].kind != Kind::kGroup) return std::nullopt;
      part = part_with(*part, group);
    }
    return part ? scope : std::nullopt;
  }

  bool is_group(Id id, uint32_t start) const { return tree_[id].kind == Kind::kGroup && tree_[id].start == start; }

  bool holds_all(Id root, const std::set<uint32_t>& starts) {
    std::set<uint32_t> found;
    walk_syntax(tree_, root, [&](Id id) {
      const SyntaxNode& node = tree_[id];
      const bool is_wanted = node.kind == Kind::kGroup || node.kind == Kind::kBackreference;
      if (is_wanted && starts.contains(node.start)) found.insert(node.start);
      return ++n_steps_ <= kMostScopeSteps && found.size() < starts.size();
    });
    return found.size() == starts.size();
  }

  std::optional<Id> part_with(Id id, uint32_t group) {
    for (Id part : tree_.inner(tree_[id])) {
      if (group_in(part, group)) return part;
    }
    return std::nullopt;
  }

  std::optional<Id> group_in(Id root, uint32_t start) {
    std::optional<Id> found;
    walk_syntax(tree_, root, [&](Id id) {
      ++n_steps_;
      if (!found && is_group(id, start)) found = id;
      return !found;
    });
    return found;
  }

  // The pattern in which what the scope needs, in each copy of it, is one alternative for each text that the group has
  // there. Without a change where these are too many.
  Id expanded(uint32_t scope_start, uint32_t scope_end, uint32_t group, const std::set<uint32_t>& references) {
    const Id made = rebuilt(tree_, root_, [&](Id id, const std::vector<Id>& parts) {
      const SyntaxNode node = tree_[id];
      const Id same = with_parts(id, parts);
      if (node.kind != Kind::kSequence || node.start != scope_start || node.end != scope_end) return same;
      const auto found = group_in(same, group);
      const auto texts = found ? texts_of(tree_[*found].low, 0) : std::nullopt;
      if (!texts || texts->empty()) return same;
      const auto [first, last] = needed_parts(same, group, references);
      if (n_steps_ > kMostScopeSteps) return same;
      const Id needed = part_of(same, first, last);
      if (is_larger(tree_, needed, kMostReferenceNodes / texts->size())) return same;
      std::vector<Id> ways;
      for (const GroupText& text : *texts) ways.push_back(with_text(needed, group, references, text));
      SyntaxNode choice;
      choice.kind = Kind::kChoice;
      choice.start = tree_[needed].start;
      choice.end = tree_[needed].end;
      const Id either = tree_.add_parts(choice, ways);
      if (needed == same) return either;
      const auto all = tree_.parts(tree_[same]);
      std::vector<Id> replaced(all.begin(), all.begin() + first);
      replaced.push_back(either);
      replaced.insert(replaced.end(), all.begin() + last + 1, all.end());
      return tree_.add_copy(tree_[same], replaced);
    });
    return is_larger(tree_, made, kMostReferenceNodes) ? root_ : made;
  }

  // The first and the last part of a sequence that hold the group or what refers to it, or to other groups in these
  // parts: each alternative has its own copy of those. All where something is lazy: what may follow a lazy repetition
  // then stands in one sequence with it.
  std::pair<size_t, size_t> needed_parts(Id sequence, uint32_t group, const std::set<uint32_t>& references) {
    const auto parts = tree_.parts(tree_[sequence]);
    if (has_lazy_) return {0, parts.size() - 1};
    const auto widen = [&](std::pair<size_t, size_t> to, uint32_t group, const std::set<uint32_t>& references) {
      for (size_t i = 0; i < parts.size(); ++i) {
        if (holds_any(parts[i], group, references)) to = {std::min(to.first, i), std::max(to.second, i)};
      }
      return to;
    };
    auto found = widen({parts.size(), 0}, group, references);
    for (bool wider = true; wider;) {
      wider = false;
      for (const auto& [other, its] : referring_) {
        if (n_steps_ > kMostScopeSteps) return found;
        const auto inside = parts.subspan(found.first, found.second - found.first + 1);
        if (!std::ranges::any_of(inside, [&](Id part) { return holds_any(part, other, {}); })) continue;
        const auto to = widen(found, other, its);
        wider = wider || to != found;
        found = to;
      }
    }
    return found;
  }

  bool holds_any(Id root, uint32_t group, const std::set<uint32_t>& references) {
    bool found = false;
    walk_syntax(tree_, root, [&](Id id) {
      ++n_steps_;
      const SyntaxNode& node = tree_[id];
      found = found || is_group(id, group) || (node.kind == Kind::kBackreference && references.contains(node.start));
      return !found;
    });
    return found;
  }

  // The sequence of some parts of another; it stands at the same place, and is a copy of the scope as that one is.
  Id part_of(Id sequence, size_t first, size_t last) {
    const auto parts = tree_.parts(tree_[sequence]);
    if (last - first + 1 == parts.size()) return sequence;
    const std::vector<Id> some(parts.begin() + first, parts.begin() + last + 1);
    SyntaxNode made;
    made.kind = Kind::kSequence;
    made.start = tree_[sequence].start;
    made.end = tree_[sequence].end;
    return tree_.add_parts(made, some);
  }

  // Each way is a tree of its own: what follows a repetition may be another thing in each.
  Id with_parts(Id id, const std::vector<Id>& parts) { return parts.empty() ? id : tree_.add_copy(tree_[id], parts); }

  Id with_text(Id root, uint32_t group, const std::set<uint32_t>& references, const GroupText& text) {
    return rebuilt(tree_, root, [&](Id id, const std::vector<Id>& parts) {
      const SyntaxNode node = tree_[id];
      const bool refers = node.kind == Kind::kBackreference && references.contains(node.start);
      if (!refers && !is_group(id, group)) return with_parts(id, parts);
      SyntaxNode made;
      made.start = node.start;
      made.end = node.end;
      made.flags = text.flags.value_or(PatternFlags());
      if (!text.text.empty()) return tree_.add_text(made, text.text);
      made.kind = Kind::kSequence;
      return tree_.add_parts(made, {});
    });
  }

  // The texts of a node; nullopt where they are not few.
  std::optional<GroupTexts> texts_of(Id id, size_t depth) const {
    const SyntaxNode& node = tree_[id];
    if (depth > kMostReferenceDepth) return std::nullopt;
    switch (node.kind) {
      case Kind::kText:
        return few({{std::u32string(tree_.text(node)), node.flags}});
      case Kind::kSet:
        return members_of(node);
      case Kind::kGroup:
        return texts_of(node.low, depth + 1);
      case Kind::kChoice: {
        GroupTexts found;
        for (Id part : tree_.parts(node)) {
          const auto more = texts_of(part, depth + 1);
          if (!more || found.size() + more->size() > kMostGroupTexts) return std::nullopt;
          found.insert(found.end(), more->begin(), more->end());
        }
        return few(found);
      }
      case Kind::kRepeat: {
        if (node.high == kUnbounded || node.high > kMostGroupTexts || node.letter == 'p') return std::nullopt;
        const auto once = texts_of(tree_.parts(node)[0], depth + 1);
        if (!once) return std::nullopt;
        GroupTexts found;
        std::optional<GroupTexts> times{{{U"", std::nullopt}}};
        for (uint32_t count = 0; count <= node.high && times; ++count) {
          if (count >= node.low) found.insert(found.end(), times->begin(), times->end());
          if (count < node.high) times = joined_texts(*times, *once);
        }
        return times ? few(found) : std::nullopt;
      }
      case Kind::kSequence: {
        std::optional<GroupTexts> found{{{U"", std::nullopt}}};
        for (Id part : tree_.parts(node)) {
          const auto more = texts_of(part, depth + 1);
          if (!more) return std::nullopt;
          if (found) found = joined_texts(*found, *more);
        }
        return found;
      }
      default:
        return std::nullopt;
    }
  }

  std::optional<GroupTexts> members_of(const SyntaxNode& node) const {
    const auto terms = tree_.parts(node);
    if (node.negated || terms.size() != 1) return std::nullopt;
    GroupTexts found;
    for (Id id : tree_.parts(tree_[terms[0]])) {
      const SyntaxNode& range = tree_[id];
      if (range.kind != Kind::kRange || found.size() + range.high - range.low >= kMostGroupTexts) return std::nullopt;
      for (uint32_t c = range.low; c <= range.high; ++c) found.push_back({std::u32string(1, c), node.flags});
    }
    return few(found);
  }

  // Each text once; nullopt if there are too many.
  static std::optional<GroupTexts> few(const GroupTexts& texts) {
    GroupTexts found;
    for (GroupText text : texts) {
      if (text.text.empty()) text.flags.reset();
      if (std::find(found.begin(), found.end(), text) != found.end()) continue;
      found.push_back(std::move(text));
      if (found.size() > kMostGroupTexts) return std::nullopt;
    }
    return found;
  }

  // One of each, one after the other; nullopt if there are too many, or flags change inside of one.
  static std::optional<GroupTexts> joined_texts(const GroupTexts& first, const GroupTexts& second) {
    GroupTexts found;
    for (const GroupText& a : first) {
      for (const GroupText& b : second) {
        if (a.flags && b.flags && a.flags->bits() != b.flags->bits()) return std::nullopt;
        found.push_back({a.text + b.text, a.flags ? a.flags : b.flags});
      }
    }
    return few(found);
  }

  SyntaxTree& tree_;
  Id root_;
  bool has_lazy_ = false;
  std::vector<std::pair<uint32_t, std::set<uint32_t>>> referring_;  // groups, and what refers to them
  uint64_t n_steps_ = 0;
};

}  // namespace

SyntaxTree::Id without_backreferences(SyntaxTree& tree, SyntaxTree::Id root) {
  return Backreferences(tree, root).without();
}

}  // namespace cfgmask
