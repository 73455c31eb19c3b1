// A set of bytes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace cfgmask {

struct ByteSet {
  std::array<uint32_t, 8> words{};

  static ByteSet all() {
    ByteSet s;
    s.words.fill(UINT32_MAX);
    return s;
  }
  static ByteSet range(unsigned low, unsigned high) {
    ByteSet s;
    for (unsigned i = low >> 5; i <= high >> 5; ++i) s.words[i] = UINT32_MAX;
    s.words[low >> 5] &= UINT32_MAX << (low & 31);
    s.words[high >> 5] &= UINT32_MAX >> (31 - (high & 31));
    return s;
  }

  static ByteSet only(unsigned b) {
    ByteSet s;
    s.add(b);
    return s;
  }

  bool has(unsigned b) const { return (words[b >> 5] >> (b & 31)) & 1; }
  void add(unsigned b) { words[b >> 5] |= 1U << (b & 31); }
  void remove(unsigned b) { words[b >> 5] &= ~(1U << (b & 31)); }
  bool empty() const {
    for (uint32_t w : words)
      if (w != 0) return false;
    return true;
  }
  // The smallest member; 256 if there is none.
  unsigned lowest() const {
    for (unsigned i = 0; i < 8; ++i)
      if (words[i] != 0) return 32 * i + static_cast<unsigned>(std::countr_zero(words[i]));
    return 256;
  }
  // The largest member; of no use if there is none.
  unsigned highest() const {
    for (unsigned i = 8; i-- > 0;)
      if (words[i] != 0) return 32 * i + 31 - static_cast<unsigned>(std::countl_zero(words[i]));
    return 0;
  }
  // Calls f(byte) for each member, in ascending order.
  template <class F>
  void for_each(F f) const {
    for (unsigned i = 0; i < 8; ++i) {
      for (uint32_t left = words[i]; left != 0; left &= left - 1)
        f(32 * i + static_cast<unsigned>(std::countr_zero(left)));
    }
  }
  bool holds(const ByteSet& other) const {
    for (size_t i = 0; i < 8; ++i)
      if ((other.words[i] & ~words[i]) != 0) return false;
    return true;
  }
  bool meets(const ByteSet& other) const {
    for (size_t i = 0; i < 8; ++i)
      if ((words[i] & other.words[i]) != 0) return true;
    return false;
  }
  int count() const {
    int n = 0;
    for (uint32_t w : words) n += std::popcount(w);
    return n;
  }
  ByteSet complement() const {
    ByteSet s;
    for (size_t i = 0; i < 8; ++i) s.words[i] = ~words[i];
    return s;
  }
  ByteSet& operator|=(const ByteSet& other) {
    for (size_t i = 0; i < 8; ++i) words[i] |= other.words[i];
    return *this;
  }
  ByteSet& operator&=(const ByteSet& other) {
    for (size_t i = 0; i < 8; ++i) words[i] &= other.words[i];
    return *this;
  }
  ByteSet& operator-=(const ByteSet& other) {
    for (size_t i = 0; i < 8; ++i) words[i] &= ~other.words[i];
    return *this;
  }
  friend bool operator==(const ByteSet&, const ByteSet&) = default;
};

}  // namespace cfgmask
