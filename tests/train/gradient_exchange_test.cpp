#include "modewise/train/distributed/gradient_exchange.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>

#include "modewise/core/error.h"
#include "modewise/core/random.h"
#include "tests/error_of.h"
#include "thread_group.h"

namespace modewise::train {
namespace {

/// Two workers where the other one has the same values; records the number of elements of each message.
class Twins final : public Workers {
 public:
  /// With a given order of rank 0, this worker is another rank.
  explicit Twins(std::vector<int64_t> order_of_rank_zero = {}) : order_(std::move(order_of_rank_zero)) {}
  int64_t rank() const override { return order_.empty() ? 0 : 1; }
  int64_t size() const override { return 2; }
  void all_reduce_sum(at::Tensor& values) override {
    if (failing) throw std::runtime_error("the other has ended");
    if (values.scalar_type() == at::kLong) {  // the order
      EXPECT_EQ(order_.empty(), values.ne(0).any().item<bool>());
      if (!order_.empty()) values.copy_(at::tensor(order_));
      return;
    }
    values.mul_(2);
    lengths.push_back(values.numel());
    ++sent;
  }
  int64_t all_reduce_max(int64_t value) override { return value; }

  std::vector<int64_t> lengths;
  std::atomic<int> sent = 0;
  std::atomic<bool> failing = false;

 private:
  const std::vector<int64_t> order_;
};

void wait_for(const std::function<bool()>& condition) {
  for (int i = 0; i < 5000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

std::vector<at::Tensor> tensors_of(const std::vector<int64_t>& lengths) {
  std::vector<at::Tensor> out;
  for (const int64_t length : lengths) out.push_back(at::zeros({length}));
  return out;
}

constexpr int64_t kMessage = (1 << 20) / 4;  // floats

TEST(GradientExchange, HasTheBitsOfTheTreeInAnyOrder) {
  std::vector<at::Tensor> like;
  for (const int64_t length : {1, 3, 17, 65}) like.push_back(at::empty({length, 5}).t());  // non-contiguous
  like.push_back(at::empty({kMessage + 7}));  // more than a message
  like.push_back(at::empty({31, 33}, at::kDouble));
  like.push_back(at::empty({0}));
  like.push_back(at::empty({63}));
  const auto value = [&](size_t index, int64_t rank, int step) {
    if (index == 2 || (index == 3 && rank % 2 == 1) || (index == 7 && rank == step)) return at::Tensor();
    at::Tensor out = at::empty_like(like[index]);
    const RandomStream stream{static_cast<uint64_t>(rank), RandomSite::weights,
                              10 * static_cast<uint64_t>(step) + index};
    at::Tensor flat = at::empty({out.numel()}, at::kDouble);
    for (int64_t i = 0; i < flat.numel(); ++i)
      flat.mutable_data_ptr<double>()[i] = stream.normal(static_cast<uint64_t>(i)) * 1e3;
    return out.copy_(flat.view(out.sizes()));
  };
  for (const int64_t size : {2, 4, 8}) {
    ThreadGroup(size).run([&](Workers& workers) {
      GradientExchange exchange(workers, like);
      std::vector<size_t> order(like.size());
      std::iota(order.begin(), order.end(), size_t{0});
      std::mt19937 shuffle(static_cast<uint32_t>(workers.rank()));
      for (int step = 0; step < 3; ++step) {
        std::shuffle(order.begin(), order.end(), shuffle);
        for (const size_t index : order) exchange.bring(index, value(index, workers.rank(), step));
        const std::vector<at::Tensor> sums = exchange.take();
        for (size_t index = 0; index < like.size(); ++index) {
          std::vector<at::Tensor> level;
          for (int64_t rank = 0; rank < size; ++rank) {
            level.push_back(value(index, rank, step));
            if (!level.back().defined()) level.back() = at::zeros_like(like[index]);
          }
          for (; level.size() > 1; level.resize(level.size() / 2))
            for (size_t i = 0; i < level.size() / 2; ++i) level[i] = level[2 * i] + level[2 * i + 1];
          ASSERT_EQ(sums[index].defined(), index != 2);
          if (index == 2) continue;
          EXPECT_TRUE(sums[index].equal(level[0])) << index << " of " << size << " at " << step;
        }
      }
    });
  }
}

TEST(GradientExchange, SendsWhatIsCompleteWhileTheRestIsMade) {
  Twins workers;
  GradientExchange exchange(workers, tensors_of({kMessage / 2, kMessage / 2, kMessage, 10}));
  exchange.bring(1, at::full({kMessage / 2}, 1.0f));
  exchange.bring(2, at::full({kMessage}, 2.0f));
  EXPECT_EQ(workers.sent, 0);  // the last tensor is sent first, alone: the next one fills a message
  exchange.bring(3, at::full({10}, 3.0f));
  wait_for([&] { return workers.sent == 2; });
  EXPECT_EQ(workers.sent, 2);
  exchange.bring(0, at::Tensor());
  const std::vector<at::Tensor> sums = exchange.take();
  EXPECT_FALSE(sums[0].defined());
  for (const size_t i : {1, 2, 3}) EXPECT_EQ(sums[i][0].item<float>(), 2 * static_cast<float>(i));
  // Each message ends with one number per tensor.
  EXPECT_THAT(workers.lengths, testing::ElementsAre(11, kMessage + 1, kMessage + 2));
}

TEST(GradientExchange, KeepsToTheOrderInWhichRankZeroHadTheTensors) {
  const auto lengths_of = [](Twins& workers, const std::vector<size_t>& first,
                             const std::vector<size_t>& second) {
    GradientExchange exchange(workers, tensors_of({kMessage, 3 * kMessage, 2 * kMessage}));
    for (const std::vector<size_t>& order : {first, second}) {
      for (const size_t index : order) exchange.bring(index, at::Tensor());
      exchange.take();
    }
    return workers.lengths;
  };
  const std::vector<int64_t> wanted = {
      2 * kMessage + 1, 3 * kMessage + 1, kMessage + 1,       // last tensors first
      3 * kMessage + 1, kMessage + 1,     2 * kMessage + 1};  // in rank 0's order
  Twins rank_zero, follower({1, 0, 2});
  EXPECT_EQ(lengths_of(rank_zero, {1, 0, 2}, {2, 0, 1}), wanted);
  EXPECT_EQ(lengths_of(follower, {2, 1, 0}, {0, 1, 2}), wanted);
}

TEST(GradientExchange, ThrowsWhatTheWorkersThrowAndSendsNoMore) {
  Twins workers;
  GradientExchange exchange(workers, tensors_of({kMessage, kMessage}));
  workers.failing = true;
  exchange.bring(1, at::zeros({kMessage}));
  exchange.bring(0, at::zeros({kMessage}));
  EXPECT_EQ(exception_of<std::runtime_error>([&] { exchange.take(); }), "the other has ended");
  EXPECT_EQ(workers.sent, 0);
}

TEST(GradientExchange, AsksForEachTensorOnce) {
  GradientExchange exchange(single_process(), tensors_of({2, 3}));
  exchange.bring(1, at::full({3}, 7.0f));
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { exchange.bring(1, at::full({3}, 7.0f)); }),
            "tensor 1 was added twice in one step");
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { exchange.take(); }), "1 of a step's 2 tensors were added");
  exchange.bring(0, at::Tensor());
  const std::vector<at::Tensor> sums = exchange.take();
  EXPECT_FALSE(sums[0].defined());
  EXPECT_EQ(sums[1][2].item<float>(), 7);
  EXPECT_FALSE(exchange.brought(1));
}

}  // namespace
}  // namespace modewise::train
