#pragma once
// Caption sets: images (pixels or features) with captions from files of several formats, and the vocabulary.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/captioning/config.h"
#include "modewise/data/captioning/vocabulary.h"
#include "modewise/io/captions/caption_file.h"
#include "modewise/io/images/image.h"

namespace modewise::data {

struct CaptionedImage {
  int64_t id = 0;
  std::string file;                             // path in the folder of the images
  std::string split;                            // that the captions file gives it; "": none
  std::vector<std::string> captions;            // reference captions, without empty ones
  std::vector<std::vector<std::string>> words;  // words of each caption
};

struct CaptionSet {
  std::string source;
  std::vector<CaptionedImage> images;
  bool counted = false;                          // whether ids only count the images of a file without ids
  std::vector<int64_t> train, validation, test;  // image indices of each split
  at::Tensor pixels;                             // [N, S, S, 3] uint8; undefined with features
  at::Tensor features;                           // [N, h, w, F] float32; undefined with pixels
  at::Tensor mean, stddev;         // [3] of the training pixels in [0, 1]; undefined with features
  Vocabulary vocabulary;           // of the training captions
  std::vector<uint64_t> contents;  // hash of each image
  std::vector<std::string> notes;  // messages; the first `warnings` of them are warnings
  size_t warnings = 0;

  /// Adds a warning after those that are there.
  void warn(std::string text);
  /// Image indices of a split ("train", "validation", "test").
  const std::vector<int64_t>& part(const std::string& name) const;
  /// The reference captions of these images.
  io::CaptionFile references(std::span<const int64_t> samples) const;
};

/// Loads the set of `config`; each file is read once. Data errors: files of another format; images that are
/// broken (more than data.skip_broken) or in two splits; no training image with a caption; features of
/// another shape. Captions without words, and images without captions, are skipped with a warning. Without
/// `with_test` no test image is read and the set has none. Vocabulary, mean and standard deviation come from
/// the training images, or from `trained` if given.
CaptionSet load_captions(const CaptionConfig& config, bool with_test = true,
                         const CaptionSet* trained = nullptr);

/// An image in the set's format, [S, S, 3] uint8.
at::Tensor stored_image(const io::Image& image, const CaptionConfig& config);

/// Model input from pixels [B, S, S, 3]: (x / 255 − mean) / std, [B, 3, S, S] float32.
at::Tensor model_images(const at::Tensor& pixels, const at::Tensor& mean, const at::Tensor& stddev);
/// Model input of these images: [B, 3, S, S], or features [B, h, w, F].
at::Tensor gather_images(const CaptionSet& set, std::span<const int64_t> samples);

/// A batch of captions for teacher forcing.
struct CaptionTokens {
  at::Tensor inputs;   // [n, T] int64: BOS and words, padded at the end
  at::Tensor targets;  // [n, T] int64: words and EOS, padded at the end
};
/// T is the length of the longest caption, at most `max_words`; longer captions are truncated, without EOS.
CaptionTokens caption_tokens(std::span<const std::vector<int64_t>> captions, int64_t max_words);

/// Hash of pixels or features, captions and splits.
std::string hash_of(const CaptionSet& set);

}  // namespace modewise::data
