#pragma once
// Interface of text runs of every objective: predict, explain and decompose use it.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "modewise/models/attention_view.h"
#include "modewise/tasks/run/task_spec.h"
#include "modewise/tasks/text/config.h"
#include "modewise/tasks/text/reading.h"

namespace modewise::tasks {

class EncoderRun {
 public:
  virtual ~EncoderRun() = default;

  virtual const TextTaskConfig& text_config() const = 0;
  /// Up to `count` texts of a split, evenly spaced. Data error for an empty split.
  virtual NamedTexts shown_texts(const std::string& split, int64_t count) const = 0;
  virtual models::AttentionView attention(const models::TextInput& input) const = 0;
  /// The prediction for texts, [B, K]; undefined for an objective without predictions.
  virtual at::Tensor prediction(const models::TextInput& /*input*/) const { return {}; }
  /// TaskSpec::predict of an opened run, without samples.
  virtual Result predict(const PredictRequest& request) = 0;

  TextReading reading;
  bool other_texts = false;  // whether the loaded texts are at another path than those of the config
};

}  // namespace modewise::tasks
