#pragma once
// Attention matrices of language, text and series models, sample by sample, for `modewise decompose`
// (Tensorized Attention, section 3.3).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace modewise::tasks {

struct AttentionRequest {
  std::string run;                            // run folder, or a language model's folder or file
  std::string data, split = "test";           // "": the run's own data
  std::string tokenizer, separator = "auto";  // for language models, as LanguageEvaluateOptions
  std::vector<int64_t> modes;                 // empty: the fold of the attention
};

struct AttentionMatrices {
  std::string model;           // model name with its attention type
  std::string sample, source;  // noun for a sample ("window"), and its source
  std::vector<int64_t> modes;  // tokens fill their cells, except perhaps the last ones
  int64_t layers = 0, heads = 0;
  int64_t tokens = 0;   // n
  int64_t samples = 0;  // number of samples
  /// The matrices [H, n, n] of a sample and layer, counted from 0; rows sum to 1.
  std::function<at::Tensor(int64_t sample, int64_t layer)> of;
};

/// Mean over samples, summed in order: [H, N, N] float64, N = Π modes; rows and columns of cells without a
/// token are 0. Usage error if memory is insufficient.
at::Tensor mean_attention(const AttentionMatrices& matrices, std::span<const int64_t> samples, int64_t layer);

/// Π modes; usage error above the maximum size of a matrix.
int64_t cell_count(const std::vector<int64_t>& modes);

}  // namespace modewise::tasks
