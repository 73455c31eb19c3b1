#include "json_schema/layouts/schema_form.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "json_schema/sets/indexed_lists.h"
#include "json_schema/spelling/python_literals.h"
#include "util/limits.h"

namespace cfgmask {

using Kind = SchemaIR::Kind;
using Spelling = SchemaIR::Spelling;

namespace {

// Whether all hold; nullopt if none is known not to, and some are not known.
template <class Range, class F>
std::optional<bool> all_hold(const Range& range, F holds) {
  std::optional<bool> found = true;
  for (const auto& each : range) {
    const std::optional<bool> one = holds(each);
    if (one && !*one) return false;
    if (!one) found = std::nullopt;
  }
  return found;
}

// Whether a register of keys takes a name for another value than a string.
bool is_read_otherwise(std::string_view name) {
  if (name == "null" || name == "true" || name == "false") return true;
  const auto digits = [&] {
    const size_t n = std::min(name.find_first_not_of("0123456789"), name.size());
    name.remove_prefix(n);
    return n > 0;
  };
  if (name.starts_with('-')) name.remove_prefix(1);
  if (!digits()) return false;
  if (name.starts_with('.')) {
    name.remove_prefix(1);
    if (!digits()) return false;
  }
  return name.empty();
}

}  // namespace

std::optional<bool> FormReading::fits(RegexStore* r) const {
  if (!takes_layout()) return false;
  const Values outermost = of_kind(values(schema_.root()), Kind::kObject);
  if (outermost.is_empty()) return false;
  const auto is_ordered = [&](const auto& of) { return !is_in_any_order(*schema_.at(of.first).object); };
  // Only a mark that closes an object tells that none of its keys is missing.
  if (!form_.has_braces() && !std::ranges::all_of(outermost.brackets, is_ordered)) return false;
  std::vector<ValueId> inner;
  for (const auto& [id, kind] : outermost.brackets) {
    const SchemaIR::Object& object = *schema_.at(id).object;
    if (form_.has_braces()) inner.push_back(id);
    for (const SchemaIR::Member& member : members(object)) inner.push_back(member.value);
    for (const SchemaIR::KeyClass& keys : object.kinds()) inner.push_back(keys.value);
  }
  const bool is_json = form_.values == SchemaForm::Values::kJson;
  const std::optional<bool> has_literals = is_json ? true : fits_inside(std::move(inner), r);
  if (form_.has_braces() || (has_literals && !*has_literals)) return has_literals;
  const std::optional<bool> has_members =
      all_hold(outermost.brackets, [&](const auto& of) { return fits(*schema_.at(of.first).object, r); });
  return has_members.value_or(true) && !has_literals ? std::nullopt : has_members;
}

bool FormReading::is_plain(RegexStore& r) const {
  try {
    return fits(&r).value_or(false);
  } catch (const LimitExceeded&) {
    return false;
  }
}

// As the outermost one.
std::optional<bool> FormReading::fits(const SchemaIR::Object& object, RegexStore* r) const {
  if (form_.has_tags()) return object.witnesses.empty() && object.bounds().are_idle();
  if (!has_some(object)) return false;
  const std::optional<bool> has_members =
      all_hold(members(object), [&](const auto& member) { return fits(member.value, r); });
  if (has_members && !*has_members) return false;
  if (object.kinds().empty()) return has_members;
  if (r == nullptr && object.has_classes()) return std::nullopt;
  if (r != nullptr && object.has_classes() && !has_keys(object, *r, true)) return false;
  const std::optional<bool> has_others =
      all_hold(object.kinds(), [&](const auto& of) { return schema_.is_live(of.value) ? fits(of.value, r) : true; });
  return has_others && *has_others && !has_members ? std::nullopt : has_others;
}

// Whether it is written as some text that is not empty.
bool FormReading::has_some(const SchemaIR::Object& object) const {
  if (form_.has_gaps || form_.has_braces() || !members(object).empty()) return true;
  return !form_.has_tags() &&
         std::ranges::any_of(object.kinds(), [&](const auto& of) { return schema_.is_live(of.value); });
}

std::optional<bool> FormReading::fits(ValueId id, RegexStore* r) const {
  if (!form_.has_text() && !form_.has_tags()) return true;
  // Most are one scalar, and to list what others are takes ten times as long.
  const SchemaIR::Value& value = schema_.at(schema_.resolved(id));
  if (value.terminals.size() == 1 && !value.array && !value.object && value.alternatives.empty()) {
    const uint32_t scalar = value.terminals[0];
    return is_string(schema_.terminal(scalar)) ? has_texts(scalar, {}, r) : true;
  }
  return fits(values(id), r);
}

// Whether values and all in them can be written as literals of Python, or in a form that is theirs as well.
std::optional<bool> FormReading::fits_inside(std::vector<ValueId> values, RegexStore* r) const {
  std::vector<bool> seen(schema_.n_values(), false);
  std::optional<bool> found = true;
  while (!values.empty()) {
    const ValueId next = values.back();
    values.pop_back();
    if (seen[next.value] || !schema_.is_live(next)) continue;
    seen[next.value] = true;
    const SchemaIR::Value& value = schema_.at(next);
    const std::optional<bool> one = fits_inside(next, r);
    if (one && !*one) return false;
    if (!one) found = std::nullopt;
    SchemaIR::for_each_inside(value, [&](ValueId inside) { values.push_back(inside); });
    if (!value.may_have_many_states()) continue;
    // An item that must meet a witness is a set of its own, which `for_each_inside` does not visit.
    for (uint32_t i = 0; i < schema_.n_values(); ++i) values.emplace_back(i);
  }
  return found;
}

std::optional<bool> FormReading::fits_inside(ValueId id, RegexStore* r) const {
  if (form_.has_tags()) return has_tags(id, r);
  return form_.delimits() ? is_delimited(schema_.at(id), r) : is_python(schema_.at(id), r);
}

// As one place in which a value is; what is inside of it is one by itself.
std::optional<bool> FormReading::has_tags(ValueId id, RegexStore* r) const {
  const SchemaIR::Value& value = schema_.at(id);
  if (value.array && (!value.array->witnesses.empty() || value.array->forbids_equal_items() || value.array->repeats))
    return false;
  if (value.object && (!value.object->witnesses.empty() || !value.object->bounds().are_idle())) return false;
  return fits(id, r);
}

std::optional<bool> FormReading::is_delimited(const SchemaIR::Value& value, RegexStore* r) const {
  if (value.array && schema_.has_composite_items(*value.array)) return false;
  if (value.object) {
    if (!has_readable_names(*value.object)) return false;
    if (value.object->has_classes()) {
      if (r == nullptr) return std::nullopt;
      if (!has_keys(*value.object, *r, true)) return false;
    }
  }
  return all_hold(value.terminals, [&](uint32_t t) -> std::optional<bool> {
    return is_string(schema_.terminal(t)) ? has_texts(t, {}, r) : true;
  });
}

// Whether the keys come in the order of the schema; or the register of those in any order, which reads JSON, takes the
// names that it asks for as strings, and no key without a name is asked for.
bool FormReading::has_readable_names(const SchemaIR::Object& object) const {
  if (!parts_.layout->has_any_order) return true;
  if (!object.witnesses.empty() || (object.has_classes() && object.minimum > object.n_required())) return false;
  return std::ranges::none_of(object.members, [&](const SchemaIR::Member& member) {
    const std::string& name = schema_.name_at(member.name);
    if (!member.required) return false;
    const bool is_number = !name.empty() && (name[0] == '-' || (name[0] >= '0' && name[0] <= '9'));
    return is_number || is_read_otherwise(name);
  });
}

bool FormReading::takes_layout() const { return !parts_.layout->indent && !parts_.layout->yaml; }

// See SchemaRules::is_in_any_order.
bool FormReading::is_in_any_order(const SchemaIR::Object& object) const {
  if (!parts_.layout->has_any_order) return false;
  const bool has_more = std::ranges::any_of(object.kinds(), [&](const auto& of) { return schema_.is_live(of.value); });
  return members(object).size() > (has_more ? 0 : 1);
}

std::optional<bool> FormReading::is_python(const SchemaIR::Value& value, RegexStore* r) const {
  if (value.array && schema_.has_composite_items(*value.array)) return false;
  if (value.object) {
    if (!has_readable_names(*value.object)) return false;
    const SchemaIR::Object& object = *value.object;
    const auto can_be_written = [&](const SchemaIR::Member& member) {
      return !schema_.is_live(member.value) || is_python_key(schema_.name_at(member.name));
    };
    if (!std::ranges::all_of(object.members, can_be_written)) return false;
    if (object.has_classes()) {
      if (r == nullptr) return std::nullopt;
      if (!has_keys(object, *r, false)) return false;
    }
  }
  return all_hold(value.terminals, [&](uint32_t t) -> std::optional<bool> {
    const SchemaIR::Terminal& terminal = schema_.terminal(t);
    if (terminal.spelling != Spelling::kOutside || !is_string(terminal)) return true;
    return r == nullptr ? std::nullopt : std::optional(body(terminal, *r).has_value());
  });
}

// Whether some key of each class can be written, and some other one; without quotes, if they are bare.
bool FormReading::has_keys(const SchemaIR::Object& object, RegexStore& r, bool are_bare) const {
  std::vector<std::string_view> names;
  for (const SchemaIR::Member& member : object.members) names.push_back(schema_.name_at(member.name));
  const RegexId unnamed = r.complement(r.key_set(std::move(names)));
  const auto has_key = [&](const SchemaIR::Keys& keys, ValueId value) {
    if (!schema_.is_live(value)) return true;
    const RegexId texts = r.intersection({schema_.keys_regex(keys, r), unnamed});
    return !r.is_empty(are_bare ? bare_keys(texts, r) : python_keys(texts, r));
  };
  return (!object.others || has_key(object.others_keys, *object.others)) &&
         std::ranges::all_of(object.classes, [&](const auto& of) { return has_key(of.keys, of.value); });
}

// Whether each string can be written, and there is any value.
std::optional<bool> FormReading::fits(const Values& values, RegexStore* r) const {
  if (values.is_empty()) return false;
  if (form_.has_kinds()) {
    const Values strings = of_kind(values, Kind::kString);
    return all_hold(strings.terminals, [&](uint32_t t) { return has_texts(t, strings, r); });
  }
  if (std::any_of(values.terminals.begin(), values.terminals.end(), [&](uint32_t t) { return is_any_string(t); }))
    return true;
  return all_hold(values.terminals, [&](uint32_t t) -> std::optional<bool> {
    return is_string(schema_.terminal(t)) ? has_texts(t, values, r) : true;
  });
}

// Whether a string among others can be written.
std::optional<bool> FormReading::has_texts(uint32_t string, const Values& among, RegexStore* r) const {
  const SchemaIR::Terminal& terminal = schema_.terminal(string);
  if (plainly_has_texts(terminal, among)) return true;
  if (r == nullptr) return std::nullopt;
  return body(terminal, *r) && !r->is_empty(texts(string, among, *r));
}

// Some text of most strings reads as nothing else, which no regex has to tell.
bool FormReading::plainly_has_texts(const SchemaIR::Terminal& string, const Values& among) const {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool is_alone =
      among.brackets.empty() && std::all_of(among.terminals.begin(), among.terminals.end(),
                                            [&](uint32_t t) { return is_string(schema_.terminal(t)); });
  const auto reads_well = [&](const std::string& text) {
    if (text.find(form_.stop) != std::string::npos) return false;
    const bool is_word = text == "null" || text == "true" || text == "false";
    return is_alone || (!text.empty() && is_letter(text[0]) && !is_word);
  };
  switch (string.spelling) {
    case Spelling::kAnyString:
      return true;
    case Spelling::kListed:
      return std::any_of(string.listed.begin(), string.listed.end(), reads_well);
    case Spelling::kText:
      return !string.text.pattern;  // so many letters
    case Spelling::kWord:
    case Spelling::kNumbers:
    case Spelling::kNumberUnion:
    case Spelling::kOutside:
      break;
  }
  return false;
}

std::vector<std::shared_ptr<const SchemaIR::Object>> FormReading::objects() const {
  std::vector<std::shared_ptr<const SchemaIR::Object>> found;
  for (const auto& [id, kind] : of_kind(values(schema_.root()), Kind::kObject).brackets)
    found.push_back(schema_.at(id).object);
  return found;
}

FormReading::Written FormReading::written() const {
  Written found;
  std::vector<bool> seen(schema_.n_values(), false);
  // Whether each is the value of an outermost member.
  std::vector<std::pair<ValueId, bool>> pending;
  const auto add_values = [&](const SchemaIR::Object& object, bool is_outermost) {
    for (const auto& member : members(object)) pending.emplace_back(member.value, is_outermost);
    // Tags are written for keys with names alone.
    if (form_.has_tags()) return;
    for (const auto& keys : object.kinds()) pending.emplace_back(keys.value, is_outermost);
  };
  for (const auto& object : objects()) {
    found.objects.push_back(object);
    if (form_.values != SchemaForm::Values::kJson) add_values(*object, true);
  }
  while (!pending.empty()) {
    const auto [value, is_outermost] = pending.back();
    pending.pop_back();
    const Values all = values(value);
    // Any text is a string then, so no bracket begins another value.
    const bool has_text = form_.has_tags() || (form_.has_text() && is_outermost);
    if (has_text && std::ranges::any_of(all.terminals, [&](uint32_t t) { return is_any_string(t); })) continue;
    for (const auto& [id, kind] : all.brackets) {
      if (seen[id.value]) continue;
      seen[id.value] = true;
      const SchemaIR::Value& of = schema_.at(id);
      if (of.object && schema_.can_be(*of.object)) {
        found.objects.push_back(of.object);
        add_values(*of.object, false);
      }
      if (of.array && schema_.can_be(*of.array)) {
        found.arrays.push_back(of.array);
        for (const ValueId item : of.array->prefix) pending.emplace_back(item, false);
        if (of.array->rest) pending.emplace_back(*of.array->rest, false);
      }
    }
  }
  return found;
}

std::vector<SchemaIR::Member> FormReading::members(const SchemaIR::Object& object) const {
  std::vector<SchemaIR::Member> found;
  std::copy_if(object.members.begin(), object.members.end(), std::back_inserter(found),
               [&](const SchemaIR::Member& member) { return schema_.is_live(member.value); });
  return found;
}

std::vector<std::string> FormReading::unusual_keys() const {
  std::vector<std::string> found;
  if (form_.values == SchemaForm::Values::kPythonObject) return found;
  for (const auto& object : form_.delimits() || form_.has_tags() ? written().objects : objects())
    add_unusual_keys(found, *object);
  return found;
}

FormReading::Refusals FormReading::refusals() const {
  Refusals found;
  const auto outermost = objects();
  const Written all = written();
  const bool has_sets = form_.has_python() || form_.delimits();
  for (const auto& object : all.objects) {
    const bool is_outermost = std::ranges::find(outermost, object) != outermost.end();
    const bool has_braces = form_.has_braces() || (has_sets && !is_outermost);
    if (form_.has_python() && has_braces) {
      for (const auto& member : members(*object)) {
        if (!is_python_key(schema_.name_at(member.name))) found.keys.push_back(schema_.name_at(member.name));
      }
    }
    if (!is_in_any_order(*object)) continue;
    if (!has_braces) {
      found.any_order = true;
      continue;
    }
    // The register of keys has no states besides.
    if (!object->witnesses.empty() || (object->has_classes() && object->minimum > object->n_required()))
      found.counted_keys = true;
    for (const auto& member : object->members) {
      if (member.required && is_read_otherwise(schema_.name_at(member.name)))
        found.keys.push_back(schema_.name_at(member.name));
    }
  }
  for (const auto& array : all.arrays) {
    if (!array->forbids_equal_items()) continue;
    if (schema_.has_composite_items(*array)) found.equal_composites = true;
    if (form_.has_tags() && !schema_.item_terminals(*array, Kind::kNumber).empty()) found.equal_numbers = true;
  }
  return found;
}

void FormReading::add_unusual_keys(std::vector<std::string>& to, const SchemaIR::Object& object) const {
  const auto is_usual = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  for (const auto& member : object.members) {
    const std::string& name = schema_.name_at(member.name);
    if (schema_.is_live(member.value) && (name.empty() || !std::all_of(name.begin(), name.end(), is_usual)))
      to.push_back(name);
  }
}

// The keys among these texts in a form without quotes.
RegexId FormReading::bare_keys(RegexId texts, RegexStore& r) const {
  return r.intersection({texts, r.repetition(form_.key_characters->in(r), 1, kUnbounded)});
}

bool FormReading::may_be_empty() const {
  if (form_.has_braces()) return false;
  return std::ranges::any_of(objects(), [](const auto& object) {
    return object->n_required() == 0 && object->minimum == 0 && object->witnesses.empty();
  });
}

FormReading::Values FormReading::values(ValueId id) const {
  Values found;
  std::vector<ValueId> pending{id};
  std::unordered_set<uint32_t> seen;
  std::unordered_set<uint32_t> terminals;
  while (!pending.empty()) {
    const ValueId next = schema_.resolved(pending.back());
    pending.pop_back();
    if (!schema_.is_live(next) || !seen.insert(next.value).second) continue;
    const SchemaIR::Value& value = schema_.at(next);
    for (uint32_t t : value.terminals) {
      if (terminals.insert(t).second) found.terminals.push_back(t);
    }
    if (value.array && schema_.can_be(*value.array)) found.brackets.emplace_back(next, Kind::kArray);
    if (value.object && schema_.can_be(*value.object)) found.brackets.emplace_back(next, Kind::kObject);
    pending.insert(pending.end(), value.alternatives.rbegin(), value.alternatives.rend());
  }
  return found;
}

FormReading::Values FormReading::of_kind(const Values& values, Kind kind) const {
  const auto kind_of = [&](uint32_t t) {
    const SchemaIR::Terminal& terminal = schema_.terminal(t);
    if (is_string(terminal)) return Kind::kString;
    if (t == SchemaIR::null()) return Kind::kNull;
    return terminal.spelling == Spelling::kWord ? Kind::kBoolean : Kind::kNumber;
  };
  Values found;
  std::copy_if(values.terminals.begin(), values.terminals.end(), std::back_inserter(found.terminals),
               [&](uint32_t t) { return kind_of(t) == kind; });
  std::copy_if(values.brackets.begin(), values.brackets.end(), std::back_inserter(found.brackets),
               [&](const auto& of) { return of.second == kind; });
  return found;
}

bool FormReading::is_string(const SchemaIR::Terminal& terminal) {
  switch (terminal.spelling) {
    case Spelling::kWord:
    case Spelling::kNumbers:
    case Spelling::kNumberUnion:
      return false;
    case Spelling::kOutside:
    case Spelling::kAnyString:
    case Spelling::kListed:
    case Spelling::kText:
      break;
  }
  return true;
}

bool FormReading::is_any_string(uint32_t terminal) const {
  return schema_.terminal(terminal).spelling == Spelling::kAnyString;
}

// What the strings of a terminal say; nullopt where that is not known.
std::optional<RegexId> FormReading::body(const SchemaIR::Terminal& terminal, RegexStore& r) const {
  if (terminal.spelling != Spelling::kOutside) return schema_.text_regex(terminal, r);
  const RegexId whole = schema_.outside(terminal).in(r);
  if (r.kind(whole) != RegexKind::kJsonString) return std::nullopt;
  return r.json_body(whole);
}

// A number or a word, as JSON writes it.
RegexId FormReading::json(const SchemaIR::Terminal& terminal, RegexStore& r) const {
  if (terminal.spelling == Spelling::kWord) return r.literal(terminal.name);
  if (terminal.number_union) return terminal.number_union->regex(r, parts_.layout->numbers, NumberSet::Exponents::kYes);
  if (terminal.indexed_numbers) return terminal.indexed_numbers->regex(r, parts_.layout->numbers);
  return terminal.numbers->regex(r, parts_.layout->numbers, NumberSet::Exponents::kYes);
}

RegexId FormReading::space(RegexStore& r, uint32_t minimum) {
  return r.repetition(r.char_class({{'\t', '\n'}, {'\r', '\r'}, {' ', ' '}}), minimum, kMostSpace);
}

RegexId FormReading::texts(uint32_t t, const Values& among, RegexStore& r) const {
  const SchemaIR::Terminal& terminal = schema_.terminal(t);
  if (is_string(terminal)) return string(t, among, r);
  RegexId regex = json(terminal, r);
  if (form_.has_tags()) return regex;
  if (terminal.spelling == Spelling::kWord && form_.has_python_words) regex = python_words(terminal.name, r);
  return r.concatenation(space(r, 0), r.concatenation(regex, space(r, 0)));
}

// Without those that are read as another value, or hold what ends them.
RegexId FormReading::string(uint32_t t, const Values& among, RegexStore& r) const {
  const RegexId any = r.any_text();
  const RegexId stopped = r.concatenation(any, r.concatenation(r.literal(form_.stop), any));
  if (is_any_string(t)) return r.intersection({any, r.complement(stopped)});
  std::vector<RegexId> taken{stopped};
  const auto in_space = [&](RegexId inner, RegexId behind) {
    taken.push_back(r.concatenation(space(r, 0), r.concatenation(inner, behind)));
  };
  for (uint32_t other : among.terminals) {
    if (!is_string(schema_.terminal(other))) in_space(json(schema_.terminal(other), r), space(r, 0));
  }
  for (const auto& [id, kind] : among.brackets) in_space(r.literal(kind == Kind::kArray ? "[" : "{"), any);
  const RegexId raw = r.intersection({*body(schema_.terminal(t), r), r.complement(r.alternation(std::move(taken)))});
  if (form_.pad.empty()) return raw;
  const RegexId pad = r.repetition(r.literal(form_.pad), 0, 1);
  return r.concatenation(pad, r.concatenation(raw, pad));
}

}  // namespace cfgmask
