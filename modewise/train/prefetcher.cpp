#include "modewise/train/prefetcher.h"

#include <ATen/Parallel.h>
#include <omp.h>
#include <pthread.h>

#include <csignal>
#include <utility>

namespace modewise::train {
namespace {

/// Signals are for the training thread; the new thread inherits a mask that blocks them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    // A fault of the thread's own would end the process without a word if it were blocked.
    for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Prefetcher::Prefetcher(Load load, int64_t first, int64_t last, int64_t capacity)
    : load_(std::move(load)), capacity_(static_cast<size_t>(capacity)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this, first, last] { run(first, last); });
}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  may_push_.notify_all();
  thread_.join();
}

void Prefetcher::run(int64_t first, int64_t last) {
  // One core for the batches: a second pool of threads would slow the training step down. libtorch sets this
  // thread's count when it is first asked, so that is asked before.
  at::internal::lazy_init_num_threads();
  omp_set_num_threads(1);
  for (int64_t index = first; index < last; ++index) {
    {
      std::unique_lock lock(mutex_);
      may_push_.wait(lock, [this] { return stop_ || queue_.size() < capacity_; });
      if (stop_) return;
    }
    Item item;
    try {
      item.batch = load_(index);
    } catch (...) {
      item.error = std::current_exception();
    }
    const bool failed = item.error != nullptr;
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(item));
      if (failed) ended_ = true;
    }
    may_pop_.notify_one();
    if (failed) return;
  }
  const std::lock_guard lock(mutex_);
  ended_ = true;
  may_pop_.notify_one();
}

std::unique_ptr<Batch> Prefetcher::next() {
  Item item;
  {
    std::unique_lock lock(mutex_);
    may_pop_.wait(lock, [this] { return ended_ || !queue_.empty(); });
    if (queue_.empty()) return nullptr;
    item = std::move(queue_.front());
    queue_.pop_front();
  }
  may_push_.notify_one();
  if (item.error) std::rethrow_exception(item.error);
  return std::move(item.batch);
}

}  // namespace modewise::train
