// Sorting by texts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace cfgmask {

// The next eight bytes of a text, so that their order is that of the texts where they differ.
inline uint64_t head_of(std::string_view text) {
  std::array<uint8_t, 8> bytes{};
  std::memcpy(bytes.data(), text.data(), std::min(text.size(), bytes.size()));
  uint64_t head = 0;
  for (uint8_t byte : bytes) head = (head << 8) | byte;
  return head;
}

// Sorts by texts, of which lists of thousands mostly have a beginning in common and differ soon behind it.
template <class T, class F>
void sort_by_text(std::vector<T>& items, F text_of) {
  constexpr size_t kFew = 64;
  const auto less = [&](const T& a, const T& b) { return text_of(a) < text_of(b); };
  if (std::is_sorted(items.begin(), items.end(), less)) return;
  if (items.size() < kFew) return std::sort(items.begin(), items.end(), less);
  std::string_view common = text_of(items[0]);
  for (const T& item : items) {
    const std::string_view text = text_of(item);
    const auto [end, other] = std::mismatch(common.begin(), common.end(), text.begin(), text.end());
    common = common.substr(0, static_cast<size_t>(end - common.begin()));
  }
  std::vector<std::pair<uint64_t, uint32_t>> order;
  order.reserve(items.size());
  for (const T& item : items)
    order.emplace_back(head_of(text_of(item).substr(common.size())), static_cast<uint32_t>(order.size()));
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return a.first == b.first ? less(items[a.second], items[b.second]) : a.first < b.first;
  });
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const auto& [head, at] : order) sorted.push_back(std::move(items[at]));
  items = std::move(sorted);
}

}  // namespace cfgmask
