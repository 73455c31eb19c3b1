#include "json_schema/sets/kind_states.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "util/pause.h"

namespace cfgmask {

namespace {

using Array = SchemaIR::Array;
using How = KindStates::How;

constexpr size_t kMostStates = 10'000;
constexpr size_t kMostWays = 100'000;
constexpr uint64_t kAll = UINT64_MAX;

// So many items are written, so many of them met each witness, and items of these kinds came; all of them once an item
// came again.
struct At {
  uint32_t position = 0;
  std::vector<uint32_t> met = {};
  uint64_t came = 0;
  std::vector<uint32_t> used = {};

  auto operator<=>(const At&) const = default;
};

class Search {
 public:
  // n_values  by kind, of an array without equal items
  Search(const Array& array, const std::function<bool(ValueId)>& is_possible,
         const std::vector<uint32_t>* n_values = nullptr)
      : array_(array), kinds_(*array.kinds), n_values_(n_values) {
    counted_to_ = std::max({1U, static_cast<uint32_t>(array.prefix.size()), array.minimum});
    if (array.maximum != kUnbounded) counted_to_ = std::max(counted_to_, array.maximum);
    for (const auto& witness : array.witnesses) counted_to_ = std::max(counted_to_, witness.start);
    for (const auto& kind : kinds_.kinds) is_possible_.push_back(is_possible(kind.items));
    for (uint32_t kind = 0; n_values != nullptr && kind < kinds_.kinds.size(); ++kind) {
      if ((*n_values)[kind] < most_needed(array)) scarce_.push_back(kind);
    }
  }

  std::optional<KindStates> states() {
    number_of({0, std::vector<uint32_t>(array_.witnesses.size(), 0), 0, std::vector<uint32_t>(scarce_.size(), 0)});
    size_t n_ways = 0;
    for (size_t i = 0; i < all_.size(); ++i) {
      if (all_.size() > kMostStates || n_ways > kMostWays) return std::nullopt;
      Pause::tick();
      const At here = all_[i];
      KindStates::State state{here.position > 0, may_end(here), {}};
      for (uint32_t kind = 0; kind < kinds_.kinds.size(); ++kind) add_items(here, kind, state.items);
      n_ways += state.items.size();
      made_.push_back(std::move(state));
    }
    return live();
  }

 private:
  uint32_t number_of(At at) {
    const auto [found, is_new] = numbers_.try_emplace(at, static_cast<uint32_t>(all_.size()));
    if (is_new) all_.push_back(std::move(at));
    return found->second;
  }

  bool may_end(const At& at) const { return (n_values_ != nullptr || at.came == kAll) && needs_no_more(at); }

  bool needs_no_more(const At& at) const {
    if (at.position < array_.minimum) return false;
    for (size_t i = 0; i < at.met.size(); ++i) {
      if (at.met[i] < array_.witnesses[i].least) return false;
    }
    return true;
  }

  void add_items(const At& at, uint32_t kind, std::vector<KindStates::Item>& items) {
    auto after = this->after(at, kind);
    if (!after) return;
    if (n_values_ != nullptr) return add_new(*after, kind, items);
    const uint64_t bit = uint64_t{1} << kind;
    const auto add = [&](uint64_t came, How how) {
      after->came = came;
      items.push_back({kind, how, number_of(*after)});
    };
    if (at.came == kAll) return add(kAll, How::kAny);
    add(at.came | bit, How::kNew);
    if ((at.came & bit) != 0) add(kAll, How::kAgain);
  }

  void add_new(At& after, uint32_t kind, std::vector<KindStates::Item>& items) {
    const auto counted = std::ranges::find(scarce_, kind);
    if (counted != scarce_.end() && ++after.used[counted - scarce_.begin()] > (*n_values_)[kind]) return;
    if (needs_no_more(after)) std::ranges::fill(after.used, 0);
    items.push_back({kind, How::kNew, number_of(after)});
  }

  std::optional<At> after(const At& at, uint32_t kind) const {
    const uint64_t within = kinds_.kinds[kind].within;
    const auto item = at.position < array_.maximum ? array_.item(at.position) : std::nullopt;
    if (!is_possible_[kind] || !item || (within & kinds_.bit(*item)) == 0) return std::nullopt;
    At found{std::min(at.position + 1, counted_to_), at.met, at.came, at.used};
    for (size_t i = 0; i < at.met.size(); ++i) {
      const auto& witness = array_.witnesses[i];
      if (at.position < witness.start || (within & kinds_.bit(witness.value)) == 0) continue;
      if (at.met[i] == witness.most) return std::nullopt;
      found.met[i] = std::min(at.met[i] + 1, witness.most == kUnbounded ? witness.least : witness.most);
    }
    return found;
  }

  // Leaves those that lead to an end.
  KindStates live() const {
    std::vector<std::vector<uint32_t>> before(made_.size());
    std::vector<uint32_t> todo;
    std::vector<bool> is_live(made_.size(), false);
    for (uint32_t i = 0; i < made_.size(); ++i) {
      for (const auto& item : made_[i].items) before[item.after].push_back(i);
      if (made_[i].may_end) todo.push_back(i);
    }
    while (!todo.empty()) {
      const uint32_t next = todo.back();
      todo.pop_back();
      if (is_live[next]) continue;
      is_live[next] = true;
      todo.insert(todo.end(), before[next].begin(), before[next].end());
    }
    KindStates found;
    if (!is_live[0]) return found;
    std::vector<uint32_t> number(made_.size(), 0);
    uint32_t n_live = 0;
    for (uint32_t i = 0; i < made_.size(); ++i) {
      if (is_live[i]) number[i] = n_live++;
    }
    for (uint32_t i = 0; i < made_.size(); ++i) {
      if (!is_live[i]) continue;
      KindStates::State state{made_[i].some, made_[i].may_end, {}};
      uint64_t fresh = 0;
      uint64_t again = 0;
      for (const auto& item : made_[i].items) {
        if (!is_live[item.after]) continue;
        state.items.push_back({item.kind, item.how, number[item.after]});
        if (item.how == How::kNew) fresh |= uint64_t{1} << item.kind;
        if (item.how == How::kAgain) again |= uint64_t{1} << item.kind;
      }
      found.needed_again |= again & ~fresh;
      found.states.push_back(std::move(state));
    }
    return found;
  }

  const Array& array_;
  const SchemaIR::ItemKinds& kinds_;
  const std::vector<uint32_t>* n_values_;
  uint32_t counted_to_;
  std::vector<bool> is_possible_;
  std::vector<uint32_t> scarce_;  // kinds
  std::map<At, uint32_t> numbers_;
  std::vector<At> all_;
  std::vector<KindStates::State> made_;
};

}  // namespace

std::optional<KindStates> equal_item_states(const Array& array, const std::function<bool(ValueId)>& is_possible) {
  return Search(array, is_possible).states();
}

std::optional<KindStates> unique_item_states(const Array& array, const std::vector<uint32_t>& n_values,
                                             const std::function<bool(ValueId)>& is_possible) {
  return Search(array, is_possible, &n_values).states();
}

uint32_t most_needed(const Array& array) {
  const bool asks = std::ranges::any_of(array.witnesses, [](const auto& witness) { return witness.least > 0; });
  uint32_t most = asks ? std::max(array.minimum, static_cast<uint32_t>(array.prefix.size())) : array.minimum;
  for (const auto& witness : array.witnesses) most = std::max(most, witness.start + witness.least);
  return most;
}

}  // namespace cfgmask
