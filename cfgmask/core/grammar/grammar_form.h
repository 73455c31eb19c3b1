// A grammar as a front end hands it over: rules, whose bodies are expressions over terminals, token sets, other rules
// and parts. All numbers in it are its own. Symbols are numbered in one place (grammar/numbering.h), so front ends
// cannot disagree about them; whoever wants to know later where a symbol stands gives it a place, a number that means
// something to him alone.
//
// It belongs to no vocabulary: token sets are named by numbers, and the ids of each come beside the form.
//
// Threads: immutable once it is whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "earley/grammar.h"
#include "earley/parameter.h"
#include "json_schema/rules/hand_over.h"
#include "regex/regex_data.h"

namespace cfgmask {

class GrammarForm {
 public:
  enum class Kind : uint8_t {
    kTerminal,
    kTokenSet,
    kRule,
    kCall,
    kPart,
    kSequence,
    kChoice,
    kRepeat,
    kGuarded,
    kVariants,
    kRowText,  // in the body of variants: the places of a row's text and part
    kRowPart,
  };
  // first  the number of a terminal, token set, rule, part, or rows; of what is repeated or guarded, its body; of
  //        sequences and choices, where their parts begin in the list of all
  // last   where they end; of a call, the number of what it gives; of what is guarded, that of the condition; of
  //        variants, the sequence that is their body
  struct Expression {
    Kind kind;
    uint32_t first;
    uint32_t last = 0;
    uint32_t minimum = 0;
    uint32_t maximum = 0;
  };

  // Numbers of regexes: all of the text before a lexeme and all of the text after it; none: anything.
  struct Around {
    std::optional<uint32_t> before = std::nullopt;
    std::optional<uint32_t> after = std::nullopt;
    friend auto operator<=>(const Around&, const Around&) = default;
  };
  struct Ignored {
    uint32_t regex;
    std::string name;
    Around around = {};
  };
  struct Scope {
    bool ignore_once;
    std::vector<Ignored> ignored = {};
  };
  struct Suffix {
    uint32_t body;
    uint32_t end;
    std::string capture;  // or empty
    friend auto operator<=>(const Suffix&, const Suffix&) = default;
  };
  // As ir.Terminal in cfgmask/grammar/ir.py. Equal ones are one to the core, with the least of their places.
  struct Terminal {
    std::string name;
    uint32_t regex;
    uint32_t scope;
    uint32_t place = kNoPlace;
    int32_t priority = 0;
    bool distinct = false;
    bool closes_set = false;
    bool lazy = false;
    Endless endless = Endless::kNone;
    LineRole role = LineRole::kNone;
    Step step = {};
    std::optional<uint32_t> max_tokens = std::nullopt;
    Around around = {};
    std::optional<Suffix> suffix = std::nullopt;
  };
  struct TokenSet {
    enum class Kind : uint8_t { kIds, kIndent, kDedent };
    Kind kind;
    uint32_t ids;  // the number of its ids
    uint32_t scope;
    std::string name;
    uint32_t place;
  };
  struct Rule {
    uint32_t place = kNoPlace;
    bool parametric = false;
    std::optional<SetBounds> opens_set = std::nullopt;
    std::string capture = {};  // or empty
    std::optional<double> temperature = std::nullopt;
    std::optional<uint32_t> max_tokens = std::nullopt;
    uint32_t body = 0;  // the empty text, unless it is given another one
  };
  struct Part {
    std::shared_ptr<const SchemaWithLayout> schema;
    std::shared_ptr<const SchemaForm> form;
    std::vector<uint32_t> tokens;  // expressions, of the tokens of the form
    bool may_be_empty;
    uint32_t place;
  };
  struct RowsOfScope {
    Rows rows;
    std::vector<uint32_t> tokens;  // expressions
    uint32_t scope;                // of the texts
  };
  struct Indentation {
    uint32_t newline;  // a regex
    uint32_t scope;
    uint32_t tab_len;
    std::string name;
  };
  struct Options {
    bool complete = false;
    bool ignore_initial = true;
    bool ignore_final = true;
  };

  GrammarForm() { sequence({}); }
  // A schema alone.
  explicit GrammarForm(std::shared_ptr<const SchemaWithLayout> schema);

  // Each returns a number. All throw std::out_of_range for numbers that are none.
  uint32_t scope(bool ignore_once);
  void ignore(uint32_t scope, Ignored what);
  uint32_t rule(Rule rule);
  void body(uint32_t rule, uint32_t expression);
  uint32_t rows(RowsOfScope rows);
  void indenter(Indentation indenter);
  // Each returns an expression.
  uint32_t terminal(Terminal terminal);
  uint32_t token_set(TokenSet set);
  uint32_t reference(uint32_t rule);
  uint32_t call(uint32_t rule, const Argument& argument);
  uint32_t part(Part part);
  uint32_t sequence(std::span<const uint32_t> parts) { return of_parts(Kind::kSequence, parts); }
  uint32_t choice(std::span<const uint32_t> parts) { return of_parts(Kind::kChoice, parts); }
  uint32_t repeat(uint32_t body, uint32_t minimum, uint32_t maximum);
  uint32_t guarded(uint32_t body, Condition condition);
  uint32_t variants(uint32_t rows, std::span<const uint32_t> body);
  uint32_t row_text() { return add({Kind::kRowText, 0}); }
  uint32_t row_part() { return add({Kind::kRowPart, 0}); }
  // The expression of every text, a rule or a part; the scope is that of the rule.
  void start(uint32_t expression, uint32_t scope, Options options);

  // The regexes of numbers.
  RegexData& regexes() { return regexes_; }
  const RegexData& regexes() const { return regexes_; }

  const Expression& operator[](uint32_t expression) const { return expressions_[expression]; }
  // Of a sequence or choice.
  std::span<const uint32_t> parts(const Expression& of) const {
    return std::span(parts_).subspan(of.first, of.last - of.first);
  }
  const std::vector<Scope>& scopes() const { return scopes_; }
  const std::vector<Terminal>& terminals() const { return terminals_; }
  const std::vector<TokenSet>& token_sets() const { return token_sets_; }
  const std::vector<Rule>& rules() const { return rules_; }
  const std::vector<Part>& parts() const { return schemas_; }
  const std::vector<RowsOfScope>& rows() const { return rows_; }
  const Argument& argument(uint32_t number) const { return arguments_[number]; }
  const Condition& condition(uint32_t number) const { return conditions_[number]; }
  const std::optional<Indentation>& indenter() const { return indenter_; }
  uint32_t start() const { return start_; }
  uint32_t start_scope() const { return start_scope_; }
  const Options& options() const { return options_; }

 private:
  uint32_t add(const Expression& made) {
    expressions_.push_back(made);
    return static_cast<uint32_t>(expressions_.size() - 1);
  }
  uint32_t of_parts(Kind kind, std::span<const uint32_t> parts);
  // Throw std::out_of_range.
  void check_scope(uint32_t scope) const;
  void check_regex(uint32_t regex) const;
  void check(const Around& around) const;
  void check_rule(uint32_t rule) const;
  void check_expression(uint32_t expression) const;
  void check_token_sets(std::span<const uint32_t> expressions) const;

  RegexData regexes_;
  std::vector<Scope> scopes_;
  std::vector<Terminal> terminals_;
  std::vector<TokenSet> token_sets_;
  std::vector<Rule> rules_;
  std::vector<Part> schemas_;
  std::vector<RowsOfScope> rows_;
  std::vector<Expression> expressions_;
  std::vector<uint32_t> parts_;
  std::vector<Argument> arguments_;
  std::vector<Condition> conditions_;
  std::optional<Indentation> indenter_;
  uint32_t start_ = UINT32_MAX;
  uint32_t start_scope_ = 0;
  Options options_;
};

}  // namespace cfgmask
