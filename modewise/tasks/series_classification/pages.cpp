// Series views of reports and explanations.

#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>
#include <fmt/format.h>

#include <algorithm>

#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/series_classification/run.h"

namespace modewise::tasks {
namespace {

/// Mean of each variable over its sample, expanded to the values [B, V, T]; padding is unchanged.
at::Tensor means_like(const models::ClassifierInput& input) {
  const at::Tensor sum = input.values.sum(-1, true);
  if (!input.valid.defined()) return (sum / input.values.size(-1)).expand_as(input.values);
  const at::Tensor means = sum / input.valid.sum(-1, true).unsqueeze(1).to(sum.scalar_type());
  return at::where(input.valid.unsqueeze(1), means.expand_as(input.values), input.values);
}

}  // namespace

SampleView SeriesClassificationRun::sample_view(int64_t sample) const {
  report::LineChart chart;
  chart.title = set_.sample_name(sample);
  chart.x.label = "step";
  const at::Tensor series = set_.samples[static_cast<size_t>(sample)];
  for (int64_t v = 0; v < std::min(series.size(0), kShownVariables); ++v) {
    report::LineSeries line;
    line.label = fmt::format("{}", v + 1);
    const float* values = series.const_data_ptr<float>() + v * series.size(1);
    line.y.assign(values, values + series.size(1));
    chart.series.push_back(std::move(line));
  }
  return report::Figure(std::move(chart));
}

std::vector<Influence> SeriesClassificationRun::influences(const models::ClassifierInput& input,
                                                           const at::Tensor& whole,
                                                           int64_t max_places) const {
  const at::Tensor means = means_like(input);
  const auto along = [&](const char* mode, int64_t dim, int64_t thick) {
    return influence_of(mode, input.values.size(dim), thick, max_places, [&](int64_t begin, int64_t end) {
      const at::Tensor values = input.values.clone();
      values.narrow(dim, begin, end - begin).copy_(means.narrow(dim, begin, end - begin));
      return (output_of(*model_, models::ClassifierInput{values, input.valid}).softmax(-1) - whole)
          .abs()
          .mean()
          .item<double>();
    });
  };
  std::vector<Influence> all;
  if (shape_.variables > 1) all.push_back(along("variable", 1, 1));
  all.push_back(along("time", 2, config.model.name == "patchtst" ? config.model.patch.stride : 1));
  return all;
}

}  // namespace modewise::tasks
