#include "modewise/train/loop/prefetcher.h"

#include <utility>

#include "modewise/train/distributed/side_thread.h"

namespace modewise::train {

Prefetcher::Prefetcher(Load load, int64_t first, int64_t last, int64_t capacity)
    : load_(std::move(load)),
      capacity_(static_cast<size_t>(capacity)),
      thread_(side_thread([this, first, last] { run(first, last); })) {}

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  may_push_.notify_all();
  thread_.join();
}

void Prefetcher::run(int64_t first, int64_t last) {
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
