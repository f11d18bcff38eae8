#pragma once
// Masks along one mode, given by name: none, causal, band:W.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

namespace modewise::nn {

/// "" if `name` is none, causal or band:W with an integer W ≥ 0; else what is expected.
std::string mode_mask_fault(const std::string& name);

/// [size, size] bool on `device`, true = may attend: causal, position i attends to 0 … i; band:W, to i − W …
/// i + W; none, no mask.
std::optional<at::Tensor> mode_mask(const std::string& name, int64_t size, at::Device device);

}  // namespace modewise::nn
