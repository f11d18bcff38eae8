#include "modewise/tasks/language_modeling/question_scores.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/progress.h"
#include "modewise/core/stop_signal.h"
#include "modewise/data/token_windows.h"
#include "modewise/metrics/answer_metrics.h"
#include "modewise/models/language_modeling/text_generation.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/tasks/language_modeling/scores.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {
namespace {

using Ids = std::vector<text::Tokenizer::Id>;
using Json = nlohmann::ordered_json;

/// Tokens of context and option, of which the last `scored` belong to the option. As in lm-eval: option
/// tokens are those of the whole text beyond the context, trailing white space of the context goes to the
/// option, and BOS, or else EOS, precedes an option without context.
struct OptionTokens {
  Ids ids;
  int64_t scored = 0;
};

OptionTokens option_tokens(const text::Tokenizer& tokenizer, std::string context, std::string option,
                           int64_t length) {
  const size_t kept = context.find_last_not_of(" \t\r\n") + 1;  // 0: only white space
  option = context.substr(kept) + option;
  context.resize(kept);
  OptionTokens out;
  out.ids = tokenizer.encode(context + option);
  out.scored = std::ssize(out.ids) - std::ssize(tokenizer.encode(context));
  require(out.scored > 0, ErrorKind::data, "the option '{}' has no tokens after its context",
          option.substr(0, 60));
  std::optional<text::Tokenizer::Id> before = tokenizer.begin_before_text();
  if (!before && out.scored == std::ssize(out.ids)) {
    before = tokenizer.begin_id() ? tokenizer.begin_id() : tokenizer.end_id();
    require(
        before.has_value(), ErrorKind::data,
        "the option '{}' has no context, and the tokenizer neither a begin nor an end token to predict its "
        "first token from",
        option.substr(0, 60));
  }
  if (before) out.ids.insert(out.ids.begin(), *before);
  if (std::ssize(out.ids) > length + 1) out.ids.erase(out.ids.begin(), out.ids.end() - (length + 1));
  out.scored = std::min(out.scored, std::ssize(out.ids) - 1);
  return out;
}

Json mean_json(const std::vector<double>& values) {
  double mean = 0, squares = 0;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) mean += value / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {{"mean", mean}, {"standard_error", n > 1 ? std::sqrt(squares / (n - 1) / n) : 0.0}};
}

}  // namespace

ChoiceScore score_choice(models::LanguageModel& model, const text::Tokenizer& tokenizer,
                         const ChoiceItem& item, int64_t length) {
  const at::NoGradGuard no_grad;
  std::vector<OptionTokens> options;
  int64_t longest = 0;
  for (size_t i = 0; i < item.options.size(); ++i) {
    options.push_back(option_tokens(tokenizer, item.contexts[i], item.options[i], length));
    longest = std::max(longest, std::ssize(options.back().ids) - 1);
  }
  // Attention is causal, so padding at the end has no effect.
  const int64_t rows = std::ssize(options);
  data::TokenBatch batch{at::full({rows, longest}, 0, at::kLong), at::full({rows, longest}, -1, at::kLong)};
  for (int64_t row = 0; row < rows; ++row) {
    const OptionTokens& option = options[static_cast<size_t>(row)];
    const int64_t n = std::ssize(option.ids) - 1;
    auto* inputs = batch.inputs.mutable_data_ptr<int64_t>() + row * longest;
    auto* targets = batch.targets.mutable_data_ptr<int64_t>() + row * longest;
    std::copy(option.ids.begin(), option.ids.end() - 1, inputs);
    for (int64_t i = n - option.scored; i < n; ++i) targets[i] = option.ids[static_cast<size_t>(i + 1)];
  }
  const at::Tensor losses = losses_of(model, batch);
  ChoiceScore score;
  for (int64_t row = 0; row < rows; ++row)
    require_finite(score.log_likelihoods.emplace_back(-ordered_sum(losses.select(0, row))));
  const auto per_character = [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    return score.log_likelihoods[at] / static_cast<double>(std::max<int64_t>(1, item.lengths[at]));
  };
  for (int64_t row = 1; row < rows; ++row) {
    if (score.log_likelihoods[static_cast<size_t>(row)] >
        score.log_likelihoods[static_cast<size_t>(score.chosen)])
      score.chosen = row;
    if (per_character(row) > per_character(score.chosen_normalized)) score.chosen_normalized = row;
  }
  return score;
}

std::string truncate_middle(const text::Tokenizer& tokenizer, const std::string& prompt, int64_t length) {
  const Ids ids = tokenizer.encode(prompt);
  if (std::ssize(ids) <= length) return prompt;
  const auto half = static_cast<size_t>(length / 2);
  const std::span<const text::Tokenizer::Id> all(ids);
  return tokenizer.decode(all.first(half)) + tokenizer.decode(all.last(half));
}

Json score_questions(models::LanguageModel& model, std::shared_ptr<const text::Tokenizer> tokenizer,
                     const QuestionSet& set, int64_t length, const std::vector<int64_t>& end_ids) {
  const nn::EvaluationMode evaluation(model);
  const QuestionTask& task = set.task;
  const bool choice = task.kind == "choice";
  const int64_t count = choice ? std::ssize(set.choices) : std::ssize(set.generated);
  require(choice || length > task.new_tokens, ErrorKind::usage,
          "{}: answers of {} tokens leave no tokens for a prompt within {}", task.name, task.new_tokens,
          length);
  Json json = {{"name", task.name}, {"kind", task.kind}, {"questions", count}, {"length", length}};
  Json answers = Json::array();
  std::vector<double> right, normalized, scores;
  const auto begin = std::chrono::steady_clock::now();
  Progress progress(task.name, count, "questions");
  for (int64_t i = 0; i < count; ++i) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    if (choice) {
      const ChoiceItem& item = set.choices[static_cast<size_t>(i)];
      const ChoiceScore score = score_choice(model, *tokenizer, item, length);
      right.push_back(score.chosen == item.right ? 1 : 0);
      normalized.push_back(score.chosen_normalized == item.right ? 1 : 0);
      answers.push_back({{"right", item.right},
                         {"chosen", score.chosen},
                         {"chosen_normalized", score.chosen_normalized},
                         {"log_likelihoods", score.log_likelihoods}});
    } else {
      const GenerateItem& item = set.generated[static_cast<size_t>(i)];
      models::GenerationConfig config;
      config.tokens = task.new_tokens;
      config.sampling.temperature = 0;
      config.end_ids = end_ids;
      config.stop = task.stop;
      std::string text =
          models::generate_text(model, tokenizer,
                                truncate_middle(*tokenizer, item.prompt, length - task.new_tokens), config)
              .text;
      if (task.first_line) {
        text.erase(0, std::min(text.find_first_not_of('\n'), text.size()));
        text.resize(std::min(text.find('\n'), text.size()));
      }
      scores.push_back(metrics::answer_score(task.metric, text, item.answers, item.classes));
      answers.push_back({{"text", text}, {"score", scores.back()}});
    }
    progress.update(i + 1);
  }
  if (choice) {
    json["accuracy"] = mean_json(right);
    json["accuracy_normalized"] = mean_json(normalized);
  } else {
    json["metric"] = task.metric;
    json["score"] = std::round(1e4 * mean_json(scores)["mean"].get<double>()) / 100;
  }
  json["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  json["answers"] = std::move(answers);
  return json;
}

}  // namespace modewise::tasks
