#pragma once
// Recall of key-value pairs: a sample holds pairs (key, value) at random even places among filler tokens,
// then a marker and questions: a key, which its value must follow. What a model without a path to far tokens
// cannot do. Token 0 is the marker, then come keys, values and fillers, `vocabulary` of each.

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/data/language_modeling/config.h"
#include "modewise/data/token_windows.h"

namespace modewise::data {

/// One question of a sample.
struct RecallQuestion {
  int64_t position = 0;  // of the key asked for: there the value is predicted
  int64_t distance = 0;  // tokens from the last place of the pair's value to it
  int64_t pairs = 0;     // in the sample
};

struct RecallSample {
  std::vector<int64_t> tokens;  // `length` of them
  std::vector<RecallQuestion> questions;
};

/// Sample `index` of the stream `seed`: a function of both. Different keys in a sample, values drawn freely;
/// unless `repeated`, each pair is asked for at most once.
RecallSample make_recall_sample(const RecallConfig& config, uint64_t seed, uint64_t index);

/// Samples side by side; only the values asked for are targets.
TokenBatch recall_batch(std::span<const RecallSample> samples);

}  // namespace modewise::data
