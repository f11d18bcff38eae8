#include "modewise/train/distributed/process_group.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <torch/csrc/distributed/c10d/GroupRegistry.hpp>
#include <utility>
#include <vector>

#include "modewise/core/error.h"

namespace modewise::train {
namespace {

/// All-reduce by recursive halving and doubling (Rabenseifner's algorithm with doubling distances) between
/// ranks that differ in one bit: reduce-scatter with the nearest ranks first, then all-gather in reverse.
/// Each process sends 2 (size − 1) / size of the values, the minimum possible; every element is summed along
/// the tree (0 + 1) + (2 + 3), ….
class GroupWorkers final : public Workers {
 public:
  explicit GroupWorkers(c10::intrusive_ptr<c10d::ProcessGroup> group) : group_(std::move(group)) {}

  int64_t rank() const override { return group_->getRank(); }
  int64_t size() const override { return group_->getSize(); }
  Traffic traffic() const override { return traffic_; }
  void set_timeout(std::chrono::milliseconds timeout) override { group_->setTimeout(timeout); }

  void all_reduce_sum(at::Tensor& values) override {
    if (!values.device().is_cpu()) return all_reduce_on_device(values);
    at::Tensor flat = values.contiguous().view(-1);
    std::vector<std::pair<int64_t, int64_t>> ranges = {
        {0, flat.numel()}};  // this rank's range after each halving
    for (int64_t distance = 1; distance < size(); distance *= 2) {
      const auto [first, last] = ranges.back();
      const int64_t middle = first + (last - first) / 2;
      const bool lower = (rank() & distance) == 0;
      const auto mine = lower ? std::pair(first, middle) : std::pair(middle, last);
      const auto theirs = lower ? std::pair(middle, last) : std::pair(first, middle);
      at::Tensor kept = part(flat, mine), received = at::empty_like(kept);
      exchange(rank() ^ distance, part(flat, theirs), received);
      kept.add_(received);
      ranges.push_back(mine);
    }
    for (int64_t distance = size() / 2; distance > 0; distance /= 2) {
      const auto mine = ranges.back();
      ranges.pop_back();
      const auto [first, last] = ranges.back();
      const auto theirs = mine.first == first ? std::pair(mine.second, last) : std::pair(first, mine.first);
      exchange(rank() ^ distance, part(flat, mine), part(flat, theirs));
    }
    values = flat.view(values.sizes());
  }

  int64_t all_reduce_max(int64_t value) override {
    for (int64_t distance = 1; distance < size(); distance *= 2) {
      at::Tensor received = at::empty({1}, at::kLong);
      exchange(rank() ^ distance, at::full({1}, value, at::kLong), received);
      value = std::max(value, received.item<int64_t>());
    }
    return value;
  }

  void send(const at::Tensor& tensor, int64_t to) override {
    at::Tensor header = at::zeros({kHeader}, at::kLong);
    int64_t* numbers = header.mutable_data_ptr<int64_t>();
    require(tensor.dim() <= kHeader - 2, ErrorKind::internal, "cannot send a tensor of {} axes",
            tensor.dim());
    numbers[0] = static_cast<int64_t>(tensor.scalar_type());
    numbers[1] = tensor.dim();
    std::copy(tensor.sizes().begin(), tensor.sizes().end(), numbers + 2);
    exchange(to, header, at::empty({0}));
    exchange(to, tensor.contiguous().cpu(), at::empty({0}));
  }

  at::Tensor receive(int64_t from) override {
    at::Tensor header = at::empty({kHeader}, at::kLong);
    exchange(from, at::empty({0}), header);
    const int64_t* numbers = header.const_data_ptr<int64_t>();
    at::Tensor tensor = at::empty(at::IntArrayRef(numbers + 2, static_cast<size_t>(numbers[1])),
                                  static_cast<at::ScalarType>(numbers[0]));
    exchange(from, at::empty({0}), tensor);
    return tensor;
  }

 private:
  static constexpr int64_t kHeader = 10;  // type, number of axes, sizes

  static at::Tensor part(const at::Tensor& flat, const std::pair<int64_t, int64_t>& range) {
    return flat.narrow(0, range.first, range.second - range.first);
  }

  /// By the device's own backend (NCCL), whose sum has an order of its own; else by the CPU's tree.
  void all_reduce_on_device(at::Tensor& values) {
    if (!group_->hasBackendForDeviceType(values.device().type())) {
      at::Tensor sum = values.cpu();
      all_reduce_sum(sum);
      values.copy_(sum);
      return;
    }
    values = values.contiguous();
    communicate("add tensors on " + values.device().str() + " with the other processes", values.nbytes(),
                [&] {
                  std::vector<at::Tensor> all = {values};
                  group_->allreduce(all)->wait();
                });
  }

  /// Send and receive with rank `other`; both sides agree on the sizes. Empty tensors are not sent.
  void exchange(int64_t other, at::Tensor sent, at::Tensor received) {
    communicate(
        fmt::format("reach process {}, which has exited, hangs, or waits for another that does", other),
        sent.nbytes(), [&] {
          std::vector<at::Tensor> out = {sent}, in = {received};
          const auto to = static_cast<int>(other);
          c10::intrusive_ptr<c10d::Work> sending, receiving;
          if (sent.numel() > 0) sending = group_->send(out, to, 0);
          if (received.numel() > 0) receiving = group_->recv(in, to, 0);
          if (sending) sending->wait();
          if (receiving) receiving->wait();
        });
  }

  /// Counts the traffic of `work`; if it fails, this process "cannot `aim`".
  template <class Work>
  void communicate(const std::string& aim, size_t bytes, const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      work();
    } catch (const std::exception& error) {
      const std::string text = error.what();
      fail(ErrorKind::general, "process {} of {} cannot {} ({})", rank(), size(), aim,
           text.substr(0, text.find('\n')));
    }
    traffic_.bytes += static_cast<int64_t>(bytes);
    traffic_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  const c10::intrusive_ptr<c10d::ProcessGroup> group_;
  Traffic traffic_;
};

}  // namespace

std::unique_ptr<Workers> process_group(const std::string& name) {
  auto group = c10d::resolve_process_group(name);
  require(std::has_single_bit(static_cast<uint64_t>(group->getSize())), ErrorKind::usage,
          "the number of processes must be a power of two (1, 2, 4, 8, …), got {}", group->getSize());
  // Processes may read their data for different times; an exited one is detected at once.
  group->setTimeout(std::chrono::minutes(30));
  return std::make_unique<GroupWorkers>(std::move(group));
}

}  // namespace modewise::train
