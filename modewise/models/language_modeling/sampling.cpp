#include "modewise/models/language_modeling/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/random.h"

namespace modewise::models {
namespace {

/// Uniform in [0, 1) with 53 bits.
double uniform_at(int64_t seed, uint64_t position) {
  const RandomStream stream{static_cast<uint64_t>(seed), RandomSite::sampled_text, 0};
  const uint64_t high = stream.word(2 * position), low = stream.word(2 * position + 1);
  return static_cast<double>((high << 21) ^ (low >> 11)) * 0x1p-53;
}

struct Candidate {
  int64_t token;
  double weight;  // exp((logit − largest) / temperature)
};

bool likelier(const Candidate& a, const Candidate& b) {
  return a.weight != b.weight ? a.weight > b.weight : a.token < b.token;
}

void keep_top_k(std::vector<Candidate>& list, int64_t k) {
  if (k <= 0 || k >= static_cast<int64_t>(list.size())) return;
  std::nth_element(list.begin(), list.begin() + (k - 1), list.end(), likelier);
  list.resize(static_cast<size_t>(k));
}

void keep_top_p(std::vector<Candidate>& list, double p) {
  if (p >= 1) return;
  double total = 0, largest = 0;
  for (const Candidate& c : list) {
    total += c.weight;
    largest = std::max(largest, c.weight);
  }
  // Skip tokens with probability below (1 − p) / (n − 1): together they are less than 1 − p, so none is in
  // the nucleus. This avoids sorting a large vocabulary.
  const double floor =
      list.size() > 1 ? std::min(largest, (1 - p) * total / static_cast<double>(list.size() - 1)) : 0;
  std::erase_if(list, [&](const Candidate& c) { return c.weight < floor; });
  std::sort(list.begin(), list.end(), likelier);
  double sum = 0;
  size_t kept = 0;
  while (kept < list.size() && (kept == 0 || sum < p * total)) sum += list[kept++].weight;
  list.resize(kept);
}

void keep_min_p(std::vector<Candidate>& list, double p) {
  if (p <= 0) return;
  const double largest = std::min_element(list.begin(), list.end(), likelier)->weight;
  std::erase_if(list, [&](const Candidate& c) { return c.weight < p * largest; });
}

}  // namespace

void SamplingConfig::validate() const {
  require(temperature >= 0 && std::isfinite(temperature), ErrorKind::usage,
          "the temperature must be finite and at least 0, got {}", temperature);
  require(top_k >= 0, ErrorKind::usage, "top-k must be at least 0 (0: all), got {}", top_k);
  require(top_p >= 0 && top_p <= 1, ErrorKind::usage, "top-p must be between 0 and 1, got {}", top_p);
  require(min_p >= 0 && min_p <= 1, ErrorKind::usage, "min-p must be between 0 and 1, got {}", min_p);
  require(repetition_penalty > 0 && std::isfinite(repetition_penalty), ErrorKind::usage,
          "the repetition penalty must be finite and above 0 (1: none), got {}", repetition_penalty);
}

std::vector<std::string> SamplingConfig::idle_options() const {
  const SamplingConfig usual;
  std::vector<std::string> out;
  const auto add = [&](const char* name, auto value, auto without) {
    if (temperature == 0 && value != without) out.push_back(fmt::format("{} {}", name, value));
  };
  add("top-k", top_k, usual.top_k);
  add("top-p", top_p, usual.top_p);
  add("min-p", min_p, usual.min_p);
  add("seed", seed, usual.seed);
  return out;
}

void penalize_repetition(std::span<float> logits, std::span<const int32_t> earlier, double penalty) {
  const auto factor = static_cast<float>(penalty);
  std::vector<bool> seen(logits.size());
  for (const int32_t id : earlier) seen[static_cast<size_t>(id)] = true;
  for (size_t i = 0; i < logits.size(); ++i)
    if (seen[i]) logits[i] = logits[i] < 0 ? logits[i] * factor : logits[i] / factor;
}

int64_t sample_token(std::span<const float> logits, const SamplingConfig& config, uint64_t position) {
  const auto best = std::max_element(logits.begin(), logits.end());
  const bool nan = std::any_of(logits.begin(), logits.end(), [](float x) { return std::isnan(x); });
  require(!logits.empty() && !nan && std::isfinite(*best), ErrorKind::data,
          "the model's logits at position {} are not finite: its weights overflow or are damaged", position);
  if (config.temperature == 0) return best - logits.begin();
  std::vector<Candidate> list;
  list.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    const double below = (static_cast<double>(logits[i]) - static_cast<double>(*best)) / config.temperature;
    list.push_back({static_cast<int64_t>(i), std::exp(below)});
  }
  keep_top_k(list, config.top_k);
  keep_top_p(list, config.top_p);
  keep_min_p(list, config.min_p);
  double total = 0;
  for (const Candidate& c : list) total += c.weight;
  double left = uniform_at(config.seed, position) * total;
  for (const Candidate& c : list) {
    left -= c.weight;
    if (left < 0) return c.token;
  }
  return std::max_element(list.begin(), list.end(),
                          [](const auto& a, const auto& b) { return a.weight < b.weight; })
      ->token;  // rounding left a remainder
}

}  // namespace modewise::models
