#include "pattern/meaning.h"

#include <utility>

#include "pattern/backreferences.h"
#include "pattern/lazy.h"
#include "pattern/token_groups.h"

namespace cfgmask {

namespace {

// Answers one question; `problems_` go into what is found.
class PatternAnswer {
 public:
  PatternAnswer(const PatternQuestion& question, PatternSyntax& syntax, UnicodeSets& unicode, const NamedTexts& named,
                PatternMeaning& found)
      : question_(question),
        tree_(syntax.tree),
        root_(syntax.root),
        unicode_(unicode),
        named_(named),
        rules_(PatternRules::of(question.dialect, question.flags)),
        problems_(std::move(syntax.problems)),
        found_(found) {
    rules_.named_groups = question.named_groups;
    rules_.ascii_digits = question.ascii_digits;
  }

  void find() {
    try {
      if (question_.dialect != PatternDialect::Name::kRust) root_ = without_backreferences(tree_, root_);
      switch (question_.use) {
        case PatternUse::kText:
        case PatternUse::kSearch: {
          const bool is_search = question_.use == PatternUse::kSearch;
          using Context = PatternTranslator::Context;
          found_.tree = translator().whole(root_, is_search ? Context::kSearch : Context::kText);
          break;
        }
        case PatternUse::kLexeme:
          lexeme();
          break;
        case PatternUse::kExtendedLexeme:
          if (is_lazy(tree_, root_)) problems_.report("lazy-with-tokens", 0, question_.pattern.size());
          [[fallthrough]];
        case PatternUse::kExtendedText:
          split_at_tokens(tree_, root_, question_, rules_, unicode_, named_, problems_, found_);
          break;
      }
    } catch (const PatternProblems::TooMany&) {
      // What was reported is enough.
    }
    found_.problems = problems_.all();
  }

 private:
  PatternTranslator translator() { return {tree_, rules_, unicode_, named_, found_.trees, problems_}; }

  void lexeme() {
    root_ = without_lazy(tree_, root_, problems_);
    if (!problems_.all().empty()) return;
    if (question_.keep_excluded) {
      auto words = excluded_words(tree_, root_, rules_, unicode_, found_.trees);
      if (words) {
        found_.cases = translator().lexeme(words->rest);
        if (!problems_.all().empty()) return;
        const auto& cases = found_.cases;
        if (cases.size() == 1 && cases[0].before == TextTrees::kAnyText && cases[0].after == TextTrees::kAnyText) {
          found_.excluded = std::move(words->excluded);
          return;
        }
      }
    }
    found_.cases = translator().lexeme(root_);
  }

  const PatternQuestion& question_;
  SyntaxTree& tree_;
  SyntaxTree::Id root_;
  UnicodeSets& unicode_;
  const NamedTexts& named_;
  PatternRules rules_;
  PatternProblems problems_;
  PatternMeaning& found_;
};

}  // namespace

PatternMeaning meaning_of(const PatternQuestion& question, const PatternReadingOptions& options, UnicodeSets& unicode,
                          const NamedTexts& named) {
  PatternMeaning found;
  PatternSyntax syntax = read_pattern(question.pattern, question.dialect, question.flags, options);
  if (syntax.stop) {
    found.stop = syntax.stop;
    found.stopped_at = syntax.stopped_at;
    found.problems = std::move(syntax.problems);
    return found;
  }
  PatternAnswer(question, syntax, unicode, named, found).find();
  return found;
}

bool has_lazy_choice(const PatternQuestion& question, const PatternReadingOptions& options) {
  const PatternSyntax syntax = read_pattern(question.pattern, question.dialect, question.flags, options);
  return !syntax.stop && syntax.problems.empty() && is_lazy(syntax.tree, syntax.root);
}

}  // namespace cfgmask
