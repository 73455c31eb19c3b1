// An array that begins as zeroes. The system makes a page of it when that is first looked at, so a large one of which
// little is used costs little: half a megabyte that was written at once took 30 to 60 microseconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace cfgmask {

// Of T that all zeroes are one of.
template <class T>
class ZeroedArray {
 public:
  ZeroedArray() = default;
  explicit ZeroedArray(size_t n) : at_(static_cast<T*>(std::calloc(n, sizeof(T)))), size_(n) {
    if (at_ == nullptr) throw std::bad_alloc();
  }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t bytes() const { return size_ * sizeof(T); }
  void clear() { std::fill_n(at_.get(), size_, T{}); }
  T* data() { return at_.get(); }
  T& operator[](size_t i) { return at_.get()[i]; }
  const T& operator[](size_t i) const { return at_.get()[i]; }

 private:
  static_assert(std::is_trivially_copyable_v<T>);
  struct Free {
    void operator()(T* at) const { std::free(at); }
  };

  std::unique_ptr<T, Free> at_;
  size_t size_ = 0;
};

}  // namespace cfgmask
