#pragma once
// Argument checks of summary_step and summary_join, and conversion of their dispatcher arguments.

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>

#include <optional>
#include <vector>

#include "modewise/ops/attention/summary_step.h"

namespace modewise::ops {

void check_summary_step_args(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& rotated, const KeyRows& ring, const KeyRows& first,
                             const std::vector<VisibleSummaries>& summaries, const PartialBlocks& open,
                             const RotaryEmbedding& rotary, const StepOptions& options);
void check_summary_join_args(const char* op, const KeyRows& rows, const PartialBlocks& open);

using OptionalTensor = std::optional<at::Tensor>;

/// Builds OpenBlocks from the flat arguments of summary_step's schema.
inline PartialBlocks partial_blocks(const OptionalTensor& latents, const OptionalTensor& high,
                                    const OptionalTensor& total, const OptionalTensor& sum_keys,
                                    const OptionalTensor& sum_values) {
  const auto or_none = [](const OptionalTensor& tensor) { return tensor.value_or(at::Tensor()); };
  return {or_none(latents), or_none(high), or_none(total), or_none(sum_keys), or_none(sum_values)};
}

inline std::vector<VisibleSummaries> visible_summaries(at::TensorList keys, at::TensorList values,
                                                       at::IntArrayRef places, at::ArrayRef<double> excess) {
  TORCH_CHECK_VALUE(
      values.size() == keys.size() && places.size() == keys.size() && excess.size() == keys.size(),
      "summary_step: slot_values, places and excess must have one entry per level like slot_keys, ",
      keys.size(), ", got ", values.size(), ", ", places.size(), " and ", excess.size());
  std::vector<VisibleSummaries> summaries;
  for (size_t l = 0; l < keys.size(); ++l) summaries.push_back({{keys[l], values[l]}, places[l], excess[l]});
  return summaries;
}

}  // namespace modewise::ops
