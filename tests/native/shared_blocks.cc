// Stacks that share what lies below, against vectors of their own.
#include "util/shared_blocks.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "check.h"

namespace cfgmask::testing {
namespace {

// What is left of them is counted.
struct Value {
  uint32_t number;
  std::shared_ptr<const bool> alive;
};

struct Stack {
  SharedBlocks<Value> values;
  std::vector<uint32_t> expected;
};

constexpr int kSteps = 20'000;
constexpr size_t kStacks = 6;

void check(const Stack& stack) {
  CHECK(stack.values.is_empty() == stack.expected.empty());
  if (stack.expected.empty()) return;
  CHECK(stack.values.top().number == stack.expected.back());
  auto expected = stack.expected.rbegin();
  stack.values.for_each_back([&](const Value& value) {
    CHECK(expected != stack.expected.rend() && value.number == *expected++);
    return true;
  });
  CHECK(expected == stack.expected.rend());
  size_t n = 0;
  stack.values.for_each_back([&](const Value&) { return ++n < 3; });
  CHECK(n == std::min<size_t>(3, stack.expected.size()));
}

void run(uint32_t seed) {
  std::mt19937 random(seed);
  const auto alive = std::make_shared<const bool>(true);
  std::vector<Stack> stacks(kStacks);
  for (int i = 0; i < kSteps; ++i) {
    Stack& stack = stacks[random() % kStacks];
    switch (random() % 16) {
      case 0:
        stack = stacks[random() % kStacks];
        break;
      case 1:
        stack = Stack();
        break;
      case 2: {
        Stack moved = std::move(stack);
        stack = Stack();
        check(moved);
        stack = std::move(moved);
        break;
      }
      case 3:
      case 4:
      case 5: {
        const size_t n = random() % (stack.expected.size() + 1);
        stack.values.pop(n);
        stack.expected.resize(stack.expected.size() - n);
        break;
      }
      default:
        for (size_t n = random() % 8; n > 0; --n) {
          const auto number = static_cast<uint32_t>(random());
          stack.values.push(number, alive);
          stack.expected.push_back(number);
        }
    }
    check(stack);
  }
  for (const Stack& stack : stacks) check(stack);
  stacks.clear();
  CHECK(alive.use_count() == 1);
}

// A stack of its own keeps nothing that was taken from it.
void frees_at_once() {
  const auto alive = std::make_shared<const bool>(true);
  SharedBlocks<Value> values;
  for (uint32_t i = 0; i < 100; ++i) values.push(i, alive);
  CHECK(alive.use_count() == 101);
  for (long n = 100; n > 0; --n) {
    CHECK(alive.use_count() == n + 1);
    values.pop();
  }
  CHECK(alive.use_count() == 1);
}

}  // namespace
}  // namespace cfgmask::testing

int main() {
  for (uint32_t seed = 1; seed <= 5; ++seed) cfgmask::testing::run(seed);
  cfgmask::testing::frees_at_once();
}
