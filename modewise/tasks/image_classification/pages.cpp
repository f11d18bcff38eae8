// Image views of reports and explanations.

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include "modewise/report/png.h"
#include "modewise/tasks/image_classification/run.h"

namespace modewise::tasks {

SampleView ImageClassificationRun::sample_view(int64_t sample) const {
  const at::Tensor image = set_.pixels.select(0, sample).contiguous();
  const int64_t channels = set_.channels(), pixels = set_.height() * set_.width();
  const uint8_t* values = image.const_data_ptr<uint8_t>();
  std::vector<report::Color> colors;
  for (int64_t i = 0; i < pixels; ++i) {
    const uint8_t* pixel = values + i * channels;
    colors.push_back(channels == 1 ? report::Color{pixel[0], pixel[0], pixel[0]}
                                   : report::Color{pixel[0], pixel[1], pixel[2]});
  }
  return SampleView{report::color_png(set_.width(), set_.height(), colors)};
}

std::vector<Influence> ImageClassificationRun::influences(const models::ClassifierInput& input,
                                                          const at::Tensor& whole, int64_t max_places) const {
  const at::Tensor means = input.values.mean({1, 2}, true);  // [B, 1, 1, C]
  std::vector<Influence> all;
  for (int64_t axis = 0; axis < 2; ++axis)
    all.push_back(
        influence_of(about().modes[static_cast<size_t>(axis)], input.values.size(axis + 1), 1, max_places,
                     [&](int64_t begin, int64_t end) {
                       const at::Tensor values = input.values.clone();
                       const at::Tensor band = values.narrow(axis + 1, begin, end - begin);
                       band.copy_(means.expand_as(band));
                       return (model_->forward({values, {}}).softmax(-1) - whole).abs().mean().item<double>();
                     }));
  return all;
}

}  // namespace modewise::tasks
