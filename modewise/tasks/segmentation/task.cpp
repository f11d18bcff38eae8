#include "modewise/tasks/segmentation/task.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "modewise/nn/layers/device.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/run/run_figures.h"
#include "modewise/tasks/segmentation/tiles.h"
#include "modewise/train/distributed/distribute.h"

namespace modewise::tasks {
namespace {

struct SegmentBatch final : train::Batch {
  models::SegmentationInput input;
  at::Tensor labels;  // [B, N, N] int64
};

/// −log softmax at `label`, in double precision.
double cross_entropy(const float* logits, int64_t classes, int16_t label) {
  double highest = logits[0];
  for (int64_t c = 1; c < classes; ++c) highest = std::max<double>(highest, logits[c]);
  double sum = 0;
  for (int64_t c = 0; c < classes; ++c) sum += std::exp(logits[c] - highest);
  return std::log(sum) + highest - logits[label];
}

SegmentationErrors evaluate_area(models::Segmenter& model, const data::SegmentationSet& set,
                                 const data::SceneArea& area, const SegmentationOptions& options) {
  const int64_t classes = set.classes().size();
  SegmentationErrors errors{metrics::ConfusionMatrix(classes), 0};
  const auto read = [&](const data::PixelRect& part) { return set.read_image({area.file, part}); };
  const auto take = [&](const FinishedRows& rows) {
    const std::vector<int16_t> truth =
        set.labels(area.file, {area.area.row + rows.first_row, area.area.column, rows.rows, area.area.width});
    std::vector<int16_t> known(truth.size(), data::ClassMap::ignored), called(truth.size());
    highest_classes(rows.logits, classes, called);
    for (size_t i = 0; i < truth.size(); ++i) {
      if (truth[i] < 0 || rows.valid[i] == 0) continue;
      known[i] = truth[i];
      errors.loss += cross_entropy(rows.logits.data() + static_cast<int64_t>(i) * classes, classes, truth[i]);
    }
    errors.confusion.add(known, called);
  };
  classify_area(model, area.area, {options.overlap, options.evaluation_batch}, read, take);
  return errors;
}

/// [C · C + 1] float64: confusion counts, then the loss.
at::Tensor to_sums(const SegmentationErrors& errors) {
  const std::span<const int64_t> counts = errors.confusion.counts();
  std::vector<double> sums(counts.begin(), counts.end());
  sums.push_back(errors.loss);
  return at::tensor(sums);
}

void add_sums(SegmentationErrors& errors, const at::Tensor& sums) {
  const double* next = sums.const_data_ptr<double>();
  for (int64_t& count : errors.confusion.counts()) count += static_cast<int64_t>(*next++);
  errors.loss += *next;
}

}  // namespace

at::Tensor segment_loss(const at::Tensor& logits, const at::Tensor& labels, const at::Tensor& weights) {
  const at::Tensor known = labels.ge(0), places = labels.clamp_min(0);
  const at::Tensor losses = at::log_softmax(logits, -1).gather(-1, places.unsqueeze(-1)).squeeze(-1).neg();
  const at::Tensor scale = weights.defined() ? weights.take(places) : at::ones_like(losses);
  const at::Tensor zero = at::zeros({}, losses.options());
  const at::Tensor share = at::where(known, scale, zero);
  const auto sum = [](const at::Tensor& x) { return x.sum(2).sum(1).sum(0); };
  return sum(at::where(known, losses * scale, zero)) / sum(share).clamp_min(1e-12);
}

std::vector<double> class_weights(const std::string& rule, const std::vector<int64_t>& pixels) {
  if (rule == "none") return {};
  std::vector<double> weights;
  double total = 0, weighed = 0;
  for (const int64_t count : pixels) {
    const auto n = static_cast<double>(count);
    const double weight = count == 0 ? 0 : rule == "balanced" ? 1 / n : 1 / std::sqrt(n);
    weights.push_back(weight);
    total += n;
    weighed += n * weight;
  }
  for (double& weight : weights) weight *= total / std::max(weighed, 1e-300);
  return weights;
}

SegmentationErrors evaluate_areas(models::Segmenter& model, const data::SegmentationSet& set,
                                  std::span<const data::SceneArea> areas, const SegmentationOptions& options,
                                  train::Workers& workers) {
  SegmentationErrors all{metrics::ConfusionMatrix(set.classes().size()), 0};
  const auto make = [&](int64_t index) -> train::Tensors {
    return {to_sums(evaluate_area(model, set, areas[static_cast<size_t>(index)], options))};
  };
  const auto take = [&](int64_t /*index*/, const train::Tensors& made) { add_sums(all, made.front()); };
  train::distribute(workers, std::ssize(areas), make, take);
  return all;
}

double SegmentationErrors::mean_loss() const {
  return confusion.total() > 0 ? loss / static_cast<double>(confusion.total()) : std::nan("");
}

std::vector<data::SceneArea> spread_windows(const std::vector<data::SceneArea>& areas, int64_t side,
                                            int64_t wanted) {
  std::vector<data::SceneArea> all, kept;
  for (const data::SceneArea& one : areas)
    for (int64_t row = 0; row == 0 || row + side <= one.area.height; row += side)
      for (int64_t column = 0; column == 0 || column + side <= one.area.width; column += side)
        all.push_back({one.file, {one.area.row + row, one.area.column + column, side, side}});
  for (const int64_t i : spread_samples(std::ssize(all), wanted)) kept.push_back(all[static_cast<size_t>(i)]);
  return kept;
}

models::SegmentationInput gather_windows(const data::SegmentationSet& set,
                                         const std::vector<data::SceneArea>& areas) {
  const int64_t n = set.window();
  models::SegmentationInput input{at::empty({std::ssize(areas), set.times(), n, n, set.bands()}, at::kFloat),
                                  at::empty({std::ssize(areas), set.times(), n, n}, at::kBool)};
  float* image = input.image.mutable_data_ptr<float>();
  bool* valid = input.valid.mutable_data_ptr<bool>();
  for (const data::SceneArea& area : areas) {
    const data::SceneWindow window = set.read_image(area);
    image = std::copy(window.image.begin(), window.image.end(), image);
    valid = std::transform(window.valid.begin(), window.valid.end(), valid, [](uint8_t v) { return v != 0; });
  }
  return input;
}

SegmentationTask::SegmentationTask(const SegmentationConfig& config, const data::SegmentationSet& data,
                                   std::shared_ptr<models::Segmenter> model)
    : config_(config), data_(data), model_(std::move(model)) {
  const std::vector<double> weights =
      class_weights(config.segment.class_weights, data.class_pixels(data::SceneSplit::train));
  if (weights.empty()) return;
  // A child module, so that it follows the model between devices.
  weights_ = model_->register_module("class_weights",
                                     std::make_shared<nn::Constant>(at::tensor(weights, at::kFloat)));
}

std::unique_ptr<train::Batch> SegmentationTask::load_batch(std::span<const int64_t> samples,
                                                           int64_t batch) const {
  const auto count = static_cast<int64_t>(samples.size());
  const int64_t n = data_.window(), times = data_.times(), bands = data_.bands();
  auto result = std::make_unique<SegmentBatch>();
  at::Tensor image = at::empty({count, times, n, n, bands}, at::kFloat),
             valid = at::empty({count, times, n, n}, at::kBool), labels = at::empty({count, n, n}, at::kLong);
  const RandomStream stream{static_cast<uint64_t>(config_.train.seed), RandomSite::augmentation,
                            static_cast<uint64_t>(batch)};
  bool complete = true;
  for (int64_t i = 0; i < count; ++i) {
    const auto tile = static_cast<size_t>(samples[static_cast<size_t>(i)]);
    const data::SceneWindow window = data::augmented(
        data_.read(data_.training_tiles()[tile]), config_.data.augment, n, stream, static_cast<uint64_t>(i));
    std::copy(window.image.begin(), window.image.end(),
              image.mutable_data_ptr<float>() + i * times * n * n * bands);
    bool* seen = valid.mutable_data_ptr<bool>() + i * times * n * n;
    int64_t* label = labels.mutable_data_ptr<int64_t>() + i * n * n;
    for (int64_t pixel = 0; pixel < n * n; ++pixel) {
      bool any = false;
      for (int64_t t = 0; t < times; ++t) {
        const bool one = window.valid[static_cast<size_t>(t * n * n + pixel)] != 0;
        seen[t * n * n + pixel] = one;
        any = any || one;
        complete = complete && one;
      }
      // Pixels without data in any date are ignored.
      label[pixel] = any ? window.labels[static_cast<size_t>(pixel)] : data::ClassMap::ignored;
    }
  }
  result->input.image = std::move(image);
  if (!complete) result->input.valid = std::move(valid);
  result->labels = std::move(labels);
  return result;
}

at::Tensor SegmentationTask::loss(const train::Batch& batch, uint64_t seed, uint64_t step) {
  const auto& windows = static_cast<const SegmentBatch&>(batch);
  nn::set_dropout_step(*model_, seed, step);
  const at::Device device = nn::device_of(*model_);
  return segment_loss(model_->forward(windows.input.to(device)), nn::placed(windows.labels, device),
                      weights_ ? weights_->value() : at::Tensor());
}

std::vector<double> SegmentationTask::loss_counts(const train::Batch& batch) const {
  const at::Tensor& labels = static_cast<const SegmentBatch&>(batch).labels;
  const at::Tensor known = labels.ge(0);
  if (!weights_) return {static_cast<double>(known.sum().item<int64_t>())};
  const at::Tensor each = weights_->value().to(at::kCPU, at::kDouble).take(labels.clamp_min(0));
  return {each.mul(known).sum(2).sum(1).sum(0).item<double>()};
}

at::Tensor SegmentationTask::sums(const train::Share& share) {
  const std::vector<data::SceneArea> areas = data_.areas(data::SceneSplit::validation);
  const auto first = static_cast<size_t>(share.first(std::ssize(areas)));
  const auto last = static_cast<size_t>(share.last(std::ssize(areas)));
  return to_sums(
      evaluate_areas(*model_, data_, std::span(areas).subspan(first, last - first), config_.segment));
}

train::Metrics SegmentationTask::metrics_of(const at::Tensor& sums) {
  SegmentationErrors errors{metrics::ConfusionMatrix(data_.classes().size()), 0};
  add_sums(errors, sums);
  train::Metrics metrics = {{"val_accuracy", errors.confusion.accuracy()},
                            {"val_mean_iou", errors.confusion.mean_iou()},
                            {"val_loss", errors.mean_loss()}};
  if (config_.train.tracks("stable_rank")) track_stable_rank(metrics);
  return metrics;
}

void SegmentationTask::track_stable_rank(train::Metrics& metrics) {
  const auto add = [&](data::SceneSplit part, const std::string& split) {
    std::vector<analysis::LayerRanks> ranks;
    // One window at a time: full attention matrices of large windows need much memory.
    for (const data::SceneArea& window : spread_windows(data_.areas(part), data_.window(), kTrackedSamples))
      std::ranges::move(analysis::layer_ranks(attention_of(*model_, gather_windows(data_, {window}))),
                        std::back_inserter(ranks));
    ranks_.add(metrics, ranks, split);
  };
  add(data::SceneSplit::validation, "");
  add(data::SceneSplit::train, "train_");
}

train::Criterion SegmentationTask::criterion() const {
  return {"val_" + config_.segment.select, config_.segment.select == "loss"};
}

}  // namespace modewise::tasks
