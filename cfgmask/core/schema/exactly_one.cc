// `oneOf`: which of its parts may share a value, and what is left of each.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "schema/plain_algebra.h"

namespace cfgmask {

namespace {

// Pairs of parts that are compared.
constexpr uint64_t kMaxPairs = 500'000;
// Where more are left, it pays to look at the parts within what stands around them.
constexpr size_t kManyPairs = 1'000;
// So many looks at a value cost as much as to combine a member with another.
constexpr uint64_t kLooksPerStep = 8;

using Pairs = std::vector<std::pair<uint32_t, uint32_t>>;

// What a set lists for a key that each of its values has to have, if these are objects.
class Discriminators {
 public:
  Discriminators(const PlainSchema& schema, const std::vector<PlainValueId>& sets) : schema_(schema), sets_(sets) {
    find_name();
    for (uint32_t i = 0; i < sets.size(); ++i) {
      const auto* texts = listed(sets[i]);
      if (texts == nullptr) {
        others_.push_back(i);
        continue;
      }
      const std::unordered_set<std::string_view> different(texts->begin(), texts->end());
      for (std::string_view text : different) by_text_[text].push_back(i);
    }
  }

  // The larger index comes first. nullopt for very many.
  std::optional<Pairs> not_told_apart() const {
    uint64_t n = uint64_t{others_.size()} * sets_.size();
    for (const auto& [text, alike] : by_text_) n += uint64_t{alike.size()} * (alike.size() - 1) / 2;
    if (n > 2 * kMaxPairs) return std::nullopt;
    Pairs found;
    for (uint32_t other : others_) {
      for (uint32_t i = 0; i < sets_.size(); ++i) {
        if (i != other) found.emplace_back(std::max(i, other), std::min(i, other));
      }
    }
    for (const auto& [text, alike] : by_text_) {
      for (size_t i = 0; i < alike.size(); ++i) {
        for (size_t j = 0; j < i; ++j) found.emplace_back(alike[i], alike[j]);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found.size() > kMaxPairs ? std::nullopt : std::optional(std::move(found));
  }

 private:
  // The key that most sets have such a list for.
  void find_name() {
    std::unordered_map<uint32_t, size_t> counts;
    size_t most = 0;
    for (PlainValueId set : sets_) {
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

  const PlainSchema::Object* object_of(PlainValueId set) const {
    const PlainSchema::Value& value = schema_.at(schema_.resolved(set));
    return value.terminals.empty() && !value.array && value.alternatives.empty() ? value.object.get() : nullptr;
  }

  const std::vector<std::string>* listed(const PlainSchema::Member& member) const {
    if (!member.required) return nullptr;
    const PlainSchema::Value& value = schema_.at(schema_.resolved(member.value));
    if (value.terminals.size() != 1 || value.array || value.object || !value.alternatives.empty()) return nullptr;
    const auto& terminal = schema_.terminal(value.terminals[0]);
    return terminal.spelling == PlainSchema::Spelling::kListed ? &terminal.listed : nullptr;
  }

  const std::vector<std::string>* listed(PlainValueId set) const {
    const auto* object = object_of(set);
    if (object == nullptr || !name_) return nullptr;
    for (const auto& member : object->members) {
      if (member.name == *name_) return listed(member);
    }
    return nullptr;
  }

  const PlainSchema& schema_;
  const std::vector<PlainValueId>& sets_;
  std::optional<uint32_t> name_;
  std::unordered_map<std::string_view, std::vector<uint32_t>> by_text_;
  std::vector<uint32_t> others_;
};

}  // namespace

PlainValueId PlainAlgebra::exactly_one(std::vector<PlainValueId> parts, PlainValueId own, bool own_first,
                                       const std::string& name) {
  Choice choice{std::move(parts), {}, {}, std::nullopt};
  (own_first ? choice.before : choice.after).push_back({own});
  return choose(std::move(choice), name);
}

PlainValueId PlainAlgebra::choose(Choice choice, const std::string& name) {
  const PlainValueId id = schema_.reserve();
  choices_.emplace(id.value, choice);
  pending_[id.value] = {name, {}, std::move(choice), false};
  return id;
}

bool PlainAlgebra::overlaps(Choice& choice) {
  if (choice.overlaps) return *choice.overlaps;
  const auto& parts = choice.parts;
  for (PlainValueId part : parts) parts_of(part);
  const auto pairs = Discriminators(schema_, parts).not_told_apart();
  const auto overlap = [&](const auto& pair) { return !disjoint(parts[pair.first], parts[pair.second]); };
  choice.overlaps = !pairs || std::any_of(pairs->begin(), pairs->end(), overlap);
  return *choice.overlaps;
}

bool PlainAlgebra::disjoint(PlainValueId a, PlainValueId b) {
  uint64_t looks = 0;
  const bool found = schema_.disjoint(a, b, looks);
  work(looks / kLooksPerStep);
  return found;
}

PlainAlgebra::Terms PlainAlgebra::with_part(const Choice& choice, PlainValueId part) {
  Terms terms = choice.before;
  terms.push_back({part});
  terms.insert(terms.end(), choice.after.begin(), choice.after.end());
  return terms;
}

// Parts that plainly share nothing with the others stay as they are: that is what most of them do.
PlainAlgebra::Value PlainAlgebra::chosen(const Choice& choice, const std::string& name) {
  const auto& parts = choice.parts;
  for (PlainValueId part : parts) parts_of(part);
  std::vector<Terms> terms;
  for (PlainValueId part : parts) terms.push_back(with_part(choice, part));
  std::vector<PlainValueId> within(parts.size(), PlainSchema::any());
  const auto part_within = [&](size_t i) {
    if (within[i] == PlainSchema::any()) {
      within[i] = all(with_part(choice, parts[i]), name);
      parts_of(within[i]);
    }
    return within[i];
  };
  auto pairs = Discriminators(schema_, parts).not_told_apart();
  if (!pairs || pairs->size() > kManyPairs) {
    for (size_t i = 0; i < parts.size(); ++i) part_within(i);
    auto fewer = Discriminators(schema_, within).not_told_apart();
    if (fewer && (!pairs || fewer->size() < pairs->size())) pairs = std::move(fewer);
  }
  if (!pairs) throw NotPlain();
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
    const PlainValueId id = all(part, name);
    if (id != PlainSchema::never() && known.insert(id.value).second) either.alternatives.push_back(id);
  }
  return either;
}

}  // namespace cfgmask
