#include "mask/logits.h"

#include <algorithm>
#include <bit>

namespace cfgmask {

namespace {

// Runs of zeros at once, other words zero by zero. (A test of each bit took 170 microseconds for 128k tokens in a JSON
// string, where nearly all are allowed, instead of 15.)
//
// Records as of llama.cpp, 12 bytes a logit, have no loop of their own: what counts there is the memory that is
// touched. With masked stores of AVX2 all of 128k logits took 63 microseconds instead of 72.
template <class Word>
void mask_out(std::span<const uint32_t> bits, size_t n_vocab, Word minus_infinity, const Logits& logits) {
  auto* const data = static_cast<Word*>(logits.data);
  const int64_t stride = logits.stride;
  auto at = [&](size_t i) -> Word& { return data[static_cast<int64_t>(i) * stride]; };
  auto fill = [&](size_t first, size_t last) {
    if (stride == 1) {
      std::fill(data + first, data + last, minus_infinity);
    } else {
      for (size_t i = first; i < last; ++i) at(i) = minus_infinity;
    }
  };
  for (size_t word = 0, first = 0; first < n_vocab; first = word * 32) {
    if (bits[word] == 0) {
      while (word < bits.size() && bits[word] == 0) ++word;
      fill(first, std::min(word * 32, n_vocab));
      continue;
    }
    uint32_t forbidden = ~bits[word++];
    if (n_vocab - first < 32) forbidden &= (1U << (n_vocab - first)) - 1;
    for (; forbidden != 0; forbidden &= forbidden - 1) {
      at(first + static_cast<size_t>(std::countr_zero(forbidden))) = minus_infinity;
    }
  }
  fill(n_vocab, logits.size);
}

}  // namespace

void mask_logits(std::span<const uint32_t> bits, size_t n_vocab, const Logits& logits) {
  // The bits of minus infinity, so that types that C++ lacks need nothing of their own.
  switch (logits.type) {
    case FloatType::kFloat16:
      return mask_out<uint16_t>(bits, n_vocab, 0xFC00, logits);
    case FloatType::kBfloat16:
      return mask_out<uint16_t>(bits, n_vocab, 0xFF80, logits);
    case FloatType::kFloat32:
      return mask_out<uint32_t>(bits, n_vocab, 0xFF800000, logits);
    case FloatType::kFloat64:
      return mask_out<uint64_t>(bits, n_vocab, 0xFFF0000000000000, logits);
  }
}

}  // namespace cfgmask
