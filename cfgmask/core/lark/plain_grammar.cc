#include "lark/plain_grammar.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "lark/parameters.h"
#include "schema/pattern_trees.h"
#include "schema/plain_pattern.h"
#include "util/text_hash.h"

namespace cfgmask {

namespace {

using Document = PlainLarkDocument;

// Trees and expressions inside of each other: more are left to Python, which does not recurse.
constexpr uint32_t kMaxPartDepth = 400;
// Of rules that end by those behind them. More are left to Python.
constexpr int kMaxRounds = 4;
// A part of a pattern may take so many regex nodes: NODES_PER_PART in cfgmask/regex/scanner.py.
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
      : document_(document), questions_(questions), limits_(limits), out_(out), maker_(out.regexes_) {}

  // Throws NotPlain.
  void lower(std::u32string_view start) {
    if (!document_.options().empty()) {
      const auto options = questions_.options(document_);
      require(options.has_value());
      out_.options_ = *options;
    }
    enter_names();
    enter_priorities();
    for (const auto& definition : document_.definitions()) {
      if (definition.is_terminal) continue;
      in_parametric_ = definition.parametric;
      out_.rules_.push_back(
          {utf8(document_.text(definition.name)), definition.parametric, expression(definition.body)});
    }
    if (!out_.schemas_.empty()) check_schemas();
    lower_ignored();
    const auto found = names_.find(start);
    require(found != names_.end() && found->second.rule != kNoRule);
    out_.start_ = found->second.rule;
    require(!out_.rules_[out_.start_].parametric);
    check_all_used();
    check_all_end();
  }

 private:
  using Kind = PlainLark::Kind;
  using Expression = PlainLark::Expression;
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
    uint32_t n_rules = 0;
    for (const auto& definition : document_.definitions()) {
      // What an imported terminal uses is called `module__NAME`.
      require(imports.empty() || !has(document_.text(definition.name), U"__"));
      if (definition.is_terminal) {
        enter(definition.name, {{nullptr, &document_, &definition}});
      } else {
        enter(definition.name, {{}, n_rules++, definition.parametric});
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

  uint32_t add(const Expression& made) {
    out_.expressions_.push_back(made);
    return static_cast<uint32_t>(out_.expressions_.size() - 1);
  }

  uint32_t expression(uint32_t id) {
    const Deeper inside(depth_);
    const Document::Node& node = document_[id];
    switch (node.kind) {
      case Document::Kind::kName: {
        const auto found = names_.find(document_.text(node.place));
        require(found != names_.end());
        found->second.used = true;
        require(found->second.parametric == (node.parameter != Document::kNone));
        if (found->second.parametric) return call(found->second.rule, document_.argument(node.parameter));
        if (found->second.rule != kNoRule) return add({Kind::kRule, found->second.rule});
        return add({Kind::kTerminal, terminal(node.place, found->second.terminal)});
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
        const auto first = static_cast<uint32_t>(out_.parts_.size());
        out_.parts_.insert(out_.parts_.end(), made.begin(), made.end());
        const Kind kind = node.kind == Document::Kind::kSequence ? Kind::kSequence : Kind::kChoice;
        return add({kind, first, static_cast<uint32_t>(out_.parts_.size())});
      }
      case Document::Kind::kRepeat: {
        require(node.maximum != 0);
        const uint32_t body = expression(document_.parts(node)[0]);
        if (node.minimum == 1 && node.maximum == 1) return body;
        return add({Kind::kRepeat, body, 0, node.minimum, node.maximum});
      }
      case Document::Kind::kGuarded: {
        const Condition& condition = document_.condition(node.parameter);
        require(in_parametric_ || !uses_parameter(condition));
        const uint32_t body = expression(document_.parts(node)[0]);
        out_.conditions_.push_back(condition);
        return add({Kind::kGuarded, body, static_cast<uint32_t>(out_.conditions_.size() - 1)});
      }
      case Document::Kind::kAlias:
        return expression(document_.parts(node)[0]);
      case Document::Kind::kJson: {
        auto schema = questions_.schema(document_.json(node));
        require(schema != nullptr && out_.schemas_.size() < kMostSchemas);
        out_.schemas_.push_back(std::move(schema));
        return add({Kind::kSchema, static_cast<uint32_t>(out_.schemas_.size() - 1)});
      }
      case Document::Kind::kIntersection:
      case Document::Kind::kComplement:
        break;
    }
    throw NotPlain();
  }

  uint32_t call(uint32_t rule, const Argument& argument) {
    require(in_parametric_ || !uses_parameter(argument));
    out_.arguments_.push_back(argument);
    return add({Kind::kCall, rule, static_cast<uint32_t>(out_.arguments_.size() - 1)});
  }

  uint32_t terminal(Document::Place name, const Source& source) {
    return once(name, [&] { return PlainLark::Terminal{"", tree(source).number, source.definition->priority}; });
  }
  uint32_t literal(const Document::Node& node) {
    if (node.kind == Document::Kind::kString && node.first == node.last) return add({Kind::kSequence, 0, 0});
    const uint32_t made = once(node.place, [&] {
      const auto priority = priorities_.empty() ? priorities_.end() : priorities_.find(key(node));
      const Tree found = tree({nullptr, &document_, nullptr}, node);
      require(!found.only_empty);
      return PlainLark::Terminal{"", found.number, priority == priorities_.end() ? 0 : priority->second};
    });
    return add({Kind::kTerminal, made});
  }
  // One terminal for all places that are spelled like this one.
  template <typename Make>
  uint32_t once(Document::Place place, Make make) {
    const std::u32string_view spelling = document_.text(place);
    const auto [known, is_new] = spelled_.try_emplace(spelling, static_cast<uint32_t>(out_.terminals_.size()));
    if (is_new) {
      PlainLark::Terminal made = make();
      made.name = utf8(spelling);
      out_.terminals_.push_back(std::move(made));
    }
    return known->second;
  }

  void lower_ignored() {
    std::vector<uint32_t> ways;
    TextSet<std::u32string_view> names;
    for (uint32_t id : document_.ignored()) {
      const Tree made = tree({nullptr, &document_, nullptr}, document_[id]);
      require(!made.only_empty);
      ways.push_back(made.number);
      const std::u32string_view name = document_.text(document_[id].place);
      if (names.insert(name).second) out_.ignored_name_ += (names.size() == 1 ? "" : " | ") + utf8(name);
    }
    if (!ways.empty()) out_.ignored_ = maker_.alternation(ways);
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
    return out_.regexes_.parts(kind, numbers(parts));
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
    return checked({out_.regexes_.append(asked->data())});
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
    require(out_.regexes_.height(made.number) <= limits_.max_nesting * RegexData::kHeightPerNesting);
    return made;
  }

  // See GrammarBuilder::defer.
  void check_schemas() const {
    require(!out_.options_.complete && out_.arguments_.empty() && out_.conditions_.empty());
  }

  // What has to be told of, or is wrong.

  void check_all_used() const {
    for (const auto& [name, meaning] : names_) require(meaning.used || meaning.rule != kNoRule);
    std::vector<bool> reached(out_.rules_.size());
    std::vector<uint32_t> rules{out_.start_};
    reached[out_.start_] = true;
    for (size_t i = 0; i < rules.size(); ++i) {
      std::vector<uint32_t> pending{out_.rules_[rules[i]].body};
      while (!pending.empty()) {
        const Expression& part = out_.expressions_[pending.back()];
        pending.pop_back();
        if (part.kind == Kind::kRule || part.kind == Kind::kCall) {
          if (!reached[part.first]) rules.push_back(part.first);
          reached[part.first] = true;
        } else if (part.kind == Kind::kRepeat || part.kind == Kind::kGuarded) {
          pending.push_back(part.first);
        } else if (part.kind == Kind::kSequence || part.kind == Kind::kChoice) {
          pending.insert(pending.end(), out_.parts_.begin() + part.first, out_.parts_.begin() + part.last);
        }
      }
    }
    require(rules.size() == out_.rules_.size());
  }

  void check_all_end() const {
    std::vector<bool> ends(out_.rules_.size());
    for (int round = 0; round < kMaxRounds; ++round) {
      for (size_t i = ends.size(); i-- > 0;) ends[i] = ends[i] || can_end(out_.rules_[i].body, ends);
    }
    require(std::find(ends.begin(), ends.end(), false) == ends.end());
  }
  bool can_end(uint32_t id, const std::vector<bool>& rules) const {
    const Expression& of = out_.expressions_[id];
    const bool has_parts = of.kind == Kind::kSequence || of.kind == Kind::kChoice;
    const auto first = out_.parts_.begin() + (has_parts ? of.first : 0);
    const auto last = out_.parts_.begin() + (has_parts ? of.last : 0);
    switch (of.kind) {
      case Kind::kTerminal:
      case Kind::kSchema:
        return true;
      case Kind::kRule:
      case Kind::kCall:
        return rules[of.first];
      case Kind::kSequence:
        return std::all_of(first, last, [&](uint32_t part) { return can_end(part, rules); });
      case Kind::kChoice:
        return std::any_of(first, last, [&](uint32_t part) { return can_end(part, rules); });
      case Kind::kRepeat:
        return of.minimum == 0 || can_end(of.first, rules);
      case Kind::kGuarded:
        return can_end(of.first, rules);
    }
    return false;
  }

  const Document& document_;
  const PlainLarkQuestions& questions_;
  const Limits& limits_;
  PlainLark& out_;
  RegexDataMaker maker_;
  uint32_t depth_ = 0;
  bool in_parametric_ = false;  // whether the rule that is lowered has a parameter
  TextMap<std::u32string_view, Name> names_;
  TextMap<std::u32string_view, uint32_t> spelled_;
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

// In the order in which cfgmask/compiler/build.py hands rules over: symbols then have the same numbers.
class PlainLark::Handing {
 public:
  Handing(const PlainLark& grammar, GrammarBuilder& builder) : grammar_(grammar), builder_(builder) {}

  std::pair<uint32_t, uint32_t> hand_over() {
    regexes_.resize(grammar_.regexes_.size());
    scope_ = builder_.scope(grammar_.options_.ignore_once);
    if (grammar_.ignored_ != kNone) builder_.ignore(scope_, regex(grammar_.ignored_), grammar_.ignored_name_, {});
    for (const Rule& rule : grammar_.rules_) rules_.push_back(builder_.nonterminal(rule.name));
    schemas_.resize(grammar_.schemas_.size(), kNone);
    terminals_.resize(grammar_.terminals_.size(), kNone);
    for (size_t i = 0; i < rules_.size(); ++i) add_alternatives(grammar_.rules_[i], rules_[i]);
    return {rules_[grammar_.start_], scope_};
  }

 private:
  void add_alternatives(const Rule& rule, uint32_t nonterminal) {
    pending_ = {{nonterminal, rule.body}};
    while (!pending_.empty()) {
      const auto [owner, body] = pending_.back();
      pending_.pop_back();
      for (uint32_t alternative : parts(body, Kind::kChoice)) {
        const Expression& of = grammar_.expressions_[alternative];
        const bool is_guarded = of.kind == Kind::kGuarded;
        std::vector<uint32_t> symbols;
        for (uint32_t part : parts(is_guarded ? of.first : alternative, Kind::kSequence))
          symbols.push_back(symbol(part, rule));
        builder_.alternative(owner, symbols, is_guarded ? grammar_.conditions_[of.last] : Condition());
      }
    }
  }

  // Those of an expression of this kind; of another one itself.
  std::vector<uint32_t> parts(uint32_t id, Kind kind) const {
    const Expression& of = grammar_.expressions_[id];
    if (of.kind != kind) return {id};
    return {grammar_.parts_.begin() + of.first, grammar_.parts_.begin() + of.last};
  }

  uint32_t symbol(uint32_t id, const Rule& rule) {
    const Expression& of = grammar_.expressions_[id];
    switch (of.kind) {
      case Kind::kRule:
        return rules_[of.first];
      case Kind::kCall:
        return builder_.call(rules_[of.first], grammar_.arguments_[of.last]);
      case Kind::kTerminal:
        return terminal(of.first);
      case Kind::kSchema:
        return schema(of.first);
      case Kind::kRepeat: {
        const bool is_nested = grammar_.expressions_[of.first].kind == Kind::kRepeat;
        const uint32_t body = is_nested ? group(of.first, rule) : symbol(of.first, rule);
        return builder_.repeat(body, of.minimum, of.maximum);
      }
      case Kind::kSequence:
      case Kind::kChoice:
      case Kind::kGuarded:
        break;
    }
    return group(id, rule);
  }

  uint32_t group(uint32_t id, const Rule& rule) {
    const uint32_t made = builder_.nonterminal(rule.name + "." + std::to_string(++n_groups_));
    pending_.emplace_back(made, id);
    // It has the parameter of its rule.
    return rule.parametric ? builder_.call(made, {}) : made;
  }

  uint32_t schema(uint32_t index) {
    if (schemas_[index] == kNone) schemas_[index] = cfgmask::hand_over(grammar_.schemas_[index], builder_).first;
    return schemas_[index];
  }

  uint32_t terminal(uint32_t index) {
    if (terminals_[index] != kNone) return terminals_[index];
    const Terminal& of = grammar_.terminals_[index];
    const uint32_t regex = this->regex(of.regex);
    const auto [known, is_new] = made_.try_emplace({regex, of.priority, of.name}, 0);
    if (is_new) known->second = builder_.terminal(regex, scope_, of.priority, of.name);
    return terminals_[index] = known->second;
  }

  uint32_t regex(uint32_t number) {
    return builder_.with([&](RegexStore& r) { return grammar_.regexes_.make(r, number, regexes_); }).value;
  }

  const PlainLark& grammar_;
  GrammarBuilder& builder_;
  uint32_t scope_ = 0;
  uint32_t n_groups_ = 0;
  std::vector<std::optional<RegexId>> regexes_;
  std::vector<uint32_t> rules_;
  std::vector<uint32_t> schemas_;    // kNone: not yet made
  std::vector<uint32_t> terminals_;  // the same
  std::map<std::tuple<uint32_t, int32_t, std::string>, uint32_t> made_;
  std::vector<std::pair<uint32_t, uint32_t>> pending_;
};

std::pair<uint32_t, uint32_t> PlainLark::hand_over(GrammarBuilder& builder) const {
  return Handing(*this, builder).hand_over();
}

}  // namespace cfgmask
