// A vector that never moves its elements: growing allocates one more chunk, so it makes no pauses and references stay
// valid. (A std::vector of a million states stalled a mask by tens of milliseconds whenever it doubled.)
//
// Chunks double from 8 elements to 1024 and then stay at that, so that a small grammar's many vectors are small.
#pragma once

#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace cfgmask {

template <class T>
class ChunkedVector {
 public:
  size_t size() const { return size_; }
  T& operator[](size_t i) { return *at(i); }
  const T& operator[](size_t i) const { return *at(i); }

  T& push_back(T value) {
    if (size_ == capacity_) {
      const size_t n = capacity_ == 0 ? kFirst : capacity_ < kChunk ? capacity_ : kChunk;
      chunks_.push_back(std::make_unique<T[]>(n));
      capacity_ += n;
    }
    T& slot = (*this)[size_];
    slot = std::move(value);
    ++size_;
    return slot;
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

  std::vector<std::unique_ptr<T[]>> chunks_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace cfgmask
