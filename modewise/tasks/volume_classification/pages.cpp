// Volume views of reports and explanations.

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/volume_classification/run.h"

namespace modewise::tasks {

SampleView VolumeClassificationRun::sample_view(int64_t sample) const {
  at::Tensor volume = data::gather_volumes(set_, std::span(&sample, 1)).values.select(0, 0).select(-1, 0);
  while (volume.dim() > 2) {
    std::vector<int64_t> rest(static_cast<size_t>(volume.dim() - 1));
    std::iota(rest.begin(), rest.end(), int64_t{1});
    volume = volume.select(0, volume.abs().sum(rest).argmax().item<int64_t>());
  }
  volume = volume.to(at::kDouble).contiguous();
  report::HeatMap map;
  map.title = set_.called(sample);
  map.rows = volume.size(0);
  map.columns = volume.size(1);
  const double* values = volume.const_data_ptr<double>();
  map.values.assign(values, values + volume.numel());
  map.color_bar = false;
  return report::Figure(std::move(map));
}

std::vector<Influence> VolumeClassificationRun::influences(const models::ClassifierInput& input,
                                                           const at::Tensor& whole,
                                                           int64_t max_places) const {
  const std::vector<int64_t> patch = config.model.patch.along(shape_.size);
  const at::Tensor means = input.values.flatten(1, -2).mean(1);  // [B, C]
  std::vector<Influence> all;
  for (int64_t axis = 0; axis < std::ssize(patch); ++axis)
    all.push_back(influence_of(
        fmt::format("axis {}", axis), input.values.size(axis + 1), patch[static_cast<size_t>(axis)],
        max_places, [&](int64_t begin, int64_t end) {
          const at::Tensor values = input.values.clone();
          const at::Tensor slab = values.narrow(axis + 1, begin, end - begin);
          std::vector<int64_t> spread(static_cast<size_t>(slab.dim()), 1);
          spread.front() = means.size(0);
          spread.back() = means.size(1);
          slab.copy_(means.view(spread).expand_as(slab));
          return (output_of(*model_, models::ClassifierInput{values, input.valid}).softmax(-1) - whole)
              .abs()
              .mean()
              .item<double>();
        }));
  return all;
}

}  // namespace modewise::tasks
