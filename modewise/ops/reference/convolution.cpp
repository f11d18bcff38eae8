#include <ATen/Context.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/zeros.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/gradients.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {
namespace {

/// While alive, cuDNN computes float32 convolutions in float32: its default rounds their operands to TF32.
class ExactFloat32 {
 public:
  ExactFloat32() { set(at::Float32Precision::IEEE); }
  ~ExactFloat32() { set(before_); }
  ExactFloat32(const ExactFloat32&) = delete;
  ExactFloat32& operator=(const ExactFloat32&) = delete;

 private:
  static void set(at::Float32Precision precision) {
    at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::CONV, precision);
  }
  at::Float32Precision before_ =
      at::globalContext().float32Precision(at::Float32Backend::CUDA, at::Float32Op::CONV);
};

}  // namespace

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const std::optional<at::Tensor>& bias,
                       at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation) {
  const ExactFloat32 exact;
  // oneDNN's bfloat16 convolutions are wrong for some sizes on CPUs with AMX (torch 2.13: 2 rows, padding 1).
  const auto type = x.is_cpu() ? accumulate_type(x.scalar_type()) : x.scalar_type();
  const std::vector<int64_t> zeros(stride.size(), 0);
  const std::optional<at::Tensor> added = bias ? std::optional(bias->to(type)) : std::nullopt;
  return at::convolution(x.movedim(-1, 1).to(type), weight.to(type), added, stride, padding, dilation, false,
                         zeros, 1)
      .movedim(1, -1)
      .to(x.scalar_type())
      .contiguous();
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> convolution_backward(
    const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight, at::IntArrayRef stride,
    at::IntArrayRef padding, at::IntArrayRef dilation, bool x_wanted, bool weight_wanted, bool bias_wanted) {
  const ExactFloat32 exact;
  const auto bias = at::zeros({weight.size(0)}, weight.options());
  const auto out = gradients(
      [&](const Tensors& in) -> Tensors {
        return {reference::convolution(in[0], in[1], in[2], stride, padding, dilation)};
      },
      {x, weight, bias}, {grad}, {x_wanted, weight_wanted, bias_wanted});
  return {out[0], out[1], out[2]};
}

}  // namespace modewise::ops::reference
