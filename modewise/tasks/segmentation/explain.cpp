#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/segmentation/report.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/tasks/segmentation/run.h"
#include "modewise/tasks/segmentation/task.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxMapValues = int64_t{1} << 28;  // maximum values of full attention matrices per layer

/// Occlusion of the input, and its effect on the class probabilities.
class SceneOcclusion {
 public:
  SceneOcclusion(models::Segmenter& model, const models::SegmentationInput& input, int64_t batch)
      : model_(model), input_(input), batch_(batch), seen_(input.valid.any(1)) {
    const at::Tensor weight = input.valid.unsqueeze(-1).to(at::kFloat);
    const at::Tensor count = weight.sum({1, 2, 3}, true).clamp_min(1);
    means_ = (input.image * weight).sum({1, 2, 3}, true) / count;  // [B, 1, 1, 1, bands]
    whole_ = probabilities(input.image);
  }

  /// Mean |change| of each class probability [C] when [begin, end) of image dimension `dim` is occluded.
  std::vector<double> change(int64_t dim, int64_t begin, int64_t end) const {
    at::Tensor image = input_.image.clone();
    const at::Tensor means = means_.expand_as(image);
    image.narrow(dim, begin, end - begin).copy_(means.narrow(dim, begin, end - begin));
    const at::Tensor weight = seen_.unsqueeze(-1).to(at::kDouble);
    const at::Tensor change = (probabilities(image) - whole_).abs().to(at::kDouble) * weight;
    const at::Tensor mean = (change.sum({0, 1, 2}) / weight.sum().clamp_min(1)).contiguous();
    return {mean.const_data_ptr<double>(), mean.const_data_ptr<double>() + mean.numel()};
  }

 private:
  at::Tensor probabilities(const at::Tensor& image) const {
    std::vector<at::Tensor> parts;
    for (int64_t begin = 0; begin < image.size(0); begin += batch_) {
      const int64_t count = std::min(batch_, image.size(0) - begin);
      parts.push_back(output_of(model_, models::SegmentationInput{image.narrow(0, begin, count),
                                                                  input_.valid.narrow(0, begin, count)})
                          .softmax(-1));
    }
    return at::cat(parts);
  }

  models::Segmenter& model_;
  const models::SegmentationInput& input_;
  int64_t batch_;
  at::Tensor seen_, means_, whole_;
};

double mean_of_classes(const std::vector<double>& change) {
  double sum = 0;
  for (const double value : change) sum += value;
  return sum / static_cast<double>(change.size());
}

/// Occlusion of bands: effect on all classes, and on each class.
Influence of_bands(const SceneOcclusion& occlusion, const data::SegmentationSet& set, int64_t maximum) {
  Influence out;
  out.mode = "band";
  const auto groups = place_groups(set.bands(), maximum);
  for (const data::SceneClass& one : set.classes().classes()) out.targets.push_back(one.name);
  out.matrix.resize(out.targets.size() * groups.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto [begin, end] = groups[g];
    const std::vector<int64_t>& bands = set.rule().bands;
    const int64_t first = bands[static_cast<size_t>(begin)], last = bands[static_cast<size_t>(end - 1)];
    out.places.push_back(end - begin == 1 ? std::to_string(first) : fmt::format("{} … {}", first, last));
    const std::vector<double> change = occlusion.change(4, begin, end);
    out.effect.push_back(mean_of_classes(change));
    for (size_t c = 0; c < change.size(); ++c) out.matrix[c * groups.size() + g] = change[c];
  }
  return out;
}

/// Occlusion of strips across dimension `dim` of the image [B, T, N, N, bands], `thick` positions each.
Influence of_strips(const SceneOcclusion& occlusion, const std::string& mode, int64_t dim, int64_t size,
                    int64_t thick, int64_t maximum) {
  Influence out;
  out.mode = mode;
  for (const auto& [first, last] : place_groups((size + thick - 1) / thick, maximum)) {
    const int64_t begin = first * thick, end = std::min(last * thick, size);
    out.places.push_back(end - begin == 1 ? std::to_string(begin) : fmt::format("{} … {}", begin, end - 1));
    out.effect.push_back(mean_of_classes(occlusion.change(dim, begin, end)));
  }
  return out;
}

/// Number of windows whose full attention matrices fit the limit; all for models without full attention.
int64_t mapped_windows(const SegmentationRun& run, int64_t windows) {
  if (run.config.model.name != "transformer") return windows;
  int64_t tokens = 1;
  for (const int64_t size : scene_tokens(run.config.model, run.model->shape()).sizes) tokens *= size;
  return std::clamp<int64_t>(kMaxMapValues / (tokens * tokens * run.config.model.heads), 1, windows);
}

}  // namespace

Explanation explain_segmenter(Run& opened, const ExplainOptions& options) {
  const SegmentationRun& run = as<SegmentationRun>(opened);
  const data::SegmentationSet& set = *run.set;
  const std::vector<data::SceneArea>& areas = run.areas(options.split);
  require(!areas.empty(), ErrorKind::data, "there is no {} area", options.split);
  const int64_t side = set.window();
  const std::vector<data::SceneArea> windows = spread_windows(areas, side, options.samples);
  const models::SegmentationInput input = gather_windows(set, windows);
  models::Segmenter& model = *run.model;
  Explanation e;
  e.title = fmt::format("{} on {}", model_title(run.config), fs::path(set.source()).filename().string());
  e.subtitle = "Attention and occlusion of a segmenter";
  e.facts = {
      {"run", run.folder().path().string()},
      {"samples", fmt::format("{} windows of {} × {} pixels of {}", windows.size(), side, side,
                              run.whole() ? "all areas" : fmt::format("the {} areas", options.split))}};
  const int64_t mapped = mapped_windows(run, std::ssize(windows));
  for (int64_t i = 0; i < std::min(mapped, options.singles); ++i) {
    const data::SceneArea& one = windows[static_cast<size_t>(i)];
    e.sample_names.push_back(fmt::format("{}, rows from {}, columns from {}",
                                         set.files()[static_cast<size_t>(one.file)].name, one.area.row,
                                         one.area.column));
  }
  const models::SegmentationInput shown{input.image.narrow(0, 0, mapped), input.valid.narrow(0, 0, mapped)};
  e.attention = attention_of(model, shown);
  if (e.attention.sizes.size() == 3) e.mode_names.emplace_back("date");
  for (const char* name : {"row", "column"}) e.mode_names.emplace_back(name);
  e.labels.resize(e.mode_names.size());
  if (!e.attention.maps.empty()) e.combine = run.config.model.attention.combined();
  e.ranks = analysis::layer_ranks(e.attention);
  const SceneOcclusion occlusion(model, input, run.config.segment.evaluation_batch);
  e.influences.push_back(of_bands(occlusion, set, options.places));
  if (set.times() > 1)
    e.influences.push_back(of_strips(occlusion, "date", 1, set.times(), 1, options.places));
  const int64_t thick = models::window_multiple(run.config.model);
  e.influences.push_back(of_strips(occlusion, "row", 2, side, thick, options.places));
  e.influences.push_back(of_strips(occlusion, "column", 3, side, thick, options.places));
  e.effect_unit = "the mean absolute change of the class probabilities";
  e.removal = "its values become the mean of their band over the window";
  return e;
}

}  // namespace modewise::tasks
