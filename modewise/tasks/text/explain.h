#pragma once
// Explanation of text runs: attention maps over tokens, and occlusion of tokens.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "modewise/tasks/explanation.h"
#include "modewise/tasks/text/reading.h"

namespace modewise::tasks {

struct ExplainedTexts {
  const TextReading& reading;
  std::vector<std::pair<std::string, text::FramedText>> texts;  // name and tokens
  std::function<models::AttentionView(const models::TextInput&)> attention;
  /// Prediction for a text, [1, K]; null: no occlusion.
  std::function<at::Tensor(const models::TextInput&)> predicted = nullptr;
};

/// Fills `e`: attention matrices of each text over its own tokens, tables of the largest weights, and the
/// change of the prediction when a token is masked.
void explain_texts(const ExplainedTexts& given, const ExplainOptions& options, Explanation& e);

}  // namespace modewise::tasks
