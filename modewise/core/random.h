#pragma once
// Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). A value depends only on (seed, step, site, index): any thread may draw any element, and the step
// is the only state to save.

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace modewise {

/// Four random words for `counter` under `key`.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t product1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

/// Purpose of a random stream: streams of different sites never overlap under one seed. All sites are listed
/// here.
enum class RandomSite : uint32_t {
  shuffle = 0,
  simulation = 1,  // synthetic systems, samples and prompts
  weights = 2,
  features = 3,  // random features of linear attention
  augmentation = 4,
  splits = 5,
  mixup = 6,
  sampled_text = 7,
  perturbation = 8,  // of test samples, to measure robustness
  masking = 9,       // of tokens, for masked language modelling
  shard = 10,        // seeds of the parts of a batch
  spectral_norm = 14,
  decomposition = 15,
  dropout = 16  // first dropout of a model; the others follow
};

/// A stream of random words: `seed` and `site` name it, `step` and the block index count in it.
struct RandomStream {
  uint64_t seed = 0;
  RandomSite site = RandomSite::shuffle;
  uint64_t step = 0;

  /// Words 4·block … 4·block+3 of the stream. `step` takes 32 bits of the counter, `block` 64.
  constexpr std::array<uint32_t, 4> block(uint64_t index) const {
    return philox4x32({static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                       static_cast<uint32_t>(step), static_cast<uint32_t>(site)},
                      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  }
  /// Word `index` of the stream.
  constexpr uint32_t word(uint64_t index) const { return block(index / 4)[index % 4]; }
  /// Uniform in [0, 1), 24 bits.
  constexpr double uniform(uint64_t index) const { return (word(index) >> 8) * 0x1p-24; }
  /// Standard normal by Box-Muller from words 2·index and 2·index+1.
  double normal(uint64_t index) const {
    const double u = (word(2 * index) + 1.0) * 0x1p-32;
    const double v = word(2 * index + 1) * 0x1p-32;
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
  }
};

/// A permutation of 0…n−1 (Fisher-Yates) that depends only on the stream.
std::vector<int64_t> random_permutation(int64_t n, const RandomStream& stream);

}  // namespace modewise
