#include "grammar/numbering.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "json_schema/rules/hand_over.h"

namespace cfgmask {

namespace {

constexpr uint32_t kNoNumber = UINT32_MAX;

class Numbering {
 public:
  using Kind = GrammarForm::Kind;
  using Expression = GrammarForm::Expression;

  Numbering(const GrammarForm& form, const TokenIds& ids, GrammarBuilder& builder)
      : form_(form), ids_(ids), builder_(builder) {}

  Compiled compiled() {
    regexes_.resize(form_.regexes().size());
    terminals_.resize(form_.terminals().size(), kNoNumber);
    token_sets_.resize(form_.token_sets().size(), kNoNumber);
    schemas_.resize(form_.parts().size(), kNoNumber);
    rows_.resize(form_.rows().size());
    add_scopes();
    for (const GrammarForm::Rule& rule : form_.rules()) rules_.push_back(nonterminal(rule));
    for (size_t i = 0; i < rules_.size(); ++i) add_alternatives(form_.rules()[i], rules_[i]);
    if (form_.start() == kNoNumber) throw std::invalid_argument("the grammar has no start");
    const Expression& start = form_[form_.start()];
    const auto& [complete, ignore_initial, ignore_final] = form_.options();
    auto [symbol, scope] = start.kind == Kind::kPart ? part_alone(form_.parts()[start.first])
                                                     : std::pair(rules_[start.first], scopes_[form_.start_scope()]);
    auto grammar = builder_.build(symbol, scope, complete, ignore_initial, ignore_final);
    if (grammar != nullptr) return {std::move(grammar), {}, {}};
    const auto failure = builder_.failure();
    const bool has_no_text = failure == GrammarBuilder::Failure::kNone;
    return {nullptr, failure, has_no_text ? without_texts() : builder_.limits_around_distinct()};
  }

 private:
  void add_scopes() {
    for (const GrammarForm::Scope& scope : form_.scopes()) {
      const uint32_t made = builder_.scope(scope.ignore_once);
      scopes_.push_back(made);
      // What is ignored under the same conditions is one terminal.
      std::vector<const GrammarForm::Ignored*> left;
      for (const auto& ignored : scope.ignored) left.push_back(&ignored);
      while (!left.empty()) {
        const GrammarBuilder::Around around = this->around(left.front()->around);
        const auto others = std::stable_partition(left.begin(), left.end(), [&](const auto* one) {
          const GrammarBuilder::Around its = this->around(one->around);
          return its.before == around.before && its.after == around.after;
        });
        add_ignored(made, std::vector(left.begin(), others), around);
        left.erase(left.begin(), others);
      }
    }
    if (const auto& indenter = form_.indenter())
      builder_.indenter(regex(indenter->newline), scopes_[indenter->scope], indenter->tab_len, indenter->name);
  }

  void add_ignored(uint32_t scope, const std::vector<const GrammarForm::Ignored*>& ways,
                   const GrammarBuilder::Around& around) {
    std::vector<RegexId> regexes;
    std::vector<std::string_view> names;
    std::string name;
    for (const auto* way : ways) {
      regexes.emplace_back(regex(way->regex));
      if (std::find(names.begin(), names.end(), way->name) != names.end()) continue;
      names.push_back(way->name);
      name += (names.size() == 1 ? "" : " | ") + way->name;
    }
    const RegexId any = builder_.with([&](RegexStore& r) { return r.alternation(regexes); });
    builder_.ignore(scope, any.value, std::move(name), around);
  }

  uint32_t nonterminal(const GrammarForm::Rule& rule) {
    const uint32_t made = builder_.nonterminal(rule.place, rule.opens_set);
    builder_.mark(made, rule.capture, rule.temperature);
    if (rule.max_tokens) builder_.limit(made, *rule.max_tokens);
    return made;
  }

  // Groups wait in a list instead of on the stack: a grammar nests deeper than that may.
  void add_alternatives(const GrammarForm::Rule& rule, uint32_t nonterminal) {
    pending_ = {{nonterminal, rule.body}};
    while (!pending_.empty()) {
      const auto [owner, body] = pending_.back();
      pending_.pop_back();
      for (const uint32_t alternative : parts(body, Kind::kChoice)) {
        const Expression& of = form_[alternative];
        if (of.kind == Kind::kVariants) {
          add_variants(owner, of, rule);
          continue;
        }
        const bool is_guarded = of.kind == Kind::kGuarded;
        builder_.alternative(owner, symbols(is_guarded ? of.first : alternative, rule),
                             is_guarded ? form_.condition(of.last) : Condition());
      }
    }
  }

  void add_variants(uint32_t owner, const Expression& of, const GrammarForm::Rule& rule) {
    auto& made = rows_[of.first];
    if (!made) {
      const GrammarForm::RowsOfScope& rows = form_.rows()[of.first];
      made = hand_over(rows.rows, builder_, scopes_[rows.scope], all(rows.tokens));
    }
    builder_.variants(owner, symbols(of.last, rule), made->texts, made->schemas);
  }

  // Those of an expression of this kind; of another one itself.
  std::vector<uint32_t> parts(uint32_t id, Kind kind) const {
    const Expression& of = form_[id];
    if (of.kind != kind) return {id};
    const auto parts = form_.parts(of);
    return {parts.begin(), parts.end()};
  }

  std::vector<uint32_t> symbols(uint32_t sequence, const GrammarForm::Rule& rule) {
    std::vector<uint32_t> found = parts(sequence, Kind::kSequence);
    for (uint32_t& part : found) part = symbol(part, rule);
    return found;
  }

  uint32_t symbol(uint32_t id, const GrammarForm::Rule& rule) {
    const Expression& of = form_[id];
    switch (of.kind) {
      case Kind::kTerminal:
        return terminal(of.first);
      case Kind::kTokenSet:
        return token_set(of.first);
      case Kind::kRule:
        return rules_[of.first];
      case Kind::kCall:
        return builder_.call(rules_[of.first], form_.argument(of.last));
      case Kind::kPart:
        return part(of.first);
      case Kind::kRepeat: {
        const bool is_nested = form_[of.first].kind == Kind::kRepeat;
        const uint32_t body = is_nested ? group(of.first, rule) : symbol(of.first, rule);
        return builder_.repeat(body, of.minimum, of.maximum);
      }
      case Kind::kRowText:
        return GrammarBuilder::kText;
      case Kind::kRowPart:
        return GrammarBuilder::kPart;
      case Kind::kSequence:
      case Kind::kChoice:
      case Kind::kGuarded:
      case Kind::kVariants:
        break;
    }
    return group(id, rule);
  }

  // A nonterminal for part of a rule, which has the rule's place and parameter.
  uint32_t group(uint32_t id, const GrammarForm::Rule& rule) {
    const uint32_t made = builder_.nonterminal(rule.place);
    pending_.emplace_back(made, id);
    return rule.parametric ? builder_.call(made, {}) : made;
  }

  std::pair<uint32_t, uint32_t> part_alone(const GrammarForm::Part& part) {
    return hand_over(part.schema, builder_, part.form, all(part.tokens), part.place);
  }

  uint32_t part(uint32_t index) {
    uint32_t& made = schemas_[index];
    if (made != kNoNumber) return made;
    const GrammarForm::Part& part = form_.parts()[index];
    const uint32_t values = part_alone(part).first;
    if (!part.may_be_empty) return made = values;
    made = builder_.nonterminal(part.place);
    builder_.alternative(made, std::array{values});
    builder_.alternative(made, {});
    return made;
  }

  std::vector<uint32_t> all(const std::vector<uint32_t>& token_sets) {
    std::vector<uint32_t> made;
    for (const uint32_t id : token_sets) made.push_back(token_set(form_[id].first));
    return made;
  }

  uint32_t token_set(uint32_t index) {
    uint32_t& made = token_sets_[index];
    if (made != kNoNumber) return made;
    const GrammarForm::TokenSet& set = form_.token_sets()[index];
    if (set.kind == GrammarForm::TokenSet::Kind::kIds) {
      if (set.ids >= ids_.size()) throw std::out_of_range("no ids of a token set");
      return made = builder_.token_set(ids_[set.ids], scopes_[set.scope], set.name, set.place);
    }
    const bool is_dedent = set.kind == GrammarForm::TokenSet::Kind::kDedent;
    return made = builder_.indent(is_dedent, scopes_[set.scope], set.name, set.place);
  }

  uint32_t terminal(uint32_t index) {
    if (terminals_[index] != kNoNumber) return terminals_[index];
    const GrammarForm::Terminal& of = form_.terminals()[index];
    const uint32_t regex = this->regex(of.regex);
    const GrammarBuilder::Around around = this->around(of.around);
    auto suffix = of.suffix;
    if (suffix) suffix->body = this->regex(suffix->body);
    if (suffix) suffix->end = this->regex(suffix->end);
    const Alike alike{regex,         of.scope,      of.priority,  of.name,       of.distinct,
                      of.closes_set, of.lazy,       of.endless,   of.role,       of.step.place,
                      of.step.ways,  around.before, around.after, of.max_tokens, suffix};
    const auto [known, is_new] = made_.try_emplace(alike, 0);
    if (!is_new) {
      builder_.also_at(known->second, of.place);
      return terminals_[index] = known->second;
    }
    const uint32_t made = builder_.terminal(regex, scopes_[of.scope], of.priority, of.name, of.distinct, of.closes_set,
                                            of.lazy, around, of.max_tokens, of.place);
    if (of.role != LineRole::kNone) builder_.role(made, of.role);
    if (of.endless != Endless::kNone) builder_.endless(made, of.endless);
    if (of.step.place != 0) builder_.step(made, of.step);
    if (suffix) builder_.suffix(made, suffix->body, suffix->end, suffix->capture);
    if (!builder_.matches_text(made)) empty_.push_back(of.place);
    known->second = made;
    return terminals_[index] = made;
  }

  uint32_t regex(uint32_t number) {
    return builder_.with([&](RegexStore& r) { return form_.regexes().make(r, number, regexes_); }).value;
  }

  GrammarBuilder::Around around(const GrammarForm::Around& of) {
    GrammarBuilder::Around made;
    if (of.before) made.before = regex(*of.before);
    if (of.after) made.after = regex(*of.after);
    return made;
  }

  std::vector<uint32_t> without_texts() const {
    std::vector<uint32_t> found = empty_;
    for (size_t i = 0; i < rules_.size(); ++i) {
      const GrammarForm::Rule& rule = form_.rules()[i];
      if (rule.max_tokens && !builder_.is_closed(rules_[i])) found.push_back(rule.place);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // What equal terminals have in common, regexes as nodes of the store.
  using Alike = std::tuple<uint32_t, uint32_t, int32_t, std::string, bool, bool, bool, Endless, LineRole, uint32_t,
                           uint32_t, std::optional<uint32_t>, std::optional<uint32_t>, std::optional<uint32_t>,
                           std::optional<GrammarForm::Suffix>>;

  const GrammarForm& form_;
  const TokenIds& ids_;
  GrammarBuilder& builder_;
  std::vector<std::optional<RegexId>> regexes_;
  // By the form's numbers; kNoNumber: not yet made.
  std::vector<uint32_t> scopes_;
  std::vector<uint32_t> rules_;
  std::vector<uint32_t> terminals_;
  std::vector<uint32_t> token_sets_;
  std::vector<uint32_t> schemas_;
  std::vector<std::optional<RowSymbols>> rows_;
  std::map<Alike, uint32_t> made_;
  std::vector<uint32_t> empty_;  // places of terminals
  std::vector<std::pair<uint32_t, uint32_t>> pending_;
};

}  // namespace

Compiled compile(const GrammarForm& form, const TokenIds& ids, VocabularyStores& stores, const Limits& limits,
                 uint32_t shard) {
  GrammarBuilder builder(stores, limits, shard);
  return Numbering(form, ids, builder).compiled();
}

}  // namespace cfgmask
