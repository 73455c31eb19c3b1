#include <algorithm>
#include <unordered_set>
#include <utility>

#include "json_schema/keywords/schema_reading.h"
#include "json_schema/sets/listed_parts.h"

namespace cfgmask {

ValueId SchemaReading::combined(JsonId schema, const Said& said, ValueId own, const std::string& pointer,
                                uint64_t depth) {
  own = with_dependents(said, own, pointer, depth);
  SchemaAlgebra::Terms terms;
  bool own_place_taken = false;
  for (const auto& [key, held] : document_.members(schema)) {
    const auto keyword = this->keyword(key);
    if (keyword == kProperties) {
      terms.push_back({own});
      own_place_taken = true;
    } else if (keyword && std::ranges::find(kReferences, *keyword) != kReferences.end()) {
      terms.push_back({referred(said, *keyword, depth)});
    } else if (keyword == kAllOf) {
      for (ValueId part : branches(held, "allOf", pointer, depth)) terms.push_back({part});
    } else if (keyword == kAnyOf) {
      std::vector<ValueId> parts = branches(held, "anyOf", pointer, depth);
      // Beside `true` the others restrict nothing, and need not be enforced.
      if (!annotates_ && std::ranges::find(parts, SchemaIR::any()) != parts.end()) continue;
      terms.push_back({annotates_ ? algebra_.any_of(std::move(parts), pointer) : either(std::move(parts), pointer)});
    } else if (keyword == kOneOf) {
      terms.push_back({algebra_.exactly_one(branches(held, "oneOf", pointer, depth), own, own_place_taken, pointer)});
    } else if (keyword == kIf) {
      terms.push_back({conditional(said, pointer, depth)});
    } else if ((keyword == kThen || keyword == kElse) && !said[kIf]) {
      // It says nothing there, but has to be a schema.
      value(held, below(pointer, kKeywordNames[*keyword]), depth + 1);
    }
  }
  if (!own_place_taken) terms.push_back({own});
  if (said[kNot]) terms.push_back({value(*said[kNot], below(pointer, "not"), depth + 1), true});
  return algebra_.all(terms, pointer);
}

ValueId SchemaReading::conditional(const Said& said, const std::string& pointer, uint64_t depth) {
  const auto part = [&](Keyword keyword) {
    const Held held = said[keyword];
    return held ? value(*held, below(pointer, kKeywordNames[keyword]), depth + 1) : SchemaIR::any();
  };
  const ValueId condition = part(kIf);
  const ValueId consequence = part(kThen);
  const ValueId alternative = part(kElse);
  // A condition on which nothing depends says nothing, unless it may lead back to itself, also by keywords that only
  // its own draft knows.
  const Said of_condition = is_object(*said[kIf]) ? keywords(*said[kIf]) : Said();
  const bool leads_on = of_condition.has_any(kApplicators) || of_condition.has(kDialect);
  if (consequence == alternative && !leads_on && !annotates_) return consequence;
  return either(
      {algebra_.all({{condition}, {consequence}}, pointer), algebra_.all({{alternative}, {condition, true}}, pointer)},
      pointer);
}

ValueId SchemaReading::with_dependents(const Said& said, ValueId own, const std::string& pointer, uint64_t depth) {
  SchemaAlgebra::Terms terms{{own}};
  SchemaAlgebra::Terms schemas;
  for (Keyword keyword : {kDependentRequired, kDependentSchemas, kDependencies}) {
    if (!said[keyword]) continue;
    for (const auto& [key, held] : members(*said[keyword])) {
      const uint32_t name = schema_.name(document_.key_text(key));
      if (keyword == kDependentRequired || (keyword == kDependencies && is_array(held))) {
        std::vector<uint32_t> needed{name};
        for (JsonId other : items(held)) needed.push_back(schema_.name(text(other)));
        if (needed.size() > 1) terms.push_back({either({lacking(name, pointer), having(needed, pointer)}, pointer)});
      } else {
        const ValueId then = value(held, below(pointer, kKeywordNames[keyword], document_.key_text(key)), depth + 1);
        const ValueId present = both(having({name}, pointer), then, pointer);
        schemas.push_back({either({lacking(name, pointer), present}, pointer)});
      }
    }
  }
  terms.insert(terms.end(), schemas.begin(), schemas.end());
  return algebra_.all(terms, pointer);
}

ValueId SchemaReading::lacking(uint32_t name, const std::string& pointer) {
  Value value = schema_.at(SchemaIR::any());
  value.name = pointer;
  SchemaIR::Object object = *value.object;
  object.members.push_back({name, SchemaIR::never(), false, false});
  value.object = std::make_shared<SchemaIR::Object>(std::move(object));
  return added(std::move(value));
}

ValueId SchemaReading::having(const std::vector<uint32_t>& names, const std::string& pointer) {
  SchemaIR::Object object;
  object.others = SchemaIR::any();
  std::unordered_set<uint32_t> seen;
  for (uint32_t name : names) {
    if (seen.insert(name).second) object.members.push_back({name, SchemaIR::any(), true, false});
  }
  Value value;
  value.name = pointer;
  value.object = std::make_shared<SchemaIR::Object>(std::move(object));
  return added(std::move(value));
}

std::vector<ValueId> SchemaReading::branches(JsonId held, const char* keyword, const std::string& pointer,
                                             uint64_t depth) {
  const auto schemas = items(held);
  require(!schemas.empty());
  std::vector<ValueId> found;
  for (size_t i = 0; i < schemas.size(); ++i)
    found.push_back(value(schemas[i], below(pointer, keyword, std::to_string(i)), depth + 1));
  return found;
}

ValueId SchemaReading::either(std::vector<ValueId> parts, const std::string& pointer) {
  Value union_of;
  union_of.name = pointer;
  std::unordered_set<uint32_t> known;
  for (ValueId part : parts) {
    if (part != SchemaIR::never() && known.insert(part.value).second) union_of.alternatives.push_back(part);
  }
  union_of.alternatives = listed_together(std::move(union_of.alternatives), schema_, pointer);
  return union_of.alternatives.size() == 1 ? union_of.alternatives[0] : added(std::move(union_of));
}

}  // namespace cfgmask
