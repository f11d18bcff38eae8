#pragma once
// Attention maps of an evaluation as small images for TensorBoard.

#include <string>
#include <vector>

#include "modewise/models/attention_view.h"
#include "modewise/nn/layers/cost.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {

/// Whether attention weights of one sample are small enough to compute at every evaluation: up to a million
/// per head.
bool draws_attention(const nn::ModelCost& cost);

/// Images of the view's first sample: attention/layerL/modeM for each factor (L and M from 0) and
/// attention/layerL/tokens for each matrix over all tokens, heads side by side: rows are queries, columns
/// keys, dark is the largest weight of the image. Matrices above 256 rows are downsampled by averaging.
std::vector<train::Image> attention_figures(const models::AttentionView& view);

}  // namespace modewise::tasks
