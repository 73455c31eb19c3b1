// A small value that threads read while another one changes it, without a lock: a sequence lock.
//
// Threads: any may read and write. A reader that meets a writer goes without the value; a writer that meets another one
// leaves it its own.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace cfgmask {

template <class T>
class SeqLock {
 public:
  // nullopt: none was written, or one is being written now.
  std::optional<T> read() const {
    const uint32_t version = at(version_).load(std::memory_order_acquire);
    if (version == 0 || is_odd(version)) return std::nullopt;
    Words words;
    // Whoever reads a word of a later value reads that value's version below.
    for (size_t i = 0; i < kWords; ++i) words[i] = at(words_[i]).load(std::memory_order_acquire);
    if (at(version_).load(std::memory_order_relaxed) != version) return std::nullopt;
    return std::bit_cast<T>(words);
  }
  void write(const T& value) {
    uint32_t version = at(version_).load(std::memory_order_relaxed);
    if (is_odd(version)) return;
    if (!at(version_).compare_exchange_strong(version, version + 1, std::memory_order_acquire,
                                              std::memory_order_relaxed))
      return;
    const auto words = std::bit_cast<Words>(value);
    for (size_t i = 0; i < kWords; ++i) at(words_[i]).store(words[i], std::memory_order_release);
    at(version_).store(version == UINT32_MAX - 1 ? 2 : version + 2, std::memory_order_release);
  }

 private:
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(uint32_t) == 0);
  static constexpr size_t kWords = sizeof(T) / sizeof(uint32_t);
  using Words = std::array<uint32_t, kWords>;

  static bool is_odd(uint32_t version) { return version % 2 == 1; }

  // The members are plain, so that an array of these may begin as zeroes.
  static std::atomic_ref<uint32_t> at(const uint32_t& word) {
    return std::atomic_ref<uint32_t>(const_cast<uint32_t&>(word));
  }

  uint32_t version_ = 0;  // odd while it is written; 0: never was
  Words words_{};
};

}  // namespace cfgmask
