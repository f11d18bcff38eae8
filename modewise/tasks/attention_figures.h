#pragma once
// Where a model looks at an evaluation, as small pictures for TensorBoard.

#include <string>
#include <vector>

#include "modewise/analysis/cost.h"
#include "modewise/models/attention_view.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {

/// Whether the weights of one sample are few enough to be formed at every evaluation: a million a head.
bool draws_attention(const analysis::ModelCost& cost);

/// Of the view's first sample attention/layerL/modeM for each factor (L and M from 0) and
/// attention/layerL/tokens for each matrix over all tokens, heads side by side: rows ask, columns are looked
/// at, dark is the largest weight of the picture. Matrices above 256 rows are averaged down to that.
std::vector<train::Image> attention_figures(const models::AttentionView& view);

}  // namespace modewise::tasks
