#pragma once
// Workers as threads of one process, with all-reduce sums along the tree, written as the recursive
// definition.

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <barrier>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "modewise/train/distributed/workers.h"

namespace modewise::train {

class ThreadGroup {
 public:
  explicit ThreadGroup(int64_t size)
      : brought_(static_cast<size_t>(size)), numbers_(static_cast<size_t>(size)), all_here_(size) {}

  /// Runs work(workers) on all ranks concurrently.
  void run(const std::function<void(Workers&)>& work) {
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < brought_.size(); ++rank)
      threads.emplace_back([this, rank, &work] {
        One one(*this, rank);
        work(one);
      });
    for (std::thread& thread : threads) thread.join();
  }

 private:
  class One final : public Workers {
   public:
    One(ThreadGroup& group, size_t rank) : group_(group), rank_(rank) {}
    int64_t rank() const override { return static_cast<int64_t>(rank_); }
    int64_t size() const override { return static_cast<int64_t>(group_.brought_.size()); }
    void all_reduce_sum(at::Tensor& values) override {
      group_.brought_[rank_] = values.clone();
      group_.all_here_.arrive_and_wait();
      values.copy_(group_.sum(0, group_.brought_.size()));
      group_.all_here_.arrive_and_wait();
    }
    int64_t all_reduce_max(int64_t value) override {
      group_.numbers_[rank_] = value;
      group_.all_here_.arrive_and_wait();
      value = *std::max_element(group_.numbers_.begin(), group_.numbers_.end());
      group_.all_here_.arrive_and_wait();
      return value;
    }
    void send(const at::Tensor& tensor, int64_t to) override {
      const std::lock_guard lock(group_.mutex_);
      group_.on_their_way_[{rank(), to}].push(tensor.clone());
      group_.sent_.notify_all();
    }
    at::Tensor receive(int64_t from) override {
      std::unique_lock lock(group_.mutex_);
      std::queue<at::Tensor>& arriving = group_.on_their_way_[{from, rank()}];
      group_.sent_.wait(lock, [&] { return !arriving.empty(); });
      at::Tensor tensor = arriving.front();
      arriving.pop();
      return tensor;
    }

   private:
    ThreadGroup& group_;
    size_t rank_;
  };

  at::Tensor sum(size_t first, size_t last) const {
    if (last - first == 1) return brought_[first].clone();
    const size_t middle = (first + last) / 2;
    return sum(first, middle) + sum(middle, last);
  }

  std::vector<at::Tensor> brought_;
  std::vector<int64_t> numbers_;
  std::barrier<> all_here_;
  std::mutex mutex_;
  std::condition_variable sent_;
  std::map<std::pair<int64_t, int64_t>, std::queue<at::Tensor>> on_their_way_;  // from, to
};

}  // namespace modewise::train
