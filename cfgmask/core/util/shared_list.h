// A stack whose copies share what lies below: a copy costs a pointer, a push one allocation.
//
// Threads: a list belongs to one thread at a time; copies of it may live in others.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace cfgmask {

template <class T>
class SharedList {
 public:
  struct Node {
    std::atomic<size_t> references;
    Node* below;
    T value;
  };

  SharedList() = default;
  SharedList(const SharedList& other) : top_(other.top_) { retain(top_); }
  SharedList(SharedList&& other) noexcept : top_(std::exchange(other.top_, nullptr)) {}
  SharedList& operator=(SharedList other) noexcept {
    std::swap(top_, other.top_);
    return *this;
  }
  ~SharedList() { release(top_); }

  // The members of a T, in their order. The value may be changed until the list is copied.
  template <class... Members>
  T& push(Members&&... members) {
    top_ = new Node{1, top_, T{std::forward<Members>(members)...}};
    return top_->value;
  }
  // There are as many.
  void pop(size_t n = 1) {
    for (; n > 0; --n) {
      Node* below = top_->below;
      retain(below);
      release(top_);
      top_ = below;
    }
  }
  // nullptr where there is none. A node lives as long as a list that holds it.
  const Node* top() const { return top_; }

 private:
  static void retain(Node* node) {
    if (node != nullptr) node->references.fetch_add(1, std::memory_order_relaxed);
  }
  // In a loop: a long list must not be freed by recursion.
  static void release(Node* node) {
    while (node != nullptr && node->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      Node* below = node->below;
      delete node;
      node = below;
    }
  }

  Node* top_ = nullptr;
};

}  // namespace cfgmask
