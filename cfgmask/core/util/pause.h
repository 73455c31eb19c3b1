// Where long work looks up, so that its caller can let others run or end it.
//
// Work that may take long calls `tick` now and then; after so many ticks whoever waits for it in this thread is asked.
// Without anyone (native tests, helping threads) nothing happens.
//
// `tick` stands where LimitExceeded may come from as well: what an answer throws leaves things as that does.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace cfgmask {

// Who waits for the work of this thread.
class Pause {
 public:
  // What ends the work, beside whatever else it is.
  class Ended {
   public:
    virtual ~Ended() = default;
  };

  // The work is over by then, also if a derived class did not come to be.
  virtual ~Pause() { leave(); }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;

  // Cost: one look at what belongs to the thread, 2 ns.
  static void tick() {
    if (--here_.ticks_left == 0) look_up_here();
  }

  using Lock = std::unique_lock<std::mutex>;
  // How threads wait for a lock in which nobody waits for their work. Set once, before there are others.
  using Waiter = void (*)(Lock&);
  static void wait_with(Waiter waiter) { waiter_ = waiter; }

 protected:
  Pause() : before_(here_.pause) { here_.pause = this; }
  // To be called when the work is over.
  void leave() { here_.pause = before_; }
  // Both may throw.
  virtual void look_up() = 0;
  // Locks what another thread may hold for long.
  virtual void wait(Lock& lock) = 0;

 private:
  friend class LockSlowly;
  // The cheapest work between two ticks takes 50 ns, most of it some hundreds, some of it microseconds.
  static constexpr uint32_t kTicks = 256;
  struct Here {
    Pause* pause = nullptr;
    uint32_t ticks_left = kTicks;
  };

  static void look_up_here();

  static thread_local Here here_;
  static std::atomic<Waiter> waiter_;
  Pause* before_;
};

// Holds a mutex that others may hold for as long as a mask or a search takes.
class LockSlowly {
 public:
  explicit LockSlowly(std::mutex& mutex) : lock_(mutex, std::try_to_lock) {
    if (!lock_.owns_lock()) wait();
  }

 private:
  void wait();

  Pause::Lock lock_;
};

}  // namespace cfgmask
