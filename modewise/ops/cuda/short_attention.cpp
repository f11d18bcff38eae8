#include "modewise/ops/cuda/short_attention.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "modewise/ops/cpu/dense_channels.h"
#include "modewise/ops/cuda/launch.h"

namespace modewise::ops::cuda {
namespace {

using Mask = std::optional<at::Tensor>;

/// Longer sequences are faster in libtorch's fused kernels. Exact float32 products need many registers.
constexpr int64_t kLongest = 64, kLongestFloat = 32, kWidest = 128;

/// Queries of a tile of the gradients, which take more registers than the forward pass.
constexpr int64_t kGradientRows = 32;

Launch arguments(const char* kernel, const std::vector<at::Tensor>& inputs, const Mask& mask,
                 const std::vector<at::Tensor>& results, int64_t rows, bool causal, double scale) {
  const at::Tensor &q = inputs[0], &k = inputs[1], &v = inputs[2];
  Launch out{.kernel = kernel, .tensors = inputs};
  for (const at::Tensor& x : inputs) add_strides(out, x, 3);
  const at::Tensor allowed = mask ? mask->expand({q.size(0), q.size(2), q.size(1), k.size(1)}) : q;
  out.tensors.push_back(allowed);
  add_strides(out, allowed, 4);
  for (const at::Tensor& x : results) {
    out.tensors.push_back(x);
    add_strides(out, x, 3);
  }
  const int64_t n = q.size(1), m = k.size(1), d = q.size(3), e = v.size(3);
  out.sizes = {q.size(2), q.size(2) / k.size(2), q.size(2) / v.size(2), n, m};
  out.numbers = {scale};
  const bool large = std::max(n, m) > 32 && std::max(d, e) > 64;
  out.constants = {{"ROWS", rows},
                   {"COLS", tile(m)},
                   {"D", tile(d)},
                   {"E", tile(e)},
                   {"HEAD", d},
                   {"VALUE", e},
                   {"CAUSAL", causal},
                   {"MASKED", mask.has_value()},
                   {"WIDE", q.scalar_type() == at::kDouble},
                   {"num_warps", large || q.scalar_type() != at::kBFloat16 ? 8
                                 : std::max(n, m) > 16                     ? 4
                                                                           : 2},
                   {"num_stages", 1}};
  return out;
}

}  // namespace

std::string short_attention_refuses(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const Mask&, bool, double) {
  if (auto reason = launch_refuses(q); !reason.empty()) return reason;
  const int64_t n = std::max(q.size(1), k.size(1)), d = std::max(q.size(3), v.size(3));
  if (n > kLongest || d > kWidest) return "takes at most 64 tokens and heads of at most 128 channels";
  if (n > kLongestFloat && q.scalar_type() == at::kFloat) return "takes at most 32 tokens in float32";
  if (k.size(2) != v.size(2) && q.size(2) != v.size(2))
    return "takes as many heads of values as of keys or of queries";
  return k.size(1) == 0 ? "takes at least one key" : "";
}

at::Tensor short_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const Mask& mask,
                           bool causal, double scale) {
  const auto out = at::empty({q.size(0), q.size(1), q.size(2), v.size(3)}, q.options());
  launch(arguments("short_attention", {dense_channels(q), dense_channels(k), dense_channels(v)}, mask, {out},
                   tile(q.size(1)), causal, scale),
         out.numel() == 0 ? 0 : q.size(0) * q.size(2));
  return out;
}

std::string short_attention_backward_refuses(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                                             const at::Tensor& v, const Mask& mask, bool causal,
                                             double scale) {
  if (grad.numel() == 0) return "takes at least one gradient";
  if (q.scalar_type() == at::kFloat)
    return "takes bfloat16";  // exact float32 products do not fit the registers
  return short_attention_refuses(q, k, v, mask, causal, scale);
}

std::tuple<at::Tensor, at::Tensor, at::Tensor> short_attention_backward(const at::Tensor& grad,
                                                                        const at::Tensor& q,
                                                                        const at::Tensor& k,
                                                                        const at::Tensor& v, const Mask& mask,
                                                                        bool causal, double scale) {
  const auto like = [](const at::Tensor& x) { return at::empty(x.sizes(), x.options()); };
  const auto of_q = like(q), of_k = like(k), of_v = like(v);
  Launch call = arguments("short_attention_backward",
                          {dense_channels(q), dense_channels(k), dense_channels(v), dense_channels(grad)},
                          mask, {of_q, of_k, of_v}, std::min(tile(q.size(1)), kGradientRows), causal, scale);
  call.constants.insert(call.constants.end() - 2,
                        {{"SHARED", k.size(2) == v.size(2)}, {"maxnreg", kMaxRegisters}});
  launch(call, k.size(0) * k.size(2));
  return {of_q, of_k, of_v};
}

}  // namespace modewise::ops::cuda
