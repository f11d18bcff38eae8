#include "modewise/nn/attention/attention_matrix.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>

#include <algorithm>

#include "modewise/nn/layers/linear.h"
#include "modewise/ops/accumulate_type.h"

namespace modewise::nn {
namespace {

/// Columns computed at once: the operators pad queries and keys to the width of the values.
constexpr int64_t kColumnsAtOnce = 256;

}  // namespace

at::Tensor attention_matrix(const at::Tensor& q, const std::function<at::Tensor(const at::Tensor&)>& attend) {
  const int64_t batch = q.size(0), n = q.size(1), heads = q.size(2);
  const at::Tensor unit = at::eye(n, q.options());
  std::vector<at::Tensor> columns;
  for (int64_t begin = 0; begin < n; begin += kColumnsAtOnce) {
    const int64_t count = std::min(kColumnsAtOnce, n - begin);
    columns.push_back(attend(unit.narrow(1, begin, count)
                                 .reshape({1, n, 1, count})
                                 .expand({batch, n, heads, count})
                                 .contiguous()));
  }
  return at::cat(columns, -1).transpose(1, 2).contiguous();
}

at::Tensor attention_matrix(const at::Tensor& q, const at::Tensor& k,
                            const ops::TensorAttentionOptions& options, const at::Tensor& latents,
                            const ops::RotaryEmbedding& rotary) {
  const at::ScalarType type = ops::accumulate_type(q.scalar_type());
  const at::Tensor queries = q.to(type), keys = k.to(type), pooling = cast_like(latents, queries);
  const int64_t repeats = q.size(2) / k.size(2);
  return attention_matrix(queries, [&](const at::Tensor& values) {
    const at::Tensor of_keys = repeats == 1 ? values : values.narrow(2, 0, k.size(2)).contiguous();
    return ops::tensor_attention(queries, keys, of_keys, options, pooling, rotary);
  });
}

}  // namespace modewise::nn
