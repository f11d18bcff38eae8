#include "modewise/tasks/language_modeling/scores.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "modewise/core/stop_signal.h"
#include "modewise/nn/layers/device.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/ops/dense/linear.h"
#include "modewise/ops/training/language_loss.h"
#include "modewise/tasks/language_modeling/data.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

double per(double sum, int64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
}

Json count_json(const RecallCount& count) {
  return {{"asked", count.asked}, {"accuracy", count.accuracy()}};
}

void score_batch(models::LanguageModel& model, const std::vector<data::RecallSample>& samples,
                 RecallScores& scores) {
  const data::TokenBatch batch = data::recall_batch(samples);
  const at::Tensor hidden = model.hidden(batch.inputs);
  for (size_t row = 0; row < samples.size(); ++row) {
    const data::RecallSample& sample = samples[row];
    std::vector<int64_t> places, values;
    for (const data::RecallQuestion& question : sample.questions) {
      places.push_back(question.position);
      values.push_back(sample.tokens[static_cast<size_t>(question.position + 1)]);
    }
    const at::Tensor at_places = at::tensor(places).to(hidden.device());
    const at::Tensor states = hidden.select(0, static_cast<int64_t>(row)).index_select(0, at_places);
    const at::Tensor logs =
        at::log_softmax(ops::linear(states, model.head_weight()).to(at::kCPU, at::kFloat), -1);
    const at::Tensor chosen = logs.argmax(-1);
    const at::Tensor own = logs.gather(1, at::tensor(values).unsqueeze(1)).contiguous();
    for (size_t i = 0; i < values.size(); ++i) {
      const bool right = chosen.const_data_ptr<int64_t>()[i] == values[i];
      scores.loss -= static_cast<double>(own.const_data_ptr<float>()[i]);
      const auto distance = static_cast<uint64_t>(sample.questions[i].distance);
      for (RecallCount* count :
           {&scores.all, &scores.by_distance[static_cast<int64_t>(std::bit_floor(distance))],
            &scores.by_pairs[sample.questions[i].pairs]}) {
        ++count->asked;
        count->right += right ? 1 : 0;
      }
    }
  }
}

}  // namespace

TokenScores& TokenScores::operator+=(const TokenScores& other) {
  loss += other.loss;
  tokens += other.tokens;
  bytes += other.bytes;
  words += other.words;
  return *this;
}

double TokenScores::mean_loss() const {
  return per(loss, tokens);
}
double TokenScores::perplexity() const {
  return std::exp(mean_loss());
}
double TokenScores::bits_per_byte() const {
  return per(loss, bytes) / std::numbers::ln2;
}
double TokenScores::byte_perplexity() const {
  return std::exp(per(loss, bytes));
}
double TokenScores::word_perplexity() const {
  return std::exp(per(loss, words));
}

nlohmann::ordered_json to_json(const TokenScores& scores) {
  nlohmann::ordered_json json = {
      {"tokens", scores.tokens}, {"loss", scores.mean_loss()}, {"perplexity", scores.perplexity()}};
  if (scores.bytes > 0) {
    json["bytes"] = scores.bytes;
    json["bits_per_byte"] = scores.bits_per_byte();
    json["byte_perplexity"] = scores.byte_perplexity();
  }
  if (scores.words > 0) {
    json["words"] = scores.words;
    json["word_perplexity"] = scores.word_perplexity();
  }
  return json;
}

at::Tensor losses_of(const models::LanguageModel& model, const at::Tensor& hidden,
                     const at::Tensor& targets) {
  return ops::token_losses(hidden, model.head_weight(), nn::placed(targets, hidden.device())).to(at::kCPU);
}

at::Tensor losses_of(models::LanguageModel& model, const data::TokenBatch& batch) {
  const at::NoGradGuard no_grad;
  return losses_of(model, model.hidden(batch.inputs), batch.targets);
}

void require_finite(double output) {
  require(std::isfinite(output), ErrorKind::data,
          "the model's outputs are not finite: its weights overflow or are damaged");
}

double ordered_sum(const at::Tensor& losses) {
  const at::Tensor flat = losses.contiguous();
  const float* values = flat.const_data_ptr<float>();
  return std::accumulate(values, values + flat.numel(), 0.0);
}

TokenScores score_windows(models::LanguageModel& model, const data::TokenWindows& windows,
                          const ScoreOptions& options, const train::Share& share) {
  const nn::EvaluationMode evaluation(model);
  TokenScores scores;
  int64_t count = windows.size();
  const bool cut = options.max_tokens > 0 && options.max_tokens < windows.size() * windows.context();
  if (cut) count = std::max<int64_t>(1, options.max_tokens / windows.context());
  const int64_t last = share.last(count);
  for (int64_t begin = share.first(count); begin < last; begin += options.batch) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    std::vector<int64_t> chosen(static_cast<size_t>(std::min(options.batch, last - begin)));
    std::iota(chosen.begin(), chosen.end(), begin);
    const data::TokenBatch batch = windows.gather(chosen);
    scores.loss += ordered_sum(losses_of(model, batch));
    scores.tokens += batch.targets.numel();
  }
  if (!cut && windows.rest() > 0 && last == count) {
    const data::TokenBatch batch = windows.last();
    scores.loss += ordered_sum(losses_of(model, batch));
    scores.tokens += batch.targets.numel();
  }
  set_text(scores, windows);
  return scores;
}

void set_text(TokenScores& scores, const data::TokenWindows& windows) {
  const double read = static_cast<double>(scores.tokens) / static_cast<double>(windows.stream().size() - 1);
  const data::TokenPart& part = windows.stream().part();
  scores.bytes = std::llround(read * static_cast<double>(part.bytes()));
  scores.words = std::llround(read * static_cast<double>(part.words()));
}

double RecallCount::accuracy() const {
  return asked > 0 ? static_cast<double>(right) / static_cast<double>(asked) : std::nan("");
}

double RecallScores::mean_loss() const {
  return loss / static_cast<double>(all.asked);
}

Json to_json(const RecallScores& scores) {
  Json json = {{"loss", scores.mean_loss()},
               {"accuracy", scores.accuracy()},
               {"asked", scores.all.asked},
               {"by_distance", Json::array()},
               {"by_pairs", Json::array()}};
  for (const auto& [distance, count] : scores.by_distance) {
    Json one = {{"from", distance}, {"to", 2 * distance - 1}};
    one.update(count_json(count));
    json["by_distance"].push_back(one);
  }
  for (const auto& [pairs, count] : scores.by_pairs) {
    Json one = {{"pairs", pairs}};
    one.update(count_json(count));
    json["by_pairs"].push_back(one);
  }
  return json;
}

RecallScores score_recall(models::LanguageModel& model, const LanguageModelingConfig& config,
                          const std::string& part, const train::Share& share) {
  const at::NoGradGuard no_grad;
  const nn::EvaluationMode evaluation(model);
  RecallScores scores;
  const int64_t last = share.last(config.data.recall.held_back), batch = config.language.evaluation_batch;
  for (int64_t begin = share.first(config.data.recall.held_back); begin < last; begin += batch) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    std::vector<data::RecallSample> samples;
    for (int64_t i = begin; i < std::min(last, begin + batch); ++i)
      samples.push_back(recall_sample(config, part, i));
    score_batch(model, samples, scores);
  }
  return scores;
}

}  // namespace modewise::tasks
