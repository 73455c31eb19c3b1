// A stack whose copies share what lies below, in blocks: a copy costs a pointer, a push one allocation in 16, which are
// of memory that is seldom in a cache.
//
// A copy goes on in a block of its own, so that nobody writes to what another one may read. That is small at first:
// where a search copies at each step, each block holds one value.
//
// Threads: a stack belongs to one thread at a time; copies of it may live in others.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace cfgmask {

template <class T>
class SharedBlocks {
 public:
  SharedBlocks() = default;
  SharedBlocks(const SharedBlocks& other) : last_(other.last_), n_(other.n_) { retain(last_); }
  SharedBlocks(SharedBlocks&& other) noexcept : last_(std::exchange(other.last_, nullptr)), n_(other.n_) {}
  SharedBlocks& operator=(SharedBlocks other) noexcept {
    std::swap(last_, other.last_);
    std::swap(n_, other.n_);
    return *this;
  }
  ~SharedBlocks() { release(last_); }

  bool is_empty() const { return last_ == nullptr; }
  // There is one.
  const T& top() const { return *last_->value(n_ - 1); }
  // The members of a T, in their order.
  template <class... Members>
  void push(Members&&... members) {
    const bool is_full = last_ != nullptr && n_ == last_->capacity;
    if (last_ == nullptr || is_full || !is_own()) {
      last_ = Block::make(last_, n_, is_full ? std::min(2 * n_, kLongest) : kFirst);
      n_ = 0;
    }
    last_->shrink(n_);
    ::new (last_->place(n_)) T{std::forward<Members>(members)...};
    last_->n_values = ++n_;
  }
  // There are as many.
  void pop(size_t n = 1) {
    while (n > 0) {
      const auto here = static_cast<uint32_t>(std::min<size_t>(n, n_));
      n -= here;
      n_ -= here;
      if (n_ > 0) {
        if (is_own()) last_->shrink(n_);
        continue;
      }
      Block* block = last_;
      last_ = block->below;
      n_ = block->n_below;
      retain(last_);
      release(block);
    }
  }
  // Calls f(value) for each, from the top, until it gives false.
  template <class F>
  void for_each_back(F f) const {
    uint32_t n = n_;
    for (const Block* block = last_; block != nullptr; n = block->n_below, block = block->below) {
      for (uint32_t i = n; i-- > 0;) {
        if (!f(*block->value(i))) return;
      }
    }
  }

 private:
  static constexpr uint32_t kFirst = 2;
  static constexpr uint32_t kLongest = 16;

  // Its values stand behind it.
  struct alignas(T) Block {
    std::atomic<size_t> references;
    Block* below;
    uint32_t n_below;   // values of `below` that lie below these
    uint32_t capacity;  // in values
    uint32_t n_values;  // some more than a stack has that went back while it shared them

    static Block* make(Block* below, uint32_t n_below, uint32_t capacity) {
      void* memory = ::operator new(sizeof(Block) + capacity * sizeof(T));
      return ::new (memory) Block{1, below, n_below, capacity, 0};
    }
    void* place(uint32_t i) { return reinterpret_cast<T*>(this + 1) + i; }
    T* value(uint32_t i) { return std::launder(static_cast<T*>(place(i))); }
    const T* value(uint32_t i) const { return const_cast<Block*>(this)->value(i); }
    void shrink(uint32_t n) {
      while (n_values > n) std::destroy_at(value(--n_values));
    }
  };
  static_assert(alignof(Block) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  // Whether no copy reads the last block.
  bool is_own() const { return last_->references.load(std::memory_order_acquire) == 1; }
  static void retain(Block* block) {
    if (block != nullptr) block->references.fetch_add(1, std::memory_order_relaxed);
  }
  // In a loop: a long stack must not be freed by recursion.
  static void release(Block* block) {
    while (block != nullptr && block->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      block->shrink(0);
      Block* below = block->below;
      std::destroy_at(block);
      ::operator delete(block);
      block = below;
    }
  }

  Block* last_ = nullptr;
  uint32_t n_ = 0;  // values of it, if there is one
};

}  // namespace cfgmask
