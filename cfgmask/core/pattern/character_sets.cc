#include "pattern/character_sets.h"

#include <algorithm>
#include <array>

namespace cfgmask {

namespace {

const CodePoints& ascii_shorthand(char letter) {
  static const CodePoints kDigits{{0x30, 0x39}};
  static const CodePoints kWord{{0x30, 0x39}, {0x41, 0x5A}, {0x5F, 0x5F}, {0x61, 0x7A}};
  static const CodePoints kSpace{{0x09, 0x0D}, {0x20, 0x20}};
  return letter == 'd' ? kDigits : letter == 'w' ? kWord : kSpace;
}

// WhiteSpace and LineTerminator of ECMA-262: Zs, tab, vertical tab, form feed, BOM and four line ends.
const CodePoints& ecma_space() {
  static const CodePoints kSpace{{0x09, 0x0D},     {0x20, 0x20},     {0xA0, 0xA0},     {0x1680, 0x1680},
                                 {0x2000, 0x200A}, {0x2028, 0x2029}, {0x202F, 0x202F}, {0x205F, 0x205F},
                                 {0x3000, 0x3000}, {0xFEFF, 0xFEFF}};
  return kSpace;
}

// The bracket expressions of POSIX as Rust's `regex` and Perl's /a have them: ASCII only.
CodePoints posix_class(std::u32string_view name) {
  if (name == U"alnum") return {{0x30, 0x39}, {0x41, 0x5A}, {0x61, 0x7A}};
  if (name == U"alpha") return {{0x41, 0x5A}, {0x61, 0x7A}};
  if (name == U"ascii") return {{0x00, 0x7F}};
  if (name == U"blank") return {{0x09, 0x09}, {0x20, 0x20}};
  if (name == U"cntrl") return {{0x00, 0x1F}, {0x7F, 0x7F}};
  if (name == U"digit") return ascii_shorthand('d');
  if (name == U"graph") return {{0x21, 0x7E}};
  if (name == U"lower") return {{0x61, 0x7A}};
  if (name == U"print") return {{0x20, 0x7E}};
  if (name == U"punct") return {{0x21, 0x2F}, {0x3A, 0x40}, {0x5B, 0x60}, {0x7B, 0x7E}};
  if (name == U"space") return ascii_shorthand('s');
  if (name == U"upper") return {{0x41, 0x5A}};
  if (name == U"word") return ascii_shorthand('w');
  return {{0x30, 0x39}, {0x41, 0x46}, {0x61, 0x66}};  // xdigit
}

CodePoints joined_sets(const CodePoints& left, char operation, const CodePoints& right) {
  switch (operation) {
    case '&':
      return common(left, right);
    case '-':
      return common(left, negated(right));
    case '~':
      return common(united(left, right), negated(common(left, right)));
    default:
      return united(left, right);
  }
}

}  // namespace

const CodePoints& UnicodeSets::shorthand(bool is_rust, char letter) {
  const auto known = shorthands_.find({is_rust, letter});
  if (known != shorthands_.end()) return known->second;
  CodePoints found = source_.shorthand(is_rust, letter);
  return shorthands_.emplace(std::pair(is_rust, letter), std::move(found)).first->second;
}

const UnicodeSets::Alike& UnicodeSets::alike(CaseFolding folding, bool only_ascii) {
  const auto known = alike_.find({folding, only_ascii});
  if (known != alike_.end()) return known->second;
  Alike made;
  made.classes = source_.alike(folding, only_ascii);
  for (uint32_t i = 0; i < made.classes.size(); ++i) {
    for (uint32_t c : made.classes[i]) made.cased.emplace_back(c, i);
  }
  std::sort(made.cased.begin(), made.cased.end());
  return alike_.emplace(std::pair(folding, only_ascii), std::move(made)).first->second;
}

CodePoints UnicodeSets::with_alike(const CodePoints& set, CaseFolding folding) {
  // Most patterns need no letters beyond those of ASCII, of which there are 3,000.
  const Alike& known = alike(folding, set.empty() || set.back().high < 0x80);
  CodePoints found = set;
  for (const auto& [low, high] : set) {
    auto cased = std::lower_bound(known.cased.begin(), known.cased.end(), std::pair(low, 0U));
    for (; cased != known.cased.end() && cased->first <= high; ++cased) {
      for (uint32_t other : known.classes[cased->second]) {
        if (other < low || other > high) found.push_back({other, other});
      }
    }
  }
  return found.size() == set.size() ? set : code_point_set(std::move(found));
}

CodePoints CharacterSets::members(SyntaxTree::Id id) {
  const SyntaxNode& node = tree_[id];
  switch (node.kind) {
    case Kind::kDot:
      return dot(node);
    case Kind::kShorthand:
      return shorthand(node);
    case Kind::kProperty:
      return property(node);
    default:
      return whole_class(id);
  }
}

CodePoints CharacterSets::character(uint32_t c, const PatternFlags& flags) {
  return cased(code_point_set({{c, c}}), flags);  // a lone surrogate is no character, as was reported
}

CodePoints CharacterSets::word(const PatternFlags& flags) {
  CodePoints members = shorthand_members('w', flags);
  return rules_.folding == CaseFolding::kPython ? members : cased(std::move(members), flags);
}

CodePoints CharacterSets::dot(const SyntaxNode& node) {
  if (only_bytes(node, node.flags)) return {};
  if (node.flags.dot_all) return {kCharacters.begin(), kCharacters.end()};
  CodePoints line_ends;
  for (char32_t c : rules_.line_ends) line_ends.push_back({c, c});
  return negated(code_point_set(std::move(line_ends)));
}

CodePoints CharacterSets::shorthand(const SyntaxNode& node) {
  if (node.negated && only_bytes(node, node.flags)) return {};
  CodePoints members = shorthand_members(node.letter, node.flags);
  if (rules_.folding != CaseFolding::kPython) members = cased(std::move(members), node.flags);
  return node.negated ? negated(members) : members;
}

CodePoints CharacterSets::property(const SyntaxNode& node) {
  if (only_bytes(node, node.flags)) return {};
  auto found = unicode_.property(tree_.name(node), tree_.value(node), rules_.name, node.flags.ignore_case);
  if (const auto* unknown = std::get_if<UnicodeSets::Unknown>(&found)) {
    problems_.report("unknown-property", node.start, node.end, {unknown->message, unknown->help});
    return {};
  }
  const CodePoints& members = std::get<CodePoints>(found);
  const auto signed_set = [&](const CodePoints& set) { return node.negated ? negated(set) : set; };
  if (!node.flags.ignore_case || rules_.folding == CaseFolding::kPython) return signed_set(members);
  // Without the flag v ECMA negates first, so that `\P{Lu}` matches every letter that has case.
  const bool negates_first = rules_.name == PatternDialect::Name::kEcma && !rules_.nested_sets;
  return negates_first ? cased(signed_set(members), node.flags) : signed_set(cased(members, node.flags));
}

// The flag i applies to each member. That is enough: unions, intersections, differences and complements of sets that
// are closed under it are closed as well.
CodePoints CharacterSets::whole_class(SyntaxTree::Id id) {
  if (tree_[id].negated && only_bytes(tree_[id], tree_[id].flags)) return {};
  // Classes in classes may be deep; each comes before the one that it is in.
  std::vector<SyntaxTree::Id> order;
  std::vector<SyntaxTree::Id> pending{id};
  bool has_surrogates = false;
  while (!pending.empty()) {
    const SyntaxTree::Id next = pending.back();
    pending.pop_back();
    order.push_back(next);
    for (SyntaxTree::Id term : tree_.parts(tree_[next])) {
      for (SyntaxTree::Id part : tree_.parts(tree_[term])) {
        const SyntaxNode& inside = tree_[part];
        if (inside.kind == Kind::kSet) pending.push_back(part);
        const bool is_of_whole = next == id && inside.kind == Kind::kRange;
        has_surrogates = has_surrogates || (is_of_whole && inside.low <= 0xDFFF && inside.high >= 0xD800);
      }
    }
  }
  std::sort(order.begin(), order.end());
  std::unordered_map<SyntaxTree::Id, CodePoints> inner;
  for (SyntaxTree::Id one : order) inner.emplace(one, one_class(tree_[one], inner));
  if (inner.at(id).empty() && has_surrogates) problems_.report("surrogate.class", tree_[id].start, tree_[id].end);
  return inner.at(id);
}

CodePoints CharacterSets::one_class(const SyntaxNode& node,
                                    const std::unordered_map<SyntaxTree::Id, CodePoints>& inner) {
  CodePoints result;
  for (SyntaxTree::Id term : tree_.parts(node)) {
    CodePoints found;
    for (SyntaxTree::Id part : tree_.parts(tree_[term])) {
      const CodePoints more = member(part, node.flags, inner);
      found.insert(found.end(), more.begin(), more.end());
    }
    result = joined_sets(result, tree_[term].letter, code_point_set(std::move(found)));
  }
  return node.negated ? negated(result) : result;
}

CodePoints CharacterSets::member(SyntaxTree::Id id, const PatternFlags& flags,
                                 const std::unordered_map<SyntaxTree::Id, CodePoints>& inner) {
  const SyntaxNode& node = tree_[id];
  switch (node.kind) {
    case Kind::kSet:
      return inner.at(id);
    case Kind::kShorthand:
      return shorthand(node);
    case Kind::kProperty:
      return property(node);
    case Kind::kPosix: {
      const CodePoints members = cased(posix_class(tree_.name(node)), flags);
      return node.negated ? negated(members) : members;
    }
    default:
      break;
  }
  if (flags.ascii && node.high > 0x7F) only_bytes(node, flags);
  return cased(code_point_set({{node.low, node.high}}), flags);
}

CodePoints CharacterSets::shorthand_members(char letter, const PatternFlags& flags) {
  if (rules_.name == PatternDialect::Name::kEcma) return letter == 's' ? ecma_space() : ascii_shorthand(letter);
  if (flags.ascii || (letter == 'd' && rules_.ascii_digits)) return ascii_shorthand(letter);
  return unicode_.shorthand(rules_.name == PatternDialect::Name::kRust, letter);
}

CodePoints CharacterSets::cased(CodePoints set, const PatternFlags& flags) {
  return flags.ignore_case ? unicode_.with_alike(set, folding(flags)) : set;
}

bool CharacterSets::only_bytes(const SyntaxNode& node, const PatternFlags& flags) {
  if (!flags.ascii || rules_.name != PatternDialect::Name::kRust) return false;
  problems_.report("non-utf8", node.start, node.end);
  return true;
}

}  // namespace cfgmask
