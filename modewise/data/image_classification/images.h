#pragma once
// Labelled images of one size, H × W pixels with C channels (1 grey; 3 RGB).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>

#include "modewise/data/image_classification/config.h"
#include "modewise/data/labelled_samples.h"

namespace modewise::data {

struct ImageSet : LabelledSamples {
  ImageSet() : LabelledSamples("image", "images", "picture", "pictures") {}

  at::Tensor pixels;        // [N, H, W, C] uint8
  bool split_here = false;  // split by data.split_ratios, not by the data
  at::Tensor mean, stddev;  // [C] float32, of values in [0, 1], for normalized()

  int64_t count() const { return pixels.size(0); }
  int64_t height() const { return pixels.size(1); }
  int64_t width() const { return pixels.size(2); }
  int64_t channels() const { return pixels.size(3); }
};

/// Loads the images of `config`; each file is decoded once. Data errors: files that are not images or broken,
/// different sizes without data.size, labels out of range, no image. Without `with_test` the set has no test
/// images and none is read (only the labels, if data.split_ratios select them).
ImageSet load_images(const ImageConfig& config, bool with_test = true);

/// Pixels scaled to [0, 1], [B, H, W, C] float32.
at::Tensor unit_images(const ImageSet& set, std::span<const int64_t> samples);
/// (x − mean) / std of each channel, for images in [0, 1].
at::Tensor normalized(const ImageSet& set, const at::Tensor& images);
/// Normalized images with labels.
LabelledBatch gather_images(const ImageSet& set, std::span<const int64_t> samples);
/// Normalized value of a black pixel, [C].
at::Tensor black_pixel(const ImageSet& set);

/// Hash of pixels, labels and splits.
std::string hash_of(const ImageSet& set);

/// Whether a folder has CIFAR-10's binary batches.
bool holds_cifar(const std::string& folder);
/// Whether a folder has CIFAR-10's Python version, which is not read.
bool holds_cifar_pickles(const std::string& folder);

}  // namespace modewise::data
