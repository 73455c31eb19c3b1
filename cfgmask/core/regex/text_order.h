// Sorting by texts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
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

// A text by its place among some, and eight of its bytes.
struct TextHead {
  uint64_t head;
  uint32_t at;
};

// Sorts texts that are equal in the first `depth` bytes. What more they have in common is passed at once, so that each
// call inside of another has fewer of them.
template <class F>
void sort_heads(std::span<TextHead> order, size_t depth, F text_at) {
  constexpr size_t kFew = 16;
  const auto behind = [&](TextHead each) { return text_at(each.at).substr(depth); };
  std::string_view common = behind(order[0]);
  for (const TextHead& each : order) {
    const std::string_view text = behind(each);
    const auto [end, other] = std::mismatch(common.begin(), common.end(), text.begin(), text.end());
    common = common.substr(0, static_cast<size_t>(end - common.begin()));
  }
  depth += common.size();
  for (TextHead& each : order) each.head = head_of(behind(each));
  std::sort(order.begin(), order.end(), [](TextHead a, TextHead b) { return a.head < b.head; });
  for (auto run = order.begin(); run != order.end();) {
    const auto end = std::find_if(run, order.end(), [&](TextHead each) { return each.head != run->head; });
    // A text that ends there is as one with zeros behind it.
    const bool go_on = std::all_of(run, end, [&](TextHead each) { return behind(each).size() >= sizeof(uint64_t); });
    if (go_on && static_cast<size_t>(end - run) > kFew) {
      sort_heads(std::span(run, end), depth + sizeof(uint64_t), text_at);
    } else if (end - run > 1) {
      std::sort(run, end, [&](TextHead x, TextHead y) { return text_at(x.at) < text_at(y.at); });
    }
    run = end;
  }
}

// Sorts by texts, of which lists of thousands mostly have beginnings in common and differ soon behind these.
template <class T, class F>
void sort_by_text(std::vector<T>& items, F text_of) {
  constexpr size_t kFew = 64;
  const auto less = [&](const T& a, const T& b) { return text_of(a) < text_of(b); };
  if (std::is_sorted(items.begin(), items.end(), less)) return;
  if (items.size() < kFew) return std::sort(items.begin(), items.end(), less);
  std::vector<TextHead> order(items.size());
  for (uint32_t at = 0; at < items.size(); ++at) order[at].at = at;
  sort_heads(std::span(order), 0, [&](uint32_t at) -> std::string_view { return text_of(items[at]); });
  std::vector<T> sorted;
  sorted.reserve(items.size());
  for (const TextHead& each : order) sorted.push_back(std::move(items[each.at]));
  items = std::move(sorted);
}

}  // namespace cfgmask
