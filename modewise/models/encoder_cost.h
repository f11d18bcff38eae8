#pragma once
// Cost of the token encoder, by formula (conventions in nn/layers/cost.h).

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/models/encoder_config.h"
#include "modewise/nn/layers/cost.h"

namespace modewise::models {

/// The tokens that Kronecker attention projects to queries and keys: pooled tokens (here; the same function)
/// or all tokens (the released code).
enum class Projection { pooled, full };

/// Adds position embeddings and blocks of TokenEncoder with attention `mechanism` (hot, transformer, spatial,
/// temporal, divided, pooling).
void add_codes(nn::CostAccount& account, const EncoderConfig& config, const TokenShape& tokens);
void add_blocks(nn::CostAccount& account, const EncoderConfig& config, const std::string& mechanism,
                const TokenShape& tokens, Projection projection);

/// Adds the linear embedding, with a norm for `embedding` "relu_norm", of `count` patches of size `patch`.
void add_patches(nn::CostAccount& account, const std::string& embedding, const std::vector<int64_t>& patch,
                 int64_t channels, int64_t width, double count);

}  // namespace modewise::models
