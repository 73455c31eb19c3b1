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
  const Held unevaluated = this->unevaluated(said, kUnevaluatedItems);
  if (unevaluated && further) {
    inner(*unevaluated, below(pointer, "unevaluatedItems"), depth);
  } else if (unevaluated) {
    further = unevaluated;
    further_keyword = "unevaluatedItems";
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

PlainReading::Held PlainReading::unevaluated(const Said& said, Keyword keyword) const {
  // What schemas for the same value and `contains` look at depends on the value.
  require(!said.has(keyword) || !(said.has_any(kApplicators) || said.has(kContains)));
  return said[keyword];
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
  Held further = said[kAdditionalProperties];
  const Held unevaluated = this->unevaluated(said, kUnevaluatedProperties);
  const char* further_keyword = "additionalProperties";
  if (unevaluated && further) {
    inner(*unevaluated, below(pointer, "unevaluatedProperties"), depth);
  } else if (unevaluated) {
    further = unevaluated;
    further_keyword = "unevaluatedProperties";
  }
  if (further) {
    object.others = std::nullopt;
    if (!is_false(*further)) object.others = inner(*further, below(pointer, further_keyword), depth);
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
  struct Kind {
    PlainSchema::Keys keys;
    PlainValueId value;
    bool described;
  };
  std::vector<Kind> kinds{{{}, PlainSchema::any(), false}};
  std::vector<uint32_t> conditions;
  std::vector<bool> described;
  for (const auto& member : object.members) described.push_back(member.listed);
  for (const auto& [key, held] : members(patterns)) {
    const std::string_view pattern = document_.key_text(key);
    const PlainValueId value = inner(held, below(pointer, "patternProperties", pattern), depth);
    const uint32_t condition = pattern_condition(pattern);
    const PlainSchema::Keys matching{{condition}, {}};
    for (size_t at = 0; at < object.members.size(); ++at) {
      auto& member = object.members[at];
      if (!algebra_.admits(matching, member.name)) continue;
      // What other keys hold says nothing about a key that matches a pattern.
      member.value = described[at] ? both(member.value, value, pointer) : value;
      described[at] = true;
    }
    // Most patterns are apart from each other: those that are say nothing about this one.
    std::vector<uint32_t> near;
    for (uint32_t other : conditions) {
      if (!keys_.plainly_apart(condition, other) && algebra_.both(matching, {{other}, {}})) near.push_back(other);
    }
    std::sort(near.begin(), near.end());
    const auto is_apart = [&](uint32_t other) { return !std::binary_search(near.begin(), near.end(), other); };
    conditions.push_back(condition);
    std::vector<Kind> split;
    for (Kind& kind : kinds) {
      std::optional<PlainSchema::Keys> inside;
      if (std::none_of(kind.keys.met.begin(), kind.keys.met.end(), is_apart)) {
        inside = kind.keys;
        std::erase_if(inside->broken, is_apart);
        inside = algebra_.both(*inside, matching);
      }
      if (!inside) {
        split.push_back(std::move(kind));
        continue;
      }
      split.push_back({*std::move(inside), both(kind.value, value, pointer), true});
      // Whether keys are left that match no pattern is asked once, at the end.
      const PlainSchema::Keys broken{{}, {condition}};
      auto outside = kind.described ? algebra_.both(kind.keys, broken) : KeyConditions::both(kind.keys, broken);
      if (outside) split.push_back({*std::move(outside), kind.value, kind.described});
    }
    kinds = std::move(split);
    require(!PlainAlgebra::are_too_many(kinds));
  }
  const auto others = object.others;
  object.others = std::nullopt;
  for (Kind& kind : kinds) {
    if (!kind.described) {
      if (!algebra_.both(kind.keys, {})) continue;
      object.others = others;
      object.others_keys = std::move(kind.keys);
    } else if (kind.value != PlainSchema::never()) {
      object.classes.push_back({std::move(kind.keys), kind.value});
    }
  }
}

uint32_t PlainReading::pattern_condition(std::string_view pattern) {
  if (const auto read = schema_.pattern(pattern, max_nesting_)) {
    if (const auto terminal = schema_.text({read})) return string_condition(*terminal);
  }
  std::string definition = "{\"type\":\"string\",\"pattern\":";
  JsonDocument::write_string(pattern, definition);
  return asked_condition(definition + '}');
}

uint32_t PlainReading::string_condition(uint32_t terminal) {
  std::string definition = schema_.definition(terminal);
  if (schema_.terminal(terminal).spelling == PlainSchema::Spelling::kOutside)
    return asked_condition(std::move(definition));
  return schema_.add_key_condition({terminal, 0, std::move(definition)});
}

uint32_t PlainReading::asked_condition(std::string definition) {
  const auto [at, is_new] = asked_conditions_.try_emplace(definition, 0);
  if (is_new) {
    const auto regex = questions_.strings(definition);
    require(regex.has_value());
    at->second = schema_.add_key_condition({std::nullopt, outside_regex(*regex), std::move(definition)});
  }
  return at->second;
}

void PlainReading::restrict_names(JsonId schema, PlainSchema::Object& object, const std::string& pointer,
                                  uint64_t depth) {
  const PlainValueId names = inner(schema, below(pointer, "propertyNames"), depth);
  const std::vector<uint32_t> strings = algebra_.strings(names);
  if (strings == std::vector{PlainSchema::any_string()}) return;
  require(strings.size() <= 1);
  PlainSchema::Object allowed;
  if (!strings.empty()) allowed.classes.push_back({{{string_condition(strings[0])}, {}}, PlainSchema::any()});
  algebra_.restrict_keys(allowed, object);
}

uint32_t PlainReading::outside_regex(int64_t regex) {
  n_regexes_ = std::max(n_regexes_, static_cast<size_t>(regex) + 1);
  return static_cast<uint32_t>(regex);
}

}  // namespace cfgmask
