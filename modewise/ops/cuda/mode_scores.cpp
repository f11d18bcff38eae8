#include "modewise/ops/cuda/mode_scores.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cpu/dense_channels.h"
#include "modewise/ops/cuda/launch.h"

namespace modewise::ops::cuda {
namespace {

using Mask = std::optional<at::Tensor>;

/// A program holds the channels of a head.
constexpr int64_t kWidestHead = 128;

/// Tiles of ROWS queries and COLS keys; n, m, d and the scale.
void add_score_sizes(Launch& to, const at::Tensor& q, const at::Tensor& k, int64_t heads, int64_t rows,
                     int64_t cols) {
  const int64_t d = q.size(2) / heads;
  to.sizes = {heads, q.size(1), k.size(1), d};
  to.numbers = {1 / std::sqrt(static_cast<double>(d))};
  to.constants = {{"ROWS", rows},   {"COLS", cols},
                  {"D", tile(d)},   {"WIDE", q.scalar_type() == at::kDouble},
                  {"num_warps", 4}, {"num_stages", 2}};
}

/// Queries or keys of a tile.
int64_t scores_tile(const at::Tensor& x, int64_t most) {
  return std::min(tile(x.size(1)), x.scalar_type() == at::kBFloat16 ? most : most / 2);
}

}  // namespace

std::string mode_scores_refuses(const at::Tensor& q, const at::Tensor&, int64_t heads, const Mask&,
                                const Mask&) {
  if (q.size(2) / heads > kWidestHead) return "takes heads of at most 128 channels";
  return launch_refuses(q);
}

at::Tensor mode_scores(const at::Tensor& queries, const at::Tensor& keys, int64_t heads, const Mask& key_mask,
                       const Mask& mode_mask) {
  const auto q = dense_channels(queries), k = dense_channels(keys);
  const int64_t batch = q.size(0), n = q.size(1), m = k.size(1);
  const auto out = at::empty({batch, heads, n, m}, q.options());
  const int64_t rows = scores_tile(q, 32), cols = scores_tile(k, 128);
  auto seen = q, seen_by = q;  // not read
  if (key_mask) seen = (key_mask->dim() == 2 ? key_mask->unsqueeze(1) : *key_mask).expand({batch, heads, m});
  if (mode_mask) seen_by = *mode_mask;
  Launch call{.kernel = "mode_scores", .tensors = {q, k, seen, seen_by, out}};
  add_strides(call, q, 2);
  add_strides(call, k, 2);
  add_strides(call, seen, 3);
  add_strides(call, seen_by, 2);
  add_score_sizes(call, q, k, heads, rows, cols);
  call.constants.emplace_back("KEYS", key_mask.has_value());
  call.constants.emplace_back("MODES", mode_mask.has_value());
  launch(call, out.numel() == 0 ? 0 : batch * heads * count_tiles(n, rows));
  return out;
}

std::string mode_scores_backward_refuses(const at::Tensor&, const at::Tensor&, const at::Tensor& q,
                                         const at::Tensor& k, int64_t heads) {
  return mode_scores_refuses(q, k, heads, {}, {});
}

std::tuple<at::Tensor, at::Tensor> mode_scores_backward(const at::Tensor& grad, const at::Tensor& scores,
                                                        const at::Tensor& queries, const at::Tensor& keys,
                                                        int64_t heads) {
  const auto q = dense_channels(queries), k = dense_channels(keys);
  const int64_t batch = q.size(0), n = q.size(1), m = k.size(1);
  const auto of_q = at::empty(q.sizes(), q.options()), of_k = at::empty(k.sizes(), k.options());
  const int64_t rows = scores_tile(q, 32), cols = scores_tile(k, 128);
  const bool whole = m <= cols && of_k.numel() > 0;
  const auto means =
      whole ? q : at::empty({batch, heads, n}, q.options().dtype(accumulate_type(q.scalar_type())));
  if (!whole) {
    Launch call{.kernel = "mode_scores_backward_queries", .tensors = {grad, scores, k, of_q, means}};
    add_strides(call, grad, 4);
    add_strides(call, scores, 4);
    add_strides(call, k, 2);
    add_strides(call, of_q, 2);
    add_score_sizes(call, q, k, heads, rows, cols);
    launch(call, of_q.numel() == 0 ? 0 : batch * heads * count_tiles(n, rows));
  }
  Launch call{.kernel = "mode_scores_backward", .tensors = {grad, scores, q, k, of_q, of_k, means}};
  add_strides(call, grad, 4);
  add_strides(call, scores, 4);
  for (const at::Tensor& x : {q, k, of_q, of_k}) add_strides(call, x, 2);
  add_score_sizes(call, q, k, heads, rows, cols);
  call.constants.emplace_back("WHOLE", whole);
  launch(call, of_k.numel() == 0 ? 0 : batch * heads * count_tiles(m, cols));
  return {of_q, of_k};
}

}  // namespace modewise::ops::cuda
