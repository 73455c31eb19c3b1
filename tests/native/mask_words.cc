// Masks of all sizes around those of the pieces that they are written in, and what lies beside them.
#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "check.h"
#include "mask/bits.h"

namespace cfgmask::testing {
namespace {

constexpr size_t kBeside = 4;

void run(size_t n_words) {
  std::mt19937 random(static_cast<uint32_t>(n_words) + 1);
  std::vector<uint32_t> from(n_words);
  for (uint32_t& word : from) word = static_cast<uint32_t>(random());
  std::vector<uint32_t> memory(n_words + 2 * kBeside, 0x55555555);
  const std::span<uint32_t> to = std::span(memory).subspan(kBeside, n_words);
  const auto beside_is_left = [&] {
    const auto is_left = [](uint32_t word) { return word == 0x55555555; };
    return std::all_of(memory.begin(), memory.begin() + kBeside, is_left) &&
           std::all_of(memory.end() - kBeside, memory.end(), is_left);
  };
  copy_words(from, to);
  CHECK(std::ranges::equal(from, to) && beside_is_left());
  clear_words(to);
  CHECK(std::ranges::all_of(to, [](uint32_t word) { return word == 0; }) && beside_is_left());
}

}  // namespace
}  // namespace cfgmask::testing

int main() {
  for (size_t n_words = 0; n_words < 2'100; ++n_words) cfgmask::testing::run(n_words);
}
