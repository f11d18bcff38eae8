#pragma once
// Background threads of a training.

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace modewise::train {

/// Starts a background thread that blocks signals (the training thread handles them) and runs its loops on
/// one core: a second thread pool would slow down the training step.
std::thread side_thread(std::function<void()> work);

/// A job queue with one worker thread, first in, first out.
class OrderedJobs {
 public:
  OrderedJobs();
  /// Waits for the running job and discards the queued ones.
  ~OrderedJobs();
  OrderedJobs(const OrderedJobs&) = delete;
  OrderedJobs& operator=(const OrderedJobs&) = delete;

  void give(std::function<void()> job);
  /// Waits until all jobs are done. Rethrows the exception of a failed job; jobs after it do not run, nor
  /// does any later one.
  void wait();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable may_run_, may_return_;
  std::deque<std::function<void()>> queue_;  // the first one is running
  std::exception_ptr error_;
  bool stop_ = false;
  std::thread thread_;  // last: starts when the other members exist
};

}  // namespace modewise::train
