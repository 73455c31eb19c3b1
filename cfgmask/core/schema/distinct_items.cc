#include "schema/distinct_items.h"

#include <algorithm>
#include <utility>

#include "schema/equal_items.h"

namespace cfgmask {

namespace {

// Where only so many brackets may be around a value, what is added to items may have so many, in arrays that leave room
// for these. Deeper arrays must do without.
constexpr uint32_t kSpareDepth = 3;

}  // namespace

std::vector<PlainValueId> DistinctItems::doubtful() {
  std::vector<PlainValueId> found;
  std::vector<PlainValueId> with_composites;
  std::vector<bool> deep;
  for (uint32_t i = 0; i < schema_.n_values(); ++i) {
    const PlainValueId id(i);
    if (!schema_.is_live(id)) continue;
    const auto& array = schema_.at(id).array;
    if (!array || !array->forbids_equal_items() || !schema_.can_be(*array)) continue;
    if (schema_.has_composite_items(*array)) {
      if (!are_closed_) {
        found.push_back(id);
        continue;
      }
      with_composites.push_back(id);
      if (most_depth_ && deep.empty()) deep = deep_values();
      if (most_depth_) room_ = deep[i] ? 0 : kSpareDepth;
    }
    if (!is_plain(*array)) found.push_back(id);
  }
  if (with_composites.empty()) return found;
  const std::vector<PlainValueId> all = told_apart();
  const auto is_readable = [&](PlainValueId id) { return are_readable(schema_.at(id).terminals); };
  return std::ranges::all_of(all, is_readable) ? found : with_composites;
}

// Which values may stand so deep that what is added to their items may have too many brackets.
std::vector<bool> DistinctItems::deep_values() {
  constexpr uint32_t kAround = 2;  // brackets of an array and an item, around what is added
  std::vector<bool> deep(schema_.n_values(), false);
  std::vector<PlainValueId> now{schema_.root()};
  for (uint32_t depth = 0; depth <= *most_depth_ && !now.empty(); ++depth) {
    std::vector<bool> seen(schema_.n_values(), false);
    std::vector<PlainValueId> next;
    const auto add = [&](PlainValueId id, std::vector<PlainValueId>& to) {
      if (schema_.is_live(id)) to.push_back(id);
    };
    for (size_t i = 0; i < now.size(); ++i) {
      const PlainValueId id = now[i];
      if (seen[id.value]) continue;
      seen[id.value] = true;
      if (depth + kAround + kSpareDepth > *most_depth_) deep[id.value] = true;
      const PlainSchema::Value& value = schema_.at(id);
      if (value.may_have_many_states()) return std::vector<bool>(schema_.n_values(), true);
      if (value.alternatives.empty()) {
        PlainSchema::for_each_inside(value, [&](PlainValueId inside) { add(inside, next); });
      } else {
        for (PlainValueId alternative : value.alternatives) add(alternative, now);
      }
    }
    work_(now.size());
    now = std::move(next);
  }
  return deep;
}

std::vector<PlainValueId> DistinctItems::told_apart() {
  std::vector<bool> seen(schema_.n_values(), false);
  std::vector<PlainValueId> found;
  const auto add = [&](PlainValueId id) {
    if (seen[id.value] || !schema_.is_live(id)) return;
    seen[id.value] = true;
    found.push_back(id);
  };
  for (uint32_t i = 0; i < schema_.n_values(); ++i) {
    const auto& array = schema_.at(PlainValueId(i)).array;
    if (!schema_.is_live(PlainValueId(i)) || !array || !array->forbids_equal_items()) continue;
    for (PlainValueId item : different_items(*array)) {
      if (schema_.is_live(item) && parts_of(item).has_composites()) add(item);
    }
  }
  for (uint32_t i = 0; i < schema_.n_values(); ++i) {
    const auto& array = schema_.at(PlainValueId(i)).array;
    if (!schema_.is_live(PlainValueId(i)) || !array || !array->repeats || !array->kinds) continue;
    for (const auto& kind : array->kinds->kinds) {
      if (schema_.is_live(kind.items) && parts_of(kind.items).has_composites()) add(kind.items);
    }
  }
  bool has_all = false;
  for (size_t i = 0; i < found.size(); ++i) {
    const PlainSchema::Value& value = schema_.at(found[i]);
    PlainSchema::for_each_inside(value, add);
    if (!value.may_have_many_states() || has_all) continue;
    // What must meet a witness is a set of its own, which `for_each_inside` does not visit.
    for (uint32_t j = 0; j < schema_.n_values(); ++j) add(PlainValueId(j));
    has_all = true;
  }
  work_(found.size());
  return found;
}

const DistinctItems::Parts& DistinctItems::parts_of(PlainValueId id) {
  const auto [at, is_new] = parts_.try_emplace(id);
  if (!is_new) return at->second;
  const std::vector<PlainValueId> all = schema_.alternatives_of({id});
  work_(all.size());
  Parts& found = at->second;
  for (PlainValueId part : all) {
    const PlainSchema::Value& value = schema_.at(part);
    found.terminals.insert(found.terminals.end(), value.terminals.begin(), value.terminals.end());
    if (value.array && schema_.can_be(*value.array)) found.arrays.push_back(value.array.get());
    if (value.object && schema_.can_be(*value.object)) found.objects.push_back(value.object.get());
  }
  std::ranges::sort(found.terminals);
  const auto [first, last] = std::ranges::unique(found.terminals);
  found.terminals.erase(first, last);
  return found;
}

bool DistinctItems::may_repeat(PlainValueId id, const std::vector<PlainValueId>& told_apart) {
  const Array& array = *schema_.at(id).array;
  if (!array.kinds || std::ranges::find(told_apart, id) != told_apart.end()) return false;
  const auto is_live = [&](PlainValueId kind) { return schema_.is_live(kind); };
  const auto states = equal_item_states(array, is_live);
  if (!states) return false;
  work_(states->states.size());
  for (size_t i = 0; i < array.kinds->kinds.size(); ++i) {
    const PlainValueId kind = array.kinds->kinds[i].items;
    if (!schema_.is_live(kind)) continue;
    const Parts& parts = parts_of(kind);
    if (!are_readable(parts.terminals)) return false;
    if ((states->needed_again >> i & 1) != 0 && parts.has_composites()) return false;
  }
  return true;
}

// What the items are that differ by position, and all others.
std::vector<PlainValueId> DistinctItems::different_items(const Array& array) {
  std::vector<PlainValueId> found;
  const auto n_prefix = static_cast<uint32_t>(std::min<size_t>(array.prefix.size(), array.maximum));
  found.assign(array.prefix.begin(), array.prefix.begin() + n_prefix);
  if (array.rest && array.maximum > n_prefix) found.push_back(*array.rest);
  return found;
}

// Of the values of item i, i may be used up when it is reached.
bool DistinctItems::is_plain(const Array& array) {
  if (!array.witnesses.empty()) return false;
  const auto n_prefix = static_cast<uint32_t>(array.prefix.size());
  const std::vector<PlainValueId> items = different_items(array);
  for (uint32_t i = 0; i < items.size(); ++i) {
    if (!schema_.is_live(items[i])) continue;
    const Parts& parts = parts_of(items[i]);
    if (!are_readable(parts.terminals)) return false;
    if (!std::ranges::all_of(parts.arrays, [&](const Array* each) { return goes_on(*each); })) return false;
    if (!std::ranges::all_of(parts.objects, [&](const Object* each) { return goes_on(*each); })) return false;
    const uint32_t least = i < n_prefix ? i + 1 : array.minimum;
    if (i >= array.minimum || least <= 1 || has_scalars(parts, least)) continue;
    // Deep inside, only scalars may be left.
    if (!parts.has_composites() || (room_ == 0 && !parts.terminals.empty())) return false;
  }
  return true;
}

// Whether a set can tell each from others: numbers with conditions may have exponents.
bool DistinctItems::are_readable(const std::vector<uint32_t>& terminals) const {
  return std::ranges::all_of(terminals, [&](uint32_t t) {
    const PlainSchema::Terminal& terminal = schema_.terminal(t);
    return terminal.kind != PlainSchema::kNumber || terminal.spelling == PlainSchema::Spelling::kNumbers;
  });
}

// Whether it is plain that there are so many.
bool DistinctItems::has_scalars(const Parts& parts, uint32_t least) const {
  uint64_t n_words = 0;
  uint64_t most = 0;
  for (uint32_t t : parts.terminals) {
    if (schema_.terminal(t).spelling == PlainSchema::Spelling::kWord) {
      ++n_words;
    } else {
      // Others may overlap, so only the largest counts.
      most = std::max(most, schema_.count(schema_.terminal(t)));
    }
  }
  return n_words + most >= least;
}

bool DistinctItems::has_values(PlainValueId item, uint32_t least) {
  if (least == 1) return schema_.is_live(item, room_);
  const Parts& parts = parts_of(item);
  if (has_scalars(parts, least)) return true;
  if (room_ == 0) return false;
  // Of arrays and objects that may have more in them there are infinitely many.
  return std::ranges::any_of(parts.objects, [&](const Object* object) { return goes_on(*object); }) ||
         std::ranges::any_of(parts.arrays, [&](const Array* array) {
           return array->prefix.empty() && array->witnesses.empty() && !array->forbids_equal_items() && goes_on(*array);
         });
}

// What is added must need no brackets where there may be only so many.
bool DistinctItems::goes_on(const Array& array) {
  if (array.maximum != kUnbounded || !array.rest || array.repeats) return false;
  if (std::ranges::any_of(array.witnesses, [](const auto& witness) { return witness.most != kUnbounded; }))
    return false;
  for (uint32_t i = 0; i < array.prefix.size(); ++i) {
    if (!has_values(array.prefix[i], array.distinct ? i + 1 : 1)) return false;
  }
  if (!array.distinct) return schema_.is_live(*array.rest, room_);
  // Of items of which no two are equal there must always be more.
  return std::ranges::any_of(parts_of(*array.rest).terminals, [&](uint32_t t) {
    return schema_.terminal(t).spelling == PlainSchema::Spelling::kAnyString;
  });
}

bool DistinctItems::goes_on(const Object& object) {
  if (object.maximum != kUnbounded) return false;
  const auto is_endless = [&](const PlainSchema::Keys& keys, PlainValueId value) {
    return schema_.is_live(value, room_) && keys_.surely_never_end(keys);
  };
  return (object.others && is_endless(object.others_keys, *object.others)) ||
         std::ranges::any_of(object.classes, [&](const auto& of) { return is_endless(of.keys, of.value); });
}

}  // namespace cfgmask
