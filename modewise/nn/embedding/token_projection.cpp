#include "modewise/nn/embedding/token_projection.h"

#include <c10/util/Exception.h>

#include <cmath>

#include "modewise/nn/layers/linear.h"
#include "modewise/ops/dense/mode_product.h"

namespace modewise::nn {

at::Tensor initial_projection(Initializer& init, int64_t projected, int64_t tokens) {
  return init.normal({projected, tokens}, 1 / std::sqrt(static_cast<double>(tokens)));
}

at::Tensor projected_tokens(const at::Tensor& tokens, const at::Tensor& projection,
                            const std::optional<at::Tensor>& mask) {
  const int64_t n = tokens.size(1);
  TORCH_CHECK_VALUE(n <= projection.size(1), "linformer built for ", projection.size(1),
                    " tokens takes at most as many, got ", n);
  const at::Tensor rows = mask ? tokens.masked_fill(mask->logical_not().unsqueeze(-1), 0) : tokens;
  return ops::mode_product(rows, cast_like(projection.narrow(1, 0, n), rows), 0);
}

}  // namespace modewise::nn
