// Calls that may take long. Once one has taken some milliseconds, other threads run Python code until it ends, and
// signal handlers run in between: what they raise, such as KeyboardInterrupt, ends the call, which leaves things as
// LimitExceeded does.
//
// Short calls pay for none of that: two accesses to what belongs to the thread, no clock, no GIL.
//
// Locks: a thread may wait for the GIL while it holds a lock of the core, so none may wait for a lock while it holds
// the GIL (`wait_without_gil`).
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "bindings/interpreter.h"
#include "util/pause.h"

namespace cfgmask {

// What a signal handler raised.
class RaisedByHandler final : public nanobind::python_error, public Pause::Ended {};

// Set while a call lets other threads run: they must keep off what it works on. The GIL guards it.
struct InUse {
  bool by_another = false;

  void check() const {
    if (by_another) throw std::runtime_error("another thread or a signal handler uses the matcher in a call that runs");
  }
};

class LongCall final : private Pause {
 public:
  enum class Gil { kHeld, kReleased };

  // `in_use`: of what the call works on, null for what other threads cannot reach. Held: Python objects may be
  // touched between two ticks; other threads run for a moment, again and again.
  explicit LongCall(InUse* in_use, Gil gil = Gil::kReleased) : in_use_(in_use), gil_(gil) {
    if (in_use != nullptr) in_use->check();
  }
  ~LongCall() override {
    leave();
    hold();
  }

  // Lets other threads run from now on.
  void release() {
    set_in_use(true);
    released_ = PyEval_SaveThread();
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Less than the 5 ms for which CPython lets a thread run that others wait for, as looks come late.
  static constexpr std::chrono::milliseconds kFirst{3};
  static constexpr std::chrono::milliseconds kNext{50};

  void look_up() override {
    // A call that is made by a handler is short.
    if (is_in_handler_) return;
    const auto now = Clock::now();
    if (!looked_up_) {
      looked_up_ = now;
      return;
    }
    const bool waits_long = released_ != nullptr || has_looked_;
    if (now - *looked_up_ < (waits_long && gil_ == Gil::kReleased ? kNext : kFirst)) return;
    looked_up_ = now;
    if (is_ending()) return;
    has_looked_ = true;
    take();
    run_handlers();
    release();
    if (gil_ == Gil::kHeld) hold();
  }

  void wait(Lock& lock) override {
    if (is_in_handler_)
      throw std::runtime_error("a signal handler cannot use a grammar that the call it interrupts works on");
    if (released_ == nullptr) release();
    lock.lock();
    if (gil_ == Gil::kHeld) hold();
  }

  void hold() {
    take();
    set_in_use(false);
  }

  void run_handlers() {
    is_in_handler_ = true;
    set_in_use(true);
    const int raised = in_python([] { return PyErr_CheckSignals(); });
    is_in_handler_ = false;
    set_in_use(false);
    if (raised != 0) throw RaisedByHandler();
  }

  void take() {
    if (released_ == nullptr) return;
    in_python([this] { PyEval_RestoreThread(std::exchange(released_, nullptr)); });
  }

  void set_in_use(bool in_use) {
    if (in_use_ != nullptr) in_use_->by_another = in_use;
  }

  // Whoever asks for the GIL then never gets it.
  static bool is_ending() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing() != 0;
#else
    return _Py_IsFinalizing() != 0;
#endif
  }

  static inline thread_local bool is_in_handler_ = false;

  InUse* in_use_;
  Gil gil_;
  PyThreadState* released_ = nullptr;
  bool has_looked_ = false;
  std::optional<Clock::time_point> looked_up_;
};

// For threads that are in no long call.
inline void wait_without_gil(Pause::Lock& lock) {
  if (PyGILState_Check() == 0) return lock.lock();
  const GilRelease release;
  lock.lock();
}

}  // namespace cfgmask
