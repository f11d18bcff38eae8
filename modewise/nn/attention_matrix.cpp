#include "modewise/nn/attention_matrix.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>

#include <algorithm>

#include "modewise/nn/linear.h"
#include "modewise/ops/accumulate_type.h"

namespace modewise::nn {
namespace {

/// Columns made at once: forms pad queries and keys to the width of the values.
constexpr int64_t kColumnsAtOnce = 256;

}  // namespace

at::Tensor attention_matrix(const at::Tensor& q, const at::Tensor& k,
                            const ops::TensorAttentionOptions& options, const at::Tensor& latents,
                            const ops::RotaryCode& rotary) {
  const at::ScalarType type = ops::accumulate_type(q.scalar_type());
  const at::Tensor queries = q.to(type), keys = k.to(type), pooling = cast_like(latents, queries);
  const int64_t batch = k.size(0), n = k.size(1), heads = k.size(2);
  const at::Tensor unit = at::eye(n, queries.options());
  std::vector<at::Tensor> columns;
  for (int64_t begin = 0; begin < n; begin += kColumnsAtOnce) {
    const int64_t count = std::min(kColumnsAtOnce, n - begin);
    const at::Tensor values =
        unit.narrow(1, begin, count).reshape({1, n, 1, count}).expand({batch, n, heads, count}).contiguous();
    columns.push_back(ops::tensor_attention(queries, keys, values, options, pooling, rotary));
  }
  return at::cat(columns, -1).transpose(1, 2).contiguous();
}

}  // namespace modewise::nn
