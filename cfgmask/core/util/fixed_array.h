// An array without room to grow: a vector whose 24 bytes are 16 and whose elements are as many as it was made from.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cfgmask {

template <class T>
class FixedArray {
 public:
  FixedArray() = default;
  explicit FixedArray(std::span<const T> from)
      : at_(from.empty() ? nullptr : std::make_unique_for_overwrite<T[]>(from.size())),
        size_(static_cast<uint32_t>(from.size())) {
    std::copy(from.begin(), from.end(), at_.get());
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t i) const { return at_[i]; }
  const T* begin() const { return at_.get(); }
  const T* end() const { return at_.get() + size_; }

 private:
  std::unique_ptr<T[]> at_;
  uint32_t size_ = 0;
};

}  // namespace cfgmask
