#include <algorithm>
#include <cmath>
#include <vector>

#include "modewise/core/random.h"
#include "modewise/data/series_classification/series_collection.h"

namespace modewise::data {
namespace {

/// Augmentation parameters of one series of a sample.
struct SampleAugmentation {
  double factor = 1, noise = 0;
  int64_t shift = 0, erase_begin = 0, erase_end = 0;
};

SampleAugmentation draw(const SeriesAugmentConfig& config, const RandomStream& random, uint64_t sample,
                        int64_t steps) {
  const auto uniform = [&](uint64_t what) { return random.uniform(8 * sample + what); };
  SampleAugmentation out;
  out.noise = config.noise;
  out.factor = 1 + config.scale * (2 * uniform(0) - 1);
  out.shift = static_cast<int64_t>(uniform(1) * static_cast<double>(2 * config.shift + 1)) - config.shift;
  const auto erased = static_cast<int64_t>(config.erase * uniform(2) * static_cast<double>(steps));
  out.erase_begin = static_cast<int64_t>(uniform(3) * static_cast<double>(steps - erased + 1));
  out.erase_end = out.erase_begin + erased;
  return out;
}

/// `first`: index of the series' first noise value in its stream.
void augment_series(float* x, int64_t steps, const SampleAugmentation& how, const RandomStream& noise,
                    uint64_t first) {
  const std::vector<float> before(x, x + steps);
  for (int64_t t = 0; t < steps; ++t) {
    double value = how.factor * before[static_cast<size_t>(std::clamp<int64_t>(t - how.shift, 0, steps - 1))];
    if (how.noise > 0) value += how.noise * noise.normal(first + static_cast<uint64_t>(t));
    x[t] = t >= how.erase_begin && t < how.erase_end ? 0.0f : static_cast<float>(value);
  }
}

}  // namespace

void augment(LabelledBatch& batch, const SeriesAugmentConfig& config, uint64_t seed, uint64_t number) {
  if (!config.any()) return;
  // Two random streams per batch: augmentation parameters, and noise.
  const RandomStream choices{seed, RandomSite::augmentation, 2 * number},
      noise{seed, RandomSite::augmentation, 2 * number + 1};
  const int64_t variables = batch.values.size(1), length = batch.values.size(2);
  float* values = batch.values.mutable_data_ptr<float>();
  for (int64_t i = 0; i < batch.values.size(0); ++i) {
    const bool* valid = batch.valid.defined() ? batch.valid.const_data_ptr<bool>() + i * length : nullptr;
    const int64_t steps = valid == nullptr ? length : std::count(valid, valid + length, true);
    const SampleAugmentation how = draw(config, choices, static_cast<uint64_t>(i), steps);
    for (int64_t v = 0; v < variables; ++v) {
      const int64_t first = (i * variables + v) * length;
      augment_series(values + first, steps, how, noise, static_cast<uint64_t>(first));
    }
  }
}

}  // namespace modewise::data
