#pragma once
// Argument checks of language_loss, and the operator behind it.

#include <ATen/core/Tensor.h>

#include <tuple>

namespace modewise::ops {

/// `op` is the operator's name in the messages.
void check_language_loss_args(const char* op, const at::Tensor& hidden, const at::Tensor& head,
                              const at::Tensor& targets, int64_t chunk);

/// (loss, its gradient in hidden, its gradient in head); those not asked for are empty.
std::tuple<at::Tensor, at::Tensor, at::Tensor> language_loss_gradients(const at::Tensor& hidden,
                                                                       const at::Tensor& head,
                                                                       const at::Tensor& targets,
                                                                       int64_t chunk, bool hidden_wanted,
                                                                       bool head_wanted);

}  // namespace modewise::ops
