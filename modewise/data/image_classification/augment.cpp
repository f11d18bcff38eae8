#include "modewise/data/image_classification/augment.h"

#include <ATen/ops/flip.h>

#include <cmath>

#include "modewise/core/random.h"

namespace modewise::data {
namespace {

constexpr uint64_t kDrawsAImage = 4;

/// `image` [H, W, C] shifted by whole pixels, filled with `black`.
at::Tensor moved_image(const at::Tensor& image, int64_t down, int64_t across, const at::Tensor& black) {
  at::Tensor out = black.expand_as(image).clone();
  const int64_t rows = image.size(0) - std::abs(down), columns = image.size(1) - std::abs(across);
  if (rows <= 0 || columns <= 0) return out;
  const auto part = [&](const at::Tensor& x, int64_t top, int64_t left) {
    return x.narrow(0, std::max<int64_t>(top, 0), rows).narrow(1, std::max<int64_t>(left, 0), columns);
  };
  part(out, down, across).copy_(part(image, -down, -across));
  return out;
}

}  // namespace

void augment(LabelledBatch& batch, const ImageAugmentConfig& config, const at::Tensor& black, uint64_t seed,
             uint64_t number) {
  if (!config.flip && config.crop == 0) return;
  const RandomStream stream{seed, RandomSite::augmentation, number};
  for (int64_t i = 0; i < batch.values.size(0); ++i) {
    const uint64_t first = static_cast<uint64_t>(i) * kDrawsAImage;
    const auto shift = [&](uint64_t draw) {
      return static_cast<int64_t>(stream.uniform(first + draw) * static_cast<double>(2 * config.crop + 1)) -
             config.crop;
    };
    const at::Tensor place = batch.values.select(0, i);
    at::Tensor image = place;
    if (config.flip && stream.uniform(first) < 0.5) image = at::flip(image, {1});
    if (config.crop > 0) image = moved_image(image, shift(1), shift(2), black);
    place.copy_(image);
  }
}

}  // namespace modewise::data
