// Hash tables against the standard library's, at every size on the way.
#include "util/hash_table.h"

#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

#include "check.h"

namespace cfgmask::testing {
namespace {

constexpr uint32_t kEntries = 30'000;

// Some keys are neighbours, so that chains grow long and go round the end.
uint64_t random_key(std::mt19937_64& random) { return random() % 4 == 0 ? random() % 2'000 : random() >> 1; }

void exact_keys(uint32_t seed) {
  std::mt19937_64 random(seed);
  HashTable table;
  std::unordered_map<uint64_t, uint32_t> expected;
  std::vector<uint64_t> keys;
  for (uint32_t value = 0; value < kEntries; ++value) {
    const uint64_t key = random_key(random);
    const auto known = expected.find(key);
    const auto found = table.find(key);
    CHECK(found.has_value() == (known != expected.end()));
    if (found) {
      CHECK(*found == known->second);
    } else {
      table.insert(key, value);
      expected.emplace(key, value);
      keys.push_back(key);
    }
    CHECK(table.size() == expected.size());
    for (int i = 0; i < 4; ++i) {
      const uint64_t other = keys[random() % keys.size()];
      CHECK(table.find(other) == expected.at(other));
    }
  }
  for (const auto& [key, value] : expected) CHECK(table.find(key) == value);
}

// Entries of one hash are told apart by their values.
void shared_keys(uint32_t seed, uint32_t n_hashes) {
  std::mt19937 generator(seed);
  const auto random_below = [&](uint32_t n) { return static_cast<uint32_t>(generator() % n); };
  HashIndex index;
  std::vector<uint32_t> hashes;
  for (uint32_t value = 0; value < kEntries / 10; ++value) {
    hashes.push_back(random_below(n_hashes));
    index.insert(hashes.back(), value);
    for (int i = 0; i < 4; ++i) {
      const uint32_t other = random_below(value + 1);
      CHECK(index.find(hashes[other], [&](uint32_t found) { return found == other; }) == other);
    }
    CHECK(!index.find(hashes.back(), [&](uint32_t found) { return found > value; }));
    CHECK(!index.find(n_hashes + random_below(n_hashes)));
  }
}

}  // namespace
}  // namespace cfgmask::testing

int main() {
  for (uint32_t seed = 1; seed <= 20; ++seed) cfgmask::testing::exact_keys(seed);
  for (uint32_t seed = 1; seed <= 20; ++seed) cfgmask::testing::shared_keys(seed, seed % 2 == 0 ? 100 : 100'000);
}
