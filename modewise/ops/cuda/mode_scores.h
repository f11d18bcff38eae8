#pragma once
// mode_scores by Triton kernels: logits and masks stay in the registers of a program.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

namespace modewise::ops::cuda {

/// Arguments as those of the operators (attention/mode_scores.h).
std::string mode_scores_refuses(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                                const std::optional<at::Tensor>& key_mask,
                                const std::optional<at::Tensor>& mode_mask);
at::Tensor mode_scores(const at::Tensor& q, const at::Tensor& k, int64_t heads,
                       const std::optional<at::Tensor>& key_mask, const std::optional<at::Tensor>& mode_mask);
std::string mode_scores_backward_refuses(const at::Tensor& grad, const at::Tensor& scores,
                                         const at::Tensor& q, const at::Tensor& k, int64_t heads);
std::tuple<at::Tensor, at::Tensor> mode_scores_backward(const at::Tensor& grad, const at::Tensor& scores,
                                                        const at::Tensor& q, const at::Tensor& k,
                                                        int64_t heads);

}  // namespace modewise::ops::cuda
