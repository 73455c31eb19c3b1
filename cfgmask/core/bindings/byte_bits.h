// Sets of bytes as Python has them: 32 bytes, least significant bit first.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <stdexcept>

#include "util/byte_set.h"

namespace cfgmask {

inline nanobind::bytes to_bits(const ByteSet& set) {
  std::array<char, 32> bits{};
  for (unsigned i = 0; i < bits.size(); ++i) bits[i] = static_cast<char>(set.words[i / 4] >> (8 * (i % 4)));
  return nanobind::bytes(bits.data(), bits.size());
}

// Throws std::invalid_argument for bytes of another size.
inline ByteSet from_bits(const nanobind::bytes& bits) {
  if (bits.size() != 32) throw std::invalid_argument("a set of bytes has 256 bits");
  ByteSet set;
  for (unsigned i = 0; i < 32; ++i) {
    set.words[i / 4] |= uint32_t{static_cast<uint8_t>(bits.c_str()[i])} << (8 * (i % 4));
  }
  return set;
}

}  // namespace cfgmask
