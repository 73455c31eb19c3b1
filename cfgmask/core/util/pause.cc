#include "util/pause.h"

namespace cfgmask {

constinit thread_local Pause::Here Pause::here_;
constinit std::atomic<Pause::Waiter> Pause::waiter_ = nullptr;

void Pause::look_up_here() {
  here_.ticks_left = kTicks;
  if (here_.pause != nullptr) here_.pause->look_up();
}

void LockSlowly::wait() {
  const Pause::Waiter waiter = Pause::waiter_;
  if (Pause::here_.pause != nullptr) {
    Pause::here_.pause->wait(lock_);
  } else if (waiter != nullptr) {
    waiter(lock_);
  } else {
    lock_.lock();
  }
}

}  // namespace cfgmask
