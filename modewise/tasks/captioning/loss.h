#pragma once
// Captioning losses: cross entropy of the next word with label smoothing and scheduled sampling, and
// self-critical training. n captions of T steps over V words; targets as in data::CaptionTokens.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/data/captioning/caption_set.h"

namespace modewise::tasks {

/// Batch with `each` captions per image from `of_images` [image, caption, word]: missing captions become rows
/// without targets, further ones are dropped.
data::CaptionTokens side_by_side(std::span<const std::vector<std::vector<int64_t>>> of_images, int64_t each,
                                 int64_t max_words);

/// logits [n, T, V], targets [n, T] int64 (0: padding) -> scalar: mean over targets of −Σ_v t_v log p_v with
/// t = (1 − smoothing) · one-hot + smoothing / V.
at::Tensor caption_loss(const at::Tensor& logits, const at::Tensor& targets, double smoothing);

/// Two-pass scheduled sampling (Bengio et al. 2015; for Transformers Mihaylova and Martins 2019): each word
/// of `inputs` [n, T] after BOS is replaced with probability `share` by a sample of the model's prediction
/// for it, softmax of `logits` [n, T, V] at the previous position; padding stays. Random numbers depend only
/// on seed, step and position.
at::Tensor mixed_inputs(const at::Tensor& inputs, const at::Tensor& logits, double share, uint64_t seed,
                        uint64_t step);

/// Policy gradient of self-critical training (Rennie et al. 2017, equation 7): mean over words of
/// −advantage · log p of the sampled words. logits [n, T, V], targets [n, T] sampled words (0: padding),
/// advantages [n]: reward of the sampled caption minus that of the greedy one.
at::Tensor self_critical_loss(const at::Tensor& logits, const at::Tensor& targets,
                              const at::Tensor& advantages);

}  // namespace modewise::tasks
