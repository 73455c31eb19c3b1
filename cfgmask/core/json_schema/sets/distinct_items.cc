#include "json_schema/sets/distinct_items.h"

#include <algorithm>
#include <utility>

#include "json_schema/sets/kind_states.h"
#include "json_schema/sets/witnesses.h"

namespace cfgmask {

namespace {

// Where only so many brackets may be around a value, what is added to items may have so many, in arrays that leave room
// for these. Deeper arrays must do without.
constexpr uint32_t kSpareDepth = 3;
// Brackets of an array and an item, around what is added.
constexpr uint32_t kAroundAdded = 2;
// Alternatives that are compared with each other.
constexpr size_t kMostAlternatives = 1'000;
constexpr uint64_t kLooksPerUnit = 8;
constexpr uint32_t kSureDepth = 4;

}  // namespace

std::vector<ValueId> DistinctItems::doubtful() {
  const std::vector<ValueId> arrays = distinct_arrays();
  for (ValueId array : arrays) {
    if (composite_items(array).empty()) continue;
    if (most_depth_ && last_depths_.empty()) find_depths();
    if (!all_go_on(array)) with_steps_.insert(array.value);
  }
  // Arrays inside of items that are told apart by steps must be written in one way there.
  for (bool changed = !with_steps_.empty(); changed;) {
    changed = false;
    for (ValueId array : arrays) {
      if (with_steps_.contains(array.value)) continue;
      const std::vector<ValueId> items = composite_items(array);
      const auto may_be_apart = [&](ValueId item) { return may_be_told_apart(item); };
      if (std::ranges::all_of(items, may_be_apart) && are_written_alike(array, items)) continue;
      with_steps_.insert(array.value);
      changed = true;
    }
  }
  std::vector<ValueId> found;
  for (ValueId array : arrays) {
    if (!with_steps_.contains(array.value) || may_be_told_by_steps(array)) continue;
    found.push_back(array);
    // How deep what meets witnesses may be is known of kinds.
    if (!array_at(array).witnesses.empty() && !array_at(array).counts_kinds()) uncounted_.push_back(array);
  }
  for (ValueId array : arrays) {
    if (std::ranges::find(found, array) != found.end()) continue;
    const bool is_counted = array_at(array).counts_kinds();
    if (is_counted ? has_enough(array) : is_plain(array)) continue;
    if (!is_counted) uncounted_.push_back(array);
    found.push_back(array);
  }
  return found;
}

std::vector<ValueId> DistinctItems::distinct_arrays() const {
  std::vector<ValueId> found;
  for (uint32_t i = 0; i < schema_.n_values(); ++i) {
    const ValueId id(i);
    if (!schema_.is_live(id)) continue;
    const auto& array = schema_.at(id).array;
    if (array && array->forbids_equal_items() && schema_.can_be(*array)) found.push_back(id);
  }
  return found;
}

// What the items are that differ by position, and all others. Those without values aside.
std::vector<ValueId> DistinctItems::items_of(ValueId id) const {
  const Array& array = array_at(id);
  const auto n_prefix = static_cast<uint32_t>(std::min<size_t>(array.prefix.size(), array.maximum));
  if (array.counts_kinds()) {
    std::vector<ValueId> found;
    for (const auto& kind : array.kinds->kinds) {
      if (schema_.is_live(kind.items)) found.push_back(kind.items);
    }
    return found;
  }
  std::vector<ValueId> found(array.prefix.begin(), array.prefix.begin() + n_prefix);
  if (array.rest && array.maximum > n_prefix) found.push_back(*array.rest);
  std::erase_if(found, [&](ValueId item) { return !schema_.is_live(item); });
  return found;
}

std::vector<ValueId> DistinctItems::composite_items(ValueId array) {
  std::vector<ValueId> found;
  for (ValueId item : items_of(array)) {
    const ValueId id = schema_.resolved(item);
    if (parts_of(id).has_composites()) found.push_back(id);
  }
  std::ranges::sort(found);
  const auto [first, last] = std::ranges::unique(found);
  found.erase(first, last);
  return found;
}

// Some sets, and what they hold.
std::vector<ValueId> DistinctItems::inside(const std::vector<ValueId>& sets) {
  std::vector<bool> seen(schema_.n_values(), false);
  std::vector<ValueId> found;
  const auto add = [&](ValueId id) {
    if (seen[id.value] || !schema_.is_live(id)) return;
    seen[id.value] = true;
    found.push_back(id);
  };
  std::ranges::for_each(sets, add);
  bool has_all = false;
  for (size_t i = 0; i < found.size(); ++i) {
    if (each_inside(found[i], add) || has_all) continue;
    for (uint32_t j = 0; j < schema_.n_values(); ++j) add(ValueId(j));
    has_all = true;
  }
  work_(found.size() / kLooksPerUnit);
  return found;
}

// Visits the sets right inside of a value, and what these have in common with the value's witnesses. Returns false
// where the latter is not known: it may be any set then.
template <typename Visit>
bool DistinctItems::each_inside(ValueId id, Visit visit) {
  const SchemaIR::Value& value = schema_.at(id);
  SchemaIR::for_each_inside(value, visit);
  if (!value.has_common_sets()) return true;
  const auto& common = common_sets(id);
  if (common) std::ranges::for_each(*common, visit);
  return common.has_value();
}

// As `SchemaAlgebra::find_common` found them; nullopt if it did not.
const std::optional<std::vector<ValueId>>& DistinctItems::common_sets(ValueId id) {
  const auto [at, is_new] = common_sets_.try_emplace(id.value);
  if (!is_new) return at->second;
  const SchemaIR::Value& value = schema_.at(id);
  std::vector<ValueId> found;
  bool is_known = true;
  const CommonValue common = [&](ValueId a, ValueId b) {
    if (a == b || b == SchemaIR::any()) return a;
    if (a == SchemaIR::any()) return b;
    const auto both = schema_.known_common(a, b);
    is_known = is_known && both.has_value();
    found.push_back(both.value_or(SchemaIR::never()));
    return found.back();
  };
  if (value.object && value.object->has_particular_witnesses())
    can_be_met(*value.object, common, [](ValueId both) { return both != SchemaIR::never(); });
  if (value.array && !value.array->witnesses.empty() && !value.array->kinds) {
    const auto states = item_states(*value.array, common);
    is_known = is_known && states.has_value();
  }
  work_(1 + found.size());
  if (is_known) at->second = std::move(found);
  return at->second;
}

std::vector<ValueId> DistinctItems::told_apart() {
  std::vector<ValueId> sets;
  for (ValueId array : distinct_arrays()) {
    for (ValueId item : composite_items(array)) {
      if (!counts_.tells(item)) sets.push_back(item);
    }
  }
  for (uint32_t object : counts_.objects_going_on) sets.emplace_back(object);
  for (uint32_t array : counts_.arrays_going_on) sets.emplace_back(array);
  for (uint32_t i = 0; i < schema_.n_values(); ++i) {
    const auto& array = schema_.at(ValueId(i)).array;
    if (!schema_.is_live(ValueId(i)) || !array || !array->repeats || !array->kinds) continue;
    for (const auto& kind : array->kinds->kinds) {
      if (schema_.is_live(kind.items) && parts_of(kind.items).has_composites()) sets.push_back(kind.items);
    }
  }
  std::ranges::sort(sets);
  return inside(sets);
}

const DistinctItems::Parts& DistinctItems::parts_of(ValueId id) {
  const auto [at, is_new] = parts_.try_emplace(id);
  if (!is_new) return at->second;
  const std::vector<ValueId> all = schema_.alternatives_of({id});
  work_(all.size());
  Parts& found = at->second;
  for (ValueId part : all) {
    const SchemaIR::Value& value = schema_.at(part);
    found.terminals.insert(found.terminals.end(), value.terminals.begin(), value.terminals.end());
    if (value.array && schema_.can_be(*value.array)) found.arrays.push_back(value.array.get());
    if (value.object && schema_.can_be(*value.object)) found.objects.push_back(value.object.get());
  }
  std::ranges::sort(found.terminals);
  const auto [first, last] = std::ranges::unique(found.terminals);
  found.terminals.erase(first, last);
  return found;
}

bool DistinctItems::may_repeat(ValueId id, const std::vector<ValueId>& told_apart) {
  const Array& array = *schema_.at(id).array;
  if (!array.kinds || std::ranges::find(told_apart, id) != told_apart.end()) return false;
  const auto is_live = [&](ValueId kind) { return schema_.is_live(kind); };
  const auto states = equal_item_states(array, is_live);
  if (!states) return false;
  work_(states->states.size());
  for (size_t i = 0; i < array.kinds->kinds.size(); ++i) {
    const ValueId kind = array.kinds->kinds[i].items;
    if (!schema_.is_live(kind)) continue;
    const Parts& parts = parts_of(kind);
    if (parts.has_composites() && (states->needed_again >> i & 1) != 0) return false;
  }
  return true;
}

void DistinctItems::find_depths() {
  last_depths_.assign(schema_.n_values(), 0);
  std::vector<ValueId> now{schema_.root()};
  for (uint32_t depth = 0; depth <= *most_depth_ && !now.empty(); ++depth) {
    std::vector<bool> seen(schema_.n_values(), false);
    std::vector<ValueId> next;
    for (size_t i = 0; i < now.size(); ++i) {
      const ValueId id = now[i];
      if (seen[id.value]) continue;
      seen[id.value] = true;
      last_depths_[id.value] = depth;
      std::vector<ValueId>& to = schema_.at(id).alternatives.empty() ? next : now;
      const auto add = [&](ValueId inner) {
        if (schema_.is_live(inner)) to.push_back(inner);
      };
      if (!each_inside(id, add)) {
        last_depths_.assign(schema_.n_values(), *most_depth_);
        return;
      }
    }
    work_(now.size() / kLooksPerUnit);
    now = std::move(next);
  }
}

// Of the values of item i, i may be used up when it is reached.
bool DistinctItems::is_plain(ValueId id) {
  const Array& array = array_at(id);
  if (!array.witnesses.empty()) return false;
  set_room(id);
  const auto n_prefix = static_cast<uint32_t>(array.prefix.size());
  for (uint32_t i = 0; i < std::min(n_prefix + 1, array.maximum); ++i) {
    const auto item = array.item(i);
    if (!item || !schema_.is_live(*item)) continue;
    const ValueId set = schema_.resolved(*item);
    const Parts& parts = parts_of(set);
    const uint32_t least = i < n_prefix ? i + 1 : array.minimum;
    if (i >= array.minimum || least <= 1 || has_scalars(parts, least)) continue;
    const uint32_t n = counted_scalars(parts);
    if (n >= std::min(least, kEndless)) continue;
    if (!parts.has_composites()) return false;
    // That a set is live says that there are such arrays or objects, if no scalars are in it, or too few for all items.
    if (!parts.terminals.empty() && (n_prefix > 0 || schema_.most_scalars(set) >= least)) return false;
    // Deep inside, only scalars may be left.
    if (room_ == 0 && !parts.terminals.empty()) return false;
    if (counts_.tells(set) && n_either(n, counts_.n_composites(set)) < std::min(least, kEndless)) return false;
  }
  return true;
}

// Whether it is known how many values each kind has, as far as that matters.
bool DistinctItems::has_enough(ValueId id) {
  const Array& array = array_at(id);
  set_room(id);
  const uint32_t needed = most_needed(array);
  std::vector<uint32_t> n_values;
  for (const auto& kind : array.kinds->kinds) {
    n_values.push_back(0);
    if (!schema_.is_live(kind.items)) continue;
    const ValueId set = schema_.resolved(kind.items);
    const Parts& parts = parts_of(set);
    const auto n = has_scalars(parts, needed) ? kEndless : exactly(parts);
    if (!n) return false;
    if (*n < needed && parts.has_composites() && (room_ == 0 || !surely_has_composites(set, kSureDepth))) return false;
    const uint32_t more = counts_.tells(set) ? counts_.n_composites(set) : parts.has_composites() ? kEndless : 0;
    n_values.back() = n_either(*n, more);
  }
  const auto is_live = [&](ValueId kind) { return schema_.is_live(kind); };
  const auto found = unique_item_states(array, n_values, is_live);
  if (!found) return false;
  for (const auto& state : found->states) work_(1 + state.items.size());
  if (found->states.empty()) impossible_.push_back(id);
  counts_.of_kinds[id.value] = std::move(n_values);
  return true;
}

// Whether there are arrays or objects, without a look at arrays whose items must differ: what is live may be so because
// of one that counts as possible, and is not.
bool DistinctItems::surely_has_composites(ValueId id, uint32_t depth) {
  if (depth == 0) return false;
  const Parts& parts = parts_of(id);
  const auto is_sure = [&](ValueId inner) {
    return !parts_of(inner).terminals.empty() || surely_has_composites(inner, depth - 1);
  };
  const auto is_sure_array = [&](const Array* array) {
    if (!array->witnesses.empty() || array->repeats || (array->forbids_equal_items() && array->minimum > 1))
      return false;
    const auto n_prefix = static_cast<uint32_t>(array->prefix.size());
    for (uint32_t i = 0; i < std::min(array->minimum, n_prefix + 1); ++i) {
      const auto item = array->item(i);
      if (!item || !is_sure(*item)) return false;
    }
    return true;
  };
  const auto is_sure_object = [&](const Object* object) {
    uint32_t n_sure = 0;
    for (const auto& member : object->members) {
      if (is_sure(member.value)) {
        ++n_sure;
      } else if (member.required) {
        return false;
      }
    }
    return object->witnesses.empty() && object->minimum <= n_sure && object->maximum >= object->n_required();
  };
  work_(1);
  return std::ranges::any_of(parts.arrays, is_sure_array) || std::ranges::any_of(parts.objects, is_sure_object);
}

// How many scalars there are; nullopt where that takes more than a look.
std::optional<uint32_t> DistinctItems::exactly(const Parts& parts) {
  if (!are_apart(parts.terminals)) return std::nullopt;
  uint32_t all = 0;
  for (uint32_t t : parts.terminals) {
    const auto n = n_scalars(t);
    if (!n) return std::nullopt;
    all = n_either(all, *n);
  }
  return all;
}

// Whether it is certain that no two have a scalar in common.
bool DistinctItems::are_apart(const std::vector<uint32_t>& terminals) const {
  if (terminals.size() > kMostAlternatives) return false;
  for (size_t i = 0; i < terminals.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!schema_.are_apart(terminals[i], terminals[j])) return false;
    }
  }
  return true;
}

// Whether it is certain that there are so many.
bool DistinctItems::has_scalars(const Parts& parts, uint32_t least) const {
  uint64_t n_words = 0;
  uint64_t most = 0;
  for (uint32_t t : parts.terminals) {
    if (schema_.terminal(t).spelling == SchemaIR::Spelling::kWord) {
      ++n_words;
    } else {
      // Others may overlap, so only the largest counts.
      most = std::max(most, schema_.count(schema_.terminal(t)));
    }
  }
  return n_words + most >= least;
}

// The same where each has to be counted. If some have scalars in common, only the most that one has are sure.
uint32_t DistinctItems::counted_scalars(const Parts& parts) {
  uint32_t all = 0;
  uint32_t most = 0;
  for (uint32_t t : parts.terminals) {
    const uint32_t n = n_scalars(t).value_or(0);
    all = n_either(all, n);
    most = std::max(most, n);
  }
  return are_apart(parts.terminals) ? all : most;
}

// ---- arrays and objects that go on

void DistinctItems::set_room(ValueId array) {
  if (last_depths_.empty()) return;
  const bool is_deep = last_depths_[array.value] + kAroundAdded + kSpareDepth > *most_depth_;
  room_ = is_deep ? 0 : kSpareDepth;
}

bool DistinctItems::all_go_on(ValueId array) {
  set_room(array);
  const std::vector<ValueId> items = composite_items(array);
  return std::ranges::all_of(items, [&](ValueId item) { return goes_on(item); });
}

bool DistinctItems::goes_on(ValueId item) {
  const Parts& parts = parts_of(item);
  return std::ranges::all_of(parts.arrays, [&](const Array* each) { return goes_on(*each); }) &&
         std::ranges::all_of(parts.objects, [&](const Object* each) { return goes_on(*each); });
}

bool DistinctItems::has_values(ValueId item, uint32_t least) {
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
    return schema_.terminal(t).spelling == SchemaIR::Spelling::kAnyString;
  });
}

bool DistinctItems::goes_on(const Object& object) {
  if (object.maximum != kUnbounded) return false;
  const auto is_endless = [&](const SchemaIR::Keys& keys, ValueId value) {
    return schema_.is_live(value, room_) && keys_.surely_never_end(keys);
  };
  return (object.others && is_endless(object.others_keys, *object.others)) ||
         std::ranges::any_of(object.classes, [&](const auto& of) { return is_endless(of.keys, of.value); });
}

// Which sets lead to arrays whose items are told apart by steps, or may do so.
const std::vector<bool>& DistinctItems::leading_to_steps() {
  if (leading_.size() == schema_.n_values() && n_leading_steps_ == with_steps_.size()) return leading_;
  if (around_.empty()) {
    around_.resize(schema_.n_values());
    for (uint32_t i = 0; i < schema_.n_values(); ++i) {
      const auto add = [&](ValueId inner) { around_[inner.value].push_back(i); };
      if (schema_.is_live(ValueId(i)) && !each_inside(ValueId(i), add)) holding_any_.push_back(i);
    }
    work_(around_.size() / kLooksPerUnit);
  }
  n_leading_steps_ = with_steps_.size();
  leading_.assign(schema_.n_values(), false);
  std::vector<uint32_t> todo(with_steps_.begin(), with_steps_.end());
  if (!todo.empty()) todo.insert(todo.end(), holding_any_.begin(), holding_any_.end());
  while (!todo.empty()) {
    const uint32_t id = todo.back();
    todo.pop_back();
    if (leading_[id]) continue;
    leading_[id] = true;
    todo.insert(todo.end(), around_[id].begin(), around_[id].end());
  }
  work_(leading_.size() / kLooksPerUnit);
  return leading_;
}

// Whether no value is in two of the items where one of these leads to steps: it would be written by other rules then.
bool DistinctItems::are_written_alike(ValueId array, const std::vector<ValueId>& items) {
  if (items.size() < 2 || array_at(array).counts_kinds()) return true;
  const std::vector<bool>& leading = leading_to_steps();
  return std::ranges::none_of(items, [&](ValueId item) { return leading[item.value]; }) || are_disjoint(items);
}

// Whether equal values come to equal ones in sets: a part of which steps are told apart comes to another value than an
// equal one that other rules write.
bool DistinctItems::may_be_told_apart(ValueId item) {
  if (!leading_to_steps()[item.value]) return true;
  return std::ranges::all_of(inside({item}), [&](ValueId id) {
    if (!leading_[id.value]) return true;
    const Parts& parts = parts_of(id);
    return parts.arrays.size() < 2 && parts.objects.size() < 2 &&
           std::ranges::all_of(
               parts.arrays, [](const Array* array) { return array->witnesses.empty(); }) &&
           std::ranges::all_of(parts.objects, [](const Object* object) { return object->witnesses.empty(); });
  });
}

// ---- steps

bool DistinctItems::may_be_told_by_steps(ValueId array) {
  if (most_depth_) room_ = 0;
  const std::vector<ValueId> items = composite_items(array);
  // An item is of one kind wherever it stands. (Objects in items are written in the order of the schema.)
  if (items.size() > kMostAlternatives) return false;
  if (!array_at(array).counts_kinds() && !are_disjoint(items)) {
    uncounted_.push_back(array);
    return false;
  }
  return std::ranges::all_of(items, [&](ValueId item) {
    if (goes_on(item) && may_be_told_apart(item)) return true;
    if (!count_inside(item)) return false;
    if (most_depth_ && !is_high_enough(item, last_depths_[array.value] + 1)) return false;
    counts_.items.insert(item.value);
    return known(item).n_composites > 0;
  });
}

// Whether the values that are counted fit below the limit in an item with so many brackets around it, or none does.
bool DistinctItems::is_high_enough(ValueId item, uint32_t depth) {
  const uint32_t height = known(item).height;
  if (height > *most_depth_) return false;
  return depth + height <= *most_depth_ || height == 0 || !schema_.has_composites({item}, height - 1);
}

// Finds how many values there are in an item, and in all that it holds.
bool DistinctItems::count_inside(ValueId item) {
  struct Visit {
    ValueId id;
    bool is_left;
  };
  std::vector<Visit> todo{{item, false}};
  std::unordered_set<uint32_t> open;
  const auto add = [&](ValueId id) {
    if (schema_.is_live(id) && !counted_.contains(id.value) && !open.contains(id.value)) todo.push_back({id, false});
  };
  while (!todo.empty()) {
    const auto [id, is_left] = todo.back();
    todo.pop_back();
    if (counted_.contains(id.value)) continue;
    if (!is_left) {
      if (!open.insert(id.value).second) continue;
      todo.push_back({id, true});
      const SchemaIR::Value& value = schema_.at(id);
      for (ValueId alternative : value.alternatives) add(alternative);
      // Those that go on are endlessly many, whatever they hold.
      if (value.array && !is_counted_as_endless(*value.array)) {
        std::ranges::for_each(value.array->prefix, add);
        if (value.array->rest) add(*value.array->rest);
      }
      if (value.object && !goes_on(*value.object)) {
        for (const auto& member : value.object->members) add(member.value);
      }
      continue;
    }
    const auto found = counted(id);
    if (!found) return false;
    work_(1);
    counted_.emplace(id.value, *found);
    counts_.of_values[id.value] = found->n_values;
    counts_.of_composites[id.value] = found->n_composites;
  }
  return true;
}

// What leads back to itself has endlessly many values.
DistinctItems::Counted DistinctItems::known(ValueId id) const {
  if (!schema_.is_live(id)) return {};
  const auto found = counted_.find(id.value);
  return found == counted_.end() ? Counted{kEndless, kEndless, kUnbounded} : found->second;
}

std::optional<DistinctItems::Counted> DistinctItems::counted(ValueId id) {
  const SchemaIR::Value& value = schema_.at(id);
  Counted all;
  uint32_t n_scalars = 0;
  const auto add = [&](const Counted& part) {
    all.n_values = n_either(all.n_values, part.n_values);
    all.n_composites = n_either(all.n_composites, part.n_composites);
    all.height = std::max(all.height, part.height);
  };
  if (!shares_none(id)) return std::nullopt;
  if (!value.alternatives.empty()) {
    for (ValueId part : schema_.alternatives_of({id})) {
      add(known(part));
      for (uint32_t t : schema_.at(part).terminals) n_scalars = n_either(n_scalars, counts_.n_scalars(t));
    }
  } else {
    for (uint32_t t : value.terminals) {
      const auto n = this->n_scalars(t);
      if (!n) return std::nullopt;
      n_scalars = n_either(n_scalars, *n);
    }
    add({n_scalars, 0, 0});
    if (value.array && schema_.can_be(*value.array)) {
      const auto found = counted(id, *value.array);
      if (!found) return std::nullopt;
      add(*found);
    }
    if (value.object && schema_.can_be(*value.object)) {
      const auto found = counted(id, *value.object);
      if (!found) return std::nullopt;
      add(*found);
    }
  }
  // However deep it stands, there are endlessly many then.
  if (n_scalars == kEndless) all.height = 0;
  return all;
}

// Whether it is certain that no value is in two of these sets.
bool DistinctItems::are_disjoint(const std::vector<ValueId>& sets) {
  if (sets.size() > kMostAlternatives) return false;
  uint64_t looks = 0;
  bool found = true;
  for (size_t i = 0; i < sets.size() && found; ++i) {
    for (size_t j = 0; j < i && found; ++j) found = schema_.disjoint(sets[i], sets[j], looks);
    work_(std::exchange(looks, 0) / kLooksPerUnit);
  }
  return found;
}

// Whether it is certain that no two of the alternatives have a value in common, nor two of the scalars.
bool DistinctItems::shares_none(ValueId id) {
  const SchemaIR::Value& value = schema_.at(id);
  const std::vector<ValueId> parts =
      value.alternatives.empty() ? std::vector<ValueId>() : schema_.alternatives_of({id});
  if (std::max(parts.size(), value.terminals.size()) > kMostAlternatives) return false;
  const bool found = are_apart(value.terminals) && are_disjoint(parts);
  if (!found) overlapping_.push_back(id);
  return found;
}

// How many values there are of arrays or objects that go on, and how high the first ones are.
template <typename Composite>
DistinctItems::Counted DistinctItems::endless(const Composite& composite) const {
  uint32_t height = 1;
  while (most_depth_ && height < *most_depth_ && !schema_.can_be(composite, height)) ++height;
  return {kEndless, kEndless, height};
}

// Items that witnesses must meet are not counted where more may follow in any case.
bool DistinctItems::is_counted_as_endless(const Array& array) {
  return !array.witnesses.empty() && !array.forbids_equal_items() && goes_on(array);
}

std::optional<DistinctItems::Counted> DistinctItems::counted(ValueId id, const Array& array) {
  if (is_counted_as_endless(array)) {
    if (!may_be_told_apart(id)) return std::nullopt;
    counts_.arrays_going_on.insert(id.value);
    return endless(array);
  }
  if (!array.witnesses.empty() || array.repeats) return std::nullopt;
  uint32_t height = 0;
  const auto n_values = [&](ValueId item) {
    const Counted found = known(item);
    height = std::max(height, found.height);
    return found.n_values;
  };
  uint32_t n = 0;
  if (array.forbids_equal_items()) {
    if (!array.prefix.empty() || array.kinds) return std::nullopt;
    n = ListEnds(array.rest ? n_values(*array.rest) : 0, array.minimum, array.maximum).after(0);
  } else {
    const ArrayEnds ends(array, n_values);
    if (ends.are_too_many()) return std::nullopt;
    n = ends.after(0);
  }
  return Counted{n, n, height == kUnbounded ? kUnbounded : height + 1};
}

std::optional<DistinctItems::Counted> DistinctItems::counted(ValueId id, const Object& object) {
  if (goes_on(object)) {
    if (!may_be_told_apart(id)) return std::nullopt;
    counts_.objects_going_on.insert(id.value);
    return endless(object);
  }
  if (!object.witnesses.empty() && !object.others && object.classes.empty()) overlapping_.push_back(id);
  if (!object.witnesses.empty() || schema_.n_others(object) > 0) return std::nullopt;
  uint32_t height = 0;
  const ObjectEnds ends(object, [&](ValueId value) {
    const Counted found = known(value);
    height = std::max(height, found.height);
    return found.n_values;
  });
  const uint32_t n = ends.after(0, 0);
  return Counted{n, n, height == kUnbounded ? kUnbounded : height + 1};
}

// nullopt where that takes more than a look.
std::optional<uint32_t> DistinctItems::n_scalars(uint32_t t) {
  const auto known = counts_.of_terminals.find(t);
  if (known != counts_.of_terminals.end()) return known->second;
  const SchemaIR::Terminal& terminal = schema_.terminal(t);
  std::optional<uint32_t> found;
  switch (terminal.spelling) {
    case SchemaIR::Spelling::kWord:
      found = 1;
      break;
    case SchemaIR::Spelling::kAnyString:
      found = kEndless;
      break;
    case SchemaIR::Spelling::kListed:
      found = static_cast<uint32_t>(std::min<size_t>(terminal.listed.size(), kEndless));
      break;
    case SchemaIR::Spelling::kNumbers:
      if (terminal.numbers->counts_exactly())
        found = static_cast<uint32_t>(std::min<uint64_t>(terminal.numbers->count(), kEndless));
      break;
    case SchemaIR::Spelling::kNumberUnion:
      break;
    case SchemaIR::Spelling::kText:
    case SchemaIR::Spelling::kOutside:
      if (terminal.kind == SchemaIR::kString) found = keys_.count_strings(terminal, kEndless);
      break;
  }
  if (found) counts_.of_terminals.emplace(t, *found);
  return found;
}

}  // namespace cfgmask
