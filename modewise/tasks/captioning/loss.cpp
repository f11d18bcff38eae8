#include "modewise/tasks/captioning/loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/softmax.h>

#include "modewise/core/random.h"
#include "modewise/data/captioning/vocabulary.h"

namespace modewise::tasks {
namespace {

using data::Vocabulary;

/// Σ weights · values / Σ weights of [n, T]. Rows are summed first, so that no sum is split between threads.
at::Tensor weighted_mean(const at::Tensor& values, const at::Tensor& weights) {
  return values.mul(weights).sum(1).sum().div(weights.sum(1).sum());
}

at::Tensor is_target(const at::Tensor& targets, const at::Tensor& logits) {
  return targets.ne(Vocabulary::kPadding).to(logits.scalar_type());
}

/// Inverse transform sampling: the word whose cumulative probability interval [V] contains `uniform`.
int64_t drawn_word(const double* probabilities, int64_t words, double uniform) {
  double sum = 0;
  int64_t last = 0;
  for (int64_t v = 0; v < words; ++v) {
    if (probabilities[v] == 0) continue;
    last = v;
    sum += probabilities[v];
    if (uniform < sum) break;
  }
  return last;
}

}  // namespace

data::CaptionTokens side_by_side(std::span<const std::vector<std::vector<int64_t>>> of_images, int64_t each,
                                 int64_t max_words) {
  std::vector<std::vector<int64_t>> rows;
  std::vector<int64_t> without;
  for (const auto& captions : of_images)
    for (size_t k = 0; k < static_cast<size_t>(each); ++k) {
      if (k >= captions.size()) without.push_back(std::ssize(rows));
      rows.push_back(k < captions.size() ? captions[k] : std::vector<int64_t>());
    }
  data::CaptionTokens tokens = data::caption_tokens(rows, max_words);
  for (const int64_t row : without) tokens.targets.select(0, row).zero_();
  return tokens;
}

at::Tensor caption_loss(const at::Tensor& logits, const at::Tensor& targets, double smoothing) {
  const at::Tensor log_scores = at::log_softmax(logits, -1);
  at::Tensor each = log_scores.gather(2, targets.unsqueeze(2)).squeeze(2);
  if (smoothing > 0) each = each.mul(1 - smoothing) + log_scores.mean(2).mul(smoothing);
  return weighted_mean(each, is_target(targets, logits)).neg();
}

at::Tensor mixed_inputs(const at::Tensor& inputs, const at::Tensor& logits, double share, uint64_t seed,
                        uint64_t step) {
  const RandomStream stream{seed, RandomSite::sampled_text, step};
  const at::Tensor probabilities = at::softmax(logits.detach().to(at::kCPU, at::kDouble), -1).contiguous();
  const at::Tensor mixed = inputs.clone();
  const int64_t steps = inputs.size(1), words = logits.size(2);
  int64_t* tokens = mixed.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < inputs.size(0); ++row)
    for (int64_t t = 1; t < steps; ++t) {
      const int64_t place = row * steps + t;
      const auto draw = static_cast<uint64_t>(2 * place);
      if (tokens[place] == Vocabulary::kPadding || stream.uniform(draw) >= share) continue;
      tokens[place] = drawn_word(probabilities.const_data_ptr<double>() + (place - 1) * words, words,
                                 stream.uniform(draw + 1));
    }
  return mixed;
}

at::Tensor self_critical_loss(const at::Tensor& logits, const at::Tensor& targets,
                              const at::Tensor& advantages) {
  const at::Tensor own = at::log_softmax(logits, -1).gather(2, targets.unsqueeze(2)).squeeze(2);
  return weighted_mean(own.mul(advantages.to(logits.scalar_type()).unsqueeze(1)), is_target(targets, logits))
      .neg();
}

}  // namespace modewise::tasks
