// Blocks of elements, one thread per block; the block sums are added pairwise.

#include <ATen/core/Tensor.h>
#include <ATen/ops/scalar_tensor.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/row_tasks.h"
#include "modewise/ops/kernel_list.h"
#include "modewise/ops/pairwise_sum.h"
#include "modewise/ops/reference/reference.h"
#include "modewise/ops/training/sum_of_squares_checks.h"

namespace modewise::ops {

namespace {

constexpr int64_t kSquaresBlock = 4096;
constexpr int64_t kSquaresLanes = 8;

template <class T>
double block_of_squares(const T* x, int64_t n) {
  std::array<double, kSquaresLanes> lanes{};
  int64_t i = 0;
  for (; i + kSquaresLanes <= n; i += kSquaresLanes)
    for (int64_t lane = 0; lane < kSquaresLanes; ++lane) {
      const double v = static_cast<double>(x[i + lane]);
      lanes[static_cast<size_t>(lane)] += v * v;
    }
  for (; i < n; ++i)
    lanes[static_cast<size_t>(i % kSquaresLanes)] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  for (size_t half = kSquaresLanes / 2; half > 0; half /= 2)
    for (size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  return lanes[0];
}

template <class T>
double squares_of(const at::Tensor& x) {
  const int64_t n = x.numel(), blocks = (n + kSquaresBlock - 1) / kSquaresBlock;
  std::vector<double> sums(static_cast<size_t>(blocks));
  const T* data = x.const_data_ptr<T>();
  for_tasks(blocks, kSquaresBlock, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b)
      sums[static_cast<size_t>(b)] =
          block_of_squares(data + b * kSquaresBlock, std::min(kSquaresBlock, n - b * kSquaresBlock));
  });
  return pairwise_sum(sums);
}

at::Tensor sum_of_squares_blocks(const at::Tensor& x) {
  const auto wide = x.to(accumulate_type(x.scalar_type())).contiguous();
  const double sum = wide.scalar_type() == at::kDouble ? squares_of<double>(wide) : squares_of<float>(wide);
  return at::scalar_tensor(sum, x.options().dtype(at::kDouble));
}

const KernelList<at::Tensor(const at::Tensor&)> squares_kernels(
    "sum_of_squares", {{"blocks", decltype(squares_kernels)::takes_all, sum_of_squares_blocks},
                       {"reference", decltype(squares_kernels)::takes_all, reference::sum_of_squares}});

at::Tensor sum_of_squares_checked(const at::Tensor& x) {
  check_sum_of_squares_args(x);
  return squares_kernels.run(x.device(), x);
}

}  // namespace

TORCH_LIBRARY_IMPL(modewise, CompositeExplicitAutograd, m) {
  m.impl("sum_of_squares", sum_of_squares_checked);
}

}  // namespace modewise::ops
