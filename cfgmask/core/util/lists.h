// A list for each of some numbers, one after the other in one block: a large grammar has a hundred thousand of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace cfgmask {

class Lists {
 public:
  // `each(add)` calls `add(list, item)` for all items, and is called twice.
  template <class Each>
  Lists(size_t n_lists, Each each) : ends_(n_lists + 1, 0) {
    each([&](uint32_t list, uint32_t) { ++ends_[list + 1]; });
    std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
    items_.resize(ends_.back());
    std::vector<uint32_t> next(ends_.begin(), ends_.end() - 1);
    each([&](uint32_t list, uint32_t item) { items_[next[list]++] = item; });
  }

  size_t size() const { return ends_.size() - 1; }
  std::span<const uint32_t> operator[](uint32_t list) const {
    return std::span(items_).subspan(ends_[list], ends_[list + 1] - ends_[list]);
  }

 private:
  std::vector<uint32_t> ends_;
  std::vector<uint32_t> items_;
};

}  // namespace cfgmask
