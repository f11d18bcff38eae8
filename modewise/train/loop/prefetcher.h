#pragma once
// Prefetcher: loads batches ahead on one thread, in order, into a bounded queue.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "modewise/train/loop/task.h"

namespace modewise::train {

class Prefetcher {
 public:
  using Load = std::function<std::unique_ptr<Batch>(int64_t index)>;

  /// Loads the batches first … last−1, with at most `capacity` queued. `load` runs on the loader thread only.
  Prefetcher(Load load, int64_t first, int64_t last, int64_t capacity);
  /// Waits for the running load and discards queued batches.
  ~Prefetcher();
  Prefetcher(const Prefetcher&) = delete;
  Prefetcher& operator=(const Prefetcher&) = delete;

  /// The next batch, or null after the last. Rethrows an exception of `load` in place of its batch; after it
  /// there are no more batches.
  std::unique_ptr<Batch> next();

 private:
  void run(int64_t first, int64_t last);

  struct Item {
    std::unique_ptr<Batch> batch;
    std::exception_ptr error;
  };
  Load load_;
  size_t capacity_;
  std::mutex mutex_;
  std::condition_variable may_push_, may_pop_;
  std::deque<Item> queue_;
  bool ended_ = false, stop_ = false;
  std::thread thread_;  // last: starts when the other members exist
};

}  // namespace modewise::train
