#include "modewise/data/image_classification/images.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "modewise/core/data_files.h"
#include "modewise/core/error.h"
#include "modewise/core/hash.h"
#include "modewise/data/image_classification/sources.h"

namespace modewise::data {
namespace {

std::string image_format(const ImageConfig& config) {
  require(!config.path.empty(), ErrorKind::config,
          "data.path: expected a folder or an NPZ file of images, got none");
  require(std::filesystem::exists(config.path), ErrorKind::no_input, "there is no file or folder {}",
          config.path);
  if (config.format != "auto") return config.format;
  require(!holds_cifar_pickles(config.path), ErrorKind::data,
          "{}: CIFAR-10's Python version, which modewise does not read; its binary version "
          "(cifar-10-binary.tar.gz, folder cifar-10-batches-bin) has the same images",
          config.path);
  if (std::filesystem::is_directory(config.path)) return holds_cifar(config.path) ? "cifar" : "folders";
  if (!config.classes.empty() && io::named_as_image(config.path)) return "folders";
  require(lower_extension(config.path) == ".npz", ErrorKind::data,
          "{}: expected images: a folder of CIFAR-10 batches, a folder with one folder per class or with "
          "labels.csv, or an .npz file",
          config.path);
  return "npz";
}

/// Mean and standard deviation of each channel over the training images, from counts of the 256 values, which
/// are exact in any order.
void measure_images(ImageSet& set, const ImageConfig& config) {
  const int64_t channels = set.channels(), pixels = set.height() * set.width();
  set.mean = at::zeros({channels});
  set.stddev = at::ones({channels});
  if (config.normalize == "unit" || set.train.empty()) return;
  std::vector<std::array<int64_t, 256>> counts(static_cast<size_t>(channels));
  const uint8_t* values = set.pixels.const_data_ptr<uint8_t>();
  for (const int64_t sample : set.train) {
    const uint8_t* image = values + sample * pixels * channels;
    for (int64_t i = 0; i < pixels * channels; ++i) ++counts[static_cast<size_t>(i % channels)][image[i]];
  }
  const auto n = static_cast<double>(pixels * std::ssize(set.train));
  for (int64_t c = 0; c < channels; ++c) {
    const std::array<int64_t, 256>& count = counts[static_cast<size_t>(c)];
    double mean = 0, variance = 0;
    for (size_t v = 0; v < 256; ++v) mean += static_cast<double>(count[v]) * static_cast<double>(v) / n;
    for (size_t v = 0; v < 256; ++v)
      variance += static_cast<double>(count[v]) * std::pow(static_cast<double>(v) - mean, 2) / n;
    set.mean.mutable_data_ptr<float>()[c] = static_cast<float>(mean / 255);
    if (variance > 0) set.stddev.mutable_data_ptr<float>()[c] = static_cast<float>(std::sqrt(variance) / 255);
  }
}

}  // namespace

ImageSet load_images(const ImageConfig& config, bool with_test) {
  require(config.size.empty() || config.size.size() == 2, ErrorKind::config,
          "data.size: expected height and width of the images, got [{}]", fmt::join(config.size, ", "));
  const std::string format = image_format(config);
  const bool folders = format == "folders";
  if (!config.trained && (!folders || config.table_of(config.path).empty()))
    config.refuse_columns(config.path);
  require(folders || config.labels.empty() || config.labels == "none", ErrorKind::config,
          "data.labels = {}: a table is read for folders of images, but {} has its own labels", config.labels,
          config.path);
  ImageSet set = format == "cifar"     ? read_cifar_images(config, with_test)
                 : format == "folders" ? read_image_folders(config, with_test)
                                       : read_npz_images(config, with_test);
  set.source = config.path;
  set.pixels = set.pixels.contiguous();
  if (format != "npz") name_classes(set, config.classes);
  if (!set.split_here && set.validation.empty())
    take_validation(set, config.validation_share, config.split_seed);
  measure_images(set, config);
  const auto bytes = static_cast<size_t>(set.height() * set.width() * set.channels());
  const auto* pixels = static_cast<const std::byte*>(set.pixels.const_data_ptr());
  hash_contents(
      set,
      [&](size_t i) {
        return content_number({pixels + i * bytes, bytes});
      },
      config.trained);
  return set;
}

at::Tensor unit_images(const ImageSet& set, std::span<const int64_t> samples) {
  const at::Tensor numbers = at::tensor(at::IntArrayRef(samples.data(), samples.size()), at::kLong);
  return at::index_select(set.pixels, 0, numbers).to(at::kFloat).div_(255);
}

at::Tensor normalized(const ImageSet& set, const at::Tensor& images) {
  return (images - set.mean).div_(set.stddev);
}

at::Tensor black_pixel(const ImageSet& set) {
  return normalized(set, at::zeros({set.channels()}));
}

LabelledBatch gather_images(const ImageSet& set, std::span<const int64_t> samples) {
  LabelledBatch batch;
  batch.values = normalized(set, unit_images(set, samples));
  batch.labels = at::empty({std::ssize(samples)}, at::kLong);
  for (size_t i = 0; i < samples.size(); ++i)
    batch.labels.mutable_data_ptr<int64_t>()[i] = set.labels[static_cast<size_t>(samples[i])];
  return batch;
}

std::string hash_of(const ImageSet& set) {
  ContentHash hash;
  hash.add({static_cast<const std::byte*>(set.pixels.const_data_ptr()), set.pixels.nbytes()});
  for (const auto* numbers : {&set.labels, &set.train, &set.validation, &set.test})
    hash.add(std::as_bytes(std::span(*numbers)));
  return hash.text();
}

}  // namespace modewise::data
