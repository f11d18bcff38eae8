#include "modewise/ops/cuda/mode_pool.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <c10/util/accumulate.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dense_channels.h"
#include "modewise/ops/cuda/launch.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::cuda {
namespace {

using Mask = std::optional<at::Tensor>;

/// Numbers of a tile, programs among which the positions before the last mode are split (fixed, so that every
/// GPU adds in one order), and positions of each.
constexpr int64_t kPoolTile = 4096, kPoolPrograms = 512, kMinPositions = 4;

/// x [B, N_1 … N_k, D] as [B, before, last, D].
struct PoolShape {
  int64_t batch, before, last, channels;
  int64_t width, tile, tiles;  // channels and positions of a tile, tiles of the last mode
  int64_t others, ranges;      // programs of a range of `before`, ranges

  explicit PoolShape(at::IntArrayRef x)
      : batch(x.front()),
        before(c10::multiply_integers(x.slice(1, x.size() - 3))),
        last(x[x.size() - 2]),
        channels(x.back()),
        width(std::min<int64_t>(cuda::tile(channels), 128)),
        tile(std::min(cuda::tile(last), kPoolTile / width)),
        tiles(count_tiles(last, tile)),
        others(batch * tiles * count_tiles(channels, width)),
        ranges(std::clamp<int64_t>(kPoolPrograms / others, 1, count_tiles(before, kMinPositions))) {}
};

/// Adds the mask, the sizes and the tile. `unread` takes the place of no mask.
void launch_pool(Launch call, const PoolShape& shape, const Mask& mask, const at::Tensor& unread) {
  call.tensors.push_back(mask ? mask->reshape({shape.batch, shape.before, shape.last}) : unread);
  add_strides(call, call.tensors.back(), 3);
  call.sizes = {shape.before, shape.last, shape.channels, shape.ranges};
  call.constants = {{"LAST", shape.tile},
                    {"WIDTH", shape.width},
                    {"MASKED", mask.has_value()},
                    {"WIDE", call.tensors[0].scalar_type() == at::kDouble},
                    {"num_warps", 8}};
  launch(call, shape.others * shape.ranges);
}

/// Divides the sums of a mode, in place, by the cells averaged. `valid`: the mask as numbers, if there is
/// one.
void average(at::Tensor& sums, at::IntArrayRef sizes, size_t mode, const at::Tensor& valid) {
  std::vector<int64_t> others;
  int64_t cells = 1;
  for (size_t i = 1; i + 1 < sizes.size(); ++i) {
    if (i == mode + 1) continue;
    others.push_back(static_cast<int64_t>(i));
    cells *= sizes[i];
  }
  if (valid.defined())
    sums.div_(valid.sum(others).clamp_min_(1).unsqueeze(-1));
  else
    sums.div_(cells);
}

/// The mask as numbers, if cells are to be counted.
at::Tensor counted(const Mask& mask, Pooling pooling, const at::TensorOptions& options) {
  return mask && pooling == Pooling::mean ? mask->to(options.dtype()) : at::Tensor();
}

std::string pool_refuses(int64_t modes, int64_t numbers) {
  return modes < 2 || numbers == 0 ? "takes at least two modes and one number" : "";
}

}  // namespace

std::string mode_pool_refuses(const at::Tensor& x, Pooling, const Mask& token_mask) {
  if (x.is_cuda() && !token_mask) return "without a mask libtorch's sums are as fast";
  const auto reason = pool_refuses(x.dim() - 2, x.numel());
  return reason.empty() ? launch_refuses(x) : reason;
}

std::vector<at::Tensor> mode_pool(const at::Tensor& x, Pooling pooling, const Mask& token_mask) {
  const PoolShape shape(x.sizes());
  const auto options = x.options().dtype(accumulate_type(x.scalar_type()));
  const auto in = dense_channels(x.reshape({shape.batch, shape.before, shape.last, shape.channels}));
  const auto rows = at::empty({shape.batch, shape.tiles, shape.before, shape.channels}, options);
  const auto columns = at::empty({shape.batch, shape.ranges, shape.last, shape.channels}, options);
  Launch call{.kernel = "mode_pool", .tensors = {in, rows, columns}};
  add_strides(call, in, 3);
  launch_pool(std::move(call), shape, token_mask, in);
  auto sizes = x.sizes().vec();
  sizes.erase(sizes.end() - 2);
  const auto valid = counted(token_mask, pooling, options);
  auto pooled = reference::mode_pool((shape.tiles == 1 ? rows : rows.sum(1)).view(sizes), Pooling::sum, {});
  pooled.push_back(columns.sum(1));
  for (size_t i = 0; i < pooled.size(); ++i) {
    if (pooling == Pooling::mean) average(pooled[i], x.sizes(), i, valid);
    pooled[i] = pooled[i].to(x.scalar_type());
  }
  return pooled;
}

std::string mode_pool_backward_refuses(at::TensorList grads, at::IntArrayRef sizes, Pooling, const Mask&) {
  const auto reason = pool_refuses(static_cast<int64_t>(grads.size()), c10::multiply_integers(sizes));
  return reason.empty() ? launch_refuses(grads[0]) : reason;
}

at::Tensor mode_pool_backward(at::TensorList grads, at::IntArrayRef sizes, Pooling pooling,
                              const Mask& token_mask) {
  const PoolShape shape(sizes);
  const auto options = grads[0].options().dtype(accumulate_type(grads[0].scalar_type()));
  const auto valid = counted(token_mask, pooling, options);
  std::vector<at::Tensor> shares;
  for (size_t i = 0; i < grads.size(); ++i) {
    shares.push_back(grads[i].to(options.dtype(), false, pooling == Pooling::mean));
    if (pooling == Pooling::mean) average(shares[i], sizes, i, valid);
  }
  const auto columns = shares.back().contiguous();
  shares.pop_back();
  auto row_sizes = sizes.vec();
  row_sizes.erase(row_sizes.end() - 2);
  const auto rows = reference::mode_pool_backward(shares, row_sizes, Pooling::sum, {});
  const auto out = at::empty(sizes, grads[0].options());
  launch_pool({.kernel = "mode_pool_backward", .tensors = {rows, columns, out}}, shape, token_mask, out);
  return out;
}

}  // namespace modewise::ops::cuda
