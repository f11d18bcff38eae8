#pragma once
// The affine map of the last dimension. Weights stay float32 (or float64); they are cast to the activation's
// dtype where they are used.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

class Linear : public torch::nn::Module {
 public:
  /// Weight [out, in] and bias [out] uniform in ±1/√in (torch's default: Kaiming, a = √5).
  Linear(Initializer& init, int64_t in, int64_t out, bool bias = true);
  /// Without bias, weight normal with mean 0 and this deviation.
  Linear(Initializer& init, int64_t in, int64_t out, double stddev);

  /// [..., in] -> [..., out]
  at::Tensor forward(const at::Tensor& x) const;

  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }
  /// Weight and bias 0, for branches that start silent.
  void set_to_zero();

 private:
  at::Tensor weight_, bias_;
};

/// The maps of `x` by several layers without biases. For many rows one product of the joined weights, for few
/// (a text being generated) one a layer, so that no weight is copied.
std::vector<at::Tensor> joint_linear(const at::Tensor& x, std::initializer_list<const Linear*> layers);

/// `parameter` in the dtype of `like`; undefined stays undefined.
at::Tensor cast_like(const at::Tensor& parameter, const at::Tensor& like);

}  // namespace modewise::nn
