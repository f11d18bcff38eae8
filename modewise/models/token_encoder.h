#pragma once
// Token encoder of forecasters, vision classifiers and segmenters: position embeddings and transformer blocks
// with the chosen attention over tokens [B, N_1 … N_k, D].

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "modewise/models/attention_view.h"
#include "modewise/models/encoder_config.h"
#include "modewise/nn/embedding/patch_embedding.h"
#include "modewise/nn/embedding/positions.h"
#include "modewise/nn/layers/block.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::models {

class TokenEncoder : public torch::nn::Module {
 public:
  /// `mechanism` names the attention: hot (Kronecker), transformer (full), spatial, temporal (the last mode
  /// is time), divided (along one mode after another), pooling (pooled keys and values). `input_dropout`
  /// applies to the tokens after the position embeddings.
  TokenEncoder(const EncoderConfig& config, const std::string& mechanism, TokenShape tokens,
               double input_dropout, nn::Initializer& init);

  /// Registers the encoder's children on `parent` (identity, positions, embedding_dropout, blocks), so that
  /// its state has the names of the released code. The encoder itself is not registered.
  void join(torch::nn::Module& parent);

  /// tokens [B, N_1 … N_k, D] -> [B, N_1 … N_k, D].
  at::Tensor forward(const nn::PatchTokens& input) const;
  /// Attention maps: factors for hot, full matrices for transformer, no layers for other mechanisms.
  AttentionView attention(const nn::PatchTokens& input) const;

  const TokenShape& tokens() const { return tokens_; }

 private:
  at::Tensor with_codes(const at::Tensor& tokens) const;
  void make_codes(const EncoderConfig& config, nn::Initializer& init);
  void make_blocks(const EncoderConfig& config, const std::string& mechanism, nn::Initializer& init);

  TokenShape tokens_;
  std::vector<int64_t> attended_modes_;  // with a factor, in the order of the factors
  std::shared_ptr<nn::ModuleList<nn::ModeEmbedding>> identity_;
  std::shared_ptr<nn::ModeEmbedding> learned_positions_;
  std::shared_ptr<nn::SinCosEncoding> fixed_positions_;
  std::shared_ptr<nn::Dropout> embedding_dropout_;
  std::shared_ptr<nn::ModuleList<nn::Block>> blocks_;
};

}  // namespace modewise::models
