#pragma once
// Linear layer over the last dimension. Master weights stay float32 (or float64) and are cast to the
// activation's dtype on use.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "modewise/nn/initializer.h"

namespace modewise::nn {

class Linear : public torch::nn::Module {
 public:
  /// Weight [out, in] and bias [out] uniform in ±1/√in (PyTorch's default: Kaiming, a = √5).
  Linear(Initializer& init, int64_t in, int64_t out, bool bias = true);
  /// Without bias; weight normal with mean 0 and standard deviation `stddev`.
  Linear(Initializer& init, int64_t in, int64_t out, double stddev);

  /// [..., in] -> [..., out]
  at::Tensor forward(const at::Tensor& x) const;

  const at::Tensor& weight() const { return weight_; }
  const at::Tensor& bias() const { return bias_; }
  /// Sets weight and bias to 0, for zero-initialized branches.
  void set_to_zero();

 private:
  at::Tensor weight_, bias_;
};

/// Applies several layers without biases to `x`. Many rows: one product with the concatenated weights; few
/// rows (incremental decoding): one product per layer, so that no weight is copied.
std::vector<at::Tensor> joint_linear(const at::Tensor& x, std::initializer_list<const Linear*> layers);

/// Casts `parameter` to the dtype of `like`; undefined stays undefined.
at::Tensor cast_like(const at::Tensor& parameter, const at::Tensor& like);

}  // namespace modewise::nn
