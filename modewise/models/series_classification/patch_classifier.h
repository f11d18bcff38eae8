#pragma once
// PatchTST's backbone as a classifier (Nie et al., ICLR 2023; Tensorized Attention, D.2): patches of a series
// as tokens, blocks of full or tensor attention, a head over all tokens. The blocks are pre-norm, as those of
// the other models here.

#include <memory>

#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/nn/layers/block.h"
#include "modewise/nn/layers/module_list.h"
#include "modewise/nn/embedding/positions.h"
#include "modewise/nn/embedding/time_head.h"

namespace modewise::models {

class PatchClassifier : public SeriesClassifier {
 public:
  PatchClassifier(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);

  at::Tensor forward(const ClassifierInput& input) override;
  AttentionView attention(const ClassifierInput& input) override;

 private:
  struct Tokens {
    at::Tensor values;               // [B, groups, P, D]; groups: V variables apart, or 1 for all together
    std::optional<at::Tensor> mask;  // [B, groups, P] bool
  };
  Tokens embed(const ClassifierInput& input) const;

  SeriesPatchConfig patch_;
  int64_t tokens_, groups_;
  bool bfloat16_;
  std::shared_ptr<nn::Linear> embedding_;
  std::shared_ptr<nn::ModeEmbedding> positions_, identities_;
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::ModuleList<nn::Block>> blocks_;
  std::shared_ptr<nn::TimeHead> head_;
};

}  // namespace modewise::models
