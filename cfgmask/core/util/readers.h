// Who reads what another thread is about to free. Readers take no lock: they pin what they read, which costs two
// additions, and whoever frees it unpublishes it first and then waits for those who may have found it before.
//
// A pin is held for no longer than a mask takes to copy, and nothing is waited for under it.
//
// Threads: any may pin; one at a time waits.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "util/hash_table.h"

namespace cfgmask {

class Readers {
 public:
  class Pin {
   public:
    // `who`: readers that differ in it mostly do not write to one cache line.
    Pin(Readers& readers, const void* who) : stripe_(readers.stripe(who)) {
      for (;;) {
        const uint32_t epoch = readers.epoch_.load();
        n_ = &stripe_.n[epoch % 2];
        n_->fetch_add(1);
        // Else the one who waits may have looked before.
        if (readers.epoch_.load() == epoch) return;
        n_->fetch_sub(1);
      }
    }
    ~Pin() { n_->fetch_sub(1, std::memory_order_release); }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

   private:
    friend class Readers;
    struct alignas(64) Stripe {
      std::array<std::atomic<uint32_t>, 2> n{};  // pins by the parity of the epoch
    };

    Stripe& stripe_;
    std::atomic<uint32_t>* n_;
  };

  // Returns when nobody reads what was unpublished before, by sequentially consistent stores.
  void wait() {
    const uint32_t epoch = epoch_.fetch_add(1);
    for (Pin::Stripe& stripe : stripes_) {
      while (stripe.n[epoch % 2].load() != 0) std::this_thread::yield();
    }
  }

 private:
  static constexpr size_t kStripes = 8;

  Pin::Stripe& stripe(const void* who) { return stripes_[mix(reinterpret_cast<uintptr_t>(who)) % kStripes]; }

  std::atomic<uint32_t> epoch_ = 0;
  std::array<Pin::Stripe, kStripes> stripes_;
};

}  // namespace cfgmask
