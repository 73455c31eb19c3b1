#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "json_schema/keywords/schema_reading.h"

namespace cfgmask {

std::optional<SchemaIR::Array> SchemaReading::array_shape(const Said& said, const std::string& pointer,
                                                          uint64_t depth) {
  SchemaIR::Array array;
  array.rest = SchemaIR::any();
  Held prefix = said[kPrefixItems];
  Held further = said[kItems];
  const char* first_keyword = "prefixItems";
  const char* further_keyword = "items";
  const Held additional = said[kAdditionalItems];
  if (further && is_array(*further)) {
    require(!prefix);
    // It is wrong where a draft is declared that writes this otherwise.
    require(!reader().codes_.contains("prefixItems") || reader().exclusive_ == SchemaReader::Exclusive::kEither);
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
    require(!schemas.empty() || prefix == said[kItems]);
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
  if (array.distinct) array.distinct_at = schema_.name(below(pointer, "uniqueItems"));
  if (further) {
    if (is_false(*further)) {
      array.rest = std::nullopt;
      array.maximum = std::min(array.maximum, static_cast<uint32_t>(array.prefix.size()));
    } else {
      array.rest = inner(*further, below(pointer, further_keyword), depth);
    }
  }
  if (annotates_) array.evaluated.first = further ? kUnbounded : static_cast<uint32_t>(array.prefix.size());
  if (array.minimum > array.maximum) return std::nullopt;
  if (array.prefix.size() > array.maximum) array.prefix.resize(array.maximum);
  if (array.maximum == array.prefix.size()) array.rest = std::nullopt;
  return array;
}

ValueId SchemaReading::containing(const Said& said, const std::string& pointer, uint64_t depth) {
  const uint32_t least = count_or(said[kMinContains], 1);
  const uint32_t most = count_or(said[kMaxContains], kUnbounded);
  if (!said[kContains]) return SchemaIR::any();
  const ValueId item = inner(*said[kContains], below(pointer, "contains"), depth);
  Value value = schema_.at(SchemaIR::any());
  value.name = pointer;
  SchemaIR::Array array = algebra_.containing(0, item, least, most);
  // Before draft 2020-12 it evaluates nothing.
  if (annotates_ && reader().codes_.contains("prefixItems")) array.evaluated.containing = {item};
  value.array = least > most ? nullptr : SchemaIR::shared(std::optional(std::move(array)));
  return added(std::move(value));
}

std::optional<SchemaIR::Object> SchemaReading::object_shape(const Said& said, const std::string& pointer,
                                                            uint64_t depth) {
  SchemaIR::Object object;
  object.others = SchemaIR::any();
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
      const ValueId member = inner(held, below(pointer, "properties", called), depth);
      const auto found = needed.find(name);
      object.members.push_back({name, member, found != needed.end(), true});
      if (found != needed.end()) found->second = false;
    }
  }
  for (uint32_t name : order) {
    if (!needed[name]) continue;
    object.members.push_back({name, object.others.value_or(SchemaIR::never()), true, false});
  }
  if (annotates_ && further) object.evaluated.all = true;
  if (annotates_ && !further) {
    for (const auto& member : object.members) {
      if (member.listed) object.evaluated.names.push_back(member.name);
    }
    std::ranges::sort(object.evaluated.names);
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

// Keys sorted by patterns, one pattern after the other.
//
// Most of thousands of patterns are told apart by how they begin, so a new one is compared with those alone whose
// beginning begins its own, or is begun by it: each with each took 3 seconds for 25,000.
class SchemaReading::KeyKinds {
 public:
  // Keys, and what they hold as far as a pattern says so.
  struct Kind {
    SchemaIR::Keys keys;
    ValueId value = SchemaIR::any();
    bool is_left = true;
  };

  KeyKinds(SchemaReading& reading, size_t n_patterns) : reading_(reading), n_patterns_(n_patterns), kinds_(1) {}

  // A pattern that is not there yet.
  void add(uint32_t condition, ValueId value, const std::string& pointer) {
    const std::vector<uint32_t> near = near_of(condition);
    const SchemaIR::Keys matching{{condition}, {}};
    const SchemaIR::Keys broken{{}, {condition}};
    for (size_t at : kinds_of(near)) {
      const auto inside = reading_.algebra_.both(said_of(near, kinds_[at].keys), matching);
      if (!inside) continue;
      const ValueId held = reading_.both(kinds_[at].value, value, pointer);
      Kind& outside = kinds_[at];
      if (at == 0) {
        // Whether keys are left that match no pattern is asked once, at the end.
        auto& all = outside.keys.broken;
        all.insert(std::lower_bound(all.begin(), all.end(), condition), condition);
      } else {
        const auto keys = reading_.algebra_.both(outside.keys, broken);
        outside.is_left = keys.has_value();
        if (keys) outside.keys = *keys;
      }
      put({*inside, held}, pointer);
    }
  }

  // The keys that match no pattern, and all that match some.
  std::vector<Kind>& all() { return kinds_; }

 private:
  // What is said of keys by some conditions alone; those met are all of these.
  static SchemaIR::Keys said_of(const std::vector<uint32_t>& conditions, const SchemaIR::Keys& keys) {
    SchemaIR::Keys found{keys.met, {}};
    std::copy_if(conditions.begin(), conditions.end(), std::back_inserter(found.broken), [&](uint32_t condition) {
      return std::binary_search(keys.broken.begin(), keys.broken.end(), condition);
    });
    return found;
  }

  // The conditions that keys of this one may meet, too, in ascending order.
  std::vector<uint32_t> near_of(uint32_t condition) {
    const std::string start(reading_.keys_.start(condition));
    const SchemaIR::Keys matching{{condition}, {}};
    std::vector<uint32_t> near;
    const auto add = [&](uint32_t other) {
      if (reading_.algebra_.both(matching, {{other}, {}})) near.push_back(other);
    };
    for (size_t n = 0; n < start.size(); ++n) {
      const auto found = by_start_.equal_range(std::string_view(start).substr(0, n));
      for (auto other = found.first; other != found.second; ++other) add(other->second);
    }
    for (auto other = by_start_.lower_bound(start); other != by_start_.end() && other->first.starts_with(start);
         ++other) {
      add(other->second);
    }
    by_start_.emplace(start, condition);
    std::sort(near.begin(), near.end());
    return near;
  }

  // The kinds whose keys meet none but these conditions: patterns that are apart from one say nothing about its keys.
  std::vector<size_t> kinds_of(const std::vector<uint32_t>& near) const {
    std::vector<size_t> found{0};
    for (uint32_t condition : near) {
      const auto known = by_condition_.find(condition);
      if (known != by_condition_.end()) found.insert(found.end(), known->second.begin(), known->second.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    std::erase_if(found, [&](size_t at) {
      const auto& met = kinds_[at].keys.met;
      return !kinds_[at].is_left || !std::includes(near.begin(), near.end(), met.begin(), met.end());
    });
    return found;
  }

  void put(Kind kind, const std::string& pointer) {
    for (uint32_t condition : kind.keys.met) by_condition_[condition].push_back(kinds_.size());
    if (kind.keys.met.size() > 1) ++n_overlaps_;
    kinds_.push_back(std::move(kind));
    if (!SchemaAlgebra::are_too_many(kinds_.size(), n_overlaps_)) return;
    if (n_patterns_ > kManyPatterns) throw SchemaAlgebra::TooMuchWork{pointer};
    throw SchemaAlgebra::Unsupported{SchemaRefusal::Kind::kKeyClasses};
  }

  static constexpr size_t kManyPatterns = 2'000;

  SchemaReading& reading_;
  size_t n_patterns_;
  std::vector<Kind> kinds_;
  std::multimap<std::string, uint32_t, std::less<>> by_start_;
  std::unordered_map<uint32_t, std::vector<size_t>> by_condition_;
  size_t n_overlaps_ = 0;
};

void SchemaReading::add_classes(JsonId patterns, SchemaIR::Object& object, const std::string& pointer, uint64_t depth) {
  KeyKinds kinds(*this, members(patterns).size());
  std::vector<bool> described;
  for (const auto& member : object.members) described.push_back(member.listed);
  algebra_.work(members(patterns).size() * object.members.size() / SchemaAlgebra::kKeysPerStep);
  for (const auto& [key, held] : members(patterns)) {
    const std::string_view pattern = document_.key_text(key);
    const ValueId value = inner(held, below(pointer, "patternProperties", pattern), depth);
    if (refusals_ != nullptr && !strings_.reads(pattern)) {
      // Which keys it takes is unknown, so nothing can be said about the others either.
      object.is_overapproximate = true;
      continue;
    }
    const uint32_t condition = pattern_condition(pattern);
    if (annotates_ && !object.evaluated.all) {
      auto& conditions = object.evaluated.conditions;
      const auto after = std::ranges::lower_bound(conditions, condition);
      if (after == conditions.end() || *after != condition) conditions.insert(after, condition);
    }
    const SchemaIR::Keys matching{{condition}, {}};
    for (size_t at = 0; at < object.members.size(); ++at) {
      auto& member = object.members[at];
      if (!algebra_.admits(matching, member.name)) continue;
      // What other keys hold says nothing about a key that matches a pattern.
      member.value = described[at] ? both(member.value, value, pointer) : value;
      described[at] = true;
    }
    kinds.add(condition, value, pointer);
  }
  const auto others = object.is_overapproximate ? std::optional(SchemaIR::any()) : object.others;
  object.others = std::nullopt;
  for (KeyKinds::Kind& kind : kinds.all()) {
    if (kind.keys.met.empty()) {
      if (!algebra_.both(kind.keys, {})) continue;
      object.others = others;
      object.others_keys = std::move(kind.keys);
    } else if (kind.is_left && kind.value != SchemaIR::never()) {
      object.classes.push_back({std::move(kind.keys), kind.value});
    }
  }
}

uint32_t SchemaReading::pattern_condition(std::string_view pattern) {
  if (const auto read = simple_pattern(pattern)) {
    if (const auto terminal = schema_.text({read})) return string_condition(*terminal);
  }
  std::string definition = "{\"type\":\"string\",\"pattern\":";
  JsonDocument::write_string(pattern, definition);
  const auto terminal = ask_strings(definition + '}');
  return string_condition(terminal ? *terminal : schema_.listed({}));
}

uint32_t SchemaReading::string_condition(uint32_t terminal) {
  std::string definition = schema_.definition(terminal);
  return schema_.add_key_condition({terminal, std::move(definition)});
}

// The strings of any of these terminals, as one.
uint32_t SchemaReading::any_string_of(const std::vector<uint32_t>& terminals) {
  if (terminals.size() == 1) return terminals[0];
  if (const auto either = schema_.strings_of_any(terminals, max_nesting_, properties_)) return *either;
  std::string definition = "{\"anyOf\":[";
  for (uint32_t terminal : terminals) {
    if (terminal != terminals.front()) definition += ',';
    definition += schema_.definition(terminal);
  }
  const auto found = ask_strings(definition + "]}");
  return found ? *found : schema_.listed({});
}

void SchemaReading::restrict_names(JsonId schema, SchemaIR::Object& object, const std::string& pointer,
                                   uint64_t depth) {
  const ValueId names = inner_now(schema, below(pointer, "propertyNames"), depth);
  const std::vector<uint32_t> strings = algebra_.strings(names);
  if (strings == std::vector{SchemaIR::any_string()}) return;
  SchemaIR::Object allowed;
  if (!strings.empty()) {
    allowed.classes.push_back({{{string_condition(any_string_of(strings))}, {}}, SchemaIR::any()});
  }
  algebra_.restrict_keys(allowed, object);
}

}  // namespace cfgmask
