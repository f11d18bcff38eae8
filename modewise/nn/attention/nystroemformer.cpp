// Nyströmformer (Xiong et al. 2021): landmarks, and a convolution of the values beside them.

#include <algorithm>
#include <cmath>

#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/nn/layers/constant.h"
#include "modewise/ops/attention/nystroem_attention.h"

namespace modewise::nn {
namespace {

class Nystroemformer final : public SequenceAttention {
 public:
  Nystroemformer(Initializer& init, const SequenceAttentionOptions& options)
      : SequenceAttention(init, options), landmarks_(options.own["landmarks"]) {
    if (options.own["kernel"] > 0)
      kernel_ = register_parameter("kernel",
                                   init.uniform({options.heads, options.own["kernel"]},
                                                1 / std::sqrt(static_cast<double>(options.own["kernel"]))));
  }

 private:
  at::Tensor mixed(const Tokens& t) const override {
    std::optional<at::Tensor> kernel;
    if (kernel_.defined()) kernel = cast_like(kernel_, t.q);
    return ops::nystroem_attention(t.q, t.k, t.v, kernel, t.mask, landmarks_);
  }

  int64_t landmarks_;
  at::Tensor kernel_;  // [H, w]
};

int64_t nystroem_kernel(const SequenceAttentionOptions& options) {
  return options.heads * options.own["kernel"];
}

/// Landmark means, six Newton steps of four products for the pseudo-inverse, its product with the values, the
/// convolution.
double nystroem_products(const SequenceAttentionOptions& options, int64_t n) {
  const auto m = static_cast<double>(std::min(options.own["landmarks"], n)),
             width = static_cast<double>(options.width), tokens = static_cast<double>(n);
  return 2 * tokens * width + 24 * m * m * m * static_cast<double>(options.heads) + m * m * width +
         tokens * width * static_cast<double>(options.own["kernel"]);
}

}  // namespace

SequenceConstructor nystroemformer_constructor() {
  return {"nystroemformer", make_sequence_type<Nystroemformer>, nystroem_kernel, nystroem_products};
}

}  // namespace modewise::nn
