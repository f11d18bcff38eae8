#pragma once
// How often a language model recalls the value of a key, by the distance to the pair and the number of pairs.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "modewise/models/language/language_model.h"
#include "modewise/tasks/language/config.h"

namespace modewise::tasks {

struct RecallCount {
  int64_t asked = 0, right = 0;
  double accuracy() const;
};

struct RecallScores {
  double loss = 0;
  RecallCount all;
  std::map<int64_t, RecallCount>
      by_distance;  // keys: powers of two; the distances from the key to below its double
  std::map<int64_t, RecallCount> by_pairs;

  double accuracy() const { return all.accuracy(); }
  double mean_loss() const;
};
nlohmann::ordered_json to_json(const RecallScores& scores);

/// The held-back samples of `part`; right is where the value has the largest logit of all tokens. Throws
/// train::EvaluationInterrupted on a stop signal.
RecallScores score_recall(models::LanguageModel& model, const LanguageConfig& config,
                          const std::string& part);

}  // namespace modewise::tasks
