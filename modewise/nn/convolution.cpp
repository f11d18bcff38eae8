#include "modewise/nn/convolution.h"

#include <ATen/Parallel.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/convolution.h>
#include <ATen/ops/convolution_backward.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/max_pool3d.h>
#include <ATen/ops/zeros.h>
#include <omp.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>

#include "modewise/nn/linear.h"

namespace modewise::nn {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t most_pieces = 16;

/// One thread for what libtorch and oneDNN start from here, also where they only ask how many there would be.
class OneThread {
 public:
  OneThread() {
    at::internal::lazy_init_num_threads();  // sets this thread's count when it is first asked
    before_ = omp_get_max_threads();
    omp_set_num_threads(1);
  }
  ~OneThread() { omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = 1;
};

struct Piece {
  int64_t begin, size;
};

/// At most 16 pieces of `batch` samples, equal but for the last ones.
std::vector<Piece> pieces_of(int64_t batch) {
  const int64_t count = std::min(batch, most_pieces);
  std::vector<Piece> pieces;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = i * batch / count;
    pieces.push_back({begin, (i + 1) * batch / count - begin});
  }
  return pieces;
}

void for_each_piece(const std::vector<Piece>& pieces, const std::function<void(size_t)>& work) {
  at::parallel_for(0, static_cast<int64_t>(pieces.size()), 1, [&](int64_t begin, int64_t end) {
    const OneThread one_thread;
    const at::AutoDispatchBelowADInplaceOrView below;
    for (int64_t i = begin; i < end; ++i) work(static_cast<size_t>(i));
  });
}

/// [B, N_1 … N_k, C] as [B, C, N_1 … N_k], without a copy.
at::Tensor channels_first(const at::Tensor& x) {
  return x.movedim(-1, 1);
}
at::Tensor channels_last(const at::Tensor& x) {
  return x.movedim(1, -1);
}

/// The parts added as a balanced tree.
at::Tensor tree_sum(std::vector<at::Tensor> parts) {
  while (parts.size() > 1) {
    std::vector<at::Tensor> next;
    for (size_t i = 0; i < parts.size(); i += 2)
      next.push_back(i + 1 < parts.size() ? parts[i].add_(parts[i + 1]) : parts[i]);
    parts = std::move(next);
  }
  return parts.front();
}

at::Tensor forward_in_pieces(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             at::IntArrayRef stride, at::IntArrayRef padding, at::IntArrayRef dilation) {
  const std::vector<int64_t> zeros(stride.size(), 0);
  const at::Tensor input = channels_first(x);
  const std::vector<Piece> pieces = pieces_of(x.size(0));
  const std::optional<at::Tensor> bias_or_none = bias.defined() ? std::optional(bias) : std::nullopt;
  std::vector<at::Tensor> parts(pieces.size());
  for_each_piece(pieces, [&](size_t i) {
    parts[i] = channels_last(at::convolution(input.narrow(0, pieces[i].begin, pieces[i].size), weight,
                                             bias_or_none, stride, padding, dilation, false, zeros, 1))
                   .contiguous();
  });
  return parts.size() == 1 ? parts.front() : at::cat(parts);
}

struct ConvolutionFunction : torch::autograd::Function<ConvolutionFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, const std::vector<int64_t>& stride,
                            const std::vector<int64_t>& padding, const std::vector<int64_t>& dilation) {
    const at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({x, weight});
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    context->saved_data["dilation"] = dilation;
    context->saved_data["bias"] = bias.has_value();
    return forward_in_pieces(x, cast_like(weight, x), bias ? cast_like(*bias, x) : at::Tensor(), stride,
                             padding, dilation);
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &weight = saved[1];
    const std::vector<int64_t> stride = context->saved_data["stride"].toIntVector(),
                               padding = context->saved_data["padding"].toIntVector(),
                               dilation = context->saved_data["dilation"].toIntVector();
    const std::vector<int64_t> zeros(stride.size(), 0);
    const bool wants_x = context->needs_input_grad(0);
    const at::Tensor input = channels_first(x), grad = channels_first(grads[0].contiguous()),
                     cast = cast_like(weight, x);
    const std::vector<Piece> pieces = pieces_of(x.size(0));
    std::vector<at::Tensor> grad_x(pieces.size()), grad_weight(pieces.size());
    for_each_piece(pieces, [&](size_t i) {
      const auto [to_x, to_weight, to_bias] = at::convolution_backward(
          grad.narrow(0, pieces[i].begin, pieces[i].size), input.narrow(0, pieces[i].begin, pieces[i].size),
          cast, at::OptionalIntArrayRef(), stride, padding, dilation, false, zeros, 1,
          {wants_x, true, false});
      if (wants_x) grad_x[i] = channels_last(to_x).contiguous();
      grad_weight[i] = to_weight.to(weight.scalar_type());
    });
    at::Tensor grad_bias;
    if (context->saved_data["bias"].toBool())
      grad_bias = grads[0].reshape({-1, grads[0].size(-1)}).to(weight.scalar_type()).sum(0);
    return {wants_x ? (grad_x.size() == 1 ? grad_x.front() : at::cat(grad_x)) : at::Tensor(),
            tree_sum(std::move(grad_weight)),
            grad_bias,
            {},
            {},
            {}};
  }
};

}  // namespace

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       const std::vector<int64_t>& stride, const std::vector<int64_t>& padding,
                       const std::vector<int64_t>& dilation) {
  return ConvolutionFunction::apply(x.contiguous(), weight,
                                    bias.defined() ? std::optional(bias) : std::nullopt, stride, padding,
                                    dilation.empty() ? std::vector<int64_t>(stride.size(), 1) : dilation);
}

Convolution::Convolution(Initializer& init, int64_t modes, int64_t in, int64_t out, int64_t kernel,
                         int64_t stride, int64_t padding, bool bias, double gain)
    : stride_(static_cast<size_t>(modes), stride), padding_(static_cast<size_t>(modes), padding) {
  std::vector<int64_t> sizes{out, in};
  sizes.insert(sizes.end(), static_cast<size_t>(modes), kernel);
  double fan = static_cast<double>(out);
  for (int64_t mode = 0; mode < modes; ++mode) fan *= static_cast<double>(kernel);
  weight_ = register_parameter("weight", init.normal(sizes, std::sqrt(gain / fan)));
  if (bias) bias_ = register_parameter("bias", at::zeros({out}));
}

at::Tensor Convolution::forward(const at::Tensor& x) const {
  return convolution(x, weight_, bias_, stride_, padding_);
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
