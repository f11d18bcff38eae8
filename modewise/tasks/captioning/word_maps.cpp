#include "modewise/tasks/captioning/word_maps.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/upsample_bilinear2d.h>

#include <cmath>

#include "modewise/io/images/png.h"
#include "modewise/nn/layers/device.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kGreySide = 96;  // side of the grey image for features
constexpr double kDarkest = 0.2;

}  // namespace

std::string image_png(const data::CaptionSet& set, int64_t sample) {
  if (!set.pixels.defined()) return "";
  const at::Tensor pixels = set.pixels.select(0, sample).contiguous();
  const uint8_t* values = pixels.const_data_ptr<uint8_t>();
  return io::format_png({pixels.size(0), pixels.size(1), 3, {values, values + pixels.numel()}});
}

std::string looked_at_png(const at::Tensor& pixels, const at::Tensor& weights) {
  const at::Tensor image =
      pixels.defined() ? pixels.contiguous() : at::full({kGreySide, kGreySide, 3}, 200, at::kByte);
  const int64_t height = image.size(0), width = image.size(1);
  const at::Tensor shares = weights.to(at::kDouble) / weights.max().to(at::kDouble).clamp_min(1e-12);
  const at::Tensor light =
      at::upsample_bilinear2d(shares.unsqueeze(0).unsqueeze(0), {height, width}, false).contiguous();
  io::Image map{height, width, 3, {}};
  for (int64_t i = 0; i < height * width; ++i) {
    const double share = kDarkest + (1 - kDarkest) * light.const_data_ptr<double>()[i];
    const uint8_t* pixel = image.const_data_ptr<uint8_t>() + 3 * i;
    for (int c = 0; c < 3; ++c) map.pixels.push_back(static_cast<uint8_t>(std::lround(share * pixel[c])));
  }
  return io::format_png(map);
}

std::vector<report::CaptionedImage> word_maps(const CaptioningRun& run, int64_t sample) {
  const data::CaptionSet& set = run.set;
  const std::vector<int64_t> one = {sample};
  const at::Tensor cells = run.model->encode(data::gather_images(set, one));
  const models::FoundCaption found = find_captions(*run.model, cells, run.search()).front();
  const std::vector<std::vector<int64_t>> captions = {found.words};
  const data::CaptionTokens tokens = data::caption_tokens(captions, run.model->max_words());
  at::Tensor looked = run.model->looked(cells, nn::placed(tokens.inputs, cells.device()));
  if (!looked.defined()) return {};
  looked = looked.to(at::kCPU);
  const at::Tensor pixels = set.pixels.defined() ? set.pixels.select(0, sample) : at::Tensor();
  std::vector<report::CaptionedImage> images;
  for (int64_t t = 0; t < looked.size(1); ++t) {
    const bool word = t < std::ssize(found.words);
    images.push_back(
        {looked_at_png(pixels, looked[0][t]),
         word ? std::string(set.vocabulary.word(found.words[static_cast<size_t>(t)])) : "(end)"});
  }
  return images;
}

}  // namespace modewise::tasks
