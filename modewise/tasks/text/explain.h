#pragma once
// Which tokens of a text look where, and which move what is told of it.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "modewise/tasks/explanation.h"
#include "modewise/tasks/text/reading.h"

namespace modewise::tasks {

struct ExplainedTexts {
  const TextReading& reading;
  std::vector<std::pair<std::string, text::FramedText>> texts;  // by their names
  std::function<models::AttentionView(const models::TextInput&)> attention;
  /// What is told of a text, [1, K]; null: nothing that tokens could move.
  std::function<at::Tensor(const models::TextInput&)> predicted = nullptr;
};

/// Into `e`: matrices of each text over its own tokens, tables of where they look, and by how much what is
/// told changes when a token is hidden.
void explain_texts(const ExplainedTexts& given, const ExplainOptions& options, Explanation& e);

}  // namespace modewise::tasks
