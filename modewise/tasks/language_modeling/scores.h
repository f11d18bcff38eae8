#pragma once
// Language model metrics: losses per token, byte and word; and recall accuracy by distance and number of
// pairs.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "modewise/data/token_windows.h"
#include "modewise/models/language_modeling/language_model.h"
#include "modewise/tasks/language_modeling/config.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {

/// Sum of losses in nats over a text, in order, in float64.
struct TokenScores {
  double loss = 0;
  int64_t tokens = 0;            // predicted tokens
  int64_t bytes = 0, words = 0;  // of the text; 0: unknown

  TokenScores& operator+=(const TokenScores& other);
  double mean_loss() const;
  double perplexity() const;
  double bits_per_byte() const;  // NaN if unknown, like the next two
  double byte_perplexity() const;
  double word_perplexity() const;
};

/// {"tokens", "loss", "perplexity", and if known "bytes", "bits_per_byte", …}.
nlohmann::ordered_json to_json(const TokenScores& scores);

/// −log p of each target [B, n] (ops::token_losses), 0 for targets −1. Without gradients.
at::Tensor losses_of(models::LanguageModel& model, const data::TokenBatch& batch);
/// The same from hidden states on the model's device.
at::Tensor losses_of(const models::LanguageModel& model, const at::Tensor& hidden, const at::Tensor& targets);

/// Throws data for an output of the model that is not finite.
void require_finite(double output);

/// Sum of losses in order, in float64.
double ordered_sum(const at::Tensor& losses);

struct ScoreOptions {
  int64_t batch = 8;       // batch size in windows
  int64_t max_tokens = 0;  // 0: all
};

/// Scores a share of the windows; the shorter last window belongs to the last share. Throws
/// train::EvaluationInterrupted on a stop signal.
TokenScores score_windows(models::LanguageModel& model, const data::TokenWindows& windows,
                          const ScoreOptions& options, const train::Share& share = {});
/// Sets bytes and words of the text of `windows`, proportionally if not all tokens were scored.
void set_text(TokenScores& scores, const data::TokenWindows& windows);

struct RecallCount {
  int64_t asked = 0, right = 0;
  double accuracy() const;
};

struct RecallScores {
  double loss = 0;
  RecallCount all;
  std::map<int64_t, RecallCount> by_distance;  // keys: powers of two k, for distances in [k, 2k)
  std::map<int64_t, RecallCount> by_pairs;

  double accuracy() const { return all.accuracy(); }
  double mean_loss() const;
};
nlohmann::ordered_json to_json(const RecallScores& scores);

/// Scores a share of the samples of `part` ("validation", "test"); correct: the value has the largest logit.
/// Throws train::EvaluationInterrupted on a stop signal.
RecallScores score_recall(models::LanguageModel& model, const LanguageModelingConfig& config,
                          const std::string& part, const train::Share& share = {});

}  // namespace modewise::tasks
