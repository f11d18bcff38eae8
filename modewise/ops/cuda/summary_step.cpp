#include "modewise/ops/cuda/summary_step.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <limits>

#include "modewise/ops/cpu/dense_channels.h"
#include "modewise/ops/cuda/launch.h"

namespace modewise::ops::cuda {
namespace {

/// Levels are separate tensors, and a kernel has a fixed number of them.
constexpr size_t kStepLevels = 3;
constexpr int64_t kStepWidth = 128, kStepSummaries = 32, kStepRows = 32;

/// Widths and their tiles; the tile of a partial block's summary tokens, 0 without one.
std::vector<std::pair<std::string, int64_t>> step_constants(const at::Tensor& k, const at::Tensor& v,
                                                            const PartialBlocks& open) {
  return {{"D", k.size(3)},
          {"E", v.size(3)},
          {"HALF", tile((k.size(3) + 1) / 2)},
          {"WIDTH", tile(v.size(3))},
          {"SUMMARIES", open.used() ? tile(open.latents.size(1)) : 0},
          {"WIDE", k.scalar_type() == at::kDouble},
          {"num_warps", 8},
          {"maxnreg", kMaxRegisters}};
}

std::string step_refuses(const at::Tensor& k, const at::Tensor& v, const PartialBlocks& open) {
  if (auto reason = launch_refuses(k); !reason.empty()) return reason;
  if (std::max(k.size(3), v.size(3)) > kStepWidth) return "takes heads of at most 128 channels";
  if (open.used() && open.latents.size(1) > kStepSummaries)
    return "takes at most 32 summary tokens of a block";
  return "";
}

}  // namespace

std::string summary_step_refuses(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const at::Tensor&, const KeyRows&, const KeyRows&,
                                 const std::vector<VisibleSummaries>& summary_tokens,
                                 const PartialBlocks& open, const RotaryEmbedding&,
                                 const StepOptions& options) {
  if (summary_tokens.size() > kStepLevels) return "takes at most 3 levels of blocks";
  if (q.size(1) > options.window) return "takes at most as many tokens as the window has";
  if (options.first + q.size(1) > std::numeric_limits<int32_t>::max() / 2)
    return "takes fewer than 2^30 tokens";
  return step_refuses(k, v, open);
}

at::Tensor summary_step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const at::Tensor& rotated, const KeyRows& ring, const KeyRows& first,
                        const std::vector<VisibleSummaries>& summary_tokens, const PartialBlocks& open,
                        const RotaryEmbedding& rotary, const StepOptions& options) {
  const int64_t tokens = q.size(1), groups = k.size(2), sinks = first.keys.size(1);
  const auto out = options.attends ? at::empty({q.size(0), tokens, q.size(2), v.size(3)}, q.options())
                                   : at::empty({0}, q.options());
  const auto gain = [&](size_t level) {
    return rotary.used() ? rotary.gain(static_cast<int64_t>(level)) : 1.0;
  };
  const at::Tensor frequencies = rotary.used() ? dense_channels(rotary.frequencies) : q;
  const VisibleSummaries none{.rows = {ring.keys.narrow(1, 0, 0), ring.values.narrow(1, 0, 0)}};
  const auto level = [&](size_t l) { return l < summary_tokens.size() ? summary_tokens[l] : none; };
  Launch call{.kernel = "summary_step",
              .tensors = {q, k, v, rotated, ring.keys, ring.values, first.keys, first.values}};
  for (size_t l = 0; l < kStepLevels; ++l)
    call.tensors.insert(call.tensors.end(), {level(l).rows.keys, level(l).rows.values});
  call.tensors.push_back(frequencies);
  for (const at::Tensor& x : {open.latents, open.high, open.total, open.keys, open.values})
    call.tensors.push_back(open.used() ? x : q);
  call.tensors.push_back(out);
  for (const KeyRows& rows : {ring, first, level(0).rows, level(1).rows, level(2).rows}) {
    add_strides(call, rows.keys, 1);
    add_strides(call, rows.values, 1);
  }
  add_strides(call, frequencies, 1);
  call.sizes = {groups,
                q.size(2) / groups,
                tokens,
                options.first,
                options.window,
                sinks,
                rotary.used() ? frequencies.size(0) : 1};
  call.numbers = {options.scale * gain(0), options.scale * gain(0) * gain(0)};
  for (size_t l = 0; l < kStepLevels; ++l) call.sizes.push_back(level(l).rows.keys.size(1));
  for (size_t l = 0; l < kStepLevels; ++l) call.sizes.push_back(level(l).place);
  call.sizes.push_back(open.used() ? open.latents.size(1) : 0);
  for (size_t l = 0; l < kStepLevels; ++l) call.numbers.push_back(options.scale * gain(l + 1));
  for (size_t l = 0; l < kStepLevels; ++l) call.numbers.push_back(level(l).excess);
  const bool narrow = q.element_size() == 2, wide = k.size(3) > 64;
  const int64_t rows = std::min(tile(tokens * q.size(2) / groups), kStepRows);
  call.constants = step_constants(k, v, open);
  call.constants.insert(call.constants.end(), {{"ROWS", rows},
                                               {"COLS", narrow      ? wide ? 32 : 64
                                                        : rows > 16 ? 16
                                                                    : 32},
                                               {"ATTENDS", options.attends},
                                               {"num_stages", 2},
                                               {"ROTARY", rotary.used()}});
  launch(call, tokens == 0 ? 0 : q.size(0) * groups);
  return out;
}

std::string summary_join_refuses(const KeyRows& rows, const PartialBlocks& open) {
  return step_refuses(rows.keys, rows.values, open);
}

void summary_join(const KeyRows& rows, const PartialBlocks& open) {
  const at::Tensor &k = rows.keys, &v = rows.values;
  Launch call{.kernel = "summary_join",
              .tensors = {k, v, open.latents, open.high, open.total, open.keys, open.values},
              .sizes = {k.size(2), k.size(1), open.latents.size(1)},
              .constants = step_constants(k, v, open)};
  call.constants.emplace_back("num_stages", 1);
  launch(call, k.numel() == 0 ? 0 : k.size(0) * k.size(2));
}

}  // namespace modewise::ops::cuda
