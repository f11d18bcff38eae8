#pragma once
// The attention of a language or series model as matrices over tokens, sample by sample: what `modewise
// decompose` takes apart (Tensorized Attention, section 3.3).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace modewise::tasks {

struct AttentionRequest {
  std::string run;                            // run folder; a language model's folder or file
  std::string data, split = "test";           // "": the run's own data
  std::string tokenizer, separator = "auto";  // of language models, as LanguageEvaluateOptions
  std::vector<int64_t> modes;                 // empty: the fold of the attention
};

struct AttentionMatrices {
  std::string model;           // name of the model, with the form of its attention
  std::string sample, source;  // what a sample is ("window"), and what it comes from
  std::vector<int64_t> modes;  // whose cells the tokens fill, the last ones perhaps not
  int64_t layers = 0, heads = 0;
  int64_t tokens = 0;   // n
  int64_t samples = 0;  // that there are
  /// [H, n, n] of a sample and layer, counted from 0; rows sum to 1.
  std::function<at::Tensor(int64_t sample, int64_t layer)> of;
};

/// The mean over samples, summed in their order: [H, N, N] float64, N = Π modes; rows and columns of cells
/// without a token are 0. A usage error when the machine has not the memory.
at::Tensor mean_attention(const AttentionMatrices& matrices, std::span<const int64_t> samples, int64_t layer);

/// Π modes; usage error beyond what a matrix may have.
int64_t cell_count(const std::vector<int64_t>& modes);

}  // namespace modewise::tasks
