#include "modewise/ops/attention/kronecker_attention_checks.h"

#include <algorithm>
#include <cmath>

#include "modewise/ops/arguments.h"

namespace modewise::ops {

namespace {

void check_projection(const char* op, const char* name, const at::Tensor& weight, const at::Tensor& bias,
                      const at::Tensor& x, bool shared) {
  const auto width = x.sym_size(-1);
  const auto rows = shared ? width : width * (x.dim() - 2);
  TORCH_CHECK_VALUE(weight.defined(), op, ": ", name, "_weight must be given");
  check_same(op, name, weight, "x", x);
  TORCH_CHECK_VALUE(weight.dim() == 2 && weight.sym_size(0) == rows && weight.sym_size(1) == width, op, ": ",
                    name, "_weight must be [", rows, ", ", width, "] for x ", x.sym_sizes(),
                    shared ? " and shared modes" : "", ", got ", weight.sym_sizes());
  if (!bias.defined()) return;
  check_same(op, name, bias, "x", x);
  TORCH_CHECK_VALUE(bias.dim() == 1 && bias.sym_size(0) == rows, op, ": ", name, "_bias must be [", rows,
                    "] for x ", x.sym_sizes(), ", got ", bias.sym_sizes());
}

void check_norm(const char* op, const char* name, const at::Tensor& weight, const at::Tensor& x,
                int64_t heads) {
  if (!weight.defined()) return;
  check_floating(op, name, weight);
  check_device(op, name, weight, "x", x);
  TORCH_CHECK_VALUE(weight.dim() == 1 && weight.sym_size(0) * heads == x.sym_size(-1), op, ": ", name,
                    " must be [", x.sym_size(-1) / heads, "] for x ", x.sym_sizes(), " and ", heads,
                    " heads, got ", weight.sym_sizes());
}

void check_modes(const char* op, const char* name, const std::vector<int64_t>& modes, const at::Tensor& x) {
  for (size_t i = 0; i < modes.size(); ++i) {
    TORCH_CHECK_VALUE(modes[i] >= 0 && modes[i] < x.dim() - 2, op, ": ", name, " must be in 0 … ",
                      x.dim() - 3, " for x ", x.sym_sizes(), ", got ", modes[i]);
    TORCH_CHECK_VALUE(std::count(modes.begin(), modes.end(), modes[i]) == 1, op, ": ", name,
                      " must not repeat a mode, got ", modes[i], " twice");
  }
}

void check_mode_masks(const char* op, const std::vector<std::optional<at::Tensor>>& masks,
                      const at::Tensor& x) {
  const auto modes = static_cast<size_t>(x.dim()) - 2;
  TORCH_CHECK_VALUE(masks.empty() || masks.size() == modes, op,
                    ": mode_masks must be empty or one per mode, ", modes, ", got ", masks.size());
  for (size_t i = 0; i < masks.size(); ++i) {
    if (!masks[i]) continue;
    const auto n = x.sym_size(static_cast<int64_t>(i) + 1);
    TORCH_CHECK_VALUE(masks[i]->scalar_type() == at::kBool, op, ": mode_masks must be bool, got ",
                      masks[i]->scalar_type());
    check_device(op, "mode_masks", *masks[i], "x", x);
    TORCH_CHECK_VALUE(masks[i]->dim() == 2 && masks[i]->sym_size(0) == n && masks[i]->sym_size(1) == n, op,
                      ": the mask of mode ", i, " must be [", n, ", ", n, "] for x ", x.sym_sizes(), ", got ",
                      masks[i]->sym_sizes());
  }
}

}  // namespace

void check_kronecker_attention_args(const char* op, const at::Tensor& x,
                                    const KroneckerAttentionWeights& weights,
                                    const KroneckerAttentionOptions& options,
                                    const std::optional<at::Tensor>& token_mask,
                                    const std::vector<std::optional<at::Tensor>>& mode_masks) {
  check_tokens(op, "x", x);
  check_heads(op, x, options.heads);
  check_modes(op, "attend_modes", options.attend_modes, x);
  check_modes(op, "rope_modes", options.rope_modes, x);
  TORCH_CHECK_VALUE(options.rope_base > 0 && std::isfinite(options.rope_base), op,
                    ": rope_base must be positive and finite, got ", options.rope_base);
  check_dropout(op, options.dropout);
  TORCH_CHECK_VALUE(options.kernel == "softmax" || options.kernel == "linear", op,
                    ": kernel must be softmax or linear, got ", options.kernel);
  TORCH_CHECK_VALUE(options.feature_map == "softmax" || options.feature_map == "regularised", op,
                    ": feature_map must be softmax or regularised, got ", options.feature_map);
  check_integer(op, "features", options.features, 0);
  check_projection(op, "query", weights.query_weight, weights.query_bias, x, options.share_modes);
  check_projection(op, "key", weights.key_weight, weights.key_bias, x, options.share_modes);
  check_norm(op, "query_norm_weight", weights.query_norm_weight, x, options.heads);
  check_norm(op, "query_norm_bias", weights.query_norm_bias, x, options.heads);
  check_norm(op, "key_norm_weight", weights.key_norm_weight, x, options.heads);
  check_norm(op, "key_norm_bias", weights.key_norm_bias, x, options.heads);
  check_token_mask(op, token_mask, x);
  check_mode_masks(op, mode_masks, x);
  const bool masked =
      std::any_of(mode_masks.begin(), mode_masks.end(), [](const auto& mask) { return mask; });
  TORCH_CHECK_VALUE(options.kernel == "softmax" || !masked, op,
                    ": mode_masks need kernel softmax, kernel linear never forms S_i");
}

}  // namespace modewise::ops
