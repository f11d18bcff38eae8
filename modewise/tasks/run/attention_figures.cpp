#include "modewise/tasks/run/attention_figures.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/adaptive_avg_pool2d.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "modewise/io/images/png.h"
#include "modewise/report/color.h"

namespace modewise::tasks {
namespace {

constexpr double kWeights = 1 << 20;  // maximum weights of a head for an image
constexpr int64_t kRows = 256, kPixels = 128;
constexpr uint8_t kShades = 255, kGap = 255;  // palette: 0 … 254 from light to dark, then background

std::vector<uint8_t> make_palette() {
  std::vector<report::Color> colors;
  for (int i = 0; i < kShades; ++i)
    colors.push_back(report::scale_color(report::ColorScale::sequential, i / (kShades - 1.0)));
  colors.push_back({255, 255, 255});
  return report::color_bytes(colors);
}

/// Palette index of a weight; 0 for negative values and NaN.
uint8_t shade(float share) {
  return share > 0 ? static_cast<uint8_t>(std::lround(std::min(share, 1.0f) * (kShades - 1))) : 0;
}

/// Image of the first sample of weights [B, H, N, M].
train::Image figure(std::string name, const at::Tensor& weights) {
  at::Tensor maps = weights[0].to(at::kFloat);
  const int64_t rows = std::min(maps.size(1), kRows), columns = std::min(maps.size(2), kRows);
  if (rows < maps.size(1) || columns < maps.size(2)) maps = at::adaptive_avg_pool2d(maps, {rows, columns});
  maps = maps.contiguous();
  const float* values = maps.const_data_ptr<float>();
  const float largest = *std::max_element(values, values + maps.numel());
  const int64_t heads = maps.size(0), cell = std::max<int64_t>(kPixels / std::max(rows, columns), 1), gap = 2;
  const int64_t width = heads * (columns * cell + gap) - gap, height = rows * cell;
  io::Image map{height, width, 1, std::vector<uint8_t>(static_cast<size_t>(width * height), kGap)};
  for (int64_t h = 0; h < heads; ++h)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < columns * cell; ++x)
        map.pixels[static_cast<size_t>(y * width + h * (columns * cell + gap) + x)] =
            shade(values[(h * rows + y / cell) * columns + x / cell] / largest);
  static const std::vector<uint8_t> palette = make_palette();
  return {std::move(name), width, height, io::format_palette_png(map, palette)};
}

}  // namespace

bool draws_attention(const nn::ModelCost& cost) {
  double tokens = 1;
  for (const int64_t n : cost.tokens) tokens *= static_cast<double>(n);
  return tokens * tokens * cost.weight_share <= kWeights;
}

std::vector<train::Image> attention_figures(const models::AttentionView& view) {
  std::vector<train::Image> figures;
  for (size_t layer = 0; layer < view.maps.size(); ++layer)
    for (size_t i = 0; i < view.maps[layer].factors.size(); ++i)
      figures.push_back(figure(fmt::format("attention/layer{}/mode{}", layer, view.maps[layer].modes[i]),
                               view.maps[layer].factors[i]));
  for (size_t layer = 0; layer < view.full.size(); ++layer)
    if (view.full[layer].defined())
      figures.push_back(figure(fmt::format("attention/layer{}/tokens", layer), view.full[layer]));
  return figures;
}

}  // namespace modewise::tasks
