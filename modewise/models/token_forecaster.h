#pragma once
// The higher-order transformer as a forecaster for series of any order, and its siblings with other
// attention: `hot` (Kronecker), `transformer` (all tokens against all), `spatial`, `temporal`.
//
// Names in the state are those of the released code: emb.0, emb.2, blocks.N.norm1,
// blocks.N.attention.query_proj, …, blocks.N.feedforward.w1, head.0, head.2.

#include <memory>
#include <optional>
#include <vector>

#include "modewise/models/learned_forecaster.h"
#include "modewise/nn/block.h"
#include "modewise/nn/module_list.h"
#include "modewise/nn/patch_embedding.h"
#include "modewise/nn/positions.h"
#include "modewise/nn/series_linear.h"
#include "modewise/nn/time_head.h"

namespace modewise::models {

class TokenForecaster : public LearnedForecaster {
 public:
  TokenForecaster(const ModelConfig& config, const ForecastShape& shape, nn::Initializer& init);

  std::vector<ModeMaps> attention_maps(const ForecastInput& input) override;

 protected:
  at::Tensor raw_forecast(const at::Tensor& values, const at::Tensor& observed) override;

 private:
  nn::PatchTokens embed(const at::Tensor& values, const at::Tensor& observed) const;
  void make_codes(const ModelConfig& config, const std::vector<int64_t>& token_sizes, nn::Initializer& init);
  void make_blocks(const ModelConfig& config, nn::Initializer& init);

  bool bfloat16_;
  std::vector<int64_t> ordered_modes_;   // time, and the series modes with an order
  std::vector<int64_t> attended_modes_;  // of the factors, in order
  std::shared_ptr<nn::PatchEmbedding> embedding_;
  std::shared_ptr<nn::Dropout> embedding_dropout_;
  std::shared_ptr<nn::ModuleList<nn::LearnedCode>> identity_;
  std::shared_ptr<nn::LearnedCode> learned_positions_;
  std::shared_ptr<nn::SinCosCode> fixed_positions_;
  std::shared_ptr<nn::ModuleList<nn::Block>> blocks_;
  std::shared_ptr<nn::TimeHead> head_;
  std::shared_ptr<nn::SeriesLinear> skip_;
};

}  // namespace modewise::models
