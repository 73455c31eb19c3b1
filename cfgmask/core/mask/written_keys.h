// The keys that a text has written in the JSON objects that are open, where none may come twice and none run out.
//
// They belong to a text, not to the grammar: a state with them would be the state of one text alone, so that nothing
// learnt there would serve another. The grammar's states and masks know nothing of them, and a matcher takes away the
// few tokens that would end a key that is there already. There always is another key, so that takes no way to the end.
//
// A copy costs a pointer: the keys are a list, the last one first, that copies share.
//
// Threads: a value belongs to one thread at a time; copies of it may live in others.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace cfgmask {

class WrittenKeys {
 public:
  WrittenKeys() = default;
  WrittenKeys(const WrittenKeys& other) : last_(other.last_) { retain(last_); }
  WrittenKeys(WrittenKeys&& other) noexcept : last_(std::exchange(other.last_, nullptr)) {}
  WrittenKeys& operator=(WrittenKeys other) noexcept {
    std::swap(last_, other.last_);
    return *this;
  }
  ~WrittenKeys() { release(last_); }

  // An object begins inside of those that are open.
  void open();
  // The innermost one ends.
  void close();
  // The innermost one has one more key.
  void add(std::string key);
  // Whether the innermost one has it. Linear in its keys.
  bool has(std::string_view key) const;
  // Whether the innermost one has some key.
  bool has_any() const { return last_ != nullptr && !last_->begins_object; }
  // Calls f(key) for the keys of the innermost one, the last one first.
  template <class F>
  void for_each(F f) const {
    for (const Entry* entry = last_; entry != nullptr && !entry->begins_object; entry = entry->before)
      f(std::string_view(entry->key));
  }
  // Whether no object is open.
  bool is_empty() const { return last_ == nullptr; }
  // Equal where the open objects have the same keys, in whatever order. Linear in all of them.
  std::string content() const;

 private:
  struct Entry {
    std::atomic<size_t> references;
    bool begins_object;
    std::string key;
    Entry* before;
  };

  static void retain(Entry* entry) {
    if (entry != nullptr) entry->references.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(Entry* entry);

  Entry* last_ = nullptr;
};

}  // namespace cfgmask
