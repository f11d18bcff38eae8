#pragma once
// Incremental decoding of window, lambda and summary attention by a Triton kernel.

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "modewise/ops/attention/summary_step.h"

namespace modewise::ops::cuda {

/// Arguments as those of the operators (attention/summary_step.h).
std::string summary_step_refuses(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const at::Tensor& rotated, const KeyRows& ring, const KeyRows& first,
                                 const std::vector<VisibleSummaries>& summary_tokens,
                                 const PartialBlocks& open, const RotaryEmbedding& rotary,
                                 const StepOptions& options);
at::Tensor summary_step(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                        const at::Tensor& rotated, const KeyRows& ring, const KeyRows& first,
                        const std::vector<VisibleSummaries>& summary_tokens, const PartialBlocks& open,
                        const RotaryEmbedding& rotary, const StepOptions& options);

std::string summary_join_refuses(const KeyRows& rows, const PartialBlocks& open);
void summary_join(const KeyRows& rows, const PartialBlocks& open);

}  // namespace modewise::ops::cuda
