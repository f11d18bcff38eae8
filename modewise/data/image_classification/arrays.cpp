// Image sets in NPZ files, including MedMNIST's 2D sets.

#include <ATen/ops/cat.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <fmt/ranges.h>

#include <array>
#include <map>

#include "modewise/core/error.h"
#include "modewise/data/array_tensor.h"
#include "modewise/data/image_classification/medmnist_classes.h"
#include "modewise/data/image_classification/sources.h"
#include "modewise/io/arrays/npz.h"

namespace modewise::data {
namespace {

using NamedArrays = std::map<std::string, io::Array>;

std::string names_of(const NamedArrays& arrays) {
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays) names.push_back(name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

/// The images of `array`, [n, h, w, c].
at::Tensor images_of(io::Array array, const std::string& name) {
  const std::vector<int64_t> shape = array.shape;
  require(are_images(array) && array.size() > 0, ErrorKind::data,
          "{}: expected images [n, height, width] or [n, height, width, 3] of uint8, got {} [{}]", name,
          io::dtype_name(array.dtype), fmt::join(shape, ", "));
  const at::Tensor pixels = owning_tensor(std::move(array));
  return shape.size() == 3 ? pixels.unsqueeze(-1) : pixels;
}

/// Adds the arrays {part}images and {part}labels; a trained model needs no labels.
void add_part(ImageSet& set, std::vector<at::Tensor>& parts, NamedArrays& arrays, const std::string& part,
              std::vector<int64_t>* split, const ImageConfig& config) {
  const std::string &path = config.path, images = part + "images", labels = part + "labels";
  const bool labelled = !config.trained || arrays.contains(labels);
  for (const std::string& name : {images, labels})
    require(arrays.contains(name) || (name == labels && !labelled), ErrorKind::data,
            "{}: expected the arrays train_images, train_labels, val_images, val_labels, test_images and "
            "test_labels, or images and labels; {} is missing (there are: {})",
            path, name, names_of(arrays));
  const at::Tensor pixels = images_of(std::move(arrays.at(images)), path + ": " + images);
  if (!parts.empty())
    require(pixels.sizes().slice(1) == parts.front().sizes().slice(1), ErrorKind::data,
            "{}: {}: images of [{}], but the previous ones are [{}]", path, images,
            fmt::join(pixels.sizes().slice(1), ", "), fmt::join(parts.front().sizes().slice(1), ", "));
  const auto first = std::ssize(set.labels);
  if (labelled)
    append_labels(set, arrays.at(labels), pixels.size(0), path + ": " + labels);
  else
    set.labels.resize(static_cast<size_t>(first + pixels.size(0)), -1);
  for (int64_t i = 0; i < pixels.size(0); ++i) {
    if (split != nullptr) split->push_back(first + i);
    set.names.push_back(array_sample_name(part, i));
  }
  parts.push_back(pixels);
}

}  // namespace

ImageSet read_npz_images(const ImageConfig& config, bool with_test) {
  static const std::array<std::string, 2> of_test = {"test_images", "test_labels"};
  NamedArrays arrays = with_test ? io::read_npz(config.path) : io::read_npz_without(config.path, of_test);
  ImageSet set;
  set.source = config.path;
  set.classes = medmnist_classes(config.path);
  std::vector<at::Tensor> parts;
  if (arrays.contains("images") && !arrays.contains("train_images")) {
    add_part(set, parts, arrays, "", nullptr, config);
    name_classes(set, config.classes, config.classes_are_labels);
    split_by_class(set, config.split_ratios, config.split_seed);
    set.split_here = true;
    if (!with_test)
      parts.front() = at::index_select(parts.front(), 0, at::tensor(leave_test_out(set), at::kLong));
  } else {
    add_part(set, parts, arrays, "train_", &set.train, config);
    if (arrays.contains("val_images") || arrays.contains("val_labels"))
      add_part(set, parts, arrays, "val_", &set.validation, config);
    if (with_test) add_part(set, parts, arrays, "test_", &set.test, config);
    name_classes(set, config.classes, config.classes_are_labels);
  }
  set.pixels = stored_images(parts.size() == 1 ? parts.front() : at::cat(parts), config, config.path);
  return set;
}

}  // namespace modewise::data
