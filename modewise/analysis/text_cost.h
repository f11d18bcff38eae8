#pragma once
// What encoders of text cost, by formula from their options and sizes (cost.h says what counts).

#include <cstdint>

#include "modewise/analysis/cost.h"
#include "modewise/models/text/config.h"

namespace modewise::analysis {

struct TextReadout {
  int64_t classes = 0;  // of the first token; 0: none
  double masked = 0;    // share of the tokens whose words are told
};

/// A text of n tokens. Config error as TextModelConfig::validate.
ModelCost text_cost(const models::TextModelConfig& config, int64_t tokens, const TextReadout& readout);

}  // namespace modewise::analysis
