#include <algorithm>
#include <array>

#include "json_schema/document/text_names.h"
#include "json_schema/layouts/schema_form.h"
#include "json_schema/rules/schema_rules.h"
#include "json_schema/sets/witnesses.h"

namespace cfgmask {

namespace {

// No set of values stands between the start and the outermost objects but that of their keys.
constexpr uint32_t kOutermostSet = kFirstDeferredOrder + 1;

}  // namespace

// The outermost objects in the form. Their rules are few, so they are made at once; those of arrays and objects in them
// are made as texts come to them, if it is certain that the form can write each; else all are, and what leads to none
// is taken out. None of the rules has the empty text, which is the caller's matter.
uint32_t SchemaRules::form_start() {
  const FormReading reading(parts_, *form_);
  const auto n_before = static_cast<uint32_t>(grammar_->nonterminals.size());
  const auto n_terminals = static_cast<uint32_t>(grammar_->terminals.size());
  gap_ = add_terminal(FormReading::space(*regexes_, 1), "WHITESPACE");
  grammar_->terminals.back().nullable = true;
  const uint32_t start = add_nonterminal(kFirstDeferredOrder);
  if (form_->has_braces()) {
    const FormReading::Values objects = reading.of_kind(reading.values(schema_.root()), SchemaIR::kObject);
    for (uint32_t object : form_brackets(schema_.root(), objects, reading)) add_alternative(start, Symbols{object});
  } else {
    for (const auto& object : reading.objects()) add_form_object(start, *object, reading);
  }
  if (form_->values != SchemaForm::Values::kJson && !reading.is_plain(*regexes_)) define_all(n_before, n_terminals);
  prune_since(*grammar_, n_before, Symbol{start}.index());
  return start;
}

// Makes all rules and terminals that are deferred, from these on, and those that they lead to.
void SchemaRules::define_all(uint32_t first, uint32_t first_terminal) {
  for (uint32_t i = first; i < grammar_->nonterminals.size(); ++i) {
    if (grammar_->nonterminals[i].is_deferred) define(i);
  }
  for (uint32_t i = first_terminal; i < grammar_->terminals.size(); ++i) {
    if (grammar_->terminals[i].is_deferred) define_terminal(i, *to_);
    if (regexes_->is_empty(grammar_->terminals[i].regex)) grammar_->terminals[i].regex = RegexStore::nothing();
  }
}

void SchemaRules::add_form_object(uint32_t start, const SchemaIR::Object& object, const FormReading& reading) {
  FormObject writing{object, object.bounds(), reading, reading.members(object), {}, {}, {}, kFirstState};
  uint32_t whole = start;
  if (!form_->has_tags() && object.may_repeat_others()) {
    whole = add_set_of(Holds::kValues, kOutermostSet);
    add_alternative(start, Symbols{whole});
  }
  add_alternative(whole, Symbols{form_states(writing)});
}

// Each state, so many of the members passed, and what was written of them as far as it counts, is a rule. Returns the
// first.
uint32_t SchemaRules::form_states(FormObject& writing) {
  const SchemaIR::Object& object = writing.object;
  const auto n_members = static_cast<uint32_t>(writing.members.size());
  const uint32_t most = writing.bounds.maximum == kUnbounded ? 0 : writing.bounds.maximum;
  const uint32_t counted_to = std::max({form_->separator.empty() ? 0U : 1U, writing.bounds.minimum, most});
  auto& states = writing.states;
  states.resize(n_members + 1);
  const auto state = [&](uint32_t n_passed, Progress at) -> FormState& {
    const auto [found, is_new] = states[n_passed].try_emplace(at);
    if (is_new) found->second.rule = add_nonterminal(writing.first_order + n_passed);
    return found->second;
  };
  const Progress none{0, (1U << object.witnesses.size()) - 1};
  state(0, none);
  const auto ways = [&](const SchemaIR::Member& member, Progress at) {
    const auto [written, missing] = at;
    if (written >= writing.bounds.maximum) return std::vector<KeyWay>();
    auto found = key_ways(object, member, missing, common_);
    std::erase_if(found, [&](const KeyWay& way) { return !is_live_member(way.value); });
    return found;
  };
  const auto after = [&](Progress at, const KeyWay& way) {
    return Progress{std::min(at.first + 1, counted_to), way.missing};
  };
  for (uint32_t i = 0; i < n_members; ++i) {
    for (const auto& [at, of] : states[i]) {
      for (const KeyWay& way : ways(writing.members[i], at)) state(i + 1, after(at, way));
      if (!writing.members[i].required) state(i + 1, at);
    }
  }
  add_form_ends(writing, counted_to);
  for (uint32_t i = n_members; i-- > 0;) {
    const SchemaIR::Member& member = writing.members[i];
    std::map<ValueId, Symbols> written;
    for (auto& [at, of] : states[i]) {
      for (const KeyWay& way : ways(member, at)) {
        const FormState& next = state(i + 1, after(at, way));
        const Symbols& entry = known_or_made(written, way.value, [&] {
          return form_member(SchemaIR::Member{member.name, way.value, member.required, member.listed}, writing.reading);
        });
        Symbols taken = before_form_member(at.first > 0);
        taken.insert(taken.end(), entry.begin(), entry.end());
        if (next.may_end) add_alternative(of.rule, taken);
        taken.push_back(next.rule);
        add_alternative(of.rule, taken);
      }
      if (member.required) continue;
      const FormState& next = state(i + 1, at);
      of.may_end = next.may_end;
      add_alternative(of.rule, Symbols{next.rule});
    }
  }
  return states[0].at(none).rule;
}

SchemaRules::Symbols SchemaRules::before_form_member(bool some) {
  Symbols before;
  if (some && !form_->separator.empty()) add_pieces(before, {{SchemaForm::Piece::Kind::kText, form_->separator}}, {});
  return before;
}

// The states after all members: keys without names, and what may come last.
void SchemaRules::add_form_ends(FormObject& writing, uint32_t counted_to) {
  const SchemaIR::Object& object = writing.object;
  auto& states = writing.states.back();
  const auto order = static_cast<uint32_t>(writing.first_order + writing.members.size());
  // Tags end with their key, so none is written for keys without names.
  const bool has_others = !form_->has_tags() && (object.others || !object.classes.empty());
  const auto kinds = object.kinds();
  if (has_others && object.has_particular_witnesses()) {
    std::vector<Progress> todo;
    for (const auto& [at, state] : states) todo.push_back(at);
    while (!todo.empty()) {
      const Progress at = todo.back();
      const auto [written, missing] = at;
      todo.pop_back();
      if (missing == 0 || written >= writing.bounds.maximum) continue;
      for (const auto& kind : kinds) {
        for (const KeyWay& way : key_ways(object, kind, missing, common_)) {
          const auto entry = is_live_member(way.value) ? form_other(writing, kind.keys, way.value) : std::nullopt;
          if (!entry) continue;
          const Progress after{std::min(written + 1, counted_to), way.missing};
          const auto [next, is_new] = states.try_emplace(after);
          if (is_new) {
            next->second.rule = add_nonterminal(order);
            todo.push_back(after);
          }
          Symbols taken = before_form_member(written > 0);
          taken.push_back(*entry);
          if (may_end(writing, after)) add_alternative(states.at(at).rule, taken);
          taken.push_back(next->second.rule);
          add_alternative(states.at(at).rule, taken);
        }
      }
    }
  }
  std::optional<uint32_t> other;
  uint64_t n_others = 0;
  if (has_others) {
    other = add_nonterminal(kBeginsWithTerminal);
    n_others = schema_.n_others(object, member_room_);
    for (const auto& kind : kinds) {
      const auto entry = is_live_member(kind.value) ? form_other(writing, kind.keys, kind.value) : std::nullopt;
      if (entry) add_alternative(*other, Symbols{*entry});
    }
  }
  for (auto& [at, state] : states) {
    const auto [written, missing] = at;
    const bool is_whole = may_end(writing, at);
    state.may_end = is_whole && writing.end.empty();
    if (is_whole && !writing.end.empty()) add_alternative(state.rule, writing.end);
    if (state.may_end && form_->has_gaps)
      add_alternative(state.rule, Symbols{add_terminal(FormReading::space(*regexes_, 1), "WHITESPACE")});
    // A key without a name is what all witnesses wait for, if not for a certain value.
    if (!other || (missing != 0 && object.has_particular_witnesses())) continue;
    const uint32_t minimum = writing.bounds.minimum;
    const uint32_t least = std::max({1U, minimum > written ? minimum - written : 0});
    const uint32_t further = writing.bounds.maximum == kUnbounded ? kUnbounded : writing.bounds.maximum - written;
    if (further < least || n_others < least) continue;
    add_form_others(state.rule, *other, written > 0, least, further);
  }
}

// So many keys without names, at least one, and the gap that may come last.
void SchemaRules::add_form_others(uint32_t rule, uint32_t other, bool some, uint32_t least, uint32_t most) {
  const auto further = [&](uint32_t minimum, uint32_t maximum) {
    Symbols body = before_form_member(true);
    body.push_back(other);
    const uint32_t more = add_nonterminal(kBeginsWithTerminal);
    add_alternative(more, body);
    return add_repeat(more, minimum, maximum);
  };
  Symbols taken;
  if (some) {
    taken.push_back(further(least, most));
  } else {
    taken.push_back(other);
    if (most > 1) taken.push_back(further(least - 1, most == kUnbounded ? kUnbounded : most - 1));
  }
  if (form_->has_gaps) taken.push_back(gap_);
  add_alternative(rule, taken);
}

bool SchemaRules::may_end(const FormObject& writing, Progress at) {
  return at.second == 0 && at.first >= writing.bounds.minimum;
}

SchemaRules::Symbols SchemaRules::form_member(const SchemaIR::Member& member, const FormReading& reading) {
  const std::string& name = schema_.name_at(member.name);
  const auto key = [&](Symbols& to, const SchemaForm::Pieces& pieces) { add_pieces(to, pieces, name); };
  return form_entry(member.name, member.value, key, reading);
}

// A member with one of these keys and none of the names of others, as one symbol; none if no key can be written.
std::optional<uint32_t> SchemaRules::form_other(FormObject& writing, const SchemaIR::Keys& keys, ValueId value) {
  RegexStore& r = *regexes_;
  if (!writing.unnamed) {
    std::vector<std::string_view> names;
    for (const auto& member : writing.object.members) names.push_back(schema_.name_at(member.name));
    writing.unnamed = r.complement(r.key_set(std::move(names)));
  }
  const RegexId texts =
      FormReading(parts_, *form_).bare_keys(r.intersection({schema_.keys_regex(keys, r), *writing.unnamed}), r);
  if (r.is_empty(texts)) return std::nullopt;
  const bool distinct = writing.object.may_repeat_others();
  std::map<std::string, uint32_t> made;
  const auto key = [&](Symbols& to, const SchemaForm::Pieces& pieces) {
    const auto at = std::ranges::find(pieces, SchemaForm::Piece::Kind::kKey, &SchemaForm::Piece::kind);
    add_pieces(to, SchemaForm::Pieces(pieces.begin(), at), {});
    // A key that a lexeme begins with is one by itself, for the sake of the register, which reads JSON.
    const std::string behind = at->text.empty() ? std::string() : at->behind;
    to.push_back(known_or_made(made, behind, [&] {
      const RegexId ended = r.concatenation(texts, r.literal(behind));
      return add_terminal(r.concatenation(r.literal(at->text), ended), "KEY", distinct);
    }));
    SchemaForm::Pieces left(at + 1, pieces.end());
    if (behind.empty() && !at->behind.empty()) left.insert(left.begin(), {SchemaForm::Piece::Kind::kText, at->behind});
    add_pieces(to, left, {});
  };
  const Symbols entry = form_entry(kItem, value, key, writing.reading);
  const uint32_t other = add_nonterminal(kBeginsWithTerminal);
  add_alternative(other, entry);
  return other;
}

// The key, as `add_key` writes it, and the value of a member.
template <class AddKey>
SchemaRules::Symbols SchemaRules::form_entry(uint32_t name, ValueId value, const AddKey& add_key,
                                             const FormReading& reading) {
  Symbols taken;
  if (form_->has_gaps) taken.push_back(gap_);
  if (!form_->has_kinds()) add_key(taken, form_->keys[0]);
  if (!form_->has_text()) {
    const Tagged tagged{Tagged::Kind::kValue, value, name};
    taken.push_back(form_->has_tags() ? rule_of(tagged) : symbol_of(value));
    return taken;
  }
  const FormReading::Values values = reading.values(value);
  if (!form_->has_kinds()) {
    taken.push_back(form_value(value, SchemaIR::kAnyKind, values, reading));
    return taken;
  }
  const uint32_t of_any_kind = add_nonterminal(kBeginsWithTerminal);
  for (size_t i = 0; i < SchemaForm::kKinds; ++i) {
    const auto kind = static_cast<SchemaIR::Kind>(1U << i);
    const FormReading::Values alike = reading.of_kind(values, kind);
    if (alike.is_empty()) continue;
    Symbols way;
    add_key(way, form_->keys[i]);
    way.push_back(form_value(value, kind, alike, reading));
    add_alternative(of_any_kind, way);
  }
  taken.push_back(of_any_kind);
  return taken;
}

void SchemaRules::add_pieces(Symbols& to, const SchemaForm::Pieces& pieces, std::string_view key) {
  using Kind = SchemaForm::Piece::Kind;
  const auto text = [&](const std::string& written) {
    if (!written.empty()) to.push_back(add_terminal(regexes_->literal(written), shortened(shown(written))));
  };
  for (const SchemaForm::Piece& piece : pieces) {
    switch (piece.kind) {
      case Kind::kText:
        text(piece.text);
        break;
      case Kind::kKey:
        text(piece.text + std::string(key) + piece.behind);
        break;
      case Kind::kGap:
        to.push_back(gap_);
        break;
      case Kind::kToken:
        to.push_back(form_tokens_.at(piece.token));
        break;
    }
  }
}

// Values of a kind, with what ends them. Many members hold the same.
uint32_t SchemaRules::form_value(ValueId id, SchemaIR::Kind kind, const FormReading::Values& values,
                                 const FormReading& reading) {
  return known_or_made(form_values_, {schema_.resolved(id), kind},
                       [&] { return make_form_value(id, values, reading); });
}

uint32_t SchemaRules::make_form_value(ValueId id, const FormReading::Values& values, const FormReading& reading) {
  std::vector<Symbols> ways;
  const auto& terminals = values.terminals;
  const auto any =
      std::find_if(terminals.begin(), terminals.end(), [&](uint32_t t) { return reading.is_any_string(t); });
  // Any text is a string, or another value that reads better.
  const FormReading::Values left = any == terminals.end() ? values : FormReading::Values{{*any}, {}};
  const uint32_t either = add_nonterminal(kValues - 2);
  for (uint32_t t : left.terminals) {
    const RegexId texts = reading.texts(t, values, *regexes_);
    if (regexes_->is_empty(texts)) continue;
    const RegexId ended = regexes_->concatenation(texts, regexes_->literal(form_->end));
    Symbols& way = ways.emplace_back(
        Symbols{add_terminal(regexes_->without_empty_text(ended), terminal_name(schema_.terminal(t)))});
    // A token ends it then.
    grammar_->terminals.back().nullable = regexes_->nullable(ended);
    add_pieces(way, form_->after_end, {});
  }
  for (uint32_t inner : form_brackets(id, left, reading)) {
    Symbols& way = ways.emplace_back(Symbols{gap_, inner, gap_});
    add_pieces(way, {{SchemaForm::Piece::Kind::kText, form_->end}}, {});
    add_pieces(way, form_->after_end, {});
  }
  for (const Symbols& way : ways) add_alternative(either, way);
  return either;
}

// Arrays and objects as JSON or Python writes them.
SchemaRules::Symbols SchemaRules::form_brackets(ValueId id, const FormReading::Values& values,
                                                const FormReading& reading) {
  if (values.brackets.empty()) return {};
  const auto is_all = [&](const SchemaIR::Value& value) {
    return value.terminals.empty() && (!value.array || !value.object);
  };
  // A choice between many is made a rule of its own, which reads them together.
  const FormReading::Values all = reading.values(id);
  if (all.terminals.empty() && all.brackets.size() == values.brackets.size()) return {rule_of(id)};
  Symbols found;
  for (const auto& [value, kind] : values.brackets) {
    if (is_all(schema_.at(value))) {
      found.push_back(rule_of(value));
      continue;
    }
    const uint32_t rule = add_nonterminal(kValues - 1);
    if (kind == SchemaIR::kArray) {
      add_array(rule, value);
    } else {
      add_object(rule, value);
    }
    found.push_back(rule);
  }
  return found;
}

// Texts with what ends them as one lexeme, up to a token.
void SchemaRules::add_ended(Symbols& to, RegexId texts, const SchemaForm::Pieces& end, std::string_view key,
                            std::string name, bool distinct) {
  SchemaForm::Pieces left = end;
  if (!left.empty() && left[0].kind != SchemaForm::Piece::Kind::kToken) {
    const SchemaForm::Piece& first = left[0];
    const bool is_key = first.kind == SchemaForm::Piece::Kind::kKey;
    texts = regexes_->concatenation(
        texts, regexes_->literal(is_key ? first.text + std::string(key) + first.behind : first.text));
    left.erase(left.begin());
  }
  to.push_back(add_terminal(regexes_->without_empty_text(texts), std::move(name), distinct));
  grammar_->terminals.back().nullable = regexes_->nullable(texts);
  add_pieces(to, left, key);
}

// ---- strings between delimiters

uint32_t SchemaRules::delimited_string(uint32_t terminal, bool distinct) {
  return defer(kBeginsWithTerminal, DelimitedString{terminal, distinct});
}

void SchemaRules::add_rules(uint32_t rule, const DelimitedString& of) {
  const RegexId inside = FormReading(parts_, *form_).texts(of.terminal, {}, *regexes_);
  Symbols written;
  add_pieces(written, form_->delimiter, {});
  add_ended(written, inside, form_->delimiter, {}, terminal_name(schema_.terminal(of.terminal)), of.distinct);
  add_alternative(rule, written);
}

// ---- members in any order

// All keys are members of one list, and the register knows which were written: no key comes twice, the brace closes
// only behind the required ones, and bounds on the number of keys are bounds of the register.
void SchemaRules::add_form_object_in_any_order(uint32_t rule, const SchemaIR::Object& object) {
  SetBounds bounds;
  for (const auto& member : object.members) {
    if (member.required) bounds.required.push_back(schema_.name_at(member.name));
  }
  bounds.minimum = object.minimum;
  bounds.maximum = object.maximum;
  const bool needs_some = object.minimum > 0 || !bounds.required.empty();
  const uint32_t whole = add_set(std::move(bounds));
  add_alternative(rule, Symbols{whole});
  const uint32_t members = add_nonterminal(kFirstState);
  add_alternative(whole, Symbols{open_object_, members});
  const uint32_t member = add_nonterminal(kBeginsWithTerminal);
  for (const auto& of : object.members) {
    if (schema_.is_live(of.value)) add_alternative(member, Symbols{distinct_key(of.name), colon_, symbol_of(of.value)});
  }
  if (const auto other = other_member(object, Kept::kInSet, nullptr)) add_alternative(member, *other);
  if (grammar_->nonterminals[Symbol{member}.index()].alternatives.empty()) {
    add_alternative(members, Symbols{close_set_.empty});
  } else {
    add_repeated(members, false, Symbols{member}, needs_some ? 1 : 0, kUnbounded, members_, close_set_);
  }
}

uint32_t SchemaRules::distinct_key(uint32_t name) {
  if (const auto known = distinct_keys_.find(name)) return *known;
  const std::string& text = schema_.name_at(name);
  RegexStore& r = *regexes_;
  // Registers read JSON.
  const RegexId written = delimits_      ? r.literal(text)
                          : writes_json_ ? listed({text})
                                         : r.json_string(r.literal(text), JsonEscapes::kCanonical);
  const uint32_t made = add_terminal(written, shortened(shown(text)), true);
  distinct_keys_.insert(name, made);
  return made;
}

// ---- tags

// Each begins with a terminal or with such rules of a later order, so none has an order below that of what it begins
// with.
uint32_t SchemaRules::rule_of(const Tagged& of) {
  const Tagged known{of.kind, of.kind == Tagged::Kind::kValue ? schema_.resolved(of.id) : of.id, of.name, of.distinct};
  return known_or_made(tagged_, known,
                       [&] { return defer(known.kind == Tagged::Kind::kValue ? kValues : kValues + 1, known); });
}

void SchemaRules::add_rules(uint32_t rule, const Tagged& of) {
  switch (of.kind) {
    case Tagged::Kind::kValue:
      return add_tagged_value(rule, of);
    case Tagged::Kind::kArray:
      return add_tagged_array(rule, of);
    case Tagged::Kind::kObject:
      return add_tagged_object(rule, of);
  }
}

void SchemaRules::add_tagged_value(uint32_t rule, const Tagged& of) {
  const FormReading reading(parts_, *form_);
  const FormReading::Values values = reading.values(of.id);
  const std::string key = of.name == kItem ? std::string() : schema_.name_at(of.name);
  const auto any = std::ranges::find_if(values.terminals, [&](uint32_t t) { return reading.is_any_string(t); });
  // Any text is a string, or another value that reads better.
  const FormReading::Values left = any == values.terminals.end() ? values : FormReading::Values{{*any}, {}};
  for (uint32_t t : left.terminals) {
    const RegexId texts = reading.texts(t, values, *regexes_);
    if (regexes_->is_empty(texts)) continue;
    Symbols way;
    add_ended(way, texts, tagged_end(of), key, terminal_name(schema_.terminal(t)), of.distinct);
    add_alternative(rule, way);
  }
  for (const auto& [id, kind] : left.brackets) {
    const auto as = kind == SchemaIR::kArray ? Tagged::Kind::kArray : Tagged::Kind::kObject;
    add_alternative(rule, Symbols{rule_of(Tagged{as, id, of.name})});
  }
}

void SchemaRules::add_tagged_object(uint32_t rule, const Tagged& of) {
  const FormReading reading(parts_, *form_);
  const SchemaIR::Object& object = *schema_.at(of.id).object;
  FormObject writing{object, object.bounds(), reading, reading.members(object), {}, {}, {}, kTaggedState};
  add_pieces(writing.end, tagged_end(of), of.name == kItem ? std::string() : schema_.name_at(of.name));
  add_alternative(rule, Symbols{form_states(writing)});
}

void SchemaRules::add_tagged_array(uint32_t rule, const Tagged& of) {
  const SchemaIR::Array& array = *schema_.at(of.id).array;
  const std::string key = of.name == kItem ? std::string() : schema_.name_at(of.name);
  const bool distinct = array.forbids_equal_items();
  if (distinct) {
    const uint32_t whole = add_set_of(Holds::kValues, kTaggedSet);
    add_alternative(rule, Symbols{whole});
    rule = whole;
  }
  const auto add_end = [&](uint32_t state, Symbols before) {
    add_pieces(before, tagged_end(of), key);
    add_alternative(state, before);
  };
  const auto add_further = [&](uint32_t state, uint32_t written) {
    const uint32_t least = array.minimum > written ? array.minimum - written : 0;
    const uint32_t most = array.maximum == kUnbounded ? kUnbounded : array.maximum - std::min(array.maximum, written);
    if (!array.rest || most == 0 || !schema_.is_live(*array.rest)) {
      if (least == 0) add_end(state, {});
      return;
    }
    const uint32_t item = add_nonterminal(kBeginsWithTerminal);
    add_alternative(item, tagged_item(*array.rest, distinct));
    add_end(state, Symbols{add_repeat(item, least, most)});
  };
  if (!array.witnesses.empty()) {
    const auto states = item_states(array, common_).value();
    std::vector<uint32_t> rules;
    for (size_t i = 0; i < states.size(); ++i) rules.push_back(add_nonterminal(kTaggedState));
    add_alternative(rule, Symbols{rules[0]});
    for (size_t i = 0; i < states.size(); ++i) {
      const ItemState& state = states[i];
      if (state.is_met) {
        add_further(rules[i], state.position);
        continue;
      }
      if (state.may_end) add_end(rules[i], {});
      for (const auto& item : state.items) {
        if (!schema_.is_live(item.value)) continue;
        Symbols written = tagged_item(item.value, distinct);
        written.push_back(rules[item.after]);
        add_alternative(rules[i], written);
      }
    }
    return;
  }
  uint32_t state = rule;
  for (uint32_t i = 0; i < array.prefix.size(); ++i) {
    if (i >= array.minimum) add_end(state, {});
    if (i >= array.maximum || !schema_.is_live(array.prefix[i])) return;
    Symbols item = tagged_item(array.prefix[i], distinct);
    const uint32_t next = add_nonterminal(kTaggedState);
    item.push_back(next);
    add_alternative(state, item);
    state = next;
  }
  add_further(state, static_cast<uint32_t>(array.prefix.size()));
}

SchemaRules::Symbols SchemaRules::tagged_item(ValueId id, bool distinct) {
  Symbols item;
  add_pieces(item, form_->before_item, {});
  item.push_back(rule_of(Tagged{Tagged::Kind::kValue, id, kItem, distinct}));
  return item;
}

bool SchemaRules::has_form_texts(const std::shared_ptr<const SchemaWithLayout>& parts,
                                 const std::shared_ptr<const SchemaForm>& form, RegexStore& regexes, Account& rules) {
  constexpr size_t kMostTokens = 64;
  Grammar grammar;
  const DeferredAdditions to{grammar, regexes, rules, 0, UINT32_MAX, false, true, true};
  SchemaRules schema(parts, 0, form);
  schema.enter(to);
  const uint32_t token = schema.add_terminal(regexes.literal("token"), "token");
  schema.form_tokens_.assign(kMostTokens, token);
  const Symbol start = schema.start(to);
  return !grammar.nonterminals[start.index()].alternatives.empty();
}

}  // namespace cfgmask
