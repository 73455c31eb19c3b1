#include "util/workers.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "util/platform.h"

namespace cfgmask {

namespace {

std::atomic<Workers*> process_workers{nullptr};

// What the parent's threads held or counted means nothing in the child; it is left where it is.
void forget_workers() { process_workers = nullptr; }

[[maybe_unused]] const int kForgottenByChildren = call_in_forked_children(forget_workers);

}  // namespace

Workers& Workers::shared() {
  Workers* known = process_workers;
  if (known != nullptr) return *known;
  auto made = std::make_unique<Workers>();
  return process_workers.compare_exchange_strong(known, made.get()) ? *made.release() : *known;
}

void Workers::for_each(size_t n, size_t helpers, size_t chunk, const std::function<void(size_t)>& f) {
  helpers = std::min({helpers, n > 0 ? (n - 1) / chunk : 0, kMostThreads});
  const auto job = std::make_shared<Job>(nullptr, &f, n, chunk, helpers);
  if (helpers > 0) {
    const std::lock_guard lock(mutex_);
    grow(helpers);
    jobs_.push_back(job);
  }
  for (size_t i = 0; i < helpers; ++i) wake_.notify_one();
  job->run();
  if (helpers > 0) {
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, job);
  }
  job->wait();
}

void Workers::later(std::function<void()> f) {
  const auto job = std::make_shared<Job>([f = std::move(f)](size_t) { f(); }, nullptr, 1, 1, 1);
  job->f = &job->kept;
  bool is_taken = false;
  {
    const std::lock_guard lock(mutex_);
    grow(1);
    is_taken = n_threads_ > 0;
    if (is_taken) jobs_.push_back(job);
  }
  if (is_taken) {
    wake_.notify_one();
  } else {
    job->run();
  }
}

void Workers::Job::run() {
  for (size_t first = next.fetch_add(chunk); first < n; first = next.fetch_add(chunk)) {
    const size_t last = std::min(first + chunk, n);
    for (size_t i = first; i < last; ++i) (*f)(i);
    if ((done += last - first) == n) done.notify_one();
  }
}

void Workers::Job::wait() {
  for (size_t so_far = done; so_far < n; so_far = done) done.wait(so_far);
}

// Where the system gives no more threads, there are fewer.
void Workers::grow(size_t n_threads) {
  try {
    for (; n_threads_ < n_threads; ++n_threads_) std::thread(&Workers::work, this).detach();
  } catch (const std::system_error&) {
    return;
  }
}

void Workers::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return !jobs_.empty(); });
    const std::shared_ptr<Job> job = jobs_.front();
    if (--job->helpers == 0) jobs_.pop_front();
    lock.unlock();
    job->run();
    lock.lock();
  }
}

}  // namespace cfgmask
