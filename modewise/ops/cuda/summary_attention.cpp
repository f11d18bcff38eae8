#include "modewise/ops/cuda/summary_attention.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/cuda/summary_tokens.h"

namespace modewise::ops::cuda {
namespace {

using Optional = std::optional<at::Tensor>;

/// Offsets in the rotary table have 32 bits.
constexpr int64_t kMaxSummaryChannels = 128, kMaxSummaryRows = int64_t{1} << 24;

}  // namespace

std::string summary_attention_refuses(const at::Tensor& q, const at::Tensor&, const at::Tensor& v,
                                      const Optional& latents, const SummaryOptions& options,
                                      const RotaryEmbedding&) {
  if (auto reason = launch_refuses(q); !reason.empty()) return reason;
  if (std::max(q.size(3), v.size(3)) > kMaxSummaryChannels) return "takes heads of at most 128 channels";
  int64_t rows = q.size(1);
  for (const FoldLevel& level : fold_levels(options.fold, q.size(1)))
    rows += level.finished * latents->size(2);
  return rows > kMaxSummaryRows ? "takes at most 2^24 tokens and summary tokens" : "";
}

std::tuple<at::Tensor, at::Tensor> summary_attention(const at::Tensor& q, const at::Tensor& k,
                                                     const at::Tensor& v, const Optional& latents,
                                                     const SummaryOptions& options,
                                                     const RotaryEmbedding& rotary) {
  const auto out = at::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, q.options());
  const auto sums =
      at::empty({q.size(0), q.size(2), q.size(1)}, q.options().dtype(accumulate_type(q.scalar_type())));
  if (sums.numel() == 0) return {out, sums};
  SummaryInputs in(q, k, v, latents, options, rotary);
  summarise(in);
  Launch call{
      .kernel = "summary_attention",
      .tensors = {in.q, in.k, in.v, in.rotated_keys, in.values, in.table, in.cosine, in.sine, out, sums}};
  for (const at::Tensor& x : {in.q, in.k, in.v}) add_strides(call, x, 3);
  call.sizes = {in.heads(),      in.heads() / in.groups(),
                in.n(),          in.window,
                in.sinks,        static_cast<int64_t>(in.levels.size()),
                in.first.back(), in.summaries,
                in.far};
  call.numbers = {options.scale};
  const bool narrow = q.element_size() == 2;
  const int64_t rows = narrow ? 64 : 32, widest = std::max(q.size(3), v.size(3));
  call.constants = in.constants();
  call.constants.insert(call.constants.end(), {{"BLOCK_M", rows},
                                               {"BLOCK_N", narrow && widest <= 64 ? 32 : 16},
                                               {"GIVEN", in.given},
                                               {"SINKS", in.sinks > 0},
                                               {"num_warps", 4},
                                               {"num_stages", 2}});
  launch(call, in.batch() * in.heads() * count_tiles(in.n(), rows));
  return {out, sums};
}

}  // namespace modewise::ops::cuda
