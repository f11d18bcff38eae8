#include "modewise/ops/cuda/mode_product.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/sum.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <initializer_list>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dense_channels.h"
#include "modewise/ops/cuda/launch.h"

namespace modewise::ops::cuda {
namespace {

/// Programs among which mode_contract splits its sums (a fixed number, so that every GPU adds in one order),
/// and the tiles of columns of each at least.
constexpr int64_t kPrograms = 1024, kMinTiles = 4;

struct ProductTile {
  int64_t rows, depth, cols, warps, stages;
};

/// x [B, N_1 … N_k, D] as [B, before, N, after, D], the modes before and after `mode` joined (a copy if they
/// have no common stride). Of a first mode, those after it are in `before`, too.
at::Tensor as_fibres(const at::Tensor& x, int64_t mode) {
  const int64_t before = c10::multiply_integers(x.sizes().slice(1, mode));
  const int64_t after = c10::multiply_integers(x.sizes().slice(mode + 2, x.dim() - mode - 3));
  const auto joined = dense_channels(x.reshape({x.size(0), before, x.size(mode + 1), after, x.size(-1)}));
  return before == 1 ? joined.transpose(1, 3) : joined;
}

std::vector<std::pair<std::string, int64_t>> product_constants(const at::Tensor& x, int64_t head,
                                                               const ProductTile& tile) {
  return {{"HEAD", head},
          {"ROWS", tile.rows},
          {"DEPTH", tile.depth},
          {"COLS", tile.cols},
          {"WIDE", x.scalar_type() == at::kDouble},
          {"num_warps", tile.warps},
          {"num_stages", tile.stages}};
}

/// Distance of the first and last number of x[0], or of the matrices of a factor.
int64_t extent(const at::Tensor& x, int64_t dims) {
  int64_t last = 0;
  for (int64_t i = x.dim() - dims; i < x.dim(); ++i) last += (x.size(i) - 1) * x.stride(i);
  return x.numel() == 0 ? 0 : last;
}

/// Offsets inside a sample are int32.
std::string offsets_refuse(const at::Tensor& x, std::initializer_list<int64_t> extents) {
  if (std::max(extents) >= int64_t{1} << 30) return "takes samples of fewer than 2^30 numbers";
  return launch_refuses(x);
}

}  // namespace

std::string mode_product_refuses(const at::Tensor& x, const at::Tensor& factor, int64_t mode) {
  const int64_t cells = x.numel() / std::max<int64_t>(x.size(0) * x.size(mode + 1), 1);
  return offsets_refuse(x, {extent(x, x.dim() - 1), extent(factor, 2), cells * factor.size(-2)});
}

at::Tensor mode_product(const at::Tensor& x, const at::Tensor& factor, int64_t mode) {
  auto sizes = x.sizes().vec();
  const int64_t rows = factor.size(-2), depth = factor.size(-1),
                heads = factor.dim() == 2 ? 1 : factor.size(1);
  sizes[static_cast<size_t>(mode) + 1] = rows;
  const auto out = at::empty(sizes, x.options());
  const auto in = as_fibres(x, mode), to = as_fibres(out, mode);
  const auto a = factor.expand({x.size(0), heads, rows, depth});
  const int64_t head = x.size(-1) / heads, columns = in.size(1) * in.size(3) * head;
  const bool narrow = x.scalar_type() == at::kBFloat16, split = factor.scalar_type() != x.scalar_type();
  const int64_t max_tile = !narrow ? 16 : split || rows > 64 ? 32 : 64;
  const ProductTile tile = {.rows = std::min<int64_t>(cuda::tile(rows), narrow ? 128 : 64),
                            .depth = std::min(cuda::tile(depth), max_tile),
                            .cols = narrow ? 128 : 64,
                            .warps = rows > 32 ? 8 : 4,
                            .stages = depth > max_tile ? 3 : 1};
  Launch call{
      .kernel = "mode_product", .tensors = {in, a, to}, .constants = product_constants(x, head, tile)};
  for (const at::Tensor& t : {in, to, a}) add_strides(call, t, 4);
  call.sizes = {heads, in.size(1), rows, depth, in.size(3)};
  call.constants.emplace_back("PARTS", split ? 3 : 1);
  launch(call, out.numel() == 0
                   ? 0
                   : x.size(0) * heads * count_tiles(rows, tile.rows) * count_tiles(columns, tile.cols));
  return out;
}

std::string mode_contract_refuses(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t) {
  return offsets_refuse(
      x, {extent(a, a.dim() - 1), extent(x, x.dim() - 1), a.size(mode + 1) * x.size(mode + 1)});
}

at::Tensor mode_contract(const at::Tensor& a, const at::Tensor& x, int64_t mode, int64_t heads) {
  const int64_t batch = x.size(0), groups = std::max<int64_t>(heads, 1), head = x.size(-1) / groups;
  const auto left = as_fibres(a, mode), right = as_fibres(x, mode);
  const int64_t rows = left.size(2), depth = right.size(2), columns = right.size(1) * right.size(3) * head;
  const bool narrow = x.scalar_type() == at::kBFloat16;
  const bool odd = head % 8 != 0;  // its offsets take more registers
  const int64_t max_tile = !narrow ? 32 : odd ? 64 : 128;
  const bool large = odd || std::max(rows, depth) > 64;
  const ProductTile tile = {.rows = std::min(cuda::tile(rows), max_tile),
                            .depth = std::min(cuda::tile(depth), max_tile),
                            .cols = !narrow ? 32
                                    : large ? 64
                                            : 128,
                            .warps = rows > 64 && depth > 64 ? 8 : 4,
                            .stages = 3};
  const int64_t blocks = batch * groups * count_tiles(rows, tile.rows) * count_tiles(depth, tile.depth);
  const int64_t splits =
      std::clamp<int64_t>(kPrograms / std::max<int64_t>(blocks, 1), 1,
                          std::max<int64_t>(count_tiles(columns, kMinTiles * tile.cols), 1));
  const auto sums =
      at::empty({batch, groups, splits, rows, depth}, x.options().dtype(accumulate_type(x.scalar_type())));
  Launch call{.kernel = "mode_contract",
              .tensors = {left, right, sums},
              .constants = product_constants(x, head, tile)};
  add_strides(call, left, 4);
  add_strides(call, right, 4);
  call.sizes = {groups, right.size(1), rows, depth, right.size(3), splits};
  launch(call, sums.numel() == 0 ? 0 : splits * blocks);
  const auto total = heads == 0 ? sums.sum(at::IntArrayRef{0, 1, 2}) : sums.sum(2);
  return total.to(x.scalar_type());
}

}  // namespace modewise::ops::cuda
