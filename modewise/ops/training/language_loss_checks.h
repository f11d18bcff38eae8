#pragma once
// Argument checks of language_loss, and its operator with gradients.

#include <ATen/core/Tensor.h>

#include <tuple>

namespace modewise::ops {

/// `op` is the operator's name in error messages.
void check_language_loss_args(const char* op, const at::Tensor& hidden, const at::Tensor& head,
                              const at::Tensor& targets, int64_t chunk);

/// (loss, gradient of hidden, gradient of head); gradients that are not requested are empty.
std::tuple<at::Tensor, at::Tensor, at::Tensor> language_loss_gradients(const at::Tensor& hidden,
                                                                       const at::Tensor& head,
                                                                       const at::Tensor& targets,
                                                                       int64_t chunk, bool hidden_wanted,
                                                                       bool head_wanted);

}  // namespace modewise::ops
