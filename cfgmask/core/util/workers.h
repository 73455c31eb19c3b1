// Threads that wait for work, so that a batch need not start any: starting one takes as long as a row of 128k tokens.
//
// Threads: any may call what is here, several at once. A child of `fork`, which has none of its parent's threads,
// begins with workers of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace cfgmask {

class Workers {
 public:
  // Those of the process. They are never joined: they wait, holding nothing, until it ends.
  static Workers& shared();

  // Calls f(i) for each i below n, in this thread and in at most `helpers` others; returns when all calls have. This
  // thread begins at once and does what nobody has come to do. `f` must not throw. Each thread takes `chunk` of the i
  // at a time: what all of them write to, which takes some tenths of a microsecond, should be little beside that.
  void for_each(size_t n, size_t helpers, size_t chunk, const std::function<void(size_t)>& f);

  // Calls f() in another thread; in this one where there is none. `f` must not throw, and need not be called if the
  // process ends or a child begins before.
  void later(std::function<void()> f);

 private:
  struct Job {
    std::function<void(size_t)> kept;      // of a job that nobody waits for
    const std::function<void(size_t)>* f;  // alive until all n are done
    size_t n;
    size_t chunk;
    size_t helpers;  // still wanted; guarded by the mutex
    std::atomic<size_t> next{0};
    std::atomic<size_t> done{0};

    void run();
    void wait();
  };

  static constexpr size_t kMostThreads = 63;

  void grow(size_t n_threads);
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> jobs_;
  size_t n_threads_ = 0;
};

}  // namespace cfgmask
