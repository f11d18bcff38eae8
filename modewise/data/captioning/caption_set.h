#pragma once
// Pictures with captions: what COCO's files name, as pixels or features, with words as numbers.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "modewise/data/captioning/config.h"
#include "modewise/data/captioning/vocabulary.h"
#include "modewise/io/captions/coco_captions.h"
#include "modewise/io/images/picture.h"

namespace modewise::data {

struct CaptionedImage {
  int64_t id = 0;
  std::string file;                             // its name in the captions' file
  std::vector<std::string> captions;            // as people wrote them, those without words left out
  std::vector<std::vector<std::string>> words;  // of each
};

struct CaptionSet {
  std::string source;
  std::vector<CaptionedImage> images;
  std::vector<int64_t> train, validation, test;  // pictures of each part
  at::Tensor pixels;                             // [N, S, S, 3] uint8; undefined with features
  at::Tensor features;                           // [N, h, w, F] float32; undefined with pixels
  at::Tensor mean, stddev;      // [3] of the training pixels from 0 to 1; undefined with features
  Vocabulary vocabulary;           // of the training captions
  std::vector<std::string> notes;  // what was done or missing; the first `warnings` of them deserve a warning
  size_t warnings = 0;

  /// Pictures of a part ("train", "validation", "test").
  const std::vector<int64_t>& part(const std::string& name) const;
  /// The captions of these pictures, as references are read.
  io::CocoCaptions references(std::span<const int64_t> samples) const;
};

/// Reads what `config` names, each file once. Data errors: files of another form; pictures that are missing,
/// broken or stand in two parts; no training picture with a caption; features of another shape. Captions
/// without words, and images without captions, are left out with a warning. Without `with_test` no test
/// picture is read and the set has none. Vocabulary, mean and deviation are those of the training pictures,
/// or of `trained` where it is given.
CaptionSet load_captions(const CaptionConfig& config, bool with_test = true,
                         const CaptionSet* trained = nullptr);

/// A picture as the set's are stored, [S, S, 3] uint8.
at::Tensor stored_image(const io::Image& image, const CaptionConfig& config);

/// What a model sees of pixels [B, S, S, 3]: (x / 255 − mean) / deviation, [B, 3, S, S] float32.
at::Tensor model_images(const at::Tensor& pixels, const at::Tensor& mean, const at::Tensor& stddev);
/// Of these pictures of the set: [B, 3, S, S], or their features [B, h, w, F].
at::Tensor gather_images(const CaptionSet& set, std::span<const int64_t> samples);

/// Captions side by side for teacher forcing.
struct CaptionTokens {
  at::Tensor inputs;   // [n, T] int64: begin mark and words; padding behind them
  at::Tensor targets;  // [n, T] int64: words and end mark; padding behind them
};
/// T is that of the longest, `max_words` at most: of a longer caption the first words stay, without an end.
CaptionTokens caption_tokens(std::span<const std::vector<int64_t>> captions, int64_t max_words);

/// Hash of pixels or features, captions and parts.
std::string hash_of(const CaptionSet& set);

}  // namespace modewise::data
