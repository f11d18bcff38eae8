// Performer: positive orthogonal random features in place of the softmax (Choromanski et al. 2020: FAVOR+).

#include <ATen/TensorOperators.h>

#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/ops/attention/kronecker_attention.h"
#include "modewise/ops/attention/random_features.h"
#include "modewise/ops/dense/matmul.h"

namespace modewise::nn {
namespace {

/// The dropout site seeds the features, not the model's seed: they are part of the model's definition.
class Performer final : public SequenceAttention {
 public:
  Performer(Initializer& init, const SequenceAttentionOptions& options)
      : SequenceAttention(init, options),
        site_(init.dropout_site()),
        features_(ops::linear_feature_count(options.width / options.heads, options.own["features"])) {}

 private:
  at::Tensor mixed(const Tokens& t) const override {
    const int64_t heads = t.q.size(2);
    const at::Tensor projection =
        ops::orthogonal_projection(t.q.detach(), t.q.size(3), features_, static_cast<int64_t>(site_), 0);
    at::Tensor values = t.v;
    if (t.mask) values = values.masked_fill(t.mask->logical_not().unsqueeze(-1).unsqueeze(-1), 0);
    const ops::RandomFeatures features =
        ops::random_features(t.q.flatten(-2), t.k.flatten(-2), heads, projection, t.mask);
    const at::Tensor sums =
        ops::matmul(features.keys.transpose(-1, -2), values.transpose(1, 2).to(features.keys.scalar_type()));
    return ops::matmul(features.queries, sums).transpose(1, 2).to(t.v.scalar_type());
  }

  uint32_t site_;
  int64_t features_;
};

/// Random features of queries and keys; `pairs` counts their products with the values.
double performer_products(const SequenceAttentionOptions& options, int64_t n) {
  const int64_t features = ops::linear_feature_count(options.width / options.heads, options.own["features"]);
  return 2 * static_cast<double>(features) * static_cast<double>(n * options.width);
}

}  // namespace

SequenceConstructor performer_constructor() {
  return {"performer", make_sequence_type<Performer>, nullptr, performer_products};
}

}  // namespace modewise::nn
