#include "modewise/data/language_modeling/key_value_recall.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/core/random.h"

namespace modewise::data {
namespace {

/// Random integers of one sample.
class RecallDraws {
 public:
  RecallDraws(uint64_t seed, uint64_t index)
      : stream_{seed ^ (index >> 32) * 0x9E3779B97F4A7C15, RandomSite::simulation, index & 0xFFFFFFFF} {}
  int64_t below(int64_t n) {
    return static_cast<int64_t>((uint64_t{stream_.word(next_++)} * static_cast<uint64_t>(n)) >> 32);
  }
  /// `count` distinct numbers of 0 … n − 1.
  std::vector<int64_t> choose(int64_t n, int64_t count) {
    std::vector<int64_t> all(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; ++i) all[static_cast<size_t>(i)] = i;
    for (int64_t i = 0; i < count; ++i)
      std::swap(all[static_cast<size_t>(i)], all[static_cast<size_t>(i + below(n - i))]);
    all.resize(static_cast<size_t>(count));
    return all;
  }
  /// `count` numbers of 0 … n − 1, with replacement.
  std::vector<int64_t> any(int64_t n, int64_t count) {
    std::vector<int64_t> drawn(static_cast<size_t>(count));
    for (int64_t& one : drawn) one = below(n);
    return drawn;
  }

 private:
  RandomStream stream_;
  uint64_t next_ = 0;
};

}  // namespace

RecallSample make_recall_sample(const RecallConfig& config, uint64_t seed, uint64_t index) {
  RecallDraws draws(seed, index);
  const int64_t v = config.vocabulary;
  const int64_t pairs = config.pairs[static_cast<size_t>(draws.below(std::ssize(config.pairs)))];
  const int64_t asked = config.asked(pairs);
  const int64_t marker = config.length - 2 * asked - 1;  // position of the marker
  RecallSample sample;
  sample.tokens.resize(static_cast<size_t>(config.length));
  for (int64_t i = 0; i < marker; ++i) sample.tokens[static_cast<size_t>(i)] = 1 + 2 * v + draws.below(v);
  const std::vector<int64_t> places = draws.choose((marker - config.distance) / 2, pairs);
  const std::vector<int64_t> keys = draws.choose(v, pairs);
  std::vector<int64_t> values;
  std::vector<int64_t> named_at;  // last position of each value so far
  for (int64_t i = 0; i < pairs; ++i) {
    const auto at = static_cast<size_t>(2 * places[static_cast<size_t>(i)]);
    values.push_back(1 + v + draws.below(v));
    named_at.push_back(static_cast<int64_t>(at) + 1);
    sample.tokens[at] = 1 + keys[static_cast<size_t>(i)];
    sample.tokens[at + 1] = values.back();
  }
  sample.tokens[static_cast<size_t>(marker)] = 0;
  const std::vector<int64_t> order = config.repeated ? draws.any(pairs, asked) : draws.choose(pairs, asked);
  for (int64_t q = 0; q < asked; ++q) {
    const auto pair = static_cast<size_t>(order[static_cast<size_t>(q)]);
    const int64_t at = marker + 1 + 2 * q;
    sample.tokens[static_cast<size_t>(at)] = 1 + keys[pair];
    sample.tokens[static_cast<size_t>(at + 1)] = values[pair];
    sample.questions.push_back({at, at - named_at[pair], pairs});
    named_at[pair] = at + 1;
  }
  return sample;
}

TokenBatch recall_batch(std::span<const RecallSample> samples) {
  require(!samples.empty(), ErrorKind::internal, "an empty batch");
  const int64_t rows = std::ssize(samples), n = std::ssize(samples.front().tokens);
  TokenBatch batch{at::empty({rows, n}, at::kLong), at::full({rows, n}, -1, at::kLong)};
  auto* inputs = batch.inputs.mutable_data_ptr<int64_t>();
  auto* targets = batch.targets.mutable_data_ptr<int64_t>();
  for (int64_t row = 0; row < rows; ++row) {
    const RecallSample& sample = samples[static_cast<size_t>(row)];
    std::copy(sample.tokens.begin(), sample.tokens.end(), inputs + row * n);
    for (const RecallQuestion& question : sample.questions)
      targets[row * n + question.position] = sample.tokens[static_cast<size_t>(question.position + 1)];
  }
  return batch;
}

}  // namespace modewise::data
