#include "json_schema/rules/hand_over.h"

#include <algorithm>

#include "json_schema/document/text_names.h"
#include "json_schema/rules/indented_rules.h"
#include "json_schema/rules/schema_rules.h"
#include "json_schema/spelling/python_literals.h"
#include "regex/endless.h"

namespace cfgmask {

namespace {

constexpr size_t kShownValues = 8;
const JsonMarks kBareMarks = {};

}  // namespace

SchemaRules::SchemaRules(std::shared_ptr<const SchemaWithLayout> parts, uint32_t scope,
                         std::shared_ptr<const SchemaForm> form, std::vector<uint32_t> tokens)
    : kept_(std::move(parts)),
      form_(std::move(form)),
      writes_python_(form_ && form_->has_python()),
      delimits_(form_ && form_->delimits()),
      writes_json_(!writes_python_ && !delimits_),
      has_any_order_((!form_ || form_->values == SchemaForm::Values::kJson) && kept_->layout->has_any_order),
      form_has_any_order_((writes_python_ || delimits_) && kept_->layout->has_any_order),
      form_tokens_(std::move(tokens)),
      parts_(*kept_),
      schema_(*parts_.schema),
      scope_(scope),
      unions_(schema_),
      array_unions_(schema_) {}

void SchemaRules::enter(const DeferredAdditions& to) {
  to_ = &to;
  grammar_ = &to.grammar;
  regexes_ = &to.regexes;
}

SchemaRules::SchemaRules(std::shared_ptr<const SchemaWithLayout> parts, uint32_t scope, IndentedRules& whole,
                         uint32_t column)
    : kept_(std::move(parts)),
      writes_json_(kept_->layout->yaml == nullptr),
      whole_(&whole),
      column_(column),
      yaml_(kept_->layout->yaml.get()),
      parts_(*kept_),
      schema_(*parts_.schema),
      item_room_(schema_.nesting().in_array(room()).value_or(0)),
      member_room_(schema_.nesting().in_object(room()).value_or(0)),
      scope_(scope),
      unions_(schema_),
      array_unions_(schema_) {}

SchemaRules::SchemaRules(std::shared_ptr<const SchemaWithLayout> parts, uint32_t scope, const YamlLayout& flow)
    : kept_(std::move(parts)),
      writes_json_(false),
      flow_(&flow),
      parts_(*kept_),
      schema_(*parts_.schema),
      scope_(scope),
      unions_(schema_),
      array_unions_(schema_) {}

Symbol SchemaRules::start(const DeferredAdditions& to) {
  enter(to);
  if (!has_marks_) make_marks();
  const Symbol start = yaml_ ? yaml_start() : Symbol{form_ ? form_start() : rule_of(schema_.root())};
  const auto define_now = [&](uint32_t rule) {
    if (grammar_->nonterminals[Symbol{rule}.index()].is_deferred) define(Symbol{rule}.index());
  };
  for (ValueId id : schema_.overview().with_many_states) define_now(rule_of(id));
  for (ValueId id : schema_.overview().apart_with_many_states) {
    SchemaRules& rules = yaml_ ? whole_->flow().apart() : apart();
    const uint32_t rule = Symbol{rules.rule_of(id)}.index();
    if (grammar_->nonterminals[rule].is_deferred) rules.define(rule);
  }
  return start;
}

void SchemaRules::make_marks() {
  has_marks_ = true;
  if (yaml_ != nullptr) return make_marks_of_blocks();
  if (whole_ != nullptr) return make_marks_of_lines();
  const bool has_endless_keys = schema_.overview().has_endless_keys;
  const bool has_endless_items = schema_.overview().has_endless_items;
  const auto opening = [&](const char* text, const JsonMarks::Regex& regex, bool has_role) {
    return mark(text, regex, has_role && may_keep_texts() ? KeyRole::kOpens : KeyRole::kNone);
  };
  const auto closing = [&](const char* text, const JsonMarks::Regex& empty, const JsonMarks::Regex& other,
                           bool has_role) {
    const KeyRole role = has_role && may_keep_texts() ? KeyRole::kCloses : KeyRole::kNone;
    return Closing{mark(text, empty, role), mark(text, other, role)};
  };
  const JsonMarks& marks = writes_json_ ? parts_.layout->marks : kBareMarks;
  open_object_ = opening("{", marks.open_object, has_endless_keys);
  close_object_ = closing("}", marks.close_empty_object, marks.close_object, has_endless_keys);
  if (has_any_order_ || form_has_any_order_) {
    close_set_ = closing("}", marks.close_empty_object, marks.close_object, has_endless_keys);
    for (uint32_t close : {close_set_.empty, close_set_.further})
      grammar_->terminals[Symbol{close}.index()].closes_set = true;
  }
  open_array_ = opening("[", marks.open_array, has_endless_items);
  close_array_ = closing("]", marks.close_empty_array, marks.close_array, has_endless_items);
  const bool has_blanks = writes_python_ || flow_ != nullptr;
  items_.further = members_.further = mark(has_blanks ? ", " : ",", marks.comma);
  colon_ = mark(has_blanks ? ": " : ":", marks.colon);
}

void SchemaRules::define(uint32_t nonterminal, const DeferredAdditions& to) {
  enter(to);
  define(nonterminal);
}

void SchemaRules::define_terminal(uint32_t index, const DeferredAdditions& to) {
  enter(to);
  if (!tells_apart() && !terminal_of_.contains(index)) return apart().define_terminal(index, to);
  Terminal& terminal = grammar_->terminals[index];
  const PlacedTerminal of = terminal_of_.at(index);
  RegexId regex = regex_of(schema_.terminal(of.index), terminal.distinct);
  if (of.place == BlockPlace::kBelow) regex = regexes_->concatenation(regexes_->literal(" "), regex);
  terminal.regex = regex;
  terminal.is_deferred = false;
}

std::vector<Symbol> SchemaRules::after_key(uint32_t object, uint32_t member, const DeferredAdditions& to) {
  enter(to);
  if (is_of_union(object)) return symbols(after_text(union_choices_[object - first_union()], member));
  const uint32_t level = object - to.first_object;
  // Where all keys are in order, there is no choice then.
  if (has_any_order_) return symbols(after_unordered(level, object_at(level).members[member]));
  const auto value = object_at(level).members[member].value;
  return {Symbol{colon_}, Symbol{symbol_of_member(value)}, Symbol{rule_of(ObjectState{level, member + 1})}};
}

uint32_t SchemaRules::terminal_of_key(uint32_t object, uint32_t member, const DeferredAdditions& to) {
  enter(to);
  const std::string& text = is_of_union(object)
                                ? union_choices_[object - first_union()].ways->text(member)
                                : schema_.name_at(object_at(object - to.first_object).members[member].name);
  return Symbol{string(text)}.index();
}

uint32_t SchemaRules::add_terminal(RegexId regex, std::string name, bool distinct, KeyRole role) {
  Terminal& made = grammar_->terminals.emplace_back();
  made.regex = regex;
  made.scope = scope_;
  made.name = std::move(name);
  made.distinct = distinct;
  made.key_role = role;
  return Symbol::make(SymbolKind::kTerminal, grammar_->terminals.size() - 1).value;
}

uint32_t SchemaRules::add_nonterminal(uint32_t order) {
  to_->rules.charge();
  grammar_->nonterminals.emplace_back().order = order;
  return Symbol::make(SymbolKind::kNonterminal, grammar_->nonterminals.size() - 1).value;
}

uint32_t SchemaRules::add_set(SetBounds bounds) {
  const uint32_t made = add_nonterminal(kBeginsWithTerminal);
  grammar_->nonterminals.back().opens_set = static_cast<uint32_t>(grammar_->set_bounds.size());
  grammar_->set_bounds.push_back(std::move(bounds));
  return made;
}

uint32_t SchemaRules::add_repeat(uint32_t body, uint32_t minimum, uint32_t maximum) {
  grammar_->repeats.push_back({Symbol{body}, minimum, maximum});
  return Symbol::make(SymbolKind::kRepeat, grammar_->repeats.size() - 1).value;
}

void SchemaRules::add_alternative(uint32_t rule, std::span<const uint32_t> symbols) {
  to_->rules.charge();
  Alternative& made = grammar_->nonterminals[Symbol{rule}.index()].alternatives.emplace_back();
  made.symbols.reserve(symbols.size());
  for (uint32_t symbol : symbols) {
    if (symbol != kNoSymbol) made.symbols.push_back(Symbol{symbol});
  }
}

void SchemaRules::define(uint32_t nonterminal) {
  if (!deferred_.contains(nonterminal) && !tells_apart()) return apart().define(nonterminal);
  const auto n_before = static_cast<uint32_t>(grammar_->nonterminals.size());
  const uint32_t rule = Symbol::make(SymbolKind::kNonterminal, nonterminal).value;
  const Deferred deferred = deferred_.at(nonterminal);
  try {
    std::visit([&](const auto& of) { add_rules(rule, of); }, deferred);
  } catch (...) {
    grammar_->nonterminals[nonterminal].alternatives.clear();
    throw;
  }
  grammar_->nonterminals[nonterminal].is_deferred = false;
  const auto* value = std::get_if<PlacedValue>(&deferred);
  const auto* tagged = std::get_if<Tagged>(&deferred);
  const bool may_be_dead = value != nullptr    ? may_have_dead_ends(schema_.at(value->id))
                           : tagged != nullptr ? may_have_dead_ends(schema_.at(tagged->id))
                                               : false;
  if (!may_be_dead) return;
  prune_since(*grammar_, n_before, nonterminal);
  if (yaml_ != nullptr) mark_nullable(n_before);
}

// A rule that is made when it is first called.
uint32_t SchemaRules::defer(uint32_t order, Deferred of) {
  const uint32_t rule = add_nonterminal(order);
  deferred_.emplace(Symbol{rule}.index(), of);
  grammar_->nonterminals.back().is_deferred = true;
  grammar_->nonterminals.back().nullable = yaml_ != nullptr && may_end(of);
  return rule;
}

// Where witnesses may leave no way on after some of the members or items.
bool SchemaRules::may_have_dead_ends(const SchemaIR::Value& value) {
  return value.may_have_many_states() || (value.object && !value.object->witnesses.empty());
}

uint32_t SchemaRules::mark(std::string_view text, const JsonMarks::Regex& regex, KeyRole role) {
  return add_terminal(regex ? regex->in(*regexes_) : regexes_->literal(text), shown(text), false, role);
}

// A string that is written as one of these, or as a key: printable characters only as themselves.
RegexId SchemaRules::fixed(const std::vector<std::string>& texts) {
  if (flow_ != nullptr) return listed(texts);
  SpelledTexts spelled(texts, [](const std::string& text) -> std::string_view { return text; });
  std::array<std::vector<std::string_view>, 2> of;
  for (const std::string& text : texts) {
    const auto [has_escapes, written] = spelled.add(text);
    of[has_escapes ? 1 : 0].push_back(written);
  }
  RegexStore& r = *regexes_;
  const RegexId others = r.key_set(std::move(of[1]));
  return r.alternation({r.key_set(std::move(of[0])), with_escapes(r.json_string(others, JsonEscapes::kLiteral))});
}

// The same as one string, of which values can be taken away.
RegexId SchemaRules::listed(const std::vector<std::string>& texts) {
  return with_escapes(regexes_->json_string(regexes_->key_set(texts), JsonEscapes::kLiteral));
}

// A JSON string with the escapes of the layout. Other regexes stay as they are.
RegexId SchemaRules::with_escapes(RegexId string) {
  const ValueLayout& layout = *parts_.layout;
  if (regexes_->kind(string) != RegexKind::kJsonString) return string;
  if (flow_ != nullptr) return regexes_->json_string(regexes_->json_body(string), JsonEscapes::kYaml);
  if (layout.strings != nullptr) return regexes_->intersection({string, layout.strings->in(*regexes_)});
  if (!layout.has_canonical_strings) return string;
  return regexes_->json_string(regexes_->json_body(string), JsonEscapes::kCanonical);
}

// Exactly this string. The text is one of the schema's own. In YAML it is a key.
uint32_t SchemaRules::string(const std::string& text, KeyRole role) {
  if (yaml_ != nullptr)
    return known_or_made(strings_, text, [&] {
      return add_terminal(regexes_->literal(yaml_->key(text, *regexes_)), shortened(shown(text)) + ':');
    });
  if (flow_ != nullptr)
    return known_or_made(strings_, text, [&] {
      return add_terminal(regexes_->literal(YamlLayout::quoted(text)), shortened(shown(text)), tells_apart());
    });
  if (writes_python_)
    return known_or_made(strings_, text,
                         [&] { return add_terminal(python_key(text, *regexes_), shortened(shown(text))); });
  if (delimits_)
    return known_or_made(strings_, text, [&] { return add_terminal(regexes_->literal(text), shortened(shown(text))); });
  if (tells_apart())
    return known_or_made(strings_, text, [&] { return add_terminal(listed({text}), shortened(shown(text)), true); });
  if (role != KeyRole::kNone) return add_terminal(fixed({text}), shortened(shown(text)), false, role);
  return known_or_made(strings_, text, [&] { return add_terminal(fixed({text}), shortened(shown(text))); });
}

bool SchemaRules::is_endless_at_sight(RegexId keys, RegexStore& r) {
  try {
    return is_endless(r, keys);
  } catch (const LimitExceeded&) {
    return false;
  }
}

uint32_t SchemaRules::terminal(uint32_t index) {
  if (const auto known = terminals_.find(index)) return *known;
  const bool is_delimited = delimits_ && FormReading::is_string(schema_.terminal(index));
  const uint32_t made = is_delimited ? delimited_string(index, false) : new_terminal(index, tells_apart());
  terminals_.insert(index, made);
  return made;
}

// One that gets its regex when a text comes to it.
uint32_t SchemaRules::new_terminal(uint32_t index, bool distinct, KeyRole role, BlockPlace place) {
  const uint32_t made = add_terminal(RegexId(), terminal_name(schema_.terminal(index)), distinct, role);
  terminal_of_.emplace(Symbol{made}.index(), PlacedTerminal{index, place});
  grammar_->terminals.back().is_deferred = true;
  return made;
}

std::string SchemaRules::terminal_name(const SchemaIR::Terminal& terminal) const {
  if (terminal.spelling != SchemaIR::Spelling::kListed) return std::string(terminal.name);
  std::string name;
  for (size_t i = 0; i < std::min(terminal.listed.size(), kShownValues); ++i)
    name += (i == 0 ? "" : " | ") + shown(terminal.listed[i]);
  return shortened(std::move(name));
}

RegexId SchemaRules::regex_of(const SchemaIR::Terminal& terminal, bool distinct) {
  if (writes_python_ && terminal.kind != SchemaIR::kNumber) return python_regex_of(terminal, distinct);
  if (yaml_ != nullptr && FormReading::is_string(terminal)) return yaml_string(terminal);
  const RegexId written = json_regex_of(terminal, distinct);
  const YamlLayout* yaml = flow_ != nullptr ? flow_ : yaml_;
  return yaml != nullptr && terminal.kind == SchemaIR::kNumber ? yaml->number(written, *regexes_) : written;
}

RegexId SchemaRules::yaml_string(const SchemaIR::Terminal& terminal) {
  if (terminal.spelling == SchemaIR::Spelling::kListed) return yaml_->listed(terminal.listed, *regexes_);
  return yaml_->string(schema_.text_regex(terminal, *regexes_), *regexes_);
}

RegexId SchemaRules::json_regex_of(const SchemaIR::Terminal& terminal, bool distinct) {
  switch (terminal.spelling) {
    case SchemaIR::Spelling::kWord:
      return regexes_->literal(terminal.name);
    case SchemaIR::Spelling::kAnyString:
    case SchemaIR::Spelling::kText:
      return with_escapes(regexes_->json_string(schema_.text_regex(terminal, *regexes_), JsonEscapes::kAny));
    case SchemaIR::Spelling::kListed:
      if (distinct) return listed(terminal.listed);
      // All of a long list have the escapes that any string may have.
      return terminal.large && parts_.layout->strings == nullptr
                 ? terminal.large->regex(*regexes_, parts_.layout->has_canonical_strings)
                 : fixed(terminal.listed);
    case SchemaIR::Spelling::kNumbers: {
      if (terminal.indexed_numbers) return terminal.indexed_numbers->regex(*regexes_, parts_.layout->numbers);
      using Exponents = NumberSet::Exponents;
      return terminal.numbers->regex(*regexes_, parts_.layout->numbers, distinct ? Exponents::kNo : Exponents::kYes);
    }
    case SchemaIR::Spelling::kNumberUnion: {
      using Exponents = NumberSet::Exponents;
      return terminal.number_union->regex(*regexes_, parts_.layout->numbers,
                                          distinct ? Exponents::kNo : Exponents::kYes);
    }
    case SchemaIR::Spelling::kOutside:
      break;
  }
  return with_escapes(schema_.outside(terminal).in(*regexes_));
}

// Strings and words. Those that must not come twice have the spelling of JSON, which is how they are compared.
RegexId SchemaRules::python_regex_of(const SchemaIR::Terminal& terminal, bool distinct) {
  if (terminal.spelling == SchemaIR::Spelling::kWord)
    return distinct ? regexes_->literal(terminal.name) : python_words(terminal.name, *regexes_);
  if (distinct) return regexes_->json_string(schema_.text_regex(terminal, *regexes_), JsonEscapes::kCanonical);
  if (terminal.spelling == SchemaIR::Spelling::kListed) return python_strings(terminal.listed, *regexes_);
  return python_strings(schema_.text_regex(terminal, *regexes_), *regexes_);
}

// A value as one symbol: a scalar that is one terminal is that terminal.
uint32_t SchemaRules::symbol_of(ValueId id, BlockPlace place) {
  id = schema_.resolved(id);
  const SchemaIR::Value& value = schema_.at(id);
  const bool one = value.terminals.size() == 1 && !value.array && !value.object && value.alternatives.empty();
  if (!one || (place == BlockPlace::kBelow && blank_ != kNoSymbol)) return rule_of(id, place);
  return place == BlockPlace::kBelow ? terminal_below(value.terminals[0]) : terminal(value.terminals[0]);
}

uint32_t SchemaRules::rule_of(ValueId id, BlockPlace place) {
  const PlacedValue value{schema_.resolved(id), place};
  if (const auto known = values_.find(value.key())) return *known;
  const uint32_t rule = defer(kValues + schema_.order(value.id), value);
  grammar_->nonterminals.back().hides_set = has_any_order_ && !tells_apart();
  values_.insert(value.key(), rule);
  return rule;
}

void SchemaRules::add_rules(uint32_t rule, const PlacedValue& of) {
  if (yaml_ != nullptr) return add_value(rule, of);
  const ValueId id = of.id;
  const SchemaIR::Value& value = schema_.at(id);
  for (uint32_t t : value.terminals) add_alternative(rule, Symbols{terminal(t)});
  // ScalarsTogether spells only JSON, and no numbers that can be told apart.
  const auto together = writes_json_ && !tells_apart() ? schema_.together(id) : nullptr;
  if (together) add_scalars(rule, together);
  // What is known of many alternatives together is of keys that are kept as texts.
  // And of their order.
  const bool may_be_large = may_keep_texts() && is_roomy() && !has_any_order_ && !tells_apart();
  if (const auto large = may_be_large ? schema_.indexed_union(id) : nullptr) {
    add_large(rule, *large);
    add_either(rule, large->rest);
  } else {
    add_either(rule, together ? together->others : value.alternatives);
  }
  if (value.array) add_array(rule, id);
  if (value.object) add_object(rule, id);
}

void SchemaRules::add_scalars(uint32_t rule, const std::shared_ptr<const ScalarsTogether>& scalars) {
  if (scalars->texts) {
    const RegexId strings = with_escapes(regexes_->json_string(regexes_->prefixed(scalars->texts), JsonEscapes::kAny));
    add_alternative(rule, Symbols{add_terminal(strings, "STRING")});
  }
  if (const auto numbers = ScalarsTogether::numbers(scalars, parts_.layout->numbers))
    add_alternative(rule, Symbols{add_terminal(regexes_->prefixed(numbers), "NUMBER")});
}

void SchemaRules::add_either(uint32_t rule, const std::vector<ValueId>& alternatives) {
  std::vector<ValueId> objects;
  std::vector<ValueId> arrays;
  for (ValueId alternative : alternatives) {
    if (!schema_.is_live(alternative, room())) continue;
    const ValueId id = schema_.resolved(alternative);
    const bool are_many = to_->has_unions && writes_json_ && !has_any_order_ && !tells_apart() &&
                          alternatives.size() >= ObjectUnions::kMany;
    if (are_many && is_open_object(id)) {
      objects.push_back(id);
    } else if (are_many && is_roomy() && ArrayUnions::takes(schema_, id)) {
      arrays.push_back(id);
    } else {
      add_alternative(rule, Symbols{symbol_of(id)});
    }
  }
  if (objects.size() >= ObjectUnions::kMany) {
    add_alternative(rule, Symbols{open_object_, union_of(std::move(objects))});
  } else {
    for (ValueId id : objects) add_alternative(rule, Symbols{rule_of(id)});
  }
  if (arrays.size() >= ObjectUnions::kMany) {
    add_alternative(rule, Symbols{open_array_, array_union_of(std::move(arrays))});
  } else {
    for (ValueId id : arrays) add_alternative(rule, Symbols{rule_of(id)});
  }
}

std::vector<Symbol> SchemaRules::symbols(const Symbols& words) {
  std::vector<Symbol> found;
  for (uint32_t word : words) found.push_back(Symbol{word});
  return found;
}

// What closes an array or object. In YAML nothing does after some items or members; without any, it is no block.
void SchemaRules::add_end(uint32_t rule, Closing close, bool some) {
  if (yaml_ == nullptr || some) add_alternative(rule, Symbols{close.after(some)});
}

// `body`, separated by commas, so many times, then the closing mark; `some`: a comma comes before the first too.
void SchemaRules::add_repeated(uint32_t state, bool some, const Symbols& body, uint32_t least, uint32_t most,
                               Separator separator, Closing close) {
  const auto further = [&](uint32_t minimum, uint32_t maximum) {
    const uint32_t more = add_nonterminal(kBeginsWithTerminal);
    Symbols after_comma{separator.further};
    after_comma.insert(after_comma.end(), body.begin(), body.end());
    add_alternative(more, after_comma);
    return add_repeat(more, minimum, maximum);
  };
  if (some) {
    add_alternative(state, Symbols{further(least, most), close.further});
    return;
  }
  if (least == 0) add_end(state, close, false);
  Symbols whole{separator.first};
  whole.insert(whole.end(), body.begin(), body.end());
  if (most > 1) whole.push_back(further(least == 0 ? 0 : least - 1, most == kUnbounded ? kUnbounded : most - 1));
  whole.push_back(close.further);
  add_alternative(state, whole);
}

std::pair<uint32_t, uint32_t> hand_over(std::shared_ptr<const SchemaWithLayout> parts, GrammarBuilder& builder,
                                        std::shared_ptr<const SchemaForm> form, std::vector<uint32_t> tokens,
                                        uint32_t place) {
  for (const auto& strings : parts->schema->all_outside()) builder.check_height(*strings);
  const uint32_t scope = builder.scope(parts->layout->ignore_once);
  if (parts->layout->ignored != nullptr)
    builder.ignore(scope, builder.portable(*parts->layout->ignored).value, parts->layout->ignored_name, {});
  std::shared_ptr<DeferredPart> schema;
  if (parts->layout->indent || parts->layout->yaml) {
    schema = std::make_shared<IndentedRules>(std::move(parts), scope);
  } else {
    schema = std::make_shared<SchemaRules>(std::move(parts), scope, std::move(form), std::move(tokens));
  }
  return {builder.defer(std::move(schema), place), scope};
}

RowSymbols hand_over(const Rows& rows, GrammarBuilder& builder, uint32_t scope, const std::vector<uint32_t>& tokens) {
  const auto captured = [&](uint32_t symbol, const std::string& capture, uint32_t place) {
    const uint32_t rule = builder.nonterminal(place);
    builder.mark(rule, capture, std::nullopt);
    builder.alternative(rule, std::array{symbol});
    return rule;
  };
  RowSymbols made;
  for (const std::string& text : rows.texts) {
    const RegexId regex = builder.with([&](RegexStore& r) { return r.literal(text); });
    const uint32_t terminal = builder.terminal(regex.value, scope, 0, shown(text));
    builder.also_at(terminal, rows.text_place);
    made.texts.push_back(captured(terminal, rows.text_capture, rows.text_place));
  }
  for (const auto& schema : rows.schemas)
    made.schemas.push_back(hand_over(schema, builder, rows.form, tokens, rows.schema_place).first);
  for (size_t i = 0; i < made.schemas.size(); ++i) {
    made.schemas[i] = captured(made.schemas[i], rows.schema_capture, rows.schema_place);
    if (rows.may_be_empty.at(i)) builder.alternative(made.schemas[i], {});
  }
  return made;
}

}  // namespace cfgmask
