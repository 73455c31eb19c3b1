#include <algorithm>
#include <unordered_set>
#include <utility>

#include "schema/plain_reading.h"

namespace cfgmask {

std::optional<PlainSchema::Array> PlainReading::array_shape(const Said& said, const std::string& pointer,
                                                            uint64_t depth) {
  PlainSchema::Array array;
  array.rest = PlainSchema::any();
  Held prefix = said[kPrefixItems];
  Held further = said[kItems];
  const char* first_keyword = "prefixItems";
  const char* further_keyword = "items";
  const Held additional = said[kAdditionalItems];
  if (further && is_array(*further)) {
    require(!prefix);
    // Only where a draft that writes it so is declared is that beyond doubt.
    require(!reader_.codes_.contains("prefixItems"));
    prefix = further;
    further = additional;
    first_keyword = "items";
    further_keyword = "additionalItems";
  } else if (additional) {
    // It says nothing there, but has to be a schema.
    inner(*additional, below(pointer, "additionalItems"), depth);
  }
  if (prefix) {
    const auto schemas = items(*prefix);
    require(!schemas.empty());
    for (size_t i = 0; i < schemas.size(); ++i)
      array.prefix.push_back(inner(schemas[i], below(pointer, first_keyword, std::to_string(i)), depth));
  }
  array.minimum = count_or(said[kMinItems], 0);
  array.maximum = count_or(said[kMaxItems], kUnbounded);
  if (said[kUniqueItems]) require(is_boolean(*said[kUniqueItems]));
  array.distinct = said[kUniqueItems] && !is_false(*said[kUniqueItems]);
  if (further) {
    if (is_false(*further)) {
      array.rest = std::nullopt;
      array.maximum = std::min(array.maximum, static_cast<uint32_t>(array.prefix.size()));
    } else {
      array.rest = inner(*further, below(pointer, further_keyword), depth);
    }
  }
  if (array.minimum > array.maximum) return std::nullopt;
  if (array.prefix.size() > array.maximum) array.prefix.resize(array.maximum);
  if (array.maximum == array.prefix.size()) array.rest = std::nullopt;
  return array;
}

PlainValueId PlainReading::containing(const Said& said, const std::string& pointer, uint64_t depth) {
  const uint32_t least = count_or(said[kMinContains], 1);
  const uint32_t most = count_or(said[kMaxContains], kUnbounded);
  if (!said[kContains]) return PlainSchema::any();
  const PlainValueId item = inner(*said[kContains], below(pointer, "contains"), depth);
  Value value = schema_.at(PlainSchema::any());
  value.name = pointer;
  value.array = least > most ? nullptr : PlainSchema::shared(std::optional(algebra_.containing(0, item, least, most)));
  return added(std::move(value));
}

std::optional<PlainSchema::Object> PlainReading::object_shape(const Said& said, const std::string& pointer,
                                                              uint64_t depth) {
  PlainSchema::Object object;
  object.others = PlainSchema::any();
  if (const Held additional = said[kAdditionalProperties]) {
    object.others = std::nullopt;
    if (!is_false(*additional)) object.others = inner(*additional, below(pointer, "additionalProperties"), depth);
  }
  std::unordered_map<uint32_t, bool> needed;
  std::vector<uint32_t> order;
  if (said[kRequired]) {
    for (JsonId required : items(*said[kRequired])) {
      const uint32_t name = schema_.name(text(required));
      if (needed.emplace(name, true).second) order.push_back(name);
    }
  }
  if (said[kProperties]) {
    for (const auto& [key, held] : members(*said[kProperties])) {
      const std::string_view called = document_.key_text(key);
      const uint32_t name = schema_.name(called);
      const PlainValueId member = inner(held, below(pointer, "properties", called), depth);
      const auto found = needed.find(name);
      object.members.push_back({name, member, found != needed.end(), true});
      if (found != needed.end()) found->second = false;
    }
  }
  for (uint32_t name : order) {
    if (!needed[name]) continue;
    object.members.push_back({name, object.others.value_or(PlainSchema::never()), true, false});
  }
  if (said[kPatternProperties]) add_classes(*said[kPatternProperties], object, pointer, depth);
  if (said[kPropertyNames]) restrict_names(*said[kPropertyNames], object, pointer, depth);
  object.minimum = count_or(said[kMinProperties], 0);
  object.maximum = count_or(said[kMaxProperties], kUnbounded);
  if (std::max<size_t>(object.minimum, object.n_required()) > object.maximum) return std::nullopt;
  const bool closed = !object.others && object.classes.empty();
  if (closed && object.members.size() < object.minimum) return std::nullopt;
  return object;
}

void PlainReading::add_classes(JsonId patterns, PlainSchema::Object& object, const std::string& pointer,
                               uint64_t depth) {
  std::vector<std::string> asked;
  for (const auto& [key, held] : members(patterns)) {
    asked.emplace_back(document_.key_text(key));
    object.classes.push_back({{}, inner(held, below(pointer, "patternProperties", asked.back()), depth)});
  }
  if (object.classes.empty()) return;
  if (object.classes.size() == 1 && add_one_class(asked[0], object)) return;
  for (std::string& pattern : asked) {
    std::string condition = "{\"type\":\"string\",\"pattern\":";
    JsonDocument::write_string(pattern, condition);
    pattern = condition + '}';
  }
  ask_for_classes(asked, object, pointer);
}

void PlainReading::restrict_names(JsonId schema, PlainSchema::Object& object, const std::string& pointer,
                                  uint64_t depth) {
  const PlainValueId names = inner(schema, below(pointer, "propertyNames"), depth);
  const std::vector<uint32_t> strings = algebra_.strings(names);
  if (strings == std::vector{PlainSchema::any_string()}) return;
  require(!object.has_classes() && strings.size() <= 1);
  std::vector<PlainQuestions::Kind> found;
  if (!strings.empty()) found = kinds_of_keys({schema_.definition(strings[0])}, object);
  std::vector<bool> may_come(object.members.size(), false);
  if (!found.empty()) {
    for (size_t at : found[0].names) may_come[at] = true;
    if (object.others && found[0].regex >= 0)
      object.classes.push_back({{Source::kOutside, outside_regex(found[0].regex)}, *object.others});
  }
  object.others = std::nullopt;
  for (size_t at = 0; at < may_come.size(); ++at) {
    if (!may_come[at]) object.members[at].value = PlainSchema::never();
  }
}

std::vector<PlainQuestions::Kind> PlainReading::kinds_of_keys(const std::vector<std::string>& conditions,
                                                              const PlainSchema::Object& object) {
  std::vector<std::string> names;
  for (const auto& member : object.members) names.push_back(schema_.name_at(member.name));
  auto answer = questions_.keys(conditions, names);
  require(answer.has_value());
  for (const auto& kind : *answer) {
    if (kind.regex >= 0) outside_regex(kind.regex);
  }
  return std::move(*answer);
}

bool PlainReading::add_one_class(std::string_view text, PlainSchema::Object& object) {
  const auto pattern = schema_.pattern(text, max_nesting_);
  if (!pattern) return false;
  const PlainPattern& keys = schema_.pattern_at(*pattern);
  const auto is_other = [&](std::string_view key) { return keys.found_in(key) == false; };
  std::unordered_map<std::string_view, bool> names;
  for (const auto& member : object.members) {
    const std::string& name = schema_.name_at(member.name);
    if (!is_other(name)) return false;
    names.emplace(name, true);
  }
  const auto is_new = [&](std::string_view key) { return !names.contains(key) && is_other(key); };
  if (std::none_of(kSomeKeys.begin(), kSomeKeys.end(), is_new)) return false;
  object.classes[0].keys = {Source::kMatching, *pattern};
  object.others_keys = {Source::kOther, *pattern};
  return true;
}

void PlainReading::ask_for_classes(const std::vector<std::string>& conditions, PlainSchema::Object& object,
                                   const std::string& pointer) {
  const auto found = kinds_of_keys(conditions, object);
  std::vector<PlainSchema::KeyClass> classes;
  std::vector<bool> described;
  for (const auto& member : object.members) described.push_back(member.listed);
  for (size_t i = 0; i < object.classes.size(); ++i) {
    const PlainValueId held = object.classes[i].value;
    for (size_t at : found[i].names) {
      // What other keys hold says nothing about a key that matches a pattern.
      auto& member = object.members[at];
      member.value = described[at] ? both(member.value, held, pointer) : held;
      described[at] = true;
    }
    if (found[i].regex >= 0) classes.push_back({{Source::kOutside, outside_regex(found[i].regex)}, held});
  }
  object.classes = std::move(classes);
  if (found.back().regex < 0) {
    object.others = std::nullopt;
  } else {
    object.others_keys = PlainSchema::Keys{Source::kOutside, outside_regex(found.back().regex)};
  }
}

uint32_t PlainReading::outside_regex(int64_t regex) {
  n_regexes_ = std::max(n_regexes_, static_cast<size_t>(regex) + 1);
  return static_cast<uint32_t>(regex);
}

}  // namespace cfgmask
