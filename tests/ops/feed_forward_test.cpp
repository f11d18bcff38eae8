#include "modewise/ops/dense/feed_forward.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "modewise/ops/dense/feed_forward_checks.h"
#include "modewise/ops/kernel_info.h"
#include "tests/ops/tensors.h"

namespace modewise::ops {
namespace {

/// Counts the bytes of tensors allocated during its lifetime.
class CountingAllocator : public c10::Allocator {
 public:
  CountingAllocator() : inner_(c10::GetCPUAllocator()) { c10::SetCPUAllocator(this, 100); }
  ~CountingAllocator() override { c10::SetCPUAllocator(inner_, 100); }
  CountingAllocator(const CountingAllocator&) = delete;

  c10::DataPtr allocate(size_t bytes) override {
    total_ += bytes;
    return inner_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_->raw_deleter(); }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    inner_->copy_data(to, from, bytes);
  }

  size_t take() { return total_.exchange(0); }

 private:
  c10::Allocator* inner_;
  std::atomic<size_t> total_ = 0;
};

constexpr int64_t kRows = 6000, kWidth = 16, kHidden = 256;

FeedForwardWeights swiglu_weights() {
  return {random_tensor({kHidden, kWidth}, at::kFloat, 2),
          random_tensor({kWidth, kHidden}, at::kFloat, 3),
          random_tensor({kHidden, kWidth}, at::kFloat, 4),
          {},
          {}};
}

TEST(FeedForward, HoldsNoHiddenActivationsOfAllRows) {
  const at::NoGradGuard no_grad;
  const at::Tensor x = random_tensor({kRows, kWidth}, at::kFloat);
  const FeedForwardWeights weights = swiglu_weights();
  feed_forward(x, weights);
  CountingAllocator counter;
  const at::Tensor out = feed_forward(x, weights);
  ASSERT_EQ(last_kernel("feed_forward"), "blocks");
  const size_t packed = 3 * 4 * kWidth * (kHidden + 64);  // whole panels of three weights
  EXPECT_LT(counter.take(), out.nbytes() + 3 * packed);
}

TEST(FeedForward, KeepsOnlyWhatTheMapsGave) {
  const at::Tensor x = random_tensor({kRows, kWidth}, at::kFloat);
  const FeedForwardWeights weights = swiglu_weights();
  const auto [out, kept] = feed_forward_kept(x, weights, 0, {});
  EXPECT_EQ(kept.sizes(), (std::vector<int64_t>{kRows, 2 * kHidden}));
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  CountingAllocator counter;
  const auto gradients =
      feed_forward_backward(out, x, kept, weights, 0, {}, {true, true, true, true, false, false});
  at::set_num_threads(threads);
  ASSERT_EQ(last_kernel("feed_forward_backward"), "blocks");
  // The gradients themselves, and sums over parts of the rows: far below one [rows, hidden].
  EXPECT_LT(counter.take(), static_cast<size_t>(kRows * kHidden * 4 / 2));
  EXPECT_EQ(std::get<0>(gradients).sizes(), x.sizes());
  EXPECT_EQ(std::get<4>(gradients).numel(), 0);
}

TEST(FeedForward, KeepsTheSameBitsWhetherAGradientIsWantedOrNot) {
  const FeedForwardWeights weights = swiglu_weights();
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const at::Tensor x = random_tensor({kRows, kWidth}, type);
    const at::Tensor alone = feed_forward(x, weights, 0.25, {1, 2, 16});
    const auto [out, kept] = feed_forward_kept(x, weights, 0.25, {1, 2, 16});
    EXPECT_TRUE(at::equal(alone, out));
    EXPECT_EQ(kept.scalar_type(), type);
  }
}

}  // namespace
}  // namespace modewise::ops
