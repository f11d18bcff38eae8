#pragma once
// Labelled pictures of one size, H × W pixels of C channels (1 grey; 3 red, green, blue).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <string>

#include "modewise/data/labelled_samples.h"
#include "modewise/data/image_classification/config.h"

namespace modewise::data {

struct ImageSet : LabelledSamples {
  ImageSet() : LabelledSamples("picture", "pictures") {}

  at::Tensor pixels;           // [N, H, W, C] uint8
  bool split_here = false;     // whether data.split_ratios cut the parts, and not the data
  at::Tensor mean, stddev;  // [C] float32, of values from 0 to 1: what normalized() takes them by

  int64_t count() const { return pixels.size(0); }
  int64_t height() const { return pixels.size(1); }
  int64_t width() const { return pixels.size(2); }
  int64_t channels() const { return pixels.size(3); }
};

/// Reads what `config` names; each file is decoded once. Data errors: files that are no pictures or broken,
/// sizes that differ where none is configured, labels outside of the classes, no picture. Without `with_test`
/// no test picture is read, and the set has none; where they are found by a split of this program's, their
/// labels alone are.
ImageSet load_images(const ImageConfig& config, bool with_test = true);

/// Values from 0 to 1, [B, H, W, C] float32.
at::Tensor unit_images(const ImageSet& set, std::span<const int64_t> samples);
/// (x − mean) / deviation of each channel of pictures from 0 to 1.
at::Tensor normalized(const ImageSet& set, const at::Tensor& images);
/// Both, with the labels.
LabelledBatch gather_images(const ImageSet& set, std::span<const int64_t> samples);
/// What a black pixel is once it is normalised, [C].
at::Tensor black_pixel(const ImageSet& set);

/// Hash of pixels, labels and splits.
std::string hash_of(const ImageSet& set);

}  // namespace modewise::data
