#include "modewise/tasks/attention_pictures.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <fmt/format.h>

#include <algorithm>

#include "modewise/report/png.h"

namespace modewise::tasks {
namespace {

constexpr double kWeights = 1 << 20;  // of a head that are formed for a picture
constexpr int64_t kRows = 256, kPixels = 128;
constexpr report::Color kGap = {255, 255, 255};

/// weights [B, H, N, M] of the first sample.
train::Picture picture(std::string name, const at::Tensor& weights) {
  at::Tensor maps = weights[0].to(at::kFloat);
  const int64_t rows = std::min(maps.size(1), kRows), columns = std::min(maps.size(2), kRows);
  if (rows < maps.size(1) || columns < maps.size(2)) maps = at::adaptive_avg_pool2d(maps, {rows, columns});
  maps = maps.contiguous();
  const float* values = maps.const_data_ptr<float>();
  const float largest = *std::max_element(values, values + maps.numel());
  const int64_t heads = maps.size(0), cell = std::max<int64_t>(kPixels / std::max(rows, columns), 1), gap = 2;
  const int64_t width = heads * (columns * cell + gap) - gap, height = rows * cell;
  std::vector<report::Color> pixels(static_cast<size_t>(width * height), kGap);
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < columns * cell; ++x) {
        const float value = values[(h * rows + y / cell) * columns + x / cell];
        pixels[static_cast<size_t>(y * width + h * (columns * cell + gap) + x)] =
            report::scale_color(report::ColorScale::sequential, largest > 0 ? value / largest : 0);
      }
  return {std::move(name), width, height, report::color_png(width, height, pixels)};
}

}  // namespace

bool draws_attention(const analysis::ModelCost& cost) {
  double tokens = 1;
  for (const int64_t n : cost.tokens) tokens *= static_cast<double>(n);
  return tokens * tokens * cost.weight_share <= kWeights;
}

std::vector<train::Picture> attention_pictures(const models::AttentionView& view) {
  std::vector<train::Picture> pictures;
  for (size_t layer = 0; layer < view.maps.size(); ++layer)
    for (size_t i = 0; i < view.maps[layer].factors.size(); ++i)
      pictures.push_back(picture(fmt::format("attention/layer{}/mode{}", layer, view.maps[layer].modes[i]),
                                 view.maps[layer].factors[i]));
  for (size_t layer = 0; layer < view.full.size(); ++layer)
    if (view.full[layer].defined())
      pictures.push_back(picture(fmt::format("attention/layer{}/tokens", layer), view.full[layer]));
  return pictures;
}

}  // namespace modewise::tasks
