// Linformer: softmax(q (E k)ᵀ / √d) F v with learned E, F [K, N] over the tokens (Wang et al. 2020).

#include <c10/util/Exception.h>

#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/nn/embedding/token_projection.h"

namespace modewise::nn {
namespace {

class Linformer final : public SequenceAttention {
 public:
  Linformer(Initializer& init, const SequenceAttentionOptions& options) : SequenceAttention(init, options) {
    TORCH_CHECK_VALUE(options.tokens >= 1,
                      "linformer projects over the tokens of the longest sequence: its length "
                      "(options.tokens) must be given");
    const int64_t projected = projected_count(options);
    key_map_ = register_parameter("key_map", initial_projection(init, projected, options.tokens));
    value_map_ = register_parameter("value_map", initial_projection(init, projected, options.tokens));
  }
  static int64_t projected_count(const SequenceAttentionOptions& options) {
    return ops::projected_length(options.own, options.tokens);
  }

 private:
  at::Tensor mixed(const Tokens& t) const override {
    const auto project = [&](const at::Tensor& x, const at::Tensor& map) {
      return projected_tokens(x.flatten(-2), map, t.mask).unflatten(-1, {x.size(2), x.size(3)});
    };
    return ops::weighted_values(t.q, project(t.k, key_map_), project(t.v, value_map_), {}, false,
                                softmax_options());
  }

  at::Tensor key_map_, value_map_;
};

int64_t linformer_maps(const SequenceAttentionOptions& options) {
  return 2 * Linformer::projected_count(options) * options.tokens;
}

double linformer_products(const SequenceAttentionOptions& options, int64_t n) {
  return static_cast<double>(2 * Linformer::projected_count(options)) *
         static_cast<double>(n * options.width);
}

}  // namespace

SequenceConstructor linformer_constructor() {
  return {"linformer", make_sequence_type<Linformer>, linformer_maps, linformer_products};
}

}  // namespace modewise::nn
