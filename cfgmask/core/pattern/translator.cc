#include "pattern/translator.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "pattern/rewrite.h"
#include "regex/regex.h"
#include "util/pause.h"

namespace cfgmask {

namespace {

constexpr std::array<std::u32string_view, 9> kNamedGroupNames{
    U"TEXT_TOKEN",   U"PARAGRAPH_TOKEN", U"IMAGE",
    U"QUOTED_TEXT",  U"UNQUOTED_TEXT",   U"TEXT_UNTIL",
    U"SUBSTRING_OF", U"DELIMITED_LIST",  U"DELIMITED_SUBSEQUENCE_OF"};
// What each of these is.
constexpr std::array kNamedGroups{NamedGroup::kToken,     NamedGroup::kToken, NamedGroup::kToken,
                                  NamedGroup::kText,      NamedGroup::kText,  NamedGroup::kUntil,
                                  NamedGroup::kSubstring, NamedGroup::kList,  NamedGroup::kList};
static_assert(kNamedGroups.size() == kNamedGroupNames.size());

// Whether the parts are texts that may stand anywhere; they are one part then, or none.
bool is_simple(const PatternPartList& parts) {
  if (parts.empty()) return true;
  const auto* meaning = std::get_if<Meaning>(&parts[0]);
  return parts.size() == 1 && meaning != nullptr && is_plain(*meaning);
}

}  // namespace

NamedGroup named_group(std::u32string_view name) {
  const auto found = std::ranges::find(kNamedGroupNames, name);
  return found == kNamedGroupNames.end() ? NamedGroup::kNone : kNamedGroups[found - kNamedGroupNames.begin()];
}

std::span<const std::u32string_view> named_group_names() { return kNamedGroupNames; }

LexemeCases lexeme_cases(const Meaning& meaning, MeaningCombiner& combiner) {
  LexemeCases found;
  for (const TextCase& one : meaning) found.push_back({one.tree, combiner.reversal(one.before), one.after});
  return found;
}

PatternTranslator::PatternTranslator(const SyntaxTree& tree, const PatternRules& rules, UnicodeSets& unicode,
                                     const NamedTexts& named, TextTrees& trees, PatternProblems& problems)
    : tree_(tree),
      rules_(rules),
      unicode_(unicode),
      named_(named),
      trees_(trees),
      problems_(problems),
      sets_(tree, rules, unicode, problems),
      combiner_(trees) {}

TextTrees::Id PatternTranslator::whole(Id root, Context context) {
  const Branches branches = folded(root);
  return bounded(root, [&] { return whole_of(branches, context); }, Tree{TextTrees::kNothing});
}

LexemeCases PatternTranslator::lexeme(Id root) {
  const Branches branches = folded(root);
  if (std::all_of(branches.begin(), branches.end(), is_simple)) {
    const Tree tree = whole_of(branches, Context::kText);
    return tree == TextTrees::kNothing ? LexemeCases() : LexemeCases{{tree}};
  }
  const Meaning meaning = bounded(
      root,
      [&] {
        std::vector<Meaning> ways;
        for (const PatternPartList& branch : branches) ways.push_back(combiner_.sequence(branch));
        return combiner_.alternation(ways);
      },
      no_text());
  if (is_plain(meaning))
    return {{bounded(root, [&] { return whole_of(branches, Context::kText); }, Tree{meaning[0].tree})}};
  const auto has_guard = [](const TextCase& one) { return (one.origins & TextCase::kGuard) != 0; };
  if (std::any_of(meaning.begin(), meaning.end(), has_guard)) return guarded(root, branches, meaning);
  return bounded(root, [&] { return lexeme_cases(meaning, combiner_); }, LexemeCases());
}

LexemeCases PatternTranslator::guarded(Id root, const Branches& branches, const Meaning& meaning) {
  const auto is_known = [](const TextCase& one) { return one.is_plain() || one.origins == TextCase::kGuard; };
  if (!std::all_of(meaning.begin(), meaning.end(), is_known))
    problems_.report("assertions-too-complex.lazy", tree_[root].start, tree_[root].end);
  return {{bounded(root, [&] { return whole_of(branches, Context::kText); }, Tree{meaning[0].tree})}};
}

// Branches with assertions one by one: a search for `^a|b` then needs no text before `a`.
TextTrees::Id PatternTranslator::whole_of(const Branches& branches, Context context) {
  std::vector<Meaning> simple;
  std::vector<PatternPartList> sought(1);
  for (const PatternPartList& branch : branches) {
    if (is_simple(branch)) {
      simple.push_back(combiner_.sequence(branch));
    } else {
      sought.push_back(branch);
    }
  }
  sought[0] = {combiner_.alternation(simple)};
  std::vector<Tree> ways;
  for (PatternPartList& parts : sought) {
    if (context == Context::kSearch) {
      parts.insert(parts.begin(), plain_meaning(TextTrees::kAnyText));
      parts.push_back(plain_meaning(TextTrees::kAnyText));
    }
    ways.push_back(combiner_.whole_text(std::move(parts)));
  }
  return trees_.alternation(ways);
}

PatternTranslator::Branches PatternTranslator::folded(Id root) {
  const bool is_choice = tree_[root].kind == Kind::kChoice;
  const std::span<const Id> branches = is_choice ? tree_.parts(tree_[root]) : std::span<const Id>(&root, 1);
  std::vector<bool> needed = nodes_below(root, [&](Id id) { return below(id); });
  if (is_choice) needed[root] = false;
  values_.assign(root + 1, {});
  n_uses_.assign(root + 1, 0);
  for (Id branch : branches) ++n_uses_[branch];
  for (Id id = 0; id <= root; ++id) {
    if (!needed[id]) continue;
    for (Id part : below(id)) ++n_uses_[part];
  }
  for (Id id = 0; id <= root; ++id) {
    if (!needed[id]) continue;
    Pause::tick();
    values_[id] = combined(id);
  }
  Branches found;
  for (Id branch : branches) found.push_back(taken(branch));
  return found;
}

std::span<const SyntaxTree::Id> PatternTranslator::below(Id id) const {
  const SyntaxNode& node = tree_[id];
  const bool is_list = node.kind == Kind::kGroup && named(node) == NamedGroup::kList;
  return is_list && tree_[node.low].kind == Kind::kChoice ? tree_.parts(tree_[node.low]) : tree_.inner(node);
}

NamedGroup PatternTranslator::named(const SyntaxNode& node) const {
  return rules_.named_groups && node.size > 0 ? named_group(tree_.name(node)) : NamedGroup::kNone;
}

PatternPartList PatternTranslator::taken(Id id) { return --n_uses_[id] == 0 ? std::move(values_[id]) : values_[id]; }

PatternPartList PatternTranslator::combined(Id id) {
  const SyntaxNode& node = tree_[id];
  switch (node.kind) {
    case Kind::kSequence: {
      PatternPartList all;
      for (Id part : tree_.parts(node)) {
        PatternPartList pieces = taken(part);
        std::move(pieces.begin(), pieces.end(), std::back_inserter(all));
      }
      return bounded(id, [&] { return combiner_.joined(std::move(all)); }, PatternPartList{no_text()});
    }
    case Kind::kChoice:
      return {bounded(id, [&] { return combiner_.alternation(evaluated(tree_.parts(node))); }, no_text())};
    case Kind::kRepeat: {
      if (node.letter == 'p') problems_.report("possessive", node.start, node.end);
      const uint64_t maximum = node.high == kUnbounded ? TextTrees::kNoMaximum : node.high;
      PatternPartList body = taken(tree_.parts(node)[0]);
      return {bounded(
          id, [&] { return combiner_.repetition(std::move(body), node.low, maximum); }, PatternPart(no_text()))};
    }
    case Kind::kGroup:
      if (named(node) == NamedGroup::kNone) return taken(node.low);
      return {named_meaning(node, id)};
    case Kind::kAtomic:
      problems_.report("atomic-group", node.start, node.end);
      return taken(tree_.parts(node)[0]);
    case Kind::kLookaround: {
      PatternPartList body = taken(tree_.parts(node)[0]);
      return {bounded(id, [&] { return lookaround(node, std::move(body)); }, no_text())};
    }
    default:
      return {leaf(id)};
  }
}

std::vector<Meaning> PatternTranslator::evaluated(std::span<const Id> parts) {
  std::vector<Meaning> found;
  for (Id part : parts) found.push_back(combiner_.sequence(taken(part)));
  return found;
}

Meaning PatternTranslator::named_meaning(const SyntaxNode& node, Id id) {
  const std::u32string_view name = tree_.name(node);
  const SyntaxNode& body = tree_[node.low];
  switch (const NamedGroup kind = named(node)) {
    case NamedGroup::kToken:
      problems_.report("token-group", node.start, node.end, {std::u32string(name)});
      return no_text();
    case NamedGroup::kText:
      if (body.kind != Kind::kSequence || body.size > 0) return misused(node, "named-group.body");
      return plain_meaning(named_(name, {}, trees_));
    case NamedGroup::kSubstring: {
      std::vector<uint32_t> whole;
      const auto parts = body.kind == Kind::kSequence ? tree_.parts(body) : std::span<const Id>(&node.low, 1);
      for (Id part : parts) {
        if (tree_[part].kind != Kind::kText || tree_[part].flags.ignore_case) return misused(node, "named-group.text");
        const auto characters = tree_.text(tree_[part]);
        whole.insert(whole.end(), characters.begin(), characters.end());
      }
      return plain_meaning(trees_.substring(whole));
    }
    default: {
      const auto alternatives = below(id);
      if (kind == NamedGroup::kList && alternatives.size() < 2) return misused(node, "named-group.list");
      std::vector<PatternPartList> bodies;
      for (Id part : alternatives) bodies.push_back(taken(part));
      const auto trees = bounded(
          id,
          [&] {
            std::vector<Tree> found;
            for (PatternPartList& parts : bodies) found.push_back(combiner_.whole_text(std::move(parts)));
            return found;
          },
          std::vector<Tree>(alternatives.size(), TextTrees::kNothing));
      return plain_meaning(named_(name, trees, trees_));
    }
  }
}

Meaning PatternTranslator::misused(const SyntaxNode& node, std::string_view code) {
  problems_.report(code, node.start, node.end, {std::u32string(tree_.name(node))});
  return no_text();
}

Meaning PatternTranslator::leaf(Id id) {
  const SyntaxNode& node = tree_[id];
  switch (node.kind) {
    case Kind::kAnchor:
      return anchor(node);
    case Kind::kBoundary:
      return word_boundary(node);
    case Kind::kBackreference:
      problems_.report("backreference", node.start, node.end);
      return no_text();
    default:
      return characters(id);
  }
}

Meaning PatternTranslator::characters(Id id) {
  const SyntaxNode& node = tree_[id];
  // What is written, and the flags: with these, the same means the same.
  const bool is_text = node.kind == Kind::kText;
  std::u32string said{static_cast<char32_t>(node.kind), static_cast<char32_t>(node.flags.bits())};
  said += is_text ? tree_.text(node) : tree_.written(node);
  if (const auto known = known_.find(said); known != known_.end()) return plain_meaning(known->second);
  const size_t n_problems = problems_.all().size();
  const Tree tree = is_text ? text(node) : trees_.char_class(sets_.members(id));
  if (problems_.all().size() == n_problems) known_.emplace(std::move(said), tree);
  return plain_meaning(tree);
}

TextTrees::Id PatternTranslator::text(const SyntaxNode& node) {
  const std::u32string_view text = tree_.text(node);
  if (!node.flags.ignore_case) {
    std::vector<uint32_t> characters(text.begin(), text.end());
    // Lone surrogates have been reported by now.
    const auto is_surrogate = [](uint32_t c) { return 0xD800 <= c && c <= 0xDFFF; };
    std::replace_if(characters.begin(), characters.end(), is_surrogate, U'?');
    return trees_.literal(characters);
  }
  std::vector<Tree> parts;
  for (char32_t c : text) {
    const auto [known, is_new] = cased_.try_emplace(uint64_t{node.flags.bits()} << 32 | c);
    if (is_new) known->second = trees_.char_class(sets_.character(c, node.flags));
    parts.push_back(known->second);
  }
  return trees_.concatenation(parts);
}

Meaning PatternTranslator::anchor(const SyntaxNode& node) {
  if (node.option) {
    CodePoints line_ends;
    for (char32_t c : rules_.line_ends) line_ends.push_back({c, c});
    const Tree line_end = combiner_.beginning(code_point_set(std::move(line_ends)));
    const Tree at_line_end = trees_.alternation({TextTrees::kEmptyText, line_end});
    const bool is_start = node.letter == 's';
    return combiner_.between(
        {{is_start ? at_line_end : TextTrees::kAnyText, is_start ? TextTrees::kAnyText : at_line_end}},
        TextCase::kAssertion);
  }
  if (node.letter == 'n') {
    const Tree newline_at_end = trees_.repetition(trees_.character('\n'), 0, 1);
    return combiner_.between({{TextTrees::kAnyText, newline_at_end}}, 0);
  }
  return node.letter == 's' ? at_text_start() : at_text_end();
}

Meaning PatternTranslator::word_boundary(const SyntaxNode& node) {
  const CodePoints members = sets_.word(node.flags);
  const Tree word = combiner_.beginning(members);
  const Tree other = trees_.alternation({TextTrees::kEmptyText, combiner_.beginning(negated(members))});
  std::vector<std::pair<Tree, Tree>> sides;
  switch (node.letter) {
    case 'b':
      sides = {{word, other}, {other, word}};
      break;
    case 'B':
      sides = {{word, word}, {other, other}};
      break;
    case 's':
      sides = {{other, word}};
      break;
    case 'e':
      sides = {{word, other}};
      break;
    case 'S':
      sides = {{other, TextTrees::kAnyText}};
      break;
    default:
      sides = {{TextTrees::kAnyText, other}};
  }
  return combiner_.between(sides, TextCase::kAssertion);
}

Meaning PatternTranslator::lookaround(const SyntaxNode& node, PatternPartList body) {
  const bool is_guard = node.letter == 'g';
  if (rules_.name == PatternDialect::Name::kRust && !is_guard) {
    problems_.report(node.option ? "lookbehind" : "lookahead", node.start, node.end);
    return no_text();
  }
  const uint8_t origin = is_guard ? TextCase::kGuard : TextCase::kAssertion;
  return node.option ? combiner_.lookbehind(std::move(body), node.negated, origin)
                     : combiner_.lookahead(std::move(body), node.negated, origin);
}

template <class Work, class Result>
Result PatternTranslator::bounded(Id id, Work work, Result instead) {
  try {
    return work();
  } catch (const TooEntangled&) {
    problems_.report("assertions-too-complex", tree_[id].start, tree_[id].end);
    return instead;
  }
}

}  // namespace cfgmask
