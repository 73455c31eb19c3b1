// Threads that the interpreter does not wait for when it ends.
//
// Before Python 3.14, a daemon thread that asks for the GIL once the interpreter is ending is ended by `pthread_exit`.
// glibc does so by unwinding the thread's stack: through destructors that drop references without the GIL, and through
// functions that are `noexcept`, where the process aborts. Here such a thread waits for the end of the process, as from
// Python 3.14 on. So what may ask for the GIL, that is all that runs Python code, is called through `in_python`.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#if defined(__GLIBCXX__) && !defined(_WIN32)
#include <cxxabi.h>
#include <unistd.h>
#endif

namespace cfgmask {

// The result of f(). Does not return to a thread that is being ended. Exceptions pass.
template <class F>
decltype(auto) in_python(F&& f) {
#if defined(__GLIBCXX__) && !defined(_WIN32)
  try {
    return std::forward<F>(f)();
  } catch (const abi::__forced_unwind&) {
    for (;;) pause();
  }
#else
  return std::forward<F>(f)();
#endif
}

// Lets other threads run Python code as long as it lives.
class GilRelease {
 public:
  GilRelease() noexcept : state_(PyEval_SaveThread()) {}
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  ~GilRelease() {
    in_python([this] { PyEval_RestoreThread(state_); });
  }

 private:
  PyThreadState* state_;
};

}  // namespace cfgmask
