#include "modewise/tasks/volumes/explain.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include "modewise/core/error.h"
#include "modewise/data/volumes/augment.h"
#include "modewise/tasks/volumes/scores.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

/// Slabs across axis `axis` of the volumes, `thick` voxels each.
Influence of_axis(models::VolumeClassifier& model, const models::VolumeInput& input, const at::Tensor& whole,
                  int64_t axis, int64_t thick, int64_t most) {
  Influence out;
  out.mode = fmt::format("axis {}", axis);
  const int64_t size = input.values.size(axis + 1);
  const at::Tensor means = input.values.flatten(1, -2).mean(1);  // [B, C]
  for (const auto& [first, last] : place_groups((size + thick - 1) / thick, most)) {
    const int64_t begin = first * thick, end = std::min(last * thick, size);
    models::VolumeInput occluded{input.values.clone(), input.valid};
    at::Tensor slab = occluded.values.narrow(axis + 1, begin, end - begin);
    std::vector<int64_t> spread(static_cast<size_t>(slab.dim()), 1);
    spread.front() = means.size(0);
    spread.back() = means.size(1);
    slab.copy_(means.view(spread).expand_as(slab));
    out.places.push_back(fmt::format("{} … {}", begin, end - 1));
    out.effect.push_back((model.forward(occluded).softmax(-1) - whole).abs().mean().item<double>());
  }
  return out;
}

}  // namespace

Explanation explain_classifier(const ClassifyRun& run, const data::VolumeSet& set,
                               const ExplainOptions& options) {
  const at::NoGradGuard no_grad;
  const std::vector<int64_t> split = set.split(options.split);
  require(!split.empty(), ErrorKind::data, "there is no {} volume", options.split);
  std::vector<int64_t> samples;
  for (const int64_t i : spread_samples(std::ssize(split), options.samples))
    samples.push_back(split[static_cast<size_t>(i)]);
  models::VolumeClassifier& model = *run.model;
  model.eval();
  data::VolumeBatch batch = data::gather_volumes(set, samples, model.shape().size);
  data::transform_for_evaluation(batch, run.config.augment);
  const models::VolumeInput input = model_input(batch);
  Explanation e;
  e.title = fmt::format("{} on {}", model_title(run.config), fs::path(set.source).filename().string());
  e.subtitle = "What the classifier attends to";
  e.facts = {{"run", run.folder.path().string()},
             {"samples", fmt::format("{} volumes of the {} split", samples.size(), options.split)}};
  for (int64_t axis = 0; axis < set.modes(); ++axis) {
    e.mode_names.push_back(fmt::format("axis {}", axis));
    e.labels.emplace_back();
  }
  for (size_t i = 0; i < std::min<size_t>(samples.size(), static_cast<size_t>(options.singles)); ++i)
    e.sample_names.push_back("volume " + set.names[static_cast<size_t>(samples[i])]);
  e.factors = model.attention_maps(input);
  e.full = model.full_attention(input);
  if (!e.factors.empty()) e.combine = run.config.model.attention.combine;
  e.ranks = analysis::layer_ranks(e.factors, e.full, model.token_sizes());
  const std::vector<int64_t> patch = run.config.model.patch.along(run.model->shape().size);
  const at::Tensor whole = model.forward(input).softmax(-1);
  for (int64_t axis = 0; axis < set.modes(); ++axis)
    e.influences.push_back(
        of_axis(model, input, whole, axis, patch[static_cast<size_t>(axis)], options.places));
  e.effect_unit = "the mean absolute change of the classes' probabilities";
  e.removal = "the slab becomes the volume's mean";
  return e;
}

}  // namespace modewise::tasks
