#include "modewise/nn/layers/convolution.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/max_pool3d.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <cmath>

#include "modewise/ops/dense/convolution.h"

namespace modewise::nn {
namespace {

/// [B, N_1 … N_k, C] as [B, C, N_1 … N_k], without a copy.
at::Tensor channels_first(const at::Tensor& x) {
  return x.movedim(-1, 1);
}
at::Tensor channels_last(const at::Tensor& x) {
  return x.movedim(1, -1);
}

}  // namespace

Convolution::Convolution(Initializer& init, int64_t modes, int64_t in, int64_t out, int64_t kernel,
                         int64_t stride, int64_t padding, bool bias, double gain, KernelAxes axes)
    : stride_(static_cast<size_t>(modes), stride),
      padding_(static_cast<size_t>(modes), padding),
      axes_(axes) {
  TORCH_CHECK_VALUE(axes == KernelAxes::all || (modes == 3 && 2 * padding + 1 == kernel),
                    "convolution: kernels over two axes need 3 modes and padding kernel / 2, got ", modes,
                    " modes, kernel ", kernel, " and padding ", padding);
  std::vector<int64_t> sizes{out, in};
  sizes.insert(sizes.end(), static_cast<size_t>(axes == KernelAxes::planes ? 2 : modes), kernel);
  if (axes == KernelAxes::slices) sizes[2] = 1, padding_[0] = 0;
  double fan = static_cast<double>(out);
  for (size_t i = 2; i < sizes.size(); ++i) fan *= static_cast<double>(sizes[i]);
  weight_ = register_parameter("weight", init.normal(sizes, std::sqrt(gain / fan)));
  if (bias) bias_ = register_parameter("bias", at::zeros({out}));
}

at::Tensor Convolution::forward(const at::Tensor& x) const {
  if (axes_ == KernelAxes::planes) return planes(x);
  return ops::convolution(x, weight_, bias_, stride_, padding_, std::vector<int64_t>(stride_.size(), 1));
}

at::Tensor Convolution::planes(const at::Tensor& x) const {
  const int64_t out = weight_.size(0);
  std::vector<at::Tensor> parts;
  for (int64_t axis = 0, first = 0; axis < 3; ++axis) {
    const int64_t channels = out / 3 + (axis < out % 3 ? 1 : 0);
    if (channels == 0) break;
    std::vector<int64_t> padding = padding_;
    padding[static_cast<size_t>(axis)] = 0;
    const at::Tensor weight = weight_.narrow(0, first, channels).unsqueeze(2 + axis);
    const at::Tensor bias = bias_.defined() ? bias_.narrow(0, first, channels) : bias_;
    parts.push_back(ops::convolution(x, weight, bias, stride_, padding, {1, 1, 1}));
    first += channels;
  }
  return at::cat(parts, -1);
}

at::Tensor max_pool(const at::Tensor& x, int64_t kernel, int64_t stride, int64_t padding) {
  const auto modes = static_cast<size_t>(x.dim() - 2);
  const std::vector<int64_t> kernels(modes, kernel), strides(modes, stride), paddings(modes, padding);
  const at::Tensor input = channels_first(x.contiguous());
  return channels_last(modes == 2 ? at::max_pool2d(input, kernels, strides, paddings)
                                  : at::max_pool3d(input, kernels, strides, paddings))
      .contiguous();
}

at::Tensor repeat_places(const at::Tensor& x, int64_t factor) {
  std::vector<int64_t> apart{x.size(0)}, wide{x.size(0)}, out{x.size(0)};
  for (int64_t mode = 1; mode + 1 < x.dim(); ++mode) {
    apart.insert(apart.end(), {x.size(mode), 1});
    wide.insert(wide.end(), {x.size(mode), factor});
    out.push_back(x.size(mode) * factor);
  }
  for (auto* sizes : {&apart, &wide, &out}) sizes->push_back(x.size(-1));
  return x.reshape(apart).expand(wide).reshape(out);
}

}  // namespace modewise::nn
