#pragma once
// Sources of a synthesizer's logits Z [N, M] (arXiv 2201.01410, section 3; Tay et al. 2020), as low-rank
// matrices or Kronecker factors for ops::synthesized_attention. Every head has its own weights. Initial
// entries have standard deviation 1/√fan-in, so that unit input gives logits of about unit size.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "modewise/nn/initializer.h"
#include "modewise/ops/attention/synthesized_attention.h"

namespace modewise::nn {

/// Sizes of a synthesizer: query tokens N_1 … N_k and M keys.
struct SynthesizerShape {
  std::vector<int64_t> sizes;  // N_1 … N_k
  int64_t keys = 0;            // M; 0: N
  int64_t width = 0;           // D
  int64_t heads = 1;

  int64_t rows() const;     // N
  int64_t columns() const;  // M
  int64_t last() const { return sizes.back(); }
};

class LogitSource : public torch::nn::Module {
 public:
  /// x [B, N_1 … N_k, D] -> logits of its n tokens and `columns` keys. A sequence (k = 1) may be shorter, n ≤
  /// N and columns ≤ M; a grid must have exactly the sizes that the source was built for. Throws a ValueError
  /// that states the accepted sizes.
  virtual ops::SynthesizedLogits logits(const at::Tensor& x, int64_t columns) const = 0;
};

/// Tay's dense synthesizer: Z_i = W_2 relu(W_1 x_i + b_1) + b_2, W_1 [D, D], W_2 [M, D]; row i depends on
/// token i alone.
std::shared_ptr<LogitSource> make_dense_logits(Initializer& init, const SynthesizerShape& shape);

/// The axis of X [H, W, C] that the tensor synthesizer reduces to 1; the two others are mapped to N each.
/// With k modes, H is all but the last, W the last.
enum class ReducedAxis { height, width, channel };
/// Z = X ×_1 A_H ×_2 A_W ×_3 A_C (Eq. 11 to 13). With `factors` > 1 each A is a Kronecker product of that
/// many small matrices (Eq. 16-17) of sizes as equal as possible. M = N.
std::shared_ptr<LogitSource> make_tensor_logits(Initializer& init, const SynthesizerShape& shape,
                                                ReducedAxis axis, int64_t factors = 1);

/// Z = R (Eq. 15), the same for all samples: learned, or fixed at its random initial value.
std::shared_ptr<LogitSource> make_random_logits(Initializer& init, const SynthesizerShape& shape,
                                                bool learned);

/// Sizes α_i × β_i of Kronecker factors.
struct FactorShapes {
  std::vector<int64_t> rows{}, columns{};
};
/// `count` factors with Πα = rows and Πβ = columns, as equal as the divisors allow; a prime stays one factor.
FactorShapes balanced_factors(int64_t rows, int64_t columns, int64_t count);

/// Z = R_1 ⊗ … ⊗ R_m (Eq. 18), row-major: the first factor has the slowest index. Never formed.
std::shared_ptr<LogitSource> make_factorized_logits(Initializer& init, const SynthesizerShape& shape,
                                                    const FactorShapes& factors);

/// Z = Σ θ_i Z_i with θ = softmax of learned numbers, initially equal (Eq. 19). At most one of the sources
/// may have Kronecker factors.
std::shared_ptr<LogitSource> make_mixed_logits(std::vector<std::shared_ptr<LogitSource>> sources);

/// a [H, α, β] ⊗ b [H, α', β'] -> [H, α·α', β·β'].
at::Tensor kronecker_product(const at::Tensor& a, const at::Tensor& b);

}  // namespace modewise::nn
