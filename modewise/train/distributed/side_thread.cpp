#include "modewise/train/distributed/side_thread.h"

#include <ATen/Parallel.h>
#include <pthread.h>

#include <csignal>
#include <utility>

#include "modewise/ops/cpu/openmp.h"

namespace modewise::train {
namespace {

/// Blocks signals in this scope; a new thread inherits the mask.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    // Keep synchronous faults unblocked: blocked, they would end the process without a message.
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

std::thread side_thread(std::function<void()> work) {
  const SignalsBlocked blocked;
  return std::thread([work = std::move(work)] {
    // libtorch resets this thread's count on the first query, so query it once before setting it.
    at::internal::lazy_init_num_threads();
    omp_set_num_threads(1);
    work();
  });
}

OrderedJobs::OrderedJobs() : thread_(side_thread([this] { run(); })) {}

OrderedJobs::~OrderedJobs() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  may_run_.notify_one();
  thread_.join();
}

void OrderedJobs::give(std::function<void()> job) {
  {
    const std::lock_guard lock(mutex_);
    if (error_) return;
    queue_.push_back(std::move(job));
  }
  may_run_.notify_one();
}

void OrderedJobs::wait() {
  std::unique_lock lock(mutex_);
  may_return_.wait(lock, [this] { return queue_.empty(); });
  if (error_) std::rethrow_exception(error_);
}

void OrderedJobs::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    may_run_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    const std::function<void()>& job =
        queue_.front();  // push_back keeps references to a deque's elements valid
    lock.unlock();
    std::exception_ptr error;
    try {
      job();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    queue_.pop_front();
    if (error) {
      error_ = error;
      queue_.clear();
    }
    if (queue_.empty()) may_return_.notify_all();
  }
}

}  // namespace modewise::train
