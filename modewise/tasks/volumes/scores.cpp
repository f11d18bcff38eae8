#include "modewise/tasks/volumes/scores.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/softmax.h>

#include <algorithm>

#include "modewise/core/stop_signal.h"
#include "modewise/nn/evaluation_mode.h"
#include "modewise/train/task.h"

namespace modewise::tasks {

models::VolumeInput model_input(const data::VolumeBatch& batch) {
  return {batch.values, batch.valid};
}

ScoreTable score_volumes(models::VolumeClassifier& model, const ClassifyConfig& config,
                         const data::VolumeSet& set, std::span<const int64_t> samples) {
  const at::NoGradGuard no_grad;
  const nn::EvaluationMode evaluation(model);
  const std::vector<int64_t>& mirrors = config.classify.mirrors;
  const uint64_t images = uint64_t{1} << mirrors.size();
  ScoreTable table;
  table.classes = model.shape().classes;
  const auto step = static_cast<size_t>(config.classify.evaluation_batch);
  for (size_t begin = 0; begin < samples.size(); begin += step) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    const auto part = samples.subspan(begin, std::min(step, samples.size() - begin));
    data::VolumeBatch batch = data::gather_volumes(set, part, model.shape().size);
    data::transform_for_evaluation(batch, config.augment);
    at::Tensor sum;
    for (uint64_t mirror = 0; mirror < images; ++mirror) {
      const at::Tensor scores =
          at::softmax(model.forward(model_input(data::mirrored(batch, mirrors, mirror))).to(at::kDouble), -1);
      sum = sum.defined() ? sum + scores : scores;
    }
    sum = (sum / static_cast<double>(images)).contiguous();
    const double* values = sum.const_data_ptr<double>();
    table.scores.insert(table.scores.end(), values, values + sum.numel());
    for (const int64_t i : part) table.labels.push_back(set.labels[static_cast<size_t>(i)]);
  }
  return table;
}

}  // namespace modewise::tasks
