// A vector that never moves its elements: growing allocates one more chunk, so it makes no pauses and references stay
// valid. (A std::vector of a million states stalled a mask by tens of milliseconds whenever it doubled.)
//
// Chunks double from 8 elements to 1024 and then stay at that, so that a small grammar's many vectors are small.
//
// Threads: one at a time. With a LastingDirectory, others may read the elements that they know of while one adds more.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace cfgmask {

// Where the chunks are, for those who read it while it grows: what it outgrows stays.
template <class T>
class LastingDirectory {
 public:
  T* operator[](size_t i) const { return latest_.load(std::memory_order_acquire)[i]; }
  void push_back(std::unique_ptr<T[]> chunk) {
    if (chunks_.size() == capacity_) {
      const size_t n = std::max<size_t>(2 * capacity_, 4);
      auto grown = std::make_unique<T*[]>(n);
      for (size_t i = 0; i < capacity_; ++i) grown[i] = chunks_[i].get();
      all_.push_back(std::move(grown));  // kept before anyone is shown it
      latest_.store(all_.back().get(), std::memory_order_release);
      capacity_ = n;
    }
    chunks_.push_back(std::move(chunk));
    all_.back()[chunks_.size() - 1] = chunks_.back().get();
  }
  size_t capacity() const { return chunks_.capacity() + 2 * capacity_; }

 private:
  std::atomic<T**> latest_ = nullptr;
  std::vector<std::unique_ptr<T*[]>> all_;
  std::vector<std::unique_ptr<T[]>> chunks_;
  size_t capacity_ = 0;  // of the latest
};

template <class T, class Directory = std::vector<std::unique_ptr<T[]>>>
class ChunkedVector {
 public:
  size_t size() const { return size_; }
  T& operator[](size_t i) { return *at(i); }
  const T& operator[](size_t i) const { return *at(i); }

  T& push_back(T value) {
    T& slot = emplace_back();
    slot = std::move(value);
    return slot;
  }
  // One more, as T() is.
  T& emplace_back() {
    if (size_ == capacity_) {
      const size_t n = capacity_ == 0 ? kFirst : capacity_ < kChunk ? capacity_ : kChunk;
      chunks_.push_back(std::make_unique<T[]>(n));
      capacity_ += n;
    }
    return (*this)[size_++];
  }

  size_t bytes() const { return capacity_ * sizeof(T) + chunks_.capacity() * sizeof(void*); }

 private:
  static constexpr size_t kFirst = 8;
  static constexpr size_t kChunk = 1024;
  static constexpr size_t kFirstBits = std::bit_width(kFirst) - 1;
  static constexpr size_t kChunkBits = std::bit_width(kChunk) - 1;
  // Chunks of 8, 8, 16, 32, ... 512 hold the first 1024 elements.
  static constexpr size_t kGrowing = kChunkBits - kFirstBits + 1;

  // The common case is short, to be inlined.
  T* at(size_t i) const {
    return i >= kChunk ? &chunks_[kGrowing - 1 + (i >> kChunkBits)][i & (kChunk - 1)] : at_start(i);
  }
  T* at_start(size_t i) const {
    if (i < kFirst) return &chunks_[0][i];
    const auto bits = static_cast<size_t>(std::bit_width(i)) - 1;
    return &chunks_[bits - kFirstBits + 1][i - (size_t{1} << bits)];
  }

  Directory chunks_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace cfgmask
