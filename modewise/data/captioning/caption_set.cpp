#include "modewise/data/captioning/caption_set.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/hash.h"
#include "modewise/data/captioning/caption_sources.h"
#include "modewise/data/labelled_samples.h"

namespace modewise::data {
namespace {

namespace fs = std::filesystem;

at::Tensor numbers_tensor(std::span<const int64_t> numbers) {
  return at::tensor(at::IntArrayRef(numbers.data(), numbers.size()), at::kLong);
}

void require_sources(const CaptionConfig& config) {
  require(!config.path.empty(), ErrorKind::config, "data.path: expected a file of captions, got none");
  for (const std::string& path : {config.path, config.test_path})
    require(path.empty() || !fs::is_directory(path), ErrorKind::config,
            "data.path: expected a file of captions, got the folder {}; data.images is that of its images",
            path);
  require(!config.images.empty() || !config.features.empty(), ErrorKind::config,
          "data.images: expected the folder of the images of {}, got none", config.path);
  require(config.test_path.empty() || config.test_ids.empty(), ErrorKind::config,
          "data.test_path and data.test_ids both select the test images: give one");
}

/// Reports the images of a folder that no captions file names.
void note_unnamed(CaptionSet& set, CaptionFolder& folder, const std::string& captions, bool strict) {
  if (folder.path().empty()) return;
  const std::vector<std::string> unnamed = folder.unnamed();
  if (unnamed.empty()) return;
  const std::string text =
      with_examples("image", fmt::format(" of {} not in {}", folder.path(), captions), unnamed);
  require(!strict, ErrorKind::data, "{} (data.strict)", text);
  set.notes.push_back(text);
}

/// Lists all images with their splits; returns their paths.
ImagePaths list_all(CaptionSet& set, const CaptionConfig& config, bool with_test) {
  const bool pixels = config.features.empty();
  CaptionFolder train_folder(pixels ? config.images : "");
  std::optional<CaptionFolder> other_folder;
  split_captions(set, list_captions(set, config.path, train_folder, config), config);
  if (!with_test) leave_test_out(set);
  const size_t first_apart = set.images.size();
  if (with_test && !config.test_path.empty()) {
    if (pixels && !config.test_images.empty() && config.test_images != config.images)
      other_folder.emplace(config.test_images);
    std::set<int64_t> known;
    for (const CaptionedImage& image : set.images) known.insert(image.id);
    const bool counted = set.counted;
    set.test = list_captions(set, config.test_path, other_folder ? *other_folder : train_folder, config);
    for (const int64_t i : set.test)
      require(counted || !known.contains(set.images[static_cast<size_t>(i)].id), ErrorKind::data,
              "{}: image {} is also an image of {}", config.test_path, set.images[static_cast<size_t>(i)].id,
              config.path);
  }
  if (with_test || config.test_path.empty()) note_unnamed(set, train_folder, config.path, config.strict);
  if (other_folder) note_unnamed(set, *other_folder, config.test_path, config.strict);
  require(config.other || !set.train.empty(), ErrorKind::data, "{}: there are no training images",
          config.path);
  const std::string& test_folder = other_folder ? other_folder->path() : train_folder.path();
  ImagePaths files;
  for (size_t i = 0; i < set.images.size(); ++i)
    files.push_back(fs::path(i < first_apart ? train_folder.path() : test_folder) / set.images[i].file);
  return files;
}

/// Mean and standard deviation of each channel over the training images, from integer sums, which are exact
/// in any order.
void measure_pixels(CaptionSet& set) {
  set.mean = at::zeros({3});
  set.stddev = at::ones({3});
  const int64_t pixels = set.pixels.size(1) * set.pixels.size(2);
  std::array<uint64_t, 3> sum = {}, squares = {};
  for (const int64_t sample : set.train) {
    const uint8_t* values = set.pixels.const_data_ptr<uint8_t>() + 3 * sample * pixels;
    for (int64_t i = 0; i < 3 * pixels; ++i) {
      const uint64_t value = values[i];
      sum[static_cast<size_t>(i % 3)] += value;
      squares[static_cast<size_t>(i % 3)] += value * value;
    }
  }
  const auto n = static_cast<double>(pixels * std::ssize(set.train));
  for (size_t c = 0; c < 3; ++c) {
    const double mean = static_cast<double>(sum[c]) / n;
    const double variance = static_cast<double>(squares[c]) / n - mean * mean;
    set.mean.mutable_data_ptr<float>()[c] = static_cast<float>(mean / 255);
    if (variance > 0) set.stddev.mutable_data_ptr<float>()[c] = static_cast<float>(std::sqrt(variance) / 255);
  }
}

/// Sets `contents`.
void hash_images(CaptionSet& set) {
  const at::Tensor images = (set.pixels.defined() ? set.pixels : set.features).contiguous();
  const size_t bytes = images.nbytes() / std::max<size_t>(set.images.size(), 1);
  const auto* first = static_cast<const std::byte*>(images.const_data_ptr());
  for (size_t i = 0; i < set.images.size(); ++i)
    set.contents.push_back(content_number({first + i * bytes, bytes}));
}

void learn_words(CaptionSet& set, int64_t min_count) {
  std::vector<std::vector<std::string>> captions;
  for (const int64_t i : set.train) {
    const auto& words = set.images[static_cast<size_t>(i)].words;
    captions.insert(captions.end(), words.begin(), words.end());
  }
  set.vocabulary = vocabulary_of(captions, min_count);
  require(!set.vocabulary.words().empty(), ErrorKind::config,
          "data.min_count: no word occurs {} times in the training captions of {}", min_count, set.source);
}

}  // namespace

void CaptionSet::warn(std::string text) {
  notes.insert(notes.begin() + static_cast<std::ptrdiff_t>(warnings++), std::move(text));
}

const std::vector<int64_t>& CaptionSet::part(const std::string& name) const {
  if (name == "train") return train;
  if (name == "validation") return validation;
  require(name == "test", ErrorKind::usage, "there is no split '{}' (there are train, validation, test)",
          name);
  return test;
}

io::CaptionFile CaptionSet::references(std::span<const int64_t> samples) const {
  io::CaptionFile out;
  for (const int64_t i : samples) {
    const CaptionedImage& image = images[static_cast<size_t>(i)];
    out.images.add(image.id, image.file);
    for (const std::string& caption : image.captions) out.captions.add(image.id, caption);
  }
  out.images.sort();
  out.captions.sort();
  return out;
}

CaptionSet load_captions(const CaptionConfig& config, bool with_test, const CaptionSet* trained) {
  require_sources(config);
  CaptionSet set;
  set.source = config.path;
  const ImagePaths files = list_all(set, config, with_test);
  require(config.features.empty() || !set.counted, ErrorKind::config,
          "data.features: features have the ids of images, which {} does not give", config.path);
  if (config.features.empty())
    set.pixels = read_pixels(set, files, config);
  else
    set.features = read_features(config.features, set);
  hash_images(set);
  if (trained != nullptr) {
    set.vocabulary = trained->vocabulary;
    set.mean = trained->mean;
    set.stddev = trained->stddev;
    return set;
  }
  if (std::string text = copies_text(set, "images"); !text.empty()) set.warn(std::move(text));
  if (set.pixels.defined()) measure_pixels(set);
  learn_words(set, config.min_count);
  return set;
}

at::Tensor model_images(const at::Tensor& pixels, const at::Tensor& mean, const at::Tensor& stddev) {
  return (pixels.to(at::kFloat).div_(255) - mean).div_(stddev).permute({0, 3, 1, 2}).contiguous();
}

at::Tensor gather_images(const CaptionSet& set, std::span<const int64_t> samples) {
  const at::Tensor numbers = numbers_tensor(samples);
  if (set.features.defined()) return at::index_select(set.features, 0, numbers);
  return model_images(at::index_select(set.pixels, 0, numbers), set.mean, set.stddev);
}

CaptionTokens caption_tokens(std::span<const std::vector<int64_t>> captions, int64_t max_words) {
  int64_t steps = 0;
  for (const auto& words : captions) steps = std::max(steps, std::min(std::ssize(words) + 1, max_words));
  const std::vector<int64_t> sizes = {std::ssize(captions), steps};
  CaptionTokens tokens{at::full(sizes, Vocabulary::kPadding, at::kLong),
                       at::full(sizes, Vocabulary::kPadding, at::kLong)};
  for (int64_t row = 0; row < std::ssize(captions); ++row) {
    const std::vector<int64_t>& words = captions[static_cast<size_t>(row)];
    int64_t* input = tokens.inputs.mutable_data_ptr<int64_t>() + row * steps;
    int64_t* target = tokens.targets.mutable_data_ptr<int64_t>() + row * steps;
    input[0] = Vocabulary::kBegin;
    for (int64_t t = 0; t < std::min(std::ssize(words) + 1, max_words); ++t) {
      target[t] = t < std::ssize(words) ? words[static_cast<size_t>(t)] : Vocabulary::kEnd;
      if (t > 0) input[t] = words[static_cast<size_t>(t - 1)];
    }
  }
  return tokens;
}

std::string hash_of(const CaptionSet& set) {
  ContentHash hash;
  const at::Tensor images = (set.pixels.defined() ? set.pixels : set.features).contiguous();
  hash.add({static_cast<const std::byte*>(images.const_data_ptr()), images.nbytes()});
  for (const CaptionedImage& image : set.images) {
    hash.add(std::as_bytes(std::span(&image.id, 1)));
    for (const std::string& caption : image.captions) {
      hash.add(as_bytes(caption));
      hash.add(as_bytes(std::string_view("\n")));
    }
  }
  for (const auto* part : {&set.train, &set.validation, &set.test}) hash.add(std::as_bytes(std::span(*part)));
  return hash.text();
}

}  // namespace modewise::data
