#include "schema/schema_form.h"

#include <algorithm>
#include <array>

#include "schema/large_lists.h"
#include "util/limits.h"

namespace cfgmask {

using Kind = PlainSchema::Kind;
using Spelling = PlainSchema::Spelling;

bool FormReading::fits(RegexStore& r) const {
  if (parts_.ignored != nullptr) return false;
  const auto found = objects();
  for (const auto& object : found) {
    // Others would have to be told from members, and must not come twice.
    if (object->others && schema_.is_live(*object->others)) return false;
    const auto is_live = [&](const PlainSchema::KeyClass& c) { return schema_.is_live(c.value); };
    if (std::any_of(object->classes.begin(), object->classes.end(), is_live)) return false;
    if (!object->witnesses.empty() || !object->bounds().are_idle()) return false;
    const auto written = members(*object);
    if (written.size() > kMostMembers || (written.empty() && !form_.has_gaps)) return false;
    if (!std::all_of(written.begin(), written.end(), [&](const auto& member) { return fits(member.value, r); }))
      return false;
  }
  return !found.empty();
}

bool FormReading::fits(PlainValueId id, RegexStore& r) const {
  const Values all = values(id);
  if (all.terminals.size() + all.brackets.size() > kMostValues) return false;
  for (const auto& [value, kind] : all.brackets) {
    const PlainSchema::Value& of = schema_.at(value);
    if (of.may_have_many_states() || (of.object && !of.object->witnesses.empty())) return false;
  }
  return fits(all, r);
}

// Whether each string can be written, and there is any value.
bool FormReading::fits(const Values& values, RegexStore& r) const {
  if (form_.has_kinds()) {
    const Values strings = of_kind(values, Kind::kString);
    for (uint32_t t : strings.terminals) {
      if (!body(schema_.terminal(t), r) || r.is_empty(texts(t, strings, r))) return false;
    }
    return !values.is_empty();
  }
  for (uint32_t t : values.terminals) {
    const PlainSchema::Terminal& terminal = schema_.terminal(t);
    if (!is_string(terminal)) continue;
    if (is_any_string(t)) return true;
    if (!body(terminal, r) || r.is_empty(texts(t, values, r))) return false;
  }
  return !values.is_empty();
}

std::vector<std::shared_ptr<const PlainSchema::Object>> FormReading::objects() const {
  std::vector<std::shared_ptr<const PlainSchema::Object>> found;
  for (const auto& [id, kind] : values(schema_.root()).brackets) {
    if (kind == Kind::kObject) found.push_back(schema_.at(id).object);
  }
  return found;
}

std::vector<PlainSchema::Member> FormReading::members(const PlainSchema::Object& object) const {
  std::vector<PlainSchema::Member> found;
  std::copy_if(object.members.begin(), object.members.end(), std::back_inserter(found),
               [&](const PlainSchema::Member& member) { return schema_.is_live(member.value); });
  return found;
}

bool FormReading::may_be_empty() const {
  const auto found = objects();
  return std::any_of(found.begin(), found.end(), [](const auto& object) { return object->n_required() == 0; });
}

FormReading::Values FormReading::values(PlainValueId id) const {
  Values found;
  std::vector<PlainValueId> pending{id};
  std::vector<PlainValueId> seen;
  while (!pending.empty() && seen.size() <= kMostValues) {
    const PlainValueId next = schema_.resolved(pending.back());
    pending.pop_back();
    if (!schema_.is_live(next) || std::find(seen.begin(), seen.end(), next) != seen.end()) continue;
    seen.push_back(next);
    const PlainSchema::Value& value = schema_.at(next);
    for (uint32_t t : value.terminals) {
      if (std::find(found.terminals.begin(), found.terminals.end(), t) == found.terminals.end())
        found.terminals.push_back(t);
    }
    if (value.array && schema_.can_be(*value.array)) found.brackets.emplace_back(next, Kind::kArray);
    if (value.object && schema_.can_be(*value.object)) found.brackets.emplace_back(next, Kind::kObject);
    pending.insert(pending.end(), value.alternatives.rbegin(), value.alternatives.rend());
  }
  // More than are looked at.
  if (!pending.empty()) found.terminals.resize(kMostValues + 1);
  return found;
}

FormReading::Values FormReading::of_kind(const Values& values, Kind kind) const {
  const auto kind_of = [&](uint32_t t) {
    const PlainSchema::Terminal& terminal = schema_.terminal(t);
    if (is_string(terminal)) return Kind::kString;
    if (t == PlainSchema::null()) return Kind::kNull;
    return terminal.spelling == Spelling::kWord ? Kind::kBoolean : Kind::kNumber;
  };
  Values found;
  std::copy_if(values.terminals.begin(), values.terminals.end(), std::back_inserter(found.terminals),
               [&](uint32_t t) { return kind_of(t) == kind; });
  std::copy_if(values.brackets.begin(), values.brackets.end(), std::back_inserter(found.brackets),
               [&](const auto& of) { return of.second == kind; });
  return found;
}

bool FormReading::is_string(const PlainSchema::Terminal& terminal) {
  switch (terminal.spelling) {
    case Spelling::kWord:
    case Spelling::kNumbers:
      return false;
    case Spelling::kOutside:
      return terminal.kind == Kind::kString;
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
std::optional<RegexId> FormReading::body(const PlainSchema::Terminal& terminal, RegexStore& r) const {
  if (terminal.spelling != Spelling::kOutside) return schema_.text_regex(terminal, r);
  const RegexId whole = parts_.outside[terminal.outside]->in(r);
  if (r.kind(whole) != RegexKind::kJsonString) return std::nullopt;
  return r.json_body(whole);
}

// A number or a word, as JSON writes it.
RegexId FormReading::json(const PlainSchema::Terminal& terminal, RegexStore& r) const {
  if (terminal.spelling == Spelling::kWord) return r.literal(terminal.name);
  if (terminal.spelling == Spelling::kOutside) return parts_.outside[terminal.outside]->in(r);
  if (terminal.large_numbers) return terminal.large_numbers->regex(r, parts_.numbers);
  return terminal.numbers->regex(r, parts_.numbers, NumberSet::Exponents::kYes);
}

RegexId FormReading::space(RegexStore& r, uint32_t minimum) {
  return r.repetition(r.char_class({{'\t', '\n'}, {'\r', '\r'}, {' ', ' '}}), minimum, kMostSpace);
}

RegexId FormReading::texts(uint32_t t, const Values& among, RegexStore& r) const {
  const PlainSchema::Terminal& terminal = schema_.terminal(t);
  if (is_string(terminal)) return string(t, among, r);
  RegexId regex = json(terminal, r);
  if (terminal.spelling == Spelling::kWord && form_.has_python_words) {
    std::string word = t == PlainSchema::null() ? "None" : std::string(terminal.name);
    word[0] = static_cast<char>(word[0] - (word[0] >= 'a' ? 'a' - 'A' : 0));
    regex = r.alternation({regex, r.literal(word)});
  }
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
