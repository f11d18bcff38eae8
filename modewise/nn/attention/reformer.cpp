// Reformer (Kitaev et al. 2020): attention within buckets of a locality-sensitive hash.

#include <ATen/ops/empty.h>

#include <algorithm>

#include "modewise/core/random.h"
#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/nn/layers/constant.h"
#include "modewise/ops/attention/hashed_attention.h"

namespace modewise::nn {
namespace {

/// The dropout site seeds the rotations, as Performer's features. 2⌈tokens / chunk⌉
/// buckets, so that two of them fill a chunk.
class Reformer final : public SequenceAttention {
 public:
  Reformer(Initializer& init, const SequenceAttentionOptions& options)
      : SequenceAttention(init, options), chunk_(options.own["chunk"]) {
    const at::Tensor rotations = at::empty(
        {options.own["rounds"], options.heads, options.width / options.heads, half_buckets(options)},
        at::kDouble);
    const RandomStream stream{init.dropout_site(), RandomSite::features, 0};
    auto* values = rotations.mutable_data_ptr<double>();
    for (int64_t i = 0; i < rotations.numel(); ++i) values[i] = stream.normal(static_cast<uint64_t>(i));
    rotations_ = register_module("rotations", std::make_shared<Constant>(rotations));
  }
  static int64_t half_buckets(const SequenceAttentionOptions& options) {
    return std::max<int64_t>((options.tokens + options.own["chunk"] - 1) / options.own["chunk"], 1);
  }

 private:
  at::Tensor mixed(const Tokens& t) const override {
    return ops::hashed_attention(t.q, t.v, rotations_->value().to(t.q.scalar_type()), t.mask, chunk_);
  }

  int64_t chunk_;
  std::shared_ptr<Constant> rotations_;  // [rounds, H, d, buckets / 2]
};

double reformer_products(const SequenceAttentionOptions& options, int64_t n) {
  return static_cast<double>(options.own["rounds"] * Reformer::half_buckets(options)) *
         static_cast<double>(n * options.width);
}

}  // namespace

SequenceConstructor reformer_constructor() {
  return {"reformer", make_sequence_type<Reformer>, nullptr, reformer_products};
}

}  // namespace modewise::nn
