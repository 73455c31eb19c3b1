#include <algorithm>
#include <array>

#include "schema/deferred_schema.h"
#include "schema/schema_form.h"
#include "schema/text_names.h"

namespace cfgmask {

// The outermost objects in the form. Their rules are few, so they are made at once; those of arrays and objects in them
// are made as texts come to them. None of the rules has the empty text, which is the caller's matter.
uint32_t DeferredSchema::form_start() {
  const FormReading reading(parts_, *form_);
  gap_ = add_terminal(FormReading::space(*regexes_, 1), "WHITESPACE");
  grammar_->terminals.back().nullable = true;
  const uint32_t start = add_nonterminal(kFirstDeferredOrder);
  if (form_->has_braces()) {
    const FormReading::Values objects = reading.of_kind(reading.values(schema_.root()), PlainSchema::kObject);
    for (uint32_t object : form_brackets(schema_.root(), objects, reading)) add_alternative(start, Symbols{object});
    return start;
  }
  for (const auto& object : reading.objects()) add_form_object(start, *object, reading);
  return start;
}

// Each state, so many of the members passed and whether any is written, is a rule.
void DeferredSchema::add_form_object(uint32_t start, const PlainSchema::Object& object, const FormReading& reading) {
  const auto members = reading.members(object);
  const auto n_members = static_cast<uint32_t>(members.size());
  const bool has_separator = !form_->separator.empty();
  // After none and after some, which are the same without separators.
  std::array<std::optional<uint32_t>, 2> rest;
  rest[0] = rest[1] = form_end(n_members);
  bool may_end = true;
  for (uint32_t i = n_members; i-- > 0;) {
    const Symbols member = form_member(members[i], reading);
    std::array<std::optional<uint32_t>, 2> states;
    for (const bool some : {false, true}) {
      if (some && !has_separator) {
        states[1] = states[0];
        continue;
      }
      const uint32_t state = add_nonterminal(kFirstState + i);
      Symbols taken;
      if (some) add_pieces(taken, {{SchemaForm::Piece::Kind::kText, form_->separator}}, {});
      taken.insert(taken.end(), member.begin(), member.end());
      if (may_end) add_alternative(state, taken);
      if (rest[1]) {
        taken.push_back(*rest[1]);
        add_alternative(state, taken);
      }
      if (rest[some] && !members[i].required) add_alternative(state, Symbols{*rest[some]});
      states[some] = state;
    }
    may_end = may_end && !members[i].required;
    rest = states;
  }
  if (rest[0]) add_alternative(start, Symbols{*rest[0]});
}

// What comes after all members, but for nothing.
std::optional<uint32_t> DeferredSchema::form_end(uint32_t n_members) {
  if (!form_->has_gaps) return std::nullopt;
  const uint32_t end = add_nonterminal(kFirstState + n_members);
  add_alternative(end, Symbols{add_terminal(FormReading::space(*regexes_, 1), "WHITESPACE")});
  return end;
}

DeferredSchema::Symbols DeferredSchema::form_member(const PlainSchema::Member& member, const FormReading& reading) {
  Symbols taken;
  if (form_->has_gaps) taken.push_back(gap_);
  const std::string& name = schema_.name_at(member.name);
  if (!form_->has_kinds()) add_pieces(taken, form_->keys[0], name);
  if (!form_->has_text()) {
    const Tagged tagged{Tagged::Kind::kValue, member.value, member.name};
    taken.push_back(form_->has_tags() ? rule_of(tagged) : symbol_of(member.value));
    return taken;
  }
  const FormReading::Values values = reading.values(member.value);
  if (!form_->has_kinds()) {
    taken.push_back(form_value(member.value, PlainSchema::kAnyKind, values, reading));
    return taken;
  }
  const uint32_t of_any_kind = add_nonterminal(kBeginsWithTerminal);
  for (size_t i = 0; i < SchemaForm::kKinds; ++i) {
    const auto kind = static_cast<PlainSchema::Kind>(1U << i);
    const FormReading::Values alike = reading.of_kind(values, kind);
    if (alike.is_empty()) continue;
    Symbols way;
    add_pieces(way, form_->keys[i], name);
    way.push_back(form_value(member.value, kind, alike, reading));
    add_alternative(of_any_kind, way);
  }
  taken.push_back(of_any_kind);
  return taken;
}

void DeferredSchema::add_pieces(Symbols& to, const SchemaForm::Pieces& pieces, std::string_view key) {
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
uint32_t DeferredSchema::form_value(PlainValueId id, PlainSchema::Kind kind, const FormReading::Values& values,
                                    const FormReading& reading) {
  return known_or_made(form_values_, {schema_.resolved(id), kind},
                       [&] { return make_form_value(id, values, reading); });
}

uint32_t DeferredSchema::make_form_value(PlainValueId id, const FormReading::Values& values,
                                         const FormReading& reading) {
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
DeferredSchema::Symbols DeferredSchema::form_brackets(PlainValueId id, const FormReading::Values& values,
                                                      const FormReading& reading) {
  if (values.brackets.empty()) return {};
  const auto is_all = [&](const PlainSchema::Value& value) {
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
    if (kind == PlainSchema::kArray) {
      add_array(rule, value);
    } else {
      add_object(rule, value);
    }
    found.push_back(rule);
  }
  return found;
}

// Texts with what ends them as one lexeme, up to a token.
void DeferredSchema::add_ended(Symbols& to, RegexId texts, const SchemaForm::Pieces& end, std::string_view key,
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

uint32_t DeferredSchema::delimited_string(uint32_t terminal, bool distinct) {
  return defer(kBeginsWithTerminal, DelimitedString{terminal, distinct});
}

void DeferredSchema::add_rules(uint32_t rule, const DelimitedString& of) {
  const RegexId inside = FormReading(parts_, *form_).texts(of.terminal, {}, *regexes_);
  Symbols written;
  add_pieces(written, form_->delimiter, {});
  add_ended(written, inside, form_->delimiter, {}, terminal_name(schema_.terminal(of.terminal)), of.distinct);
  add_alternative(rule, written);
}

// ---- members in any order

// All keys are members of one list, and the register knows which were written: no key comes twice, the brace closes
// only behind the required ones, and bounds on the number of keys are bounds of the register.
void DeferredSchema::add_form_object_in_any_order(uint32_t rule, const PlainSchema::Object& object) {
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

uint32_t DeferredSchema::distinct_key(uint32_t name) {
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
uint32_t DeferredSchema::rule_of(const Tagged& of) {
  const Tagged known{of.kind, of.kind == Tagged::Kind::kValue ? schema_.resolved(of.id) : of.id, of.name};
  return known_or_made(tagged_, known,
                       [&] { return defer(known.kind == Tagged::Kind::kValue ? kValues : kValues + 1, known); });
}

void DeferredSchema::add_rules(uint32_t rule, const Tagged& of) {
  switch (of.kind) {
    case Tagged::Kind::kValue:
      return add_tagged_value(rule, of);
    case Tagged::Kind::kArray:
      return add_tagged_array(rule, of);
    case Tagged::Kind::kObject:
      return add_tagged_object(rule, of);
  }
}

void DeferredSchema::add_tagged_value(uint32_t rule, const Tagged& of) {
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
    add_ended(way, texts, tagged_end(of), key, terminal_name(schema_.terminal(t)));
    add_alternative(rule, way);
  }
  for (const auto& [id, kind] : left.brackets) {
    const auto as = kind == PlainSchema::kArray ? Tagged::Kind::kArray : Tagged::Kind::kObject;
    add_alternative(rule, Symbols{rule_of(Tagged{as, id, of.name})});
  }
}

// Each state, so many of the members passed, is a rule.
void DeferredSchema::add_tagged_object(uint32_t rule, const Tagged& of) {
  const FormReading reading(parts_, *form_);
  const auto members = reading.members(*schema_.at(of.id).object);
  const auto n_members = static_cast<uint32_t>(members.size());
  const std::string key = of.name == kItem ? std::string() : schema_.name_at(of.name);
  constexpr uint32_t kFirst = kValues + 2;
  uint32_t rest = add_nonterminal(kFirst + n_members);
  Symbols end;
  add_pieces(end, tagged_end(of), key);
  add_alternative(rest, end);
  for (uint32_t i = n_members; i-- > 0;) {
    Symbols member = form_member(members[i], reading);
    member.push_back(rest);
    const uint32_t state = add_nonterminal(kFirst + i);
    add_alternative(state, member);
    if (!members[i].required) add_alternative(state, Symbols{rest});
    rest = state;
  }
  add_alternative(rule, Symbols{rest});
}

void DeferredSchema::add_tagged_array(uint32_t rule, const Tagged& of) {
  const PlainSchema::Array& array = *schema_.at(of.id).array;
  const std::string key = of.name == kItem ? std::string() : schema_.name_at(of.name);
  const auto add_end = [&](uint32_t state, Symbols before) {
    add_pieces(before, tagged_end(of), key);
    add_alternative(state, before);
  };
  uint32_t state = rule;
  for (uint32_t i = 0; i < array.prefix.size(); ++i) {
    if (i >= array.minimum) add_end(state, {});
    if (i >= array.maximum || !schema_.is_live(array.prefix[i])) return;
    Symbols item = tagged_item(array.prefix[i]);
    const uint32_t next = add_nonterminal(kValues + 2);
    item.push_back(next);
    add_alternative(state, item);
    state = next;
  }
  const auto written = static_cast<uint32_t>(array.prefix.size());
  const uint32_t least = array.minimum > written ? array.minimum - written : 0;
  const uint32_t most = array.maximum == kUnbounded ? kUnbounded : array.maximum - std::min(array.maximum, written);
  if (!array.rest || most == 0 || !schema_.is_live(*array.rest)) {
    if (least == 0) add_end(state, {});
    return;
  }
  const uint32_t item = add_nonterminal(kBeginsWithTerminal);
  add_alternative(item, tagged_item(*array.rest));
  add_end(state, Symbols{add_repeat(item, least, most)});
}

DeferredSchema::Symbols DeferredSchema::tagged_item(PlainValueId id) {
  Symbols item;
  add_pieces(item, form_->before_item, {});
  item.push_back(rule_of(Tagged{Tagged::Kind::kValue, id, kItem}));
  return item;
}

}  // namespace cfgmask
