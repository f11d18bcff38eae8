#pragma once
// PatchTST backbone as a series classifier (Nie et al., ICLR 2023; Tensorized Attention, D.2): patches as
// tokens, pre-norm blocks (as in the other models here) with full or tensor attention, and a head over all
// tokens.

#include <memory>

#include "modewise/models/series_classification/config.h"
#include "modewise/models/series_classification/series_classifier.h"
#include "modewise/nn/embedding/positions.h"
#include "modewise/nn/embedding/time_head.h"
#include "modewise/nn/layers/block.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

class PatchClassifier : public SeriesClassifier {
 public:
  PatchClassifier(const SeriesModelConfig& config, const SeriesShape& shape, nn::Initializer& init);

  at::Tensor forward(const ClassifierInput& input) override;
  AttentionView attention(const ClassifierInput& input) override;

 private:
  struct Tokens {
    at::Tensor values;               // [B, groups, P, D]; groups: V (channel independent) or 1 (mixed)
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
