// What a cache of two generations holds, against a map that remembers when each value was last asked for.
#include "util/recent_values.h"

#include <cstdint>
#include <map>
#include <memory>
#include <random>

#include "check.h"

namespace cfgmask::testing {
namespace {

struct Text {
  size_t n;
  size_t bytes() const { return n; }
};

struct Known {
  std::weak_ptr<const Text> value;
  size_t generation;  // in which it was last asked for
  bool is_null;
};

constexpr int kSteps = 20'000;
constexpr uint64_t kKeys = 300;

void run(uint32_t seed) {
  std::mt19937 random(seed);
  RecentValues<Text> values;
  std::map<uint64_t, Known> known;
  size_t generation = 1;
  for (int i = 0; i < kSteps; ++i) {
    const uint64_t key = random() % kKeys;
    const auto found = values.find(key);
    const auto expected = known.find(key);
    const bool is_known = expected != known.end() && expected->second.generation + 1 >= generation;
    CHECK(found.has_value() == is_known);
    if (found) {
      CHECK((*found == nullptr) == expected->second.is_null);
      CHECK(*found == expected->second.value.lock());
      expected->second.generation = generation;
    } else {
      const bool is_null = random() % 8 == 0;
      const auto value = is_null ? nullptr : std::make_shared<const Text>(Text{random() % 1'000});
      values.add(key, value);
      known.insert_or_assign(key, Known{value, generation, is_null});
    }
    if (random() % 50 == 0) {
      values.age();
      ++generation;
    }
    if (random() % 3 == 0) values.free_some();
    size_t n = 0;
    for (const auto& [other, one] : known) n += one.generation + 1 >= generation ? 1 : 0;
    CHECK(values.size() == n);
  }
  // What is forgotten is freed in the end, and nothing else.
  for (int i = 0; i < kSteps; ++i) values.free_some();
  for (const auto& [key, one] : known) CHECK(one.is_null || one.value.expired() == (one.generation + 1 < generation));
  values.age();
  values.age();
  CHECK(values.size() == 0 && values.bytes() == 0 && values.young_bytes() == 0);
}

}  // namespace
}  // namespace cfgmask::testing

int main() {
  for (uint32_t seed = 1; seed <= 5; ++seed) cfgmask::testing::run(seed);
}
