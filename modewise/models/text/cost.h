#pragma once
// Cost of text encoders, by formula from their options and sizes (conventions in nn/layers/cost.h).

#include <cstdint>

#include "modewise/models/text/config.h"
#include "modewise/nn/layers/cost.h"

namespace modewise::models {

struct TextReadout {
  int64_t classes = 0;  // classification head on the first token; 0: none
  double masked = 0;    // fraction of the tokens with a masked-token prediction
};

/// Cost of a text of n tokens. Config errors as TextModelConfig::validate.
nn::ModelCost text_cost(const TextModelConfig& config, int64_t tokens, const TextReadout& readout);

}  // namespace modewise::models
