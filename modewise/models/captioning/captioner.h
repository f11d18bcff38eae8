#pragma once
// Models that tell what a picture shows: an encoder makes cells of it, a decoder makes words of the cells.
//
// Letters: B pictures, h × w cells, D width, R captions being written (c a picture: R = B·c, those of a
// picture stand together), T words, V words of the vocabulary.

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
  int64_t vocabulary = 0;  // V, the four marks included
  int64_t features = 0;    // > 0: the input is features [B, height, width, features] and no pictures
};

/// Tokens that are no words; words count from `first_word`.
struct CaptionToken {
  static constexpr int64_t padding = 0, begin = 1, end = 2, unknown = 3, first_word = 4;
};

/// What a decoder keeps between two words.
struct CaptionState {
  int64_t place = 0;              // words told so far, the begin mark included
  std::vector<at::Tensor> rows;   // [R, …]: of each caption; undefined where a layer keeps none
  std::vector<at::Tensor> cells;  // [B, …]: of each picture, the same for all of its captions

  /// Row r goes on from what was row index[r]: index [R'] int64, R' any multiple of B. A caption stays with
  /// its picture: row r' of the new state belongs to picture r' / (R' / B).
  void reorder(const at::Tensor& index);
};

class Captioner : public torch::nn::Module {
 public:
  /// Makes the encoder before the decoder, so that a seed gives all captioners the same one.
  Captioner(const CaptionModelConfig& config, const CaptionShape& shape, nn::Initializer& init);
  ~Captioner() override;

  /// Pictures [B, C, height, width], or features [B, height, width, F] -> cells [B, h, w, D].
  at::Tensor encode(const at::Tensor& images);
  /// Logits [R, T, V] of the word that follows each of tokens [R, T] int64, T ≤ max_words, which open with
  /// the begin mark. cells [B, h, w, D]; R = B·c. A later token does not act on earlier logits, so what
  /// stands behind an end mark does not matter.
  virtual at::Tensor logits(const at::Tensor& cells, const at::Tensor& tokens) = 0;

  /// Before the first word, one caption a picture; all that depends on the cells alone is made here.
  virtual CaptionState begin(const at::Tensor& cells) = 0;
  /// Appends tokens [R] (the begin mark first) and gives the logits [R, V] of the word that follows: the last
  /// of `logits` for all tokens so far. At most max_words steps.
  virtual at::Tensor step(CaptionState& state, const at::Tensor& tokens) = 0;

  /// How much of each cell reached the word that follows each token: [R, T, h, w], sums over cells are 1. The
  /// weights of the last layer, mean over its heads. Undefined for a decoder whose cross-attention weighs no
  /// cells but sums of them (linformer).
  virtual at::Tensor looked(const at::Tensor& cells, const at::Tensor& tokens) = 0;

  const CaptionShape& shape() const { return shape_; }
  int64_t max_words() const { return max_words_; }

 protected:
  /// c, after the shapes were checked (data errors).
  int64_t captions_each(const at::Tensor& cells, const at::Tensor& tokens) const;
  void check_step(const CaptionState& state, const at::Tensor& tokens) const;

 private:
  CaptionShape shape_;
  int64_t max_words_;
  std::shared_ptr<CaptionEncoder> encoder_;
};

/// Builds the model named in `config` with weights that depend on `seed` alone. A config or shape that makes
/// no sense is a config error that names the option.
std::shared_ptr<Captioner> make_captioner(const CaptionModelConfig& config, const CaptionShape& shape,
                                          uint64_t seed);

}  // namespace modewise::models
