#include "modewise/tasks/captioning/task.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "modewise/core/random.h"
#include "modewise/nn/layers/device.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/tasks/captioning/evaluate.h"
#include "modewise/tasks/captioning/find.h"
#include "modewise/tasks/captioning/loss.h"

namespace modewise::tasks {
namespace {

using data::Vocabulary;
using WordNumbersOf = std::vector<std::vector<int64_t>>;

/// Captions of images; more than `maximum` are sampled without replacement.
std::vector<WordNumbersOf> chosen_captions(const data::CaptionSet& set, const std::vector<int64_t>& images,
                                           int64_t maximum, const RandomStream& stream) {
  std::vector<WordNumbersOf> chosen;
  for (size_t row = 0; row < images.size(); ++row) {
    const auto& captions = set.images[static_cast<size_t>(images[row])].words;
    const int64_t count = std::ssize(captions), wanted = std::min(count, maximum);
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), int64_t{0});
    WordNumbersOf& own = chosen.emplace_back();
    for (int64_t k = 0; k < wanted; ++k) {
      if (count > maximum) {  // Fisher-Yates: position k gets one of those from k on
        const double draw = stream.uniform(row * static_cast<uint64_t>(maximum) + static_cast<uint64_t>(k));
        const int64_t from = k + static_cast<int64_t>(draw * static_cast<double>(count - k));
        std::swap(order[static_cast<size_t>(k)], order[static_cast<size_t>(from)]);
      }
      own.push_back(set.vocabulary.numbers(captions[static_cast<size_t>(order[static_cast<size_t>(k)])]));
    }
  }
  return chosen;
}

std::vector<int32_t> with_end(const std::vector<int64_t>& words, bool ended) {
  std::vector<int32_t> out(words.begin(), words.end());
  if (ended) out.push_back(static_cast<int32_t>(Vocabulary::kEnd));
  return out;
}

/// Seed of a step.
uint64_t step_seed(uint64_t seed, uint64_t step) {
  const RandomStream stream{seed, RandomSite::sampled_text, step};
  return uint64_t{stream.word(0)} << 32 | stream.word(1);
}

}  // namespace

CaptionReward::CaptionReward(const data::CaptionSet& set) {
  std::map<std::string, int32_t> unknown;
  for (const int64_t i : set.train) {
    auto& references = references_.emplace_back();
    for (const auto& words : set.images[static_cast<size_t>(i)].words) {
      std::vector<int64_t> numbers = set.vocabulary.numbers(words);
      for (size_t t = 0; t < words.size(); ++t)
        if (numbers[t] == Vocabulary::kUnknown)
          numbers[t] = set.vocabulary.size() +
                       unknown.emplace(words[t], static_cast<int32_t>(unknown.size())).first->second;
      references.push_back(with_end(numbers, true));
    }
  }
  std::vector<metrics::CaptionCase> cases;
  for (const auto& references : references_) cases.push_back({{}, {references.begin(), references.end()}});
  scorer_.emplace(cases);
}

double CaptionReward::of(int64_t sample, const models::FoundCaption& caption) const {
  const std::vector<int32_t> words = with_end(caption.words, caption.ended);
  const auto& references = references_[static_cast<size_t>(sample)];
  return scorer_->score({words, {references.begin(), references.end()}});
}

struct CaptioningTask::Batch final : train::Batch {
  std::vector<int64_t> samples;  // indices of training images
  at::Tensor images;             // [B, …]
  data::CaptionTokens tokens;    // [B · captions, T]
};

CaptioningTask::CaptioningTask(const CaptioningConfig& config, const data::CaptionSet& set, std::string hash,
                               std::shared_ptr<models::Captioner> model)
    : config_(config), set_(set), hash_(std::move(hash)), model_(std::move(model)) {
  const int64_t samples = training_samples(), size = config.train.batch_size;
  batches_per_epoch_ = config.train.drop_last ? samples / size : (samples + size - 1) / size;
  if (config.captions.self_critical_epochs > 0) reward_.emplace(set);
}

std::unique_ptr<train::Batch> CaptioningTask::load(std::span<const int64_t> samples) const {
  return load_batch(samples, 0);
}

std::unique_ptr<train::Batch> CaptioningTask::load_batch(std::span<const int64_t> samples,
                                                         int64_t number) const {
  auto batch = std::make_unique<Batch>();
  batch->samples.assign(samples.begin(), samples.end());
  std::vector<int64_t> images;
  for (const int64_t i : samples) images.push_back(set_.train[static_cast<size_t>(i)]);
  batch->images = data::gather_images(set_, images);
  const RandomStream stream{static_cast<uint64_t>(config_.train.seed), RandomSite::augmentation,
                            static_cast<uint64_t>(number)};
  const auto captions = chosen_captions(set_, images, config_.captions.captions_per_image, stream);
  int64_t each = 0;
  for (const WordNumbersOf& own : captions) each = std::max(each, std::ssize(own));
  batch->tokens = side_by_side(captions, each, config_.model.max_words);
  return batch;
}

bool CaptioningTask::is_rewarded(uint64_t step) const {
  const int64_t epoch = static_cast<int64_t>(step) / batches_per_epoch_;
  return epoch >= config_.train.epochs - config_.captions.self_critical_epochs;
}

at::Tensor CaptioningTask::loss(const train::Batch& batch, uint64_t seed, uint64_t step) {
  nn::set_dropout_step(*model_, seed, step);
  const auto& captions = static_cast<const Batch&>(batch);
  return is_rewarded(step) ? reward_loss(captions, seed, step) : word_loss(captions, seed, step);
}

std::vector<double> CaptioningTask::loss_counts(const train::Batch& batch) const {
  const auto& captions = static_cast<const Batch&>(batch);
  const int64_t words = captions.tokens.targets.ne(Vocabulary::kPadding).sum().item<int64_t>();
  // Sampled captions are unknown before the forward pass: shares are weighted by their images.
  return {static_cast<double>(words), static_cast<double>(captions.samples.size())};
}

at::Tensor CaptioningTask::loss_share(const train::Batch& part, uint64_t seed, uint64_t step,
                                      std::span<const double> all) {
  const size_t which = is_rewarded(step) ? 1 : 0;
  return loss(part, seed, step) * (loss_counts(part)[which] / std::max(all[which], 1.0));
}

at::Tensor CaptioningTask::word_loss(const Batch& batch, uint64_t seed, uint64_t step) {
  const CaptionOptions& options = config_.captions;
  const at::Tensor cells = model_->encode(batch.images);
  at::Tensor inputs = nn::placed(batch.tokens.inputs, cells.device());
  if (options.scheduled_sampling > 0) {
    const int64_t steps = (config_.train.epochs - options.self_critical_epochs) * batches_per_epoch_;
    const double share = options.scheduled_sampling * static_cast<double>(step) / static_cast<double>(steps);
    const at::NoGradGuard no_grad;
    inputs = mixed_inputs(batch.tokens.inputs, model_->logits(cells, inputs), share, seed, step);
    inputs = nn::placed(inputs, cells.device());
  }
  return caption_loss(model_->logits(cells, inputs), nn::placed(batch.tokens.targets, cells.device()),
                      options.smoothing);
}

at::Tensor CaptioningTask::reward_loss(const Batch& batch, uint64_t seed, uint64_t step) {
  const int64_t each = config_.captions.drawn;
  std::vector<models::FoundCaption> likeliest, drawn;
  {
    const at::NoGradGuard no_grad;
    const nn::EvaluationMode evaluation(*model_);
    const at::Tensor cells = model_->encode(batch.images);
    likeliest = models::greedy_captions(*model_, cells);
    drawn = models::sample_captions(*model_, cells, step_seed(seed, step), each);
  }
  std::vector<double> advantages;
  WordNumbersOf rows;
  for (size_t i = 0; i < drawn.size(); ++i) {
    const size_t image = i / static_cast<size_t>(each);
    advantages.push_back(reward_->of(batch.samples[image], drawn[i]) -
                         reward_->of(batch.samples[image], likeliest[image]));
    rows.push_back(drawn[i].words);
  }
  const data::CaptionTokens tokens = data::caption_tokens(rows, config_.model.max_words);
  const at::Tensor cells = model_->encode(batch.images);
  const auto placed = [&](const at::Tensor& x) { return nn::placed(x, cells.device()); };
  return self_critical_loss(model_->logits(cells, placed(tokens.inputs)), placed(tokens.targets),
                            placed(at::tensor(advantages, at::kDouble)));
}

at::Tensor CaptioningTask::sums(const train::Share& share) {
  const std::span<const int64_t> evaluated = evaluated_images(set_, "validation");
  const int64_t count = std::ssize(evaluated), maximum = model_->max_words();
  const int64_t first = share.first(count), last = share.last(count);
  const auto own = evaluated.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
  const CaptionFinder finder{*model_, set_, config_.captions.evaluation_batch};
  at::Tensor sums = at::zeros({count * maximum + 2}, at::kDouble);
  double* place = sums.mutable_data_ptr<double>() + first * maximum;
  for (const std::vector<int64_t>& words : finder.words(own, {.beams = 1})) {
    std::ranges::copy(words, place);
    place += maximum;
  }
  const WordLoss loss = finder.loss(own);
  sums[-2] = loss.sum;
  sums[-1] = loss.words;
  return sums;
}

train::Metrics CaptioningTask::metrics_of(const at::Tensor& sums) {
  const std::vector<int64_t>& evaluated = evaluated_images(set_, "validation");
  const double* place = sums.const_data_ptr<double>();
  std::vector<std::vector<int64_t>> words(evaluated.size());
  for (std::vector<int64_t>& one : words) {
    for (int64_t i = 0; i < model_->max_words() && place[i] != 0; ++i)
      one.push_back(static_cast<int64_t>(place[i]));
    place += model_->max_words();
  }
  const CaptionQuality evaluation =
      evaluate_captions(caption_texts(set_, evaluated, words), "the generated captions",
                        set_.references(evaluated), set_.source);
  return {{"val_cider_d", evaluation.evaluation.all.cider_d},
          {"val_bleu_4", evaluation.evaluation.all.bleu.back()},
          {"val_loss", place[0] / place[1]}};
}

train::Criterion CaptioningTask::criterion() const {
  return {"val_" + config_.captions.select, config_.captions.select == "loss"};
}

}  // namespace modewise::tasks
