#pragma once
// Cost of attention layers, by formula (conventions in nn/layers/cost.h).

#include <cstdint>
#include <optional>
#include <string_view>

#include "modewise/nn/attention/grid_attention.h"
#include "modewise/nn/attention/sequence_attention.h"
#include "modewise/nn/layers/cost.h"

namespace modewise::nn {

/// Adds one attention layer over `shape` of the type called `name` in grid_attention.h, value and output
/// projections included. Attention weights shared by all samples are counted as for one sample.
void add_attention(CostAccount& account, std::string_view name, const SynthesizerShape& shape,
                   const AttentionTypeOptions& options = {});
/// Adds one attention layer over `samples` sequences of n tokens.
void add_sequence_attention(CostAccount& account, const SequenceAttentionOptions& options, int64_t n,
                            double samples);
/// Cost of one attention layer over a sequence of n tokens, of the type in `options`.
ModelCost sequence_cost(const SequenceAttentionOptions& options, int64_t n);

/// One attention layer over a sequence by step (Tensorized Attention, Table 4).
struct AttentionSteps {
  double logits = 0;   // multiply-adds of Q Kᵀ
  double softmax = 0;  // weights, of all heads
  double mixing = 0;   // multiply-adds of the weights with V
};
AttentionSteps attention_steps(const SequenceAttentionOptions& options, int64_t n);

/// Attention steps from any of n tokens to any other, at most (Tensorized Attention, Fig. 1): a step leads to
/// an attended token, in axial along one mode. Types whose matrix has no zeros: 1. None if some tokens are
/// never reached (axial along some of the modes), or if chance or the tokens decide (random, topk, reformer).
std::optional<int64_t> attention_hops(const SequenceAttentionOptions& options, int64_t n);

}  // namespace modewise::nn
