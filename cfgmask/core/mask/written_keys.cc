#include "mask/written_keys.h"

#include <algorithm>
#include <vector>

namespace cfgmask {

void WrittenKeys::open() { last_ = new Entry{1, true, {}, last_}; }

void WrittenKeys::add(std::string key) { last_ = new Entry{1, false, std::move(key), last_}; }

void WrittenKeys::close() {
  Entry* outer = last_;
  while (outer != nullptr && !outer->begins_object) outer = outer->before;
  if (outer != nullptr) outer = outer->before;
  retain(outer);
  release(last_);
  last_ = outer;
}

bool WrittenKeys::has(std::string_view key) const {
  bool found = false;
  for_each([&](std::string_view written) { found = found || written == key; });
  return found;
}

std::string WrittenKeys::content() const {
  std::string out;
  std::vector<std::string_view> keys;
  const auto end_object = [&] {
    std::sort(keys.begin(), keys.end());
    for (const std::string_view key : keys) out.append(std::to_string(key.size())).append(":").append(key);
    out.append(";");
    keys.clear();
  };
  for (const Entry* entry = last_; entry != nullptr; entry = entry->before) {
    if (entry->begins_object) {
      end_object();
    } else {
      keys.push_back(entry->key);
    }
  }
  return out;
}

// In a loop: a long list must not be freed by recursion.
void WrittenKeys::release(Entry* entry) {
  while (entry != nullptr && entry->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Entry* before = entry->before;
    delete entry;
    entry = before;
  }
}

}  // namespace cfgmask
