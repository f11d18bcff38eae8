#pragma once
// Threads beside the training thread.

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace modewise::train {

/// A thread that takes no signals, which are for the training thread, and whose loops run on one core: a
/// second pool of threads would slow the training step down.
std::thread side_thread(std::function<void()> work);

/// Jobs that one thread does in the order in which they are given.
class OrderedJobs {
 public:
  OrderedJobs();
  /// Waits for the job under way, drops what waits.
  ~OrderedJobs();
  OrderedJobs(const OrderedJobs&) = delete;
  OrderedJobs& operator=(const OrderedJobs&) = delete;

  void give(std::function<void()> job);
  /// Returns when all are done. Throws what one of them threw; then those behind it were not begun, and no
  /// later one will be.
  void wait();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable may_run_, may_return_;
  std::deque<std::function<void()>> queue_;  // the first is under way
  std::exception_ptr error_;
  bool stop_ = false;
  std::thread thread_;  // last: starts when the rest stands
};

}  // namespace modewise::train
