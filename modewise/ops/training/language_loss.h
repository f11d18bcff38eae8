#pragma once
// The cross-entropy of a language model over its vocabulary, a chunk of tokens at a time: logits [n, V] never
// exist whole, and their gradient neither.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace modewise::ops {

/// hidden [..., D], head [V, D], targets [...] int64 below V -> scalar: the mean of
/// −log softmax(head · hidden)[target] over the tokens whose target is not negative; 0 where there is none.
/// Gradients of hidden and head are made in the same pass. Softmax and sums in float32 (float64 for float64);
/// the same bits for any number of threads.
/// `chunk`: tokens at a time; 0 chooses, so that a chunk's logits take at most 32 MiB.
at::Tensor language_loss(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                         int64_t chunk = 0);

/// The same, one −log p a token [...] (float32 or float64), 0 where the target is negative. No gradient.
at::Tensor token_losses(const at::Tensor& hidden, const at::Tensor& head, const at::Tensor& targets,
                        int64_t chunk = 0);

}  // namespace modewise::ops
