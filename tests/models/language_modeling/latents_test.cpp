// Transfer of trained latents to models with another fold or number of summary tokens.

#include "modewise/models/language_modeling/latents.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include "tests/models/language_modeling/language_vectors.h"
#include "tests/scratch_folder.h"

namespace modewise::models {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LanguageLatents : public testing::Test {
 protected:
  LanguageLatents() {
    config_.vocabulary = 29;
    config_.width = 16;
    config_.layers = 2;
    config_.heads = 4;
    config_.kv_heads = 2;
    config_.context = 64;
    config_.attention.fold = {0, 3, 4};
    config_.attention.summary_tokens = 2;
    model_ = make_language_model(config_, 5);
    set_formula_weights(*model_);
    const at::NoGradGuard no_grad;
    for (auto& item : model_->named_parameters())
      if (item.key().ends_with("latents")) item.value().copy_(trained(item.value().sizes()));
    save_language_model(folder_ / "m", *model_);
  }
  static at::Tensor trained(at::IntArrayRef sizes) {
    return at::arange(c10::multiply_integers(sizes), at::kFloat).sin().mul(2).view(sizes);
  }
  LoadedLanguageModel load(std::vector<int64_t> fold, int64_t summary_tokens) const {
    return load_language_model(folder_ / "m", [&](LanguageModelConfig& config) {
      config.attention.fold = std::move(fold);
      config.attention.summary_tokens = summary_tokens;
    });
  }
  /// Latents of the second layer, [levels, G, r, d].
  static at::Tensor latents_of(const LanguageModel& model) {
    return model.named_parameters()["model.layers.1.self_attn.latents"].detach();
  }

  ScratchFolder folder_;
  LanguageModelConfig config_;
  std::shared_ptr<LanguageModel> model_;
};

TEST_F(LanguageLatents, OfADeeperFoldKeepTheLevelsThatBothHave) {
  const LoadedLanguageModel deeper = load({0, 2, 5, 3, 4}, 2);
  const at::Tensor latents = latents_of(*deeper.model);
  ASSERT_EQ(latents.size(0), 4);
  EXPECT_TRUE(at::equal(latents.narrow(0, 0, 2), trained({2, 2, 2, 4})));
  const double begun = latents.narrow(0, 2, 2).abs().max().item<double>();
  EXPECT_GT(begun, 0);  // summary tokens that begin alike would stay alike
  EXPECT_LT(begun, 0.1);
  EXPECT_THAT(
      deeper.notes,
      ElementsAre("latents of 2 layers: levels 1 to 2 are kept, levels 3 to 4 are initialized near mean "
                  "pooling (small random values)"));
}

// Blocks of the third level are longer than the text, so the deeper model is the same function.
TEST_F(LanguageLatents, OfADeeperFoldThatNoTextFillsChangeNoLogit) {
  const LoadedLanguageModel deeper = load({0, 1000, 3, 4}, 2);
  const at::Tensor tokens = at::arange(60, at::kLong).mul(11).remainder(29).view({1, 60});
  const at::NoGradGuard no_grad;
  EXPECT_LE(largest_difference(deeper.model->forward(tokens), model_->forward(tokens)), 1e-6);
}

TEST_F(LanguageLatents, OfAFlatterFoldKeepTheFinestLevels) {
  const LoadedLanguageModel flatter = load({0, 4}, 2);
  EXPECT_TRUE(at::equal(latents_of(*flatter.model), trained({2, 2, 2, 4}).narrow(0, 0, 1)));
  EXPECT_THAT(flatter.notes, ElementsAre("latents of 2 layers: level 1 is kept, level 2 is ignored"));
}

TEST_F(LanguageLatents, OfOtherSlotsKeepTheSlotsThatBothHave) {
  const LoadedLanguageModel more = load({0, 3, 4}, 5);
  EXPECT_TRUE(at::equal(latents_of(*more.model).narrow(2, 0, 2), trained({2, 2, 2, 4})));
  EXPECT_LT(latents_of(*more.model).narrow(2, 2, 3).abs().max().item<double>(), 0.1);
  EXPECT_THAT(more.notes, ElementsAre("latents of 2 layers: summary tokens 1 to 2 are kept, summary tokens 3 "
                                      "to 5 are initialized near mean "
                                      "pooling (small random values)"));
  const LoadedLanguageModel one = load({0, 2, 3, 4}, 1);
  const at::Tensor latents = latents_of(*one.model);
  EXPECT_TRUE(at::equal(latents.narrow(0, 0, 2), trained({2, 2, 2, 4}).narrow(2, 0, 1)));
  EXPECT_EQ(latents.select(0, 2).abs().max().item<double>(), 0);
  EXPECT_THAT(one.notes,
              ElementsAre("latents of 2 layers: levels 1 to 2 are kept, level 3 is initialized as mean "
                          "pooling (zero)",
                          "latents of 2 layers: summary token 1 is kept, summary token 2 is ignored"));
}

TEST_F(LanguageLatents, OfTheSameLevelsComeWithoutAWord) {
  const LoadedLanguageModel other = load({0, 7, 5}, 2);  // larger blocks, but as many levels
  EXPECT_TRUE(at::equal(latents_of(*other.model), trained({2, 2, 2, 4})));
  EXPECT_THAT(other.notes, IsEmpty());
}

TEST_F(LanguageLatents, OfASettingThatDoesNotFitTheWeightsAreNotMadeUp) {
  EXPECT_THAT(error_of(ErrorKind::config,
                       [&] {
                         load_language_model(folder_ / "m",
                                             [](LanguageModelConfig& config) { config.hidden = 99; });
                       }),
              testing::HasSubstr("the weights do not match: with these settings the model has "
                                 "model.layers.0.mlp.gate_proj.weight of shape [99, 16]"));
}

}  // namespace
}  // namespace modewise::models
