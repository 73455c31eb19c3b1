// Runs LLVMFuzzerTestOneInput where libFuzzer is not there: on files, or on inputs made from a seed, each either random
// or a mutation of an earlier one. An input depends on the seed and its number alone; when a check or a sanitizer ends
// the program, the command that repeats it is printed.
//
//   fuzz_regex [--runs N] [--seconds N] [--seed N] [--first N] | FILE...
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
// The sanitizers' runtimes have it; without one it is null.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Input = std::vector<uint8_t>;

constexpr size_t kMaxSize = 512;

const char* program = "";
uint64_t seed = 1;
uint64_t current = 0;

void say_how_to_repeat() {
  std::fprintf(stderr, "to repeat: %s --seed %llu --first %llu --runs 1\n", program,
               static_cast<unsigned long long>(seed), static_cast<unsigned long long>(current));
}

void on_abort(int) { say_how_to_repeat(); }

Input random_input(std::mt19937_64& random) {
  Input input(random() % kMaxSize);
  for (uint8_t& b : input) b = static_cast<uint8_t>(random());
  return input;
}

void mutate(Input& input, std::mt19937_64& random) {
  for (uint64_t n = 1 + random() % 4; n > 0; --n) {
    const size_t at = random() % (input.size() + 1);
    const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 3) {
      case 0:
        if (input.size() < kMaxSize) input.insert(place, static_cast<uint8_t>(random()));
        break;
      case 1:
        if (place != input.end()) input.erase(place);
        break;
      default:
        if (place != input.end()) *place = static_cast<uint8_t>(random());
    }
  }
}

// Input `number` of the seed: a few inputs share an ancestor and differ by what was mutated since.
Input make_input(uint64_t number) {
  constexpr uint64_t kFamily = 8;
  std::mt19937_64 ancestor(seed * 0x9E3779B97F4A7C15 + number / kFamily);
  Input input = random_input(ancestor);
  std::mt19937_64 own(seed ^ (number * 0xD1B54A32D192ED03 + 1));
  for (uint64_t i = 0; i < number % kFamily; ++i) mutate(input, own);
  return input;
}

int run_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", path);
    return 2;
  }
  const Input input{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return LLVMFuzzerTestOneInput(input.data(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  program = argv[0];
  uint64_t runs = 1000;
  uint64_t seconds = 0;
  uint64_t first = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (!name.starts_with("--")) {
      if (const int status = run_file(argv[i]); status != 0) return status;
      runs = 0;
      continue;
    }
    uint64_t* const option = name == "--runs"      ? &runs
                             : name == "--seconds" ? &seconds
                             : name == "--seed"    ? &seed
                             : name == "--first"   ? &first
                                                   : nullptr;
    if (option == nullptr || i + 1 == argc) {
      std::fprintf(stderr, "usage: %s [--runs N] [--seconds N] [--seed N] [--first N] | FILE...\n", argv[0]);
      return 2;
    }
    *option = std::strtoull(argv[++i], nullptr, 10);
  }

  std::signal(SIGABRT, on_abort);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(say_how_to_repeat);
  const auto start = std::chrono::steady_clock::now();
  const auto go_on = [&] {
    if (seconds == 0) return current < first + runs;
    return std::chrono::steady_clock::now() - start < std::chrono::seconds(seconds);
  };
  for (current = first; go_on(); ++current) {
    const Input input = make_input(current);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%s: seed %llu, %llu inputs\n", program, static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(current - first));
}
