#include "schema/plain_schema.h"

#include <algorithm>
#include <utility>

namespace cfgmask {

namespace {

// Alternatives of alternatives that are looked through when two sets are compared.
constexpr size_t kMaxAlternatives = 256;
// Schemas that need each other in a longer chain are left to the general way.
constexpr int kMaxRounds = 20;
constexpr uint32_t kMaxNeededItems = 16;

// Content as words that two values share exactly if they are alike.
class Content {
 public:
  void word(uint32_t w) { out_.append(reinterpret_cast<const char*>(&w), sizeof w); }
  void list(const auto& ids, auto word_of) {
    word(static_cast<uint32_t>(ids.size()));
    for (const auto& id : ids) word(word_of(id));
  }
  void optional(const std::optional<PlainValueId>& id) { word(id ? id->value + 1 : 0); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

std::string content_of(const PlainSchema::Value& value) {
  const auto id_of = [](PlainValueId id) { return id.value; };
  Content content;
  content.list(value.terminals, [](uint32_t t) { return t; });
  content.list(value.alternatives, id_of);
  content.word(value.array ? 1 : 0);
  if (value.array) {
    content.list(value.array->prefix, id_of);
    content.optional(value.array->rest);
    content.word(value.array->minimum);
    content.word(value.array->maximum);
  }
  content.word(value.object ? 1 : 0);
  if (value.object) {
    content.optional(value.object->others);
    content.word(value.object->others_regex.value_or(0));
    content.list(value.object->classes, [](const auto& c) { return c.outside; });
    content.list(value.object->classes, [](const auto& c) { return c.value.value; });
    for (const auto& member : value.object->members) {
      content.word(member.name);
      content.word(member.value.value);
      content.word((member.required ? 1U : 0U) | (member.listed ? 2U : 0U));
    }
  }
  return content.take();
}

bool share_none(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) return false;
    ++(*x < *y ? x : y);
  }
  return true;
}

}  // namespace

PlainSchema::PlainSchema() {
  for (const char* word : {"null", "true", "false"})
    terminals_.push_back({word, word[0] == 'n' ? kNull : kBoolean, Spelling::kWord, {}});
  terminals_.push_back({"STRING", kString, Spelling::kAnyString, {}});
  terminals_.push_back({"NUMBER", kNumber, Spelling::kOutside, {}});
  Value any;
  any.name = "any";
  any.terminals = {null(), true_(), false_(), any_number(), any_string()};
  any.array = Array{{}, PlainSchema::any()};
  any.object = Object{{}, {}, PlainSchema::any(), std::nullopt};
  by_content_.emplace(content_of(any), PlainSchema::any());
  values_.push_back(std::move(any));
  defined_.push_back(true);
}

PlainValueId PlainSchema::add(Value value) {
  const auto [at, is_new] = by_content_.try_emplace(content_of(value), PlainValueId(values_.size()));
  if (is_new) {
    values_.push_back(std::move(value));
    defined_.push_back(true);
  }
  return at->second;
}

PlainValueId PlainSchema::reserve() {
  values_.emplace_back();
  defined_.push_back(false);
  return PlainValueId(values_.size() - 1);
}

void PlainSchema::define(PlainValueId id, Value value) {
  values_[id.value] = std::move(value);
  defined_[id.value] = true;
}

uint32_t PlainSchema::name(std::string_view text) {
  const auto [at, is_new] = name_ids_.try_emplace(std::string(text), static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(&at->first);
  return at->second;
}

uint32_t PlainSchema::listed(std::vector<std::string> texts) {
  std::string key;
  for (const std::string& text : texts) {
    key += std::to_string(text.size());
    key += ':';
    key += text;
  }
  const auto [at, is_new] = lists_.try_emplace(std::move(key), static_cast<uint32_t>(terminals_.size()));
  if (is_new) terminals_.push_back({{}, kString, Spelling::kListed, std::move(texts)});
  return at->second;
}

uint32_t PlainSchema::outside(Kind kind, uint32_t regex) {
  terminals_.push_back({{}, kind, Spelling::kOutside, {}, regex});
  return static_cast<uint32_t>(terminals_.size() - 1);
}

void PlainSchema::flatten(PlainValueId id, std::vector<PlainValueId>& out) const {
  std::vector<PlainValueId> todo{id};
  while (!todo.empty() && out.size() <= kMaxAlternatives) {
    const PlainValueId next = todo.back();
    todo.pop_back();
    out.push_back(next);
    const auto& alternatives = at(next).alternatives;
    todo.insert(todo.end(), alternatives.begin(), alternatives.end());
  }
}

bool PlainSchema::disjoint(PlainValueId a, PlainValueId b) const {
  std::vector<PlainValueId> parts_of_a;
  std::vector<PlainValueId> parts_of_b;
  flatten(a, parts_of_a);
  flatten(b, parts_of_b);
  if (parts_of_a.size() * parts_of_b.size() > kMaxAlternatives) return false;
  for (PlainValueId x : parts_of_a) {
    for (PlainValueId y : parts_of_b) {
      if (!disjoint_parts(at(x), at(y))) return false;
    }
  }
  return true;
}

bool PlainSchema::disjoint_parts(const Value& a, const Value& b) const {
  if (a.array && b.array) return false;
  if (a.object && b.object && !told_apart(*a.object, *b.object)) return false;
  for (uint32_t x : a.terminals) {
    for (uint32_t y : b.terminals) {
      const Terminal& s = terminals_[x];
      const Terminal& t = terminals_[y];
      if (s.kind != t.kind) continue;
      const bool words = s.spelling == Spelling::kWord && t.spelling == Spelling::kWord;
      const bool lists = s.spelling == Spelling::kListed && t.spelling == Spelling::kListed;
      if (!(words && x != y) && !(lists && share_none(s.listed, t.listed))) return false;
    }
  }
  return true;
}

// Whether both need a key whose values are told apart by what they are: a discriminator.
bool PlainSchema::told_apart(const Object& a, const Object& b) const {
  for (const Member& in_a : a.members) {
    for (const Member& in_b : b.members) {
      if (in_a.name != in_b.name || !in_a.required || !in_b.required) continue;
      const Value& x = at(in_a.value);
      const Value& y = at(in_b.value);
      const bool scalars = !x.array && !x.object && x.alternatives.empty();
      if (scalars && y.alternatives.empty() && disjoint_parts(x, y)) return true;
    }
  }
  return false;
}

bool PlainSchema::is_live(const Value& value, const std::vector<bool>& live) const {
  const auto is = [&](PlainValueId id) { return live[id.value]; };
  if (!value.terminals.empty()) return true;
  if (std::any_of(value.alternatives.begin(), value.alternatives.end(), is)) return true;
  if (value.object && std::all_of(value.object->members.begin(), value.object->members.end(),
                                  [&](const Member& m) { return !m.required || is(m.value); }))
    return true;
  if (!value.array) return false;
  const Array& array = *value.array;
  for (uint32_t i = 0; i < std::min(array.minimum, kMaxNeededItems); ++i) {
    const auto item = i < array.prefix.size() ? std::optional(array.prefix[i]) : array.rest;
    if (!item || !is(*item)) return false;
  }
  return true;
}

bool PlainSchema::all_live() const {
  std::vector<bool> live(values_.size(), false);
  for (int round = 0; round < kMaxRounds; ++round) {
    bool all = true;
    bool changed = false;
    for (size_t i = values_.size(); i-- > 0;) {
      if (live[i]) continue;
      live[i] = is_live(values_[i], live);
      changed = changed || live[i];
      all = all && live[i];
    }
    if (all) return true;
    if (!changed) return false;
  }
  return false;
}

}  // namespace cfgmask
