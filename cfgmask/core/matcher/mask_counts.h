// What the matchers of a grammar have asked for: masks, and what new ones took; limits that were met.
//
// Threads: any may add and read, at any time and without a lock. What is read is no moment's: a count may lag behind
// another.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "util/hash_table.h"

namespace cfgmask {

// What one mask took.
struct MaskCost {
  bool is_new = false;               // it was not remembered
  std::chrono::nanoseconds took{0};  // 0 for a copy of a remembered mask, which takes less than the clock
};

class MaskCounts {
 public:
  static constexpr std::array<std::string_view, 9> kLimits = {
      "max_nesting",      "max_regex_nodes",   "max_lexer_states",
      "max_search_steps", "max_rules",         "max_items",
      "max_item_sets",    "max_capture_bytes", "others"};

  // A copy of a remembered mask. `who`: callers that differ in it mostly do not write to one cache line.
  void add_copied(const void* who) { stripe(who).n_copied.fetch_add(1, std::memory_order_relaxed); }
  // Any other mask.
  void add(const void* who, const MaskCost& cost) {
    Stripe& own = stripe(who);
    (cost.is_new ? own.n_made : own.n_copied).fetch_add(1, std::memory_order_relaxed);
    own.nanoseconds.fetch_add(static_cast<uint64_t>(cost.took.count()), std::memory_order_relaxed);
  }
  void add_limit(std::string_view name) {
    const auto* const found = std::find(kLimits.begin(), kLimits.end() - 1, name);
    limits_[static_cast<size_t>(found - kLimits.begin())].fetch_add(1, std::memory_order_relaxed);
  }
  // How much of the probability of all tokens a mask has taken away, from 0 to 1.
  void add_rejected_mass(double mass) {
    n_masses_.fetch_add(1, std::memory_order_relaxed);
    rejected_mass_.fetch_add(mass, std::memory_order_relaxed);
  }

  struct Totals {
    uint64_t n_made = 0, n_copied = 0, nanoseconds = 0, n_masses = 0;
    double rejected_mass = 0;
    std::array<uint64_t, kLimits.size()> limits{};
  };
  Totals totals() const {
    Totals all;
    for (const Stripe& one : stripes_) {
      all.n_made += one.n_made.load(std::memory_order_relaxed);
      all.n_copied += one.n_copied.load(std::memory_order_relaxed);
      all.nanoseconds += one.nanoseconds.load(std::memory_order_relaxed);
    }
    all.n_masses = n_masses_.load(std::memory_order_relaxed);
    all.rejected_mass = rejected_mass_.load(std::memory_order_relaxed);
    for (size_t i = 0; i < limits_.size(); ++i) all.limits[i] = limits_[i].load(std::memory_order_relaxed);
    return all;
  }

 private:
  static constexpr size_t kStripes = 8;
  struct alignas(64) Stripe {
    std::atomic<uint64_t> n_made = 0, n_copied = 0, nanoseconds = 0;
  };

  Stripe& stripe(const void* who) { return stripes_[mix(reinterpret_cast<uintptr_t>(who)) % kStripes]; }

  std::array<Stripe, kStripes> stripes_;
  std::array<std::atomic<uint64_t>, kLimits.size()> limits_{};
  std::atomic<uint64_t> n_masses_ = 0;
  std::atomic<double> rejected_mass_ = 0;
};

}  // namespace cfgmask
