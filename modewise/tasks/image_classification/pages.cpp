// Image views of reports and explanations.

#include <ATen/TensorOperators.h>
#include <fmt/format.h>

#include "modewise/io/images/png.h"
#include "modewise/tasks/image_classification/run.h"
#include "modewise/tasks/run/model_output.h"

namespace modewise::tasks {

SampleView ImageClassificationRun::sample_view(int64_t sample) const {
  const at::Tensor image = set_.pixels.select(0, sample).contiguous();
  const int64_t channels = set_.channels(), pixels = set_.height() * set_.width();
  const uint8_t* values = image.const_data_ptr<uint8_t>();
  io::Image view{set_.height(), set_.width(), 3, {}};
  for (int64_t i = 0; i < pixels; ++i)
    for (int64_t c = 0; c < 3; ++c) view.pixels.push_back(values[i * channels + (channels == 1 ? 0 : c)]);
  return SampleView{io::format_png(view)};
}

std::vector<Influence> ImageClassificationRun::influences(const models::ClassifierInput& input,
                                                          const at::Tensor& whole, int64_t max_places) const {
  const at::Tensor means = input.values.mean({1, 2}, true);  // [B, 1, 1, C]
  std::vector<Influence> all;
  for (int64_t axis = 0; axis < 2; ++axis)
    all.push_back(influence_of(about().modes[static_cast<size_t>(axis)], input.values.size(axis + 1), 1,
                               max_places, [&](int64_t begin, int64_t end) {
                                 const at::Tensor values = input.values.clone();
                                 const at::Tensor band = values.narrow(axis + 1, begin, end - begin);
                                 band.copy_(means.expand_as(band));
                                 return (output_of(*model_, models::ClassifierInput{values, {}}).softmax(-1) -
                                         whole)
                                     .abs()
                                     .mean()
                                     .item<double>();
                               }));
  return all;
}

}  // namespace modewise::tasks
