#include "lark/plain_grammar.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "lark/parameters.h"
#include "schema/pattern_trees.h"
#include "schema/plain_pattern.h"
#include "util/known_or_made.h"
#include "util/pause.h"
#include "util/text_hash.h"

namespace cfgmask {

namespace {

using Document = PlainLarkDocument;

// Trees and expressions inside of each other: more are left to Python, which does not recurse.
constexpr uint32_t kMaxPartDepth = 400;
// Of rules that end by those behind them. More are left to Python.
constexpr int kMaxRounds = 4;
// A part of a pattern may take so many regex nodes: NODES_PER_PART in cfgmask/regex/parser.py.
constexpr uint64_t kNodesPerPart = 4;
// What importing a module counts at most, in rules: see cfgmask/lark/link.py.
constexpr uint64_t kRulesPerImport = 10'000;

// Each has a part of the numbers of what follows keys, in which this leaves two millions.
constexpr size_t kMostSchemas = 1000;

struct NotPlain {};

void require(bool holds) {
  if (!holds) throw NotPlain();
}

std::string utf8(std::u32string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char32_t c : text) append_utf8(c, out);
  return out;
}

// As `_NOT_TEXT` in cfgmask/text.py.
bool is_text(char32_t c) {
  if (c < 0x20) return c >= 0x9 && c <= 0xD;
  return c != 0x7F && (c < 0xD800 || c > 0xDFFF) && c != 0xFFFE && c != 0xFFFF;
}

bool has(std::u32string_view text, std::u32string_view part) { return text.find(part) != std::u32string_view::npos; }

bool has_any(std::u32string_view text, std::span<const std::u32string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::u32string_view part) { return has(text, part); });
}

// Whether a pattern may have lazy quantifiers, or operations on classes, which Rust reads in another way than Python.
bool may_be_special(std::u32string_view pattern) {
  static constexpr std::array<std::u32string_view, 7> kSpecial = {U"&&", U"~~", U"--[", U"*?", U"+?", U"??", U"}?"};
  return has_any(pattern, kSpecial);
}

}  // namespace

LarkLibrary::LarkLibrary(std::vector<std::u32string> texts, const CharacterKinds& kinds) {
  for (std::u32string& text : texts) {
    auto read = Document::read(std::move(text), kinds, UINT64_MAX, UINT64_MAX, Document::Others::kLeaveOut);
    if (read == nullptr) continue;
    for (const auto& definition : read->definitions()) {
      if (definition.is_terminal) terminals_[read->text(definition.name)] = {read.get(), &definition};
    }
    documents_.push_back(std::move(read));
  }
}

class PlainLarkLowering {
 public:
  PlainLarkLowering(const Document& document, const PlainLarkQuestions& questions, const Limits& limits, PlainLark& out)
      : document_(document),
        questions_(questions),
        limits_(limits),
        out_(out),
        form_(out.form_),
        maker_(out.form_.regexes()) {}

  // Throws NotPlain.
  void lower(std::u32string_view start) {
    if (!document_.options().empty()) {
      const auto options = questions_.options(document_);
      require(options.has_value());
      options_ = *options;
    }
    scope_ = form_.scope(options_.ignore_once);
    enter_names();
    enter_priorities();
    size_t next = 0;
    for (const auto& definition : document_.definitions()) {
      if (definition.is_terminal) continue;
      in_parametric_ = definition.parametric;
      form_.body(rules_[next], definition.max_tokens ? limited(definition, rules_[next]) : expression(definition.body));
      ++next;
    }
    if (!form_.parts().empty()) check_schemas();
    lower_ignored();
    const auto found = names_.find(start);
    require(found != names_.end() && found->second.rule != kNoRule);
    start_ = found->second.rule;
    require(!form_.rules()[start_].parametric);
    form_.start(form_.reference(start_), scope_, {options_.complete, options_.ignore_initial, options_.ignore_final});
    check_all_used();
    check_all_end();
  }

 private:
  using Kind = GrammarForm::Kind;
  using Expression = GrammarForm::Expression;
  static constexpr uint32_t kNoRule = UINT32_MAX;

  // A terminal of the grammar, or of a module if that is given.
  struct Source {
    const LarkLibrary* library;
    const Document* document;
    const Document::Definition* definition;
  };
  struct Name {
    Source terminal;
    uint32_t rule = kNoRule;
    bool parametric = false;
    bool used = false;
  };
  // depth, only_empty  as of TerminalRegex in cfgmask/lark/terminals.py
  struct Tree {
    uint32_t number;
    uint64_t depth = 0;
    bool only_empty = false;
  };
  // What is counted while something inside is being made.
  class Deeper {
   public:
    explicit Deeper(uint32_t& depth) : depth_(depth) { require(++depth_ <= kMaxPartDepth); }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    uint32_t& depth_;
  };

  void enter_names() {
    const auto& imports = document_.imports();
    require(imports.empty() || limits_.max_rules / kRulesPerImport >= imports.size());
    for (const auto& imported : imports) {
      const LarkLibrary* library = questions_.library(imported.module);
      require(library != nullptr);
      const LarkLibrary::Entry* entry = library->find(document_.text(imported.name));
      require(entry != nullptr && lark_name(document_.text(imported.alias)) == LarkName::kTerminal);
      enter(imported.alias, {{library, entry->document, entry->definition}});
    }
    for (const auto& definition : document_.definitions()) {
      // What an imported terminal uses is called `module__NAME`.
      require(imports.empty() || !has(document_.text(definition.name), U"__"));
      if (definition.is_terminal) {
        enter(definition.name, {{nullptr, &document_, &definition}});
      } else {
        rules_.push_back(form_.rule(rule(definition)));
        enter(definition.name, {{}, rules_.back(), definition.parametric});
      }
    }
  }
  void enter(Document::Place name, Name meaning) { require(names_.emplace(document_.text(name), meaning).second); }

  // A literal has the priority of the first terminal that is this literal alone: to Lark they are one.
  void enter_priorities() {
    for (const auto& definition : document_.definitions()) {
      if (!definition.is_terminal || definition.priority == 0) continue;
      const Document::Node* sole = &document_[definition.body];
      while ((sole->kind == Document::Kind::kSequence || sole->kind == Document::Kind::kChoice) &&
             sole->last - sole->first == 1) {
        sole = &document_[document_.parts(*sole)[0]];
      }
      if (is_literal(*sole)) priorities_.emplace(key(*sole), definition.priority);
    }
  }
  static bool is_literal(const Document::Node& node) {
    return node.kind == Document::Kind::kString || node.kind == Document::Kind::kPattern ||
           node.kind == Document::Kind::kRange;
  }
  std::u32string key(const Document::Node& node) const {
    if (node.kind == Document::Kind::kString) {
      std::u32string found(document_.value(node));
      return (node.ignores_case ? U"i" : U"s") + found;
    }
    if (node.kind == Document::Kind::kRange)
      return {U'r', static_cast<char32_t>(node.minimum), static_cast<char32_t>(node.maximum)};
    std::u32string flags(document_.flags(node));
    std::sort(flags.begin(), flags.end());
    return U'/' + flags + U'/' + std::u32string(document_.pattern(node));
  }

  // Rules.

  GrammarForm::Rule rule(const Document::Definition& definition) {
    GrammarForm::Rule made;
    made.place = place(utf8(document_.text(definition.name)));
    made.parametric = definition.parametric;
    return made;
  }
  uint32_t place(PlainLark::Named named) {
    out_.places_.push_back(std::move(named));
    return static_cast<uint32_t>(out_.places_.size() - 1);
  }

  uint32_t expression(uint32_t id) {
    Pause::tick();
    const Deeper inside(depth_);
    const Document::Node& node = document_[id];
    switch (node.kind) {
      case Document::Kind::kName: {
        const auto found = names_.find(document_.text(node.place));
        require(found != names_.end());
        found->second.used = true;
        require(found->second.parametric == (node.parameter != Document::kNone));
        if (found->second.parametric) return call(found->second.rule, document_.argument(node.parameter));
        if (found->second.rule != kNoRule) return form_.reference(found->second.rule);
        return terminal(node.place, found->second.terminal);
      }
      case Document::Kind::kString:
      case Document::Kind::kPattern:
      case Document::Kind::kRange:
        return literal(node);
      case Document::Kind::kSequence:
      case Document::Kind::kChoice: {
        const auto parts = document_.parts(node);
        if (parts.size() == 1) return expression(parts[0]);
        std::vector<uint32_t> made;
        for (uint32_t part : parts) made.push_back(expression(part));
        return node.kind == Document::Kind::kSequence ? form_.sequence(made) : form_.choice(made);
      }
      case Document::Kind::kRepeat: {
        require(node.maximum != 0);
        const uint32_t body = expression(document_.parts(node)[0]);
        if (node.minimum == 1 && node.maximum == 1) return body;
        return form_.repeat(body, node.minimum, node.maximum);
      }
      case Document::Kind::kGuarded: {
        const Condition& condition = document_.condition(node.parameter);
        require(in_parametric_ || !uses_parameter(condition));
        const uint32_t body = expression(document_.parts(node)[0]);
        return form_.guarded(body, condition);
      }
      case Document::Kind::kAlias:
        return expression(document_.parts(node)[0]);
      case Document::Kind::kJson: {
        auto schema = questions_.schema(document_.json(node));
        require(schema != nullptr && form_.parts().size() < kMostSchemas);
        return form_.part({std::move(schema), nullptr, {}, false, place(node.first)});
      }
      case Document::Kind::kTokens:
        return token_set(node.place);
      case Document::Kind::kIntersection:
      case Document::Kind::kComplement:
        break;
    }
    throw NotPlain();
  }

  // The body of a rule with a limit on its tokens, which is one terminal with that limit where it leads no further.
  uint32_t limited(const Document::Definition& definition, uint32_t rule) {
    const uint32_t max_tokens = *definition.max_tokens;
    require(max_tokens != 0);
    if (leads_further(definition.body)) {
      form_.limit(rule, max_tokens);
      return expression(definition.body);
    }
    const Tree found = tree({nullptr, &document_, nullptr}, document_[definition.body]);
    require(!found.only_empty);
    GrammarForm::Terminal made{utf8(document_.text(definition.name)), found.number, scope_};
    made.place = form_.rules()[rule].place;
    made.max_tokens = max_tokens;
    return form_.terminal(std::move(made));
  }
  // Whether a body is more than one terminal.
  bool leads_further(uint32_t id) const {
    std::vector<uint32_t> pending{id};
    while (!pending.empty()) {
      const Document::Node& node = document_[pending.back()];
      pending.pop_back();
      switch (node.kind) {
        case Document::Kind::kJson:
        case Document::Kind::kTokens:
        case Document::Kind::kGuarded:
          return true;
        case Document::Kind::kName: {
          const auto found = names_.find(document_.text(node.place));
          require(found != names_.end());
          if (found->second.rule != kNoRule) return true;
          break;
        }
        case Document::Kind::kString:
        case Document::Kind::kPattern:
        case Document::Kind::kRange:
          break;
        default: {
          const auto parts = document_.parts(node);
          pending.insert(pending.end(), parts.begin(), parts.end());
        }
      }
    }
    return false;
  }

  // One set for all places that are spelled like this one.
  uint32_t token_set(Document::Place at) {
    const std::u32string_view spelling = document_.text(at);
    return known_or_made(spelled_, spelling, [&] {
      require(questions_.tokens(spelling));
      const auto number = static_cast<uint32_t>(out_.token_sets_.size());
      const std::string name = utf8(spelling);
      out_.token_sets_.push_back(name);
      return form_.token_set({GrammarForm::TokenSet::Kind::kIds, number, scope_, name, place(name)});
    });
  }

  uint32_t call(uint32_t rule, const Argument& argument) {
    require(in_parametric_ || !uses_parameter(argument));
    has_calls_ = true;
    return form_.call(rule, argument);
  }

  uint32_t terminal(Document::Place name, const Source& source) {
    return once(name, [&] { return std::pair(tree(source).number, source.definition->priority); });
  }
  uint32_t literal(const Document::Node& node) {
    if (node.kind == Document::Kind::kString && node.first == node.last) return form_.sequence({});
    return once(node.place, [&] {
      const auto priority = priorities_.empty() ? priorities_.end() : priorities_.find(key(node));
      const Tree found = tree({nullptr, &document_, nullptr}, node);
      require(!found.only_empty);
      return std::pair(found.number, priority == priorities_.end() ? 0 : priority->second);
    });
  }
  // One terminal for all places that are spelled like this one. `make()` gives its regex and its priority.
  template <typename Make>
  uint32_t once(Document::Place at, Make make) {
    const std::u32string_view spelling = document_.text(at);
    return known_or_made(spelled_, spelling, [&] {
      const auto [regex, priority] = make();
      GrammarForm::Terminal made{utf8(spelling), regex, scope_};
      made.place = place(made.name);
      made.priority = priority;
      return form_.terminal(std::move(made));
    });
  }

  void lower_ignored() {
    for (uint32_t id : document_.ignored()) {
      const Tree made = tree({nullptr, &document_, nullptr}, document_[id]);
      require(!made.only_empty);
      form_.ignore(scope_, {made.number, utf8(document_.text(document_[id].place))});
    }
  }

  // Regexes.

  Tree tree(const Source& of) {
    // Priorities of what is imported are left to Python: what it uses may be a literal with one, too.
    require(of.library == nullptr || of.definition->priority == 0);
    const auto [known, is_new] = trees_.try_emplace(of.definition, std::nullopt);
    if (!is_new) {
      require(known->second.has_value());  // else it contains itself
      return *known->second;
    }
    const Tree made = tree(of, (*of.document)[of.definition->body]);
    require(!made.only_empty);
    trees_[of.definition] = made;
    return made;
  }

  // A node of a definition, or of the grammar.
  Tree tree(const Source& in, const Document::Node& node) {
    Pause::tick();
    const Deeper inside(depth_);
    const Document& document = *in.document;
    switch (node.kind) {
      case Document::Kind::kName:
        require(node.parameter == Document::kNone);
        return tree(find(in, document.text(node.place)));
      case Document::Kind::kString:
        return string(document.value(node), node.ignores_case);
      case Document::Kind::kPattern:
        return pattern(document.pattern(node), document.flags(node));
      case Document::Kind::kRange: {
        require(node.maximum < 0xD800 || node.minimum > 0xDFFF);
        const CodePointRange range{node.minimum, node.maximum};
        return {maker_.char_class({&range, 1})};
      }
      case Document::Kind::kGuarded:
      case Document::Kind::kAlias:
      case Document::Kind::kJson:
      case Document::Kind::kTokens:
        throw NotPlain();
      case Document::Kind::kSequence:
      case Document::Kind::kChoice:
      case Document::Kind::kIntersection:
      case Document::Kind::kComplement:
      case Document::Kind::kRepeat:
        break;
    }
    std::vector<Tree> parts;
    for (uint32_t part : document.parts(node)) parts.push_back(tree(in, document[part]));
    const bool is_single = parts.size() == 1;
    switch (node.kind) {
      case Document::Kind::kSequence:
        if (parts.empty()) return empty();
        return is_single ? parts[0] : nested(parts, maker_.concatenation(numbers(parts)));
      case Document::Kind::kChoice:
        return is_single ? parts[0] : nested(parts, maker_.alternation(numbers(parts)));
      case Document::Kind::kIntersection:
        return nested(parts, of_parts(RegexData::Kind::kIntersection, parts));
      case Document::Kind::kComplement: {
        Tree made = nested(parts, of_parts(RegexData::Kind::kComplement, parts));
        made.only_empty = false;
        return made;
      }
      default:
        if (node.maximum == 0) return empty();
        return nested(parts, maker_.repetition(parts[0].number, node.minimum, node.maximum));
    }
  }

  Source find(const Source& in, std::u32string_view name) {
    if (in.library != nullptr) {
      const LarkLibrary::Entry* entry = in.library->find(name);
      require(entry != nullptr);
      return {in.library, entry->document, entry->definition};
    }
    const auto found = names_.find(name);
    require(found != names_.end() && found->second.rule == kNoRule);
    found->second.used = true;
    return found->second.terminal;
  }

  Tree empty() { return {maker_.literal(""), 0, true}; }

  static std::vector<uint32_t> numbers(const std::vector<Tree>& parts) {
    std::vector<uint32_t> found;
    for (const Tree& part : parts) found.push_back(part.number);
    return found;
  }
  uint32_t of_parts(RegexData::Kind kind, const std::vector<Tree>& parts) {
    return form_.regexes().parts(kind, numbers(parts));
  }
  Tree nested(const std::vector<Tree>& parts, uint32_t number) const {
    Tree made{number, 0, true};
    for (const Tree& part : parts) {
      made.depth = std::max(made.depth, part.depth + 1);
      made.only_empty = made.only_empty && part.only_empty;
    }
    return checked(made);
  }

  Tree string(std::u32string_view value, bool ignores_case) {
    if (!ignores_case) return {maker_.literal(utf8(value)), 0, value.empty()};
    if (value.empty()) return empty();
    std::vector<uint32_t> parts;
    for (char32_t c : value) {
      const auto alike = questions_.any_case(c);
      const bool alone = alike.size() == 1 && alike[0].low == alike[0].high;
      parts.push_back(alone ? maker_.literal(utf8({&c, 1})) : maker_.char_class(alike));
    }
    return {parts.size() == 1 ? parts[0] : maker_.concatenation(parts)};
  }

  Tree pattern(std::u32string_view body, std::u32string_view flags) {
    require(!may_be_special(body));
    if (const auto read = plain_pattern(body, flags)) {
      const PatternTrees trees(*read, maker_);
      return checked({trees.whole(), 0, trees.only_empty()});
    }
    const auto asked = questions_.pattern(body, flags);
    require(asked != nullptr);
    return checked({form_.regexes().append(asked->data())});
  }

  // As in cfgmask/regex/plain.py.
  std::optional<PlainPattern> plain_pattern(std::u32string_view body, std::u32string_view flags) const {
    if (flags.find_first_not_of(U"su") != std::u32string_view::npos) return std::nullopt;
    if (kNodesPerPart * body.size() > limits_.max_regex_nodes) return std::nullopt;
    using Syntax = PlainPattern::Syntax;
    const Syntax syntax = has(flags, U"s") ? Syntax::kPythonDotAll : Syntax::kPython;
    return PlainPattern::parse(utf8(body), limits_.max_nesting, syntax);
  }

  Tree checked(Tree made) const {
    require(made.depth <= limits_.max_nesting);
    require(form_.regexes().height(made.number) <= limits_.max_nesting * RegexData::kHeightPerNesting);
    return made;
  }

  // See GrammarBuilder::defer.
  void check_schemas() const { require(!options_.complete && !has_calls_); }

  // What has to be told of, or is wrong.

  // How many rules the start leads to, itself included.
  size_t n_used_rules() const {
    std::vector<uint32_t> rules{start_};
    std::vector<bool> reached(form_.rules().size());
    reached[start_] = true;
    for (size_t i = 0; i < rules.size(); ++i) {
      std::vector<uint32_t> pending{form_.rules()[rules[i]].body};
      while (!pending.empty()) {
        const Expression& part = form_[pending.back()];
        pending.pop_back();
        if (part.kind == Kind::kRule || part.kind == Kind::kCall) {
          if (!reached[part.first]) rules.push_back(part.first);
          reached[part.first] = true;
        } else if (part.kind == Kind::kRepeat || part.kind == Kind::kGuarded) {
          pending.push_back(part.first);
        } else if (part.kind == Kind::kSequence || part.kind == Kind::kChoice) {
          const auto parts = form_.parts(part);
          pending.insert(pending.end(), parts.begin(), parts.end());
        }
      }
    }
    return rules.size();
  }

  void check_all_used() const {
    for (const auto& [name, meaning] : names_) require(meaning.used || meaning.rule != kNoRule);
    require(n_used_rules() == form_.rules().size());
  }

  void check_all_end() const {
    std::vector<bool> ends(form_.rules().size());
    for (int round = 0; round < kMaxRounds; ++round) {
      for (size_t i = ends.size(); i-- > 0;) ends[i] = ends[i] || can_end(form_.rules()[i].body, ends);
    }
    require(std::find(ends.begin(), ends.end(), false) == ends.end());
  }
  bool can_end(uint32_t id, const std::vector<bool>& rules) const {
    const Expression& of = form_[id];
    const bool has_parts = of.kind == Kind::kSequence || of.kind == Kind::kChoice;
    const auto parts = has_parts ? form_.parts(of) : std::span<const uint32_t>();
    const auto can = [&](uint32_t part) { return can_end(part, rules); };
    switch (of.kind) {
      case Kind::kTerminal:
      case Kind::kTokenSet:
      case Kind::kPart:
        return true;
      case Kind::kRule:
      case Kind::kCall:
        return rules[of.first];
      case Kind::kSequence:
        return std::all_of(parts.begin(), parts.end(), can);
      case Kind::kChoice:
        return std::any_of(parts.begin(), parts.end(), can);
      case Kind::kRepeat:
        return of.minimum == 0 || can_end(of.first, rules);
      case Kind::kGuarded:
        return can_end(of.first, rules);
      default:
        return false;
    }
  }

  const Document& document_;
  const PlainLarkQuestions& questions_;
  const Limits& limits_;
  PlainLark& out_;
  GrammarForm& form_;
  RegexDataMaker maker_;
  PlainLarkOptions options_;
  uint32_t scope_ = 0;
  uint32_t start_ = 0;
  std::vector<uint32_t> rules_;  // of the form, in the order of their definitions
  bool has_calls_ = false;
  uint32_t depth_ = 0;
  bool in_parametric_ = false;  // whether the rule that is lowered has a parameter
  TextMap<std::u32string_view, Name> names_;
  TextMap<std::u32string_view, uint32_t> spelled_;  // terminals and token sets of the form, by how they are written
  TextMap<std::u32string, int32_t> priorities_;
  // Of definitions; none while one is being made.
  std::unordered_map<const Document::Definition*, std::optional<Tree>> trees_;
};

std::shared_ptr<const PlainLark> PlainLark::read(std::u32string text, std::u32string_view start,
                                                 const PlainLarkQuestions& questions, const Limits& limits,
                                                 uint64_t max_tokens) {
  if (!std::all_of(text.begin(), text.end(), is_text)) return nullptr;
  const auto document =
      Document::read(std::move(text), questions.kinds, max_tokens, limits.max_nesting, Document::Others::kRefuse);
  if (document == nullptr) return nullptr;
  auto out = std::make_shared<PlainLark>();
  try {
    PlainLarkLowering(*document, questions, limits, *out).lower(start);
  } catch (const NotPlain&) {
    return nullptr;
  }
  return out;
}

}  // namespace cfgmask
