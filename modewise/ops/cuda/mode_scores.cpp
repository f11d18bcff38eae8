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
constexpr int64_t kWidestHead = 128, kFewScores = int64_t{1} << 23;

struct ScoreTile {
  int64_t queries, keys, warps;
};

bool narrow(const at::Tensor& q) {
  return q.scalar_type() == at::kBFloat16;
}

/// Keys of a tile that the registers hold.
int64_t max_keys(const at::Tensor& q) {
  return narrow(q) ? 64 : 32;
}

Launch score_launch(const char* kernel, std::vector<at::Tensor> tensors, const at::Tensor& q, int64_t heads,
                    ScoreTile tile) {
  const int64_t d = q.size(2) / heads;
  return {.kernel = kernel,
          .tensors = std::move(tensors),
          .numbers = {1 / std::sqrt(static_cast<double>(d))},
          .constants = {{"ROWS", tile.queries},
                        {"COLS", tile.keys},
                        {"D", cuda::tile(d)},
                        {"WIDE", q.scalar_type() == at::kDouble},
                        {"num_warps", tile.warps},
                        {"num_stages", 1}}};
}

void add_sizes(Launch& to, const at::Tensor& q, const at::Tensor& k, int64_t heads) {
  to.sizes = {heads, q.size(1), k.size(1), q.size(2) / heads};
}

}  // namespace

std::string mode_scores_refuses(const at::Tensor& q, const at::Tensor& k, int64_t heads, const Mask& key_mask,
                                const Mask& mode_mask) {
  if (q.size(2) / heads > kWidestHead) return "takes heads of at most 128 channels";
  if (q.is_cuda() && !key_mask && !mode_mask && q.size(0) * heads * q.size(1) * k.size(1) < kFewScores)
    return "takes masks or at least 2^23 scores: libtorch computes fewer in less time than a launch takes";
  return launch_refuses(q);
}

at::Tensor mode_scores(const at::Tensor& queries, const at::Tensor& keys, int64_t heads, const Mask& key_mask,
                       const Mask& mode_mask) {
  const auto q = dense_channels(queries), k = dense_channels(keys);
  const int64_t batch = q.size(0), n = q.size(1), m = k.size(1);
  const auto out = at::empty({batch, heads, n, m}, q.options());
  const ScoreTile tile = narrow(q) && m > 32
                             ? ScoreTile{64, 64, 8}
                             : ScoreTile{16, std::min<int64_t>(cuda::tile(m), 32), narrow(q) ? 4 : 8};
  auto seen = q, seen_by = q;  // not read
  if (key_mask) seen = (key_mask->dim() == 2 ? key_mask->unsqueeze(1) : *key_mask).expand({batch, heads, m});
  if (mode_mask) seen_by = *mode_mask;
  Launch call = score_launch("mode_scores", {q, k, seen, seen_by, out}, q, heads, tile);
  add_strides(call, q, 2);
  add_strides(call, k, 2);
  add_strides(call, seen, 3);
  add_strides(call, seen_by, 2);
  add_strides(call, out, 3);
  add_sizes(call, q, k, heads);
  call.constants.emplace_back("KEYS", key_mask.has_value());
  call.constants.emplace_back("MODES", mode_mask.has_value());
  launch(call, out.numel() == 0 ? 0 : batch * heads * count_tiles(n, tile.queries));
  return out;
}

std::string mode_scores_backward_refuses(const at::Tensor&, const at::Tensor&, const at::Tensor& q,
                                         const at::Tensor&, int64_t heads) {
  return q.size(2) / heads > kWidestHead ? "takes heads of at most 128 channels" : launch_refuses(q);
}

std::tuple<at::Tensor, at::Tensor> mode_scores_backward(const at::Tensor& grad, const at::Tensor& scores,
                                                        const at::Tensor& queries, const at::Tensor& keys,
                                                        int64_t heads) {
  const auto q = dense_channels(queries), k = dense_channels(keys);
  const int64_t batch = q.size(0), n = q.size(1), m = k.size(1);
  const auto of_q = at::empty(q.sizes(), q.options()), of_k = at::empty(k.sizes(), k.options());
  const auto run = [&](const char* kernel, const std::vector<at::Tensor>& matrices, const at::Tensor& means,
                       ScoreTile tile, int64_t programs) {
    Launch call = score_launch(kernel, {grad, scores}, q, heads, tile);
    for (const at::Tensor& x : call.tensors) add_strides(call, x, 4);
    for (const at::Tensor& x : matrices) {
      call.tensors.push_back(x);
      add_strides(call, x, 2);
    }
    if (means.defined()) call.tensors.push_back(means);
    add_sizes(call, q, k, heads);
    launch(call, q.size(2) == 0 ? 0 : batch * heads * programs);
  };
  if (std::max(n, m) <= max_keys(q)) {
    run("mode_scores_backward", {q, k, of_q, of_k}, {}, {tile(n), tile(m), 8}, 1);
  } else {
    const ScoreTile tile = {std::min(cuda::tile(n), max_keys(q) / 2), std::min(cuda::tile(m), max_keys(q)),
                            8};
    const auto means = at::empty({batch, heads, n}, q.options().dtype(accumulate_type(q.scalar_type())));
    run("mode_scores_backward_queries", {k, of_q}, means, tile, count_tiles(n, tile.queries));
    run("mode_scores_backward_keys", {q, of_k}, means, tile, count_tiles(m, tile.keys));
  }
  return {of_q, of_k};
}

}  // namespace modewise::ops::cuda
