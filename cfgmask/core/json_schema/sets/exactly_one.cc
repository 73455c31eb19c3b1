// `oneOf`: which of its parts may share a value, and what is left of each.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "json_schema/sets/listed_parts.h"
#include "json_schema/sets/schema_algebra.h"
#include "util/text_hash.h"

namespace cfgmask {

namespace {

// Pairs of parts that are compared.
constexpr uint64_t kMaxPairs = 2'000'000;
// Where more are left, it pays to look at the parts within what stands around them.
constexpr size_t kManyPairs = 1'000;
// So many looks at a value cost as much as to combine a member with another.
constexpr uint64_t kLooksPerStep = 8;

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

// What plainly tells sets apart that have values of one type: of objects the strings that they list for a key that each
// of their values has to have, and such keys that others cannot have; of arrays the strings for an item that has to be
// there; and what strings and numbers begin with.
class Discriminators {
 public:
  Discriminators(const SchemaIR& schema, const std::vector<ValueId>& sets) : schema_(schema), sets_(sets) {
    find_name();
    starts_.reserve(sets.size());  // `by_start_` refers to them
    for (uint32_t i = 0; i < sets.size(); ++i) {
      add_texts(i);
      add_keys(i);
      starts_.push_back(start(sets[i]));
      if (starts_.back().empty()) {
        without_start_.push_back(i);
      } else {
        by_start_.emplace(starts_.back(), i);
      }
    }
  }

  // The larger index comes first. nullopt for very many.
  std::optional<Pairs> not_told_apart() const {
    Pairs either;
    for (uint32_t i = 0; i < sets_.size(); ++i) {
      const auto found = alike(i);
      if (either.size() + found.size() > 2 * kMaxPairs) return std::nullopt;
      for (uint32_t j : found) {
        if (i != j) either.emplace_back(std::max(i, j), std::min(i, j));
      }
    }
    // Neither of them tells the two apart where the pair is there twice.
    std::sort(either.begin(), either.end());
    Pairs both;
    for (size_t at = 1; at < either.size(); ++at) {
      if (either[at] == either[at - 1]) both.push_back(either[at]);
    }
    return both;
  }

 private:
  using Indices = std::vector<uint32_t>;

  void add_texts(uint32_t i) {
    const auto* texts = listed(sets_[i]);
    if (texts == nullptr) return without_texts_.push_back(i);
    const TextSet<std::string_view> different(texts->begin(), texts->end());
    for (std::string_view text : different) by_text_[text].push_back(i);
  }

  void add_keys(uint32_t i) {
    const auto* object = object_of(sets_[i]);
    if (object == nullptr || object->has_classes() || (object->others && !is_never(*object->others)))
      return with_any_key_.push_back(i);
    for (const auto& member : object->members) {
      if (!is_never(member.value)) by_key_[member.name].push_back(i);
    }
  }

  bool is_never(ValueId id) const { return schema_.is_defined(id) && schema_.at(id).is_empty(); }

  // Those that a set does not tell from itself, each of them once.
  Indices alike(uint32_t i) const {
    if (!starts_[i].empty()) return alike_by_start(i);
    Indices by_text = alike_by_text(i);
    Indices by_key = alike_by_key(i);
    return by_text.size() < by_key.size() ? by_text : by_key;
  }

  // Those that begin with what all of a set begins with, or with less.
  Indices alike_by_start(uint32_t i) const {
    const std::string_view start = starts_[i];
    Indices found = without_start_;
    for (size_t n = 1; n < start.size(); ++n) {
      const auto shorter = by_start_.equal_range(start.substr(0, n));
      for (auto other = shorter.first; other != shorter.second; ++other) found.push_back(other->second);
    }
    for (auto other = by_start_.lower_bound(start); other != by_start_.end() && other->first.starts_with(start);
         ++other)
      found.push_back(other->second);
    return found;
  }

  // What all texts of a set that is one terminal of strings or numbers plainly begin with.
  std::string start(ValueId set) const {
    const SchemaIR::Value& value = schema_.at(schema_.resolved(set));
    if (value.terminals.size() != 1 || value.array || value.object || !value.alternatives.empty()) return {};
    const auto& terminal = schema_.terminal(value.terminals[0]);
    if (terminal.spelling != SchemaIR::Spelling::kNumbers) return std::string(schema_.start(terminal));
    return terminal.numbers->start().value_or("");
  }

  Indices alike_by_text(uint32_t i) const {
    const auto* texts = listed(sets_[i]);
    if (texts == nullptr) return all();
    Indices found = without_texts_;
    for (const std::string& text : *texts) {
      const Indices& same = by_text_.at(text);
      found.insert(found.end(), same.begin(), same.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  Indices alike_by_key(uint32_t i) const {
    const Indices* fewest = nullptr;
    if (const auto* object = object_of(sets_[i])) {
      for (const auto& member : object->members) {
        if (!member.required || is_never(member.value)) continue;
        const auto known = by_key_.find(member.name);
        const Indices& having = known == by_key_.end() ? none_ : known->second;
        if (fewest == nullptr || having.size() < fewest->size()) fewest = &having;
      }
    }
    if (fewest == nullptr) return all();
    Indices found = with_any_key_;
    found.insert(found.end(), fewest->begin(), fewest->end());
    return found;
  }

  Indices all() const {
    Indices found(sets_.size());
    std::iota(found.begin(), found.end(), 0U);
    return found;
  }

  // The key that most sets have such a list for.
  void find_name() {
    std::unordered_map<uint32_t, size_t> counts;
    size_t most = 0;
    for (ValueId set : sets_) {
      const auto* object = object_of(set);
      if (object == nullptr) continue;
      for (const auto& member : object->members) {
        if (listed(member) == nullptr) continue;
        const size_t count = ++counts[member.name];
        if (count <= most) continue;
        most = count;
        name_ = member.name;
      }
    }
  }

  const SchemaIR::Object* object_of(ValueId set) const {
    const SchemaIR::Value& value = schema_.at(schema_.resolved(set));
    return value.terminals.empty() && !value.array && value.alternatives.empty() ? value.object.get() : nullptr;
  }

  const std::vector<std::string>* listed(const SchemaIR::Member& member) const {
    return member.required ? only_listed(member.value) : nullptr;
  }

  // The strings of a set that lists strings and nothing else.
  const std::vector<std::string>* only_listed(ValueId set) const {
    const SchemaIR::Value& value = schema_.at(schema_.resolved(set));
    if (value.terminals.size() != 1 || value.array || value.object || !value.alternatives.empty()) return nullptr;
    const auto& terminal = schema_.terminal(value.terminals[0]);
    return terminal.spelling == SchemaIR::Spelling::kListed ? &terminal.listed : nullptr;
  }

  const std::vector<std::string>* listed(ValueId set) const {
    const SchemaIR::Value& value = schema_.at(schema_.resolved(set));
    if (value.array && value.terminals.empty() && !value.object && value.alternatives.empty()) {
      const auto item = value.array->minimum > 0 ? value.array->item(0) : std::nullopt;
      return item && schema_.is_defined(*item) ? only_listed(*item) : nullptr;
    }
    const auto* object = object_of(set);
    if (object == nullptr || !name_) return nullptr;
    for (const auto& member : object->members) {
      if (member.name == *name_) return listed(member);
    }
    return nullptr;
  }

  const SchemaIR& schema_;
  const std::vector<ValueId>& sets_;
  std::optional<uint32_t> name_;
  TextMap<std::string_view, Indices> by_text_;
  Indices without_texts_;
  std::unordered_map<uint32_t, Indices> by_key_;  // by what key they may have
  Indices with_any_key_;
  std::vector<std::string> starts_;  // empty where none is plain
  std::multimap<std::string_view, uint32_t> by_start_;
  Indices without_start_;
  const Indices none_;
};

// The types that a set may have values of, as bits.
uint32_t kinds_of(const SchemaIR& schema, ValueId set) {
  const SchemaIR::Value& value = schema.at(schema.resolved(set));
  if (!value.alternatives.empty()) return SchemaIR::kAnyKind;
  uint32_t kinds = (value.array ? SchemaIR::kArray : 0U) | (value.object ? SchemaIR::kObject : 0U);
  for (uint32_t terminal : value.terminals) kinds |= schema.terminal(terminal).kind;
  return kinds;
}

// The pairs of sets that nothing plainly tells apart, the larger index first. nullopt for very many.
std::optional<Pairs> not_told_apart(const SchemaIR& schema, const std::vector<ValueId>& sets) {
  Pairs all;
  for (uint32_t kind = 1; kind < SchemaIR::kAnyKind; kind *= 2) {
    std::vector<uint32_t> indices;
    std::vector<ValueId> having;
    for (uint32_t i = 0; i < sets.size(); ++i) {
      if ((kinds_of(schema, sets[i]) & kind) == 0) continue;
      indices.push_back(i);
      having.push_back(sets[i]);
    }
    const auto pairs = Discriminators(schema, having).not_told_apart();
    if (!pairs || all.size() + pairs->size() > kMaxPairs) return std::nullopt;
    for (const auto& [i, j] : *pairs) all.emplace_back(indices[i], indices[j]);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

ValueId SchemaAlgebra::exactly_one(std::vector<ValueId> parts, ValueId own, bool own_first, const std::string& name) {
  if (parts.size() == 1) return all(own_first ? Terms{{own}, {parts[0]}} : Terms{{parts[0]}, {own}}, name);
  Choice choice{listed_together(std::move(parts), schema_, name), {}, {}, std::nullopt};
  (own_first ? choice.before : choice.after).push_back({own});
  return choose(std::move(choice), name);
}

ValueId SchemaAlgebra::choose(Choice choice, const std::string& name) {
  const ValueId id = schema_.reserve();
  choices_.emplace(id.value, choice);
  pending_[id.value] = {name, {}, std::move(choice), false};
  return id;
}

bool SchemaAlgebra::overlaps(Choice& choice) {
  if (choice.overlaps) return *choice.overlaps;
  const auto& parts = choice.parts;
  for (ValueId part : parts) parts_of(part);
  const auto pairs = not_told_apart(schema_, parts);
  const auto overlap = [&](const auto& pair) { return !disjoint(parts[pair.first], parts[pair.second]); };
  choice.overlaps = !pairs || std::any_of(pairs->begin(), pairs->end(), overlap);
  return *choice.overlaps;
}

bool SchemaAlgebra::disjoint(ValueId a, ValueId b) {
  uint64_t looks = 0;
  const bool found = schema_.disjoint(a, b, looks);
  work(looks / kLooksPerStep);
  return found;
}

SchemaAlgebra::Terms SchemaAlgebra::with_part(const Choice& choice, ValueId part) {
  Terms terms = choice.before;
  terms.push_back({part});
  terms.insert(terms.end(), choice.after.begin(), choice.after.end());
  return terms;
}

// Parts that plainly share nothing with the others stay as they are: that is what most of them do.
SchemaAlgebra::Value SchemaAlgebra::chosen(const Choice& choice, const std::string& name) {
  const auto& parts = choice.parts;
  for (ValueId part : parts) parts_of(part);
  std::vector<Terms> terms;
  for (ValueId part : parts) terms.push_back(with_part(choice, part));
  std::vector<ValueId> within(parts.size(), SchemaIR::any());
  const auto part_within = [&](size_t i) {
    if (within[i] == SchemaIR::any()) {
      within[i] = all(with_part(choice, parts[i]), name);
      parts_of(within[i]);
    }
    return within[i];
  };
  auto pairs = not_told_apart(schema_, parts);
  if (!pairs || pairs->size() > kManyPairs) {
    for (size_t i = 0; i < parts.size(); ++i) part_within(i);
    auto fewer = not_told_apart(schema_, within);
    if (fewer && (!pairs || fewer->size() < pairs->size())) pairs = std::move(fewer);
  }
  if (!pairs) throw TooMuchWork{name};
  for (const auto& [i, j] : *pairs) {
    if (disjoint(parts[i], parts[j])) continue;
    work(1);
    if (disjoint(part_within(i), part_within(j))) continue;
    terms[i].push_back({parts[j], true});
    terms[j].push_back({parts[i], true});
  }
  Value either;
  either.name = name;
  std::unordered_set<uint32_t> known;
  for (const Terms& part : terms) {
    const ValueId id = all(part, name);
    if (id != SchemaIR::never() && known.insert(id.value).second) either.alternatives.push_back(id);
  }
  return either;
}

}  // namespace cfgmask
