#include "modewise/tasks/language/scores.h"

#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <numeric>

#include "modewise/core/stop_signal.h"
#include "modewise/nn/evaluation_mode.h"
#include "modewise/ops/language_loss.h"
#include "modewise/train/task.h"

namespace modewise::tasks {
namespace {

double per(double sum, int64_t count) {
  return count > 0 ? sum / static_cast<double>(count) : std::nan("");
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

at::Tensor losses_of(models::LanguageModel& model, const data::TokenBatch& batch) {
  const at::NoGradGuard no_grad;
  return ops::token_losses(model.hidden(batch.inputs), model.head_weight(), batch.targets);
}

double ordered_sum(const at::Tensor& losses) {
  const at::Tensor flat = losses.contiguous();
  const float* values = flat.const_data_ptr<float>();
  return std::accumulate(values, values + flat.numel(), 0.0);
}

TokenScores score_windows(models::LanguageModel& model, const data::TokenWindows& windows,
                          const ScoreOptions& options) {
  const nn::EvaluationMode evaluation(model);
  TokenScores scores;
  int64_t count = windows.size();
  const bool cut = options.most_tokens > 0 && options.most_tokens < windows.size() * windows.context();
  if (cut) count = std::max<int64_t>(1, options.most_tokens / windows.context());
  for (int64_t begin = 0; begin < count; begin += options.batch) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    std::vector<int64_t> chosen(static_cast<size_t>(std::min(options.batch, count - begin)));
    std::iota(chosen.begin(), chosen.end(), begin);
    const data::TokenBatch batch = windows.gather(chosen);
    scores.loss += ordered_sum(losses_of(model, batch));
    scores.tokens += batch.targets.numel();
  }
  if (!cut && windows.rest() > 0) {
    const data::TokenBatch batch = windows.last();
    scores.loss += ordered_sum(losses_of(model, batch));
    scores.tokens += batch.targets.numel();
  }
  const data::TokenPart& part = windows.stream().part();
  scores.bytes = part.bytes();
  scores.words = part.words();
  if (cut) {  // in proportion: the text of the windows read is not measured on its own
    const double share =
        static_cast<double>(scores.tokens) / static_cast<double>(windows.stream().size() - 1);
    scores.bytes = std::llround(share * static_cast<double>(scores.bytes));
    scores.words = std::llround(share * static_cast<double>(scores.words));
  }
  return scores;
}

}  // namespace modewise::tasks
