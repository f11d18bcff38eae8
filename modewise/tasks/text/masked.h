#pragma once
// Masked language modelling: pretraining of encoders.

#include "modewise/data/text/masking.h"
#include "modewise/data/token_set.h"
#include "modewise/data/token_windows.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/text/objective_run.h"

namespace modewise::tasks {

/// Run on windows of packed documents with separators; each window has the special tokens of one text.
class MaskedRun final : public ObjectiveRun {
 public:
  using ObjectiveRun::ObjectiveRun;

  ObjectiveDescription about() const override;
  void load_data(const std::string& path, bool with_test) override;
  std::string hash() const override { return set_.hash; }
  nlohmann::ordered_json describe_data() const override;
  void log_data_notes() const override;
  std::string data_text(bool with_test) const override;

  void make_model(Purpose purpose) override;
  torch::nn::Module& module() const override { return *model_; }
  nn::ModelCost cost() const override;
  std::unique_ptr<train::ModuleTask> task() override;
  /// Adds "pretrained_model", the folder in the run for --from, to metrics.json; null: not exported.
  void finish(nlohmann::ordered_json& metrics) override;
  void save(const std::filesystem::path& folder) const override;

  nlohmann::ordered_json score(const std::string& split) const override;
  void add_sections(report::HtmlPage& page, const std::string& split) const override;
  Result predict(const PredictRequest& request) override;
  NamedTexts shown_texts(const std::string& split, int64_t count) const override;
  models::AttentionView attention(const models::TextInput& input) const override {
    return attention_of(*model_, input);
  }

  /// Windows of a split; data error if it has no token.
  data::TokenWindows windows(const std::string& part) const;
  /// Windows shifted by `shift` tokens, with special tokens, [B, n].
  at::Tensor framed_windows(const data::TokenWindows& windows, std::span<const int64_t> which,
                            int64_t shift) const;
  data::MaskedRows masked(const at::Tensor& ids, const RandomStream& stream) const;
  models::MaskedLanguageModel& model() const { return *model_; }

 private:
  data::TokenSet set_;
  data::MaskingVocabulary vocabulary_;
  std::shared_ptr<models::MaskedLanguageModel> model_;
};

/// Sums over masked tokens.
struct MaskedScores {
  double loss = 0;  // −Σ log p
  int64_t asked = 0, right = 0;
};
/// Scores a share of the windows with deterministic masking; `maximum`: only the first windows, 0: all.
/// Throws train::EvaluationInterrupted on a stop signal.
MaskedScores score_masked(const MaskedRun& run, const data::TokenWindows& windows, int64_t maximum,
                          const train::Share& share = {});

}  // namespace modewise::tasks
