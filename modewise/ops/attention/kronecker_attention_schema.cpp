// Schemas of kronecker_attention and mode_attention with flat arguments for Python: torch.ops.modewise.*.

#include <c10/core/SymIntArrayRef.h>
#include <torch/library.h>

#include "modewise/ops/attention/kronecker_attention.h"
#include "modewise/ops/attention/mode_pool_checks.h"
#include "modewise/ops/training/dropout_add_checks.h"

namespace modewise::ops {

namespace {

using Optional = std::optional<at::Tensor>;
using OptionalList = c10::List<std::optional<at::Tensor>>;

Combine combine_from(const char* op, c10::string_view name) {
  TORCH_CHECK_VALUE(name == "product" || name == "sum" || name == "mean", op,
                    ": combine must be product, sum or mean, got ", name);
  return name == "product" ? Combine::product : name == "sum" ? Combine::sum : Combine::mean;
}

std::vector<Optional> masks_from(const std::optional<OptionalList>& list) {
  std::vector<Optional> masks;
  if (list)
    for (const Optional mask : *list) masks.push_back(mask);
  return masks;
}

KroneckerAttentionWeights weights_from(const at::Tensor& query_weight, const Optional& query_bias,
                                       const at::Tensor& key_weight, const Optional& key_bias,
                                       const Optional& query_norm_weight, const Optional& query_norm_bias,
                                       const Optional& key_norm_weight, const Optional& key_norm_bias) {
  const auto or_none = [](const Optional& tensor) { return tensor.value_or(at::Tensor()); };
  return {query_weight,
          or_none(query_bias),
          key_weight,
          or_none(key_bias),
          or_none(query_norm_weight),
          or_none(query_norm_bias),
          or_none(key_norm_weight),
          or_none(key_norm_bias)};
}

at::Tensor kronecker_attention_op(const at::Tensor& x, const at::Tensor& value,
                                  const at::Tensor& query_weight, const Optional& query_bias,
                                  const at::Tensor& key_weight, const Optional& key_bias,
                                  const Optional& query_norm_weight, const Optional& query_norm_bias,
                                  const Optional& key_norm_weight, const Optional& key_norm_bias,
                                  int64_t heads, c10::string_view combine, c10::string_view pooling,
                                  bool share_modes, at::IntArrayRef attend_modes, at::IntArrayRef rope_modes,
                                  double rope_base, c10::string_view kernel, int64_t features,
                                  c10::string_view feature_map, int64_t feature_seed, double dropout,
                                  std::optional<int64_t> seed, int64_t step, int64_t site,
                                  const Optional& token_mask, const std::optional<OptionalList>& mode_masks) {
  const KroneckerAttentionOptions options = {.heads = heads,
                                             .combine = combine_from("kronecker_attention", combine),
                                             .pooling = pooling_from("kronecker_attention", pooling),
                                             .share_modes = share_modes,
                                             .attend_modes = attend_modes.vec(),
                                             .rope_modes = rope_modes.vec(),
                                             .rope_base = rope_base,
                                             .kernel = std::string(kernel),
                                             .features = features,
                                             .feature_map = std::string(feature_map),
                                             .feature_seed = static_cast<uint64_t>(feature_seed),
                                             .dropout = dropout,
                                             .key = dropout_key("kronecker_attention", seed, step, site)};
  return kronecker_attention(x, value,
                             weights_from(query_weight, query_bias, key_weight, key_bias, query_norm_weight,
                                          query_norm_bias, key_norm_weight, key_norm_bias),
                             options, token_mask, masks_from(mode_masks));
}

std::vector<at::Tensor> mode_attention_op(
    const at::Tensor& x, const at::Tensor& query_weight, const Optional& query_bias,
    const at::Tensor& key_weight, const Optional& key_bias, const Optional& query_norm_weight,
    const Optional& query_norm_bias, const Optional& key_norm_weight, const Optional& key_norm_bias,
    int64_t heads, c10::string_view pooling, bool share_modes, at::IntArrayRef attend_modes,
    at::IntArrayRef rope_modes, double rope_base, c10::string_view kernel, int64_t features,
    c10::string_view feature_map, int64_t feature_seed, const Optional& token_mask,
    const std::optional<OptionalList>& mode_masks) {
  KroneckerAttentionOptions options;
  options.heads = heads;
  options.pooling = pooling_from("mode_attention", pooling);
  options.share_modes = share_modes;
  options.attend_modes = attend_modes.vec();
  options.rope_modes = rope_modes.vec();
  options.rope_base = rope_base;
  options.kernel = std::string(kernel);
  options.features = features;
  options.feature_map = std::string(feature_map);
  options.feature_seed = static_cast<uint64_t>(feature_seed);
  return mode_attention(x,
                        weights_from(query_weight, query_bias, key_weight, key_bias, query_norm_weight,
                                     query_norm_bias, key_norm_weight, key_norm_bias),
                        options, token_mask, masks_from(mode_masks));
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def(
      "kronecker_attention(Tensor x, Tensor value, Tensor query_weight, Tensor? query_bias, Tensor "
      "key_weight, "
      "Tensor? key_bias, Tensor? query_norm_weight=None, Tensor? query_norm_bias=None, Tensor? "
      "key_norm_weight=None, "
      "Tensor? key_norm_bias=None, *, int heads, str combine='product', str pooling='sum', bool "
      "share_modes=False, "
      "int[] attend_modes=[], int[] rope_modes=[], float rope_base=10000., str kernel='softmax', int "
      "features=0, "
      "str feature_map='softmax', int feature_seed=0, float dropout=0., int? seed=0, int step=0, int site=0, "
      "Tensor? token_mask=None, "
      "Tensor?[]? mode_masks=None) -> Tensor");
  m.def(
      "mode_attention(Tensor x, Tensor query_weight, Tensor? query_bias, Tensor key_weight, Tensor? "
      "key_bias, "
      "Tensor? query_norm_weight=None, Tensor? query_norm_bias=None, Tensor? key_norm_weight=None, "
      "Tensor? key_norm_bias=None, *, int heads, str pooling='sum', bool share_modes=False, int[] "
      "attend_modes=[], "
      "int[] rope_modes=[], float rope_base=10000., str kernel='softmax', int features=0, str "
      "feature_map='softmax', int feature_seed=0, "
      "Tensor? token_mask=None, Tensor?[]? mode_masks=None) -> Tensor[]");
}

TORCH_LIBRARY_IMPL(modewise, CompositeImplicitAutograd, m) {
  m.impl("kronecker_attention", kronecker_attention_op);
  m.impl("mode_attention", mode_attention_op);
}

}  // namespace modewise::ops
