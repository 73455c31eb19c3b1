// The rules of a schema as Python values, which cfgmask.json_schema.core_rules makes a GrammarIR of.
//
// Threads: as a builder's.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/long_call.h"
#include "bindings/regex_trees.h"
#include "json_schema/rules/rule_expansion.h"
#include "regex/regex_as_data.h"

namespace cfgmask {

namespace nb = nanobind;

// Trees of Python for regexes as data; equal numbers are one tree.
class TreesOfData {
 public:
  explicit TreesOfData(const RegexData& data)
      : data_(data), types_(nb::module_::import_("cfgmask.grammar.regex_tree")) {}

  // Linear in the nodes up to this number that were not asked for yet: each consists of earlier ones.
  nb::object tree(uint32_t number) {
    while (made_.size() <= number) made_.push_back(make(static_cast<uint32_t>(made_.size())));
    return made_[number];
  }

 private:
  using Kind = RegexData::Kind;

  nb::object make(uint32_t number) const {
    Pause::tick();
    const Kind kind = data_.kind(number);
    const nb::object type = types_.attr(RegexTreeReader::name_of(kind));
    switch (kind) {
      case Kind::kLiteral: {
        const std::string& text = data_.texts(number)[0];
        return type(nb::bytes(text.data(), text.size()));
      }
      case Kind::kKeySet:
      case Kind::kSubstring: {
        nb::list texts;
        for (const std::string& text : data_.texts(number)) texts.append(nb::bytes(text.data(), text.size()));
        return type(nb::tuple(texts));
      }
      case Kind::kCharClass:
      case Kind::kByteClass: {
        nb::list ranges;
        for (const auto& [low, high] : data_.ranges(number)) ranges.append(nb::make_tuple(low, high));
        return type(nb::tuple(ranges));
      }
      case Kind::kConcatenation:
      case Kind::kAlternation:
      case Kind::kIntersection: {
        nb::list parts;
        for (const uint32_t part : data_.parts(number)) parts.append(made_[part]);
        return type(nb::tuple(parts));
      }
      case Kind::kComplement:
        return type(made_[data_.parts(number)[0]]);
      case Kind::kRepetition: {
        const auto [minimum, maximum] = data_.counts(number);
        const nb::object most = maximum == kUnbounded ? nb::none() : nb::object(nb::int_(maximum));
        return type(made_[data_.parts(number)[0]], minimum, most);
      }
      case Kind::kJsonString: {
        const std::array names{"any", "literal", "canonical", "yaml"};
        return type(made_[data_.parts(number)[0]], names[data_.counts(number).first]);
      }
      case Kind::kDivisible:
        return type(data_.counts(number).first);
      case Kind::kMultiples: {
        nb::list words;
        for (const uint32_t word : data_.words(number)) words.append(word);
        return type.attr("of_words")(words);
      }
    }
    throw nb::type_error("not a regex tree");
  }

  const RegexData& data_;
  nb::module_ types_;
  std::vector<nb::object> made_;
};

// The regex of a tree as the core has it, as a tree again.
inline nb::object regex_as_tree(const nb::object& tree, uint64_t max_nesting) {
  const auto regex = portable_regex(tree, max_nesting);
  const Limits limits;
  RegexStore store(limits.max_nesting * RegexData::kHeightPerNesting, limits.max_search_steps);
  RegexAsData found(store);
  const uint32_t number = found.add(regex->in(store));
  return TreesOfData(found.data()).tree(number);
}

// See SchemaIR.rules in cfgmask/_core.pyi.
inline nb::tuple schema_rules(std::shared_ptr<SchemaWithLayout> schema, std::shared_ptr<SchemaForm> form,
                              uint32_t n_tokens, const Limits& limits, uint64_t max_nonterminals) {
  LongCall call(nullptr, LongCall::Gil::kHeld);
  const RuleExpansion made = expand(std::move(schema), std::move(form), n_tokens, limits, max_nonterminals);
  const Grammar& grammar = made.grammar;
  RegexAsData regexes(*made.regexes);
  const auto count = [](uint32_t n) { return n == kUnbounded ? nb::none() : nb::object(nb::int_(n)); };
  const auto step = [&](const Step& at) { return nb::make_tuple(at.place, count(at.ways)); };
  // All as data before any is a tree: the list of nodes grows.
  std::vector<uint32_t> ignored;
  std::vector<std::optional<uint32_t>> of_terminals;
  for (const Scope::Ignored& each : grammar.scopes[0].ignored) ignored.push_back(regexes.add(each.regex));
  // What is beyond the frontier was not asked for.
  for (const Terminal& each : grammar.terminals)
    of_terminals.push_back(each.is_deferred ? std::nullopt : std::optional(regexes.add(each.regex)));
  TreesOfData trees(regexes.data());

  nb::list scope;
  for (size_t i = 0; i < ignored.size(); ++i)
    scope.append(nb::make_tuple(grammar.scopes[0].ignored[i].name, trees.tree(ignored[i])));
  nb::list terminals;
  for (size_t i = 0; i < grammar.terminals.size(); ++i) {
    const Terminal& each = grammar.terminals[i];
    if (!of_terminals[i]) {
      terminals.append(nb::none());
      continue;
    }
    const std::array endless{"", "keys", "items"};
    terminals.append(nb::make_tuple(each.name, trees.tree(*of_terminals[i]), each.nullable, each.distinct,
                                    endless[static_cast<size_t>(each.endless)], each.closes_set, step(each.step)));
  }
  nb::list repeats;
  for (const Repeat& each : grammar.repeats)
    repeats.append(nb::make_tuple(each.body.value, each.minimum, count(each.maximum)));
  nb::list sets;
  for (const SetBounds& each : grammar.set_bounds) {
    const std::array holds{"values", "array", "distinct array", "object", "item", "list", "members", "again"};
    nb::list members;
    for (const SetMember& member : each.members) {
      const nb::object name =
          member.is_class ? nb::none() : nb::object(nb::str(member.name.data(), member.name.size()));
      members.append(nb::make_tuple(name, count(member.ways), count(member.n_keys)));
    }
    sets.append(nb::make_tuple(each.required, each.minimum, count(each.maximum), each.endless,
                               holds[static_cast<size_t>(each.holds)], step(each.step), nb::tuple(members)));
  }
  nb::list rules;
  for (const Nonterminal& each : grammar.nonterminals) {
    nb::list alternatives;
    for (const Alternative& alternative : each.alternatives) {
      nb::list symbols;
      for (const Symbol symbol : alternative.symbols) symbols.append(symbol.value);
      alternatives.append(symbols);
    }
    const nb::object set = each.opens_set ? nb::object(nb::int_(*each.opens_set)) : nb::none();
    rules.append(nb::make_tuple(set, each.is_deferred ? nb::none() : nb::object(alternatives)));
  }
  return nb::make_tuple(nb::make_tuple(scope, grammar.scopes[0].ignore_once), terminals, repeats, sets, rules,
                        made.is_whole);
}

}  // namespace cfgmask
