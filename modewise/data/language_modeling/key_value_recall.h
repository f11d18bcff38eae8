#pragma once
// Key-value recall (associative recall): a sample has pairs (key, value) at random even positions among
// filler tokens, then a marker and queries: a key, followed by its value. It tests attention to distant
// tokens. Token 0 is the marker, followed by `vocabulary` keys, values and fillers each.

#include <cstdint>
#include <span>
#include <vector>

#include "modewise/data/language_modeling/config.h"
#include "modewise/data/token_windows.h"

namespace modewise::data {

/// One query of a sample.
struct RecallQuestion {
  int64_t position = 0;  // of the queried key, where the value is predicted
  int64_t distance = 0;  // tokens since the last occurrence of the pair's value
  int64_t pairs = 0;     // in the sample
};

struct RecallSample {
  std::vector<int64_t> tokens;  // `length` of them
  std::vector<RecallQuestion> questions;
};

/// Sample `index` of the stream `seed`, deterministic. Keys of a sample are distinct, values are drawn with
/// replacement; without `repeated` each pair is queried at most once.
RecallSample make_recall_sample(const RecallConfig& config, uint64_t seed, uint64_t index);

/// Batch of samples; only queried values are targets.
TokenBatch recall_batch(std::span<const RecallSample> samples);

}  // namespace modewise::data
