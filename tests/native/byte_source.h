// Reads choices off a fuzzer's input. When the bytes are used up every choice is the first one, so that what is built
// from an input is finite and a shorter input builds something simpler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cfgmask::testing {

class ByteSource {
 public:
  explicit ByteSource(std::span<const uint8_t> data) : data_(data) {}

  bool used_up() const { return next_ >= data_.size(); }
  uint8_t byte() { return used_up() ? uint8_t{0} : data_[next_++]; }
  // In [0, n), n <= 65536.
  uint32_t below(uint32_t n) {
    if (n <= 1) return 0;
    const uint32_t low = byte();
    return (n <= 256 ? low : low | (uint32_t{byte()} << 8)) % n;
  }
  bool flip() { return (byte() & 1) != 0; }

 private:
  std::span<const uint8_t> data_;
  size_t next_ = 0;
};

}  // namespace cfgmask::testing
