#pragma once
// What captions are trained by: cross entropy of the next word, with label smoothing and scheduled sampling,
// and the reward of whole captions. n captions of T steps over V words; targets are data::CaptionTokens'.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/data/captioning/caption_set.h"

namespace modewise::tasks {

/// Captions of pictures side by side, `each` a picture: `of_pictures` [picture, caption, word]. Where a
/// picture has fewer, rows without targets stand in; where it has more, the first are taken.
data::CaptionTokens side_by_side(std::span<const std::vector<std::vector<int64_t>>> of_images, int64_t each,
                                 int64_t max_words);

/// logits [n, T, V], targets [n, T] int64, 0 where there is none -> scalar: the mean over the targets of
/// −Σ_v t_v log p_v with t = (1 − smoothing) · one-hot + smoothing / V.
at::Tensor caption_loss(const at::Tensor& logits, const at::Tensor& targets, double smoothing);

/// Scheduled sampling in two passes (Bengio et al. 2015; for Transformers Mihaylova and Martins 2019): each
/// word of `inputs` [n, T] behind the begin mark becomes, with probability `share`, one drawn from the
/// model's own words for that place, softmax of `logits` [n, T, V] of the place before; padding stays. Draws
/// depend on seed, step and place alone.
at::Tensor mixed_inputs(const at::Tensor& inputs, const at::Tensor& logits, double share, uint64_t seed,
                        uint64_t step);

/// The policy gradient of self-critical training (Rennie et al. 2017, equation 7): −Σ advantage · log p of
/// the words that were drawn, over all words. logits [n, T, V], targets [n, T] the drawn words, 0 where there
/// is none, advantages [n]: the reward of the drawn caption less that of the likeliest.
at::Tensor self_critical_loss(const at::Tensor& logits, const at::Tensor& targets,
                              const at::Tensor& advantages);

}  // namespace modewise::tasks
