#include "mask/written_keys.h"

#include <iterator>

namespace cfgmask {

void WrittenKeys::close() {
  entries_.pop(n_keys());
  if (!is_empty()) entries_.pop();
}

void WrittenKeys::add(std::string key, const KeyEndings& endings) {
  const size_t number = n_keys() + 1;
  Entry& entry = entries_.push(number, std::move(key), nullptr);
  if (number % kIndexed == 0) entry.index = index(entries_.top(), endings);
}

std::unique_ptr<const WrittenKeys::Index> WrittenKeys::index(const Node* last, const KeyEndings& endings) {
  const size_t number = last->value.number;
  auto out = std::make_unique<Index>();
  const Node* node = last;
  for (size_t i = 0; i < kIndexed; ++i, node = node->below) add_splits(node->value.key, endings, out->splits);
  std::ranges::sort(out->splits, {}, &Split::begun);
  for (size_t n_keys = kIndexed; number % (2 * n_keys) == 0; n_keys *= 2) {
    const Index& before = *node->value.index;
    std::vector<Split> both;
    both.reserve(out->splits.size() + before.splits.size());
    std::ranges::merge(out->splits, before.splits, std::back_inserter(both), {}, &Split::begun, &Split::begun);
    out->splits = std::move(both);
    node = before.below;
  }
  out->below = node;
  return out;
}

void WrittenKeys::add_splits(std::string_view key, const KeyEndings& endings, std::vector<Split>& out) {
  out.push_back({key, {}});
  for (size_t n = 1; n <= std::min(key.size(), endings.longest()); ++n) {
    const size_t at = key.size() - n;
    if (!endings.of(key.substr(at)).empty()) out.push_back({key.substr(0, at), key.substr(at)});
  }
}

bool WrittenKeys::has(std::string_view key) const {
  bool found = false;
  for_each_rest(key, [&](std::string_view rest) { found = found || rest.empty(); });
  return found;
}

bool WrittenKeys::has_beginning(std::string_view text) const {
  bool found = false;
  for_each_part([&](std::string_view key) { found = found || key.starts_with(text); },
                [&](const std::vector<Split>& splits) {
                  const auto first = std::ranges::lower_bound(splits, text, {}, &Split::begun);
                  found = found || (first != splits.end() && first->begun.starts_with(text));
                });
  return found;
}

std::string WrittenKeys::content() const {
  std::string out;
  std::vector<std::string_view> keys;
  for (const Node* node = entries_.top(); node != nullptr; node = node->below) {
    if (node->value.number > 0) {
      keys.push_back(node->value.key);
      continue;
    }
    std::ranges::sort(keys);
    for (const std::string_view key : keys) out.append(std::to_string(key.size())).append(":").append(key);
    out.append(";");
    keys.clear();
  }
  return out;
}

}  // namespace cfgmask
