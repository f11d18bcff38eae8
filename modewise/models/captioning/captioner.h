#pragma once
// Image captioners: an encoder maps an image to cells (a feature map), a decoder generates words from the
// cells.
//
// Letters: B images, h × w cells, D width, R captions being decoded (c per image, grouped by image: R = B·c),
// T words, V vocabulary size.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/nn/initializer.h"

namespace modewise::models {

struct CaptionModelConfig;
class CaptionEncoder;

/// The sizes a captioner is built for.
struct CaptionShape {
  int64_t channels = 3, height = 128, width = 128;
  int64_t vocabulary = 0;  // V, including the four special tokens
  int64_t features = 0;    // > 0: the input is features [B, height, width, features], not images
};

/// Special tokens (padding, BOS, EOS, unknown); word ids start at `first_word`.
struct CaptionToken {
  static constexpr int64_t padding = 0, begin = 1, end = 2, unknown = 3, first_word = 4;
};

/// Decoder state for incremental decoding.
struct CaptionState {
  int64_t place = 0;              // tokens consumed so far, including BOS
  std::vector<at::Tensor> rows;   // [R, …]: per caption; undefined for layers without state
  std::vector<at::Tensor> cells;  // [B, …]: per image, shared by its captions

  /// Row r continues the former row index[r]: index [R'] int64, R' any multiple of B. A caption keeps its
  /// image: row r' of the new state belongs to image r' / (R' / B).
  void reorder(const at::Tensor& index);
};

class Captioner : public torch::nn::Module {
 public:
  /// Builds the encoder before the decoder, so that a seed gives all captioners the same encoder.
  Captioner(const CaptionModelConfig& config, const CaptionShape& shape, nn::Initializer& init);
  ~Captioner() override;

  /// Images [B, C, height, width], or features [B, height, width, F] -> cells [B, h, w, D].
  at::Tensor encode(const at::Tensor& images);
  /// Next-token logits [R, T, V] for tokens [R, T] int64, T ≤ max_words, which start with BOS (teacher
  /// forcing). cells [B, h, w, D]; R = B·c. The decoder is causal, so tokens after EOS do not matter.
  virtual at::Tensor logits(const at::Tensor& cells, const at::Tensor& tokens) = 0;

  /// Initial state before the first word, one caption per image; precomputes everything that depends only on
  /// the cells.
  virtual CaptionState begin(const at::Tensor& cells) = 0;
  /// Appends tokens [R] (BOS first) and returns the next-token logits [R, V]: the last of `logits` for all
  /// tokens so far. At most max_words steps.
  virtual at::Tensor step(CaptionState& state, const at::Tensor& tokens) = 0;

  /// Cross-attention maps of the last layer, mean over heads: [R, T, h, w], the weight of each cell for the
  /// word after each token, summing to 1 over cells. Undefined for cross-attention without weights per cell
  /// (linformer).
  virtual at::Tensor looked(const at::Tensor& cells, const at::Tensor& tokens) = 0;

  const CaptionShape& shape() const { return shape_; }
  int64_t max_words() const { return max_words_; }

 protected:
  /// Checks the shapes (data errors) and returns c, the captions per image.
  int64_t captions_each(const at::Tensor& cells, const at::Tensor& tokens) const;
  void check_step(const CaptionState& state, const at::Tensor& tokens) const;

 private:
  CaptionShape shape_;
  int64_t max_words_;
  std::shared_ptr<CaptionEncoder> encoder_;
};

/// Builds the model named in `config`; weights depend only on `seed`. An invalid config or shape is a config
/// error that names the option.
std::shared_ptr<Captioner> make_captioner(const CaptionModelConfig& config, const CaptionShape& shape,
                                          uint64_t seed);

}  // namespace modewise::models
