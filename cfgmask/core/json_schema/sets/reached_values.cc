#include "json_schema/sets/reached_values.h"

#include <algorithm>
#include <utility>

namespace cfgmask {

ReachedValues::ReachedValues(const SchemaIR& schema) : schema_(schema) {
  std::vector<bool> seen(schema.n_values(), false);
  const auto reach = [&](ValueId id) {
    if (seen[id.value] || !schema.is_live(id)) return;
    seen[id.value] = true;
    reached_.push_back(id);
  };
  reach(schema.root());
  for (size_t i = 0; i < reached_.size(); ++i) {
    const SchemaIR::Value& value = schema.at(reached_[i]);
    std::ranges::for_each(value.alternatives, reach);
    for_each_in_brackets(value, reach);
  }
  // What a value consists of comes before it, but in circles.
  std::ranges::reverse(reached_);
}

template <class F>
void ReachedValues::for_each_in_brackets(const SchemaIR::Value& value, F call) const {
  if (is_array(value)) {
    const SchemaIR::Array& array = *value.array;
    uint32_t i = 0;
    while (i < array.prefix.size() && i < array.maximum && schema_.is_live(array.prefix[i])) call(array.prefix[i++]);
    if (i == array.prefix.size() && i < array.maximum && array.rest) call(*array.rest);
  }
  if (is_object(value) && value.object->maximum > 0) {
    for (const auto& member : value.object->members) call(member.value);
    for (const auto& keys : value.object->classes) call(keys.value);
    if (value.object->others) call(*value.object->others);
  }
}

bool ReachedValues::nest_deeper(uint32_t depth) const {
  // Those that have so many brackets inside each other, for more and more.
  std::vector<bool> deep(schema_.n_values(), false);
  for (const ValueId id : reached_) deep[id.value] = true;
  for (uint32_t d = 0; d <= depth; ++d) {
    std::vector<bool> deeper(schema_.n_values(), false);
    const auto is_deeper = [&](const SchemaIR::Value& value) {
      if (std::ranges::any_of(value.alternatives, [&](ValueId id) { return deeper[id.value]; })) return true;
      bool found = d == 0 && (is_array(value) || is_object(value));
      if (d > 0) for_each_in_brackets(value, [&](ValueId id) { found = found || deep[id.value]; });
      return found;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const ValueId id : reached_) {
        if (deeper[id.value] || !is_deeper(schema_.at(id))) continue;
        changed = deeper[id.value] = true;
      }
    }
    if (!deeper[schema_.root().value]) return false;
    // From here on, it is the same for any depth. (The first look is another one.)
    if (d > 0 && deeper == deep) return true;
    deep = std::move(deeper);
  }
  return true;
}

bool ReachedValues::have_keys_without_names() const {
  return std::ranges::any_of(reached_, [&](ValueId id) {
    const SchemaIR::Value& value = schema_.at(id);
    if (!is_object(value) || value.object->bounds().maximum <= value.object->n_required()) return false;
    const auto is_live = [&](const SchemaIR::KeyClass& keys) { return schema_.is_live(keys.value); };
    return (value.object->others && schema_.is_live(*value.object->others)) ||
           std::ranges::any_of(value.object->classes, is_live);
  });
}

}  // namespace cfgmask
