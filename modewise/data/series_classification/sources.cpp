#include "modewise/data/series_classification/sources.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "modewise/core/error.h"
#include "modewise/core/random.h"

namespace modewise::data {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;

/// A rising or falling chirp: equal spectra, opposite order of frequencies.
double chirp(bool falling, double at) {
  const double t = falling ? 1 - at : at;
  return std::sin(kTurn * (2 + 6 * t) * t);
}

/// One of two sine waves of different frequency; `phase` in turns.
double tone(bool fast, double step, double phase) {
  return std::sin(kTurn * (step / (fast ? 8 : 32) + phase));
}

}  // namespace

RawSamples samples_of(io::SeriesFile file, const std::string& path) {
  RawSamples out;
  out.classes = std::move(file.classes);
  out.variables = file.dimensions;
  out.missing = file.missing;
  out.name = file.name;
  out.source = path;
  for (const std::string& note : file.notes) out.notes.push_back(path + ": " + note);
  if (file.unlabelled_line > 0 && !file.labels.empty())
    out.unlabelled = fmt::format("{}:{}", path, file.unlabelled_line);
  out.labels = std::move(file.labels);
  out.labels.resize(file.lengths.size(), -1);
  out.samples = SeriesSamples(file.dimensions, std::move(file.values), file.lengths);
  return out;
}

void fill_gaps(std::span<float> values, int64_t variables) {
  const int64_t steps = std::ssize(values) / variables;
  for (int64_t v = 0; v < variables; ++v) {
    float* x = values.data() + v * steps;
    int64_t seen = -1;
    for (int64_t t = 0; t < steps; ++t) {
      if (std::isnan(x[t])) continue;
      const double from = seen < 0 ? x[t] : x[seen], rise = static_cast<double>(x[t]) - from;
      for (int64_t gap = seen + 1; gap < t; ++gap)
        x[gap] =
            static_cast<float>(from + rise * static_cast<double>(gap - seen) / static_cast<double>(t - seen));
      seen = t;
    }
    if (seen >= 0) std::fill(x + seen + 1, x + steps, x[seen]);
  }
}

RawSamples simulate_motifs(const MotifsConfig& config, uint64_t seed, bool test) {
  RawSamples out;
  out.name = "motifs";
  out.source = "motifs (simulated)";
  const bool tones = config.shape == "tone";
  const std::string one = tones ? "slow" : "rising", other = tones ? "fast" : "falling";
  out.classes = {one + ", " + one, one + ", " + other, other + ", " + one, other + ", " + other};
  out.variables = config.variables;
  const int64_t count = test ? (config.samples + 1) / 2 : config.samples;
  const int64_t half = config.steps / 2;
  require(config.width <= half, ErrorKind::config,
          "data.motifs.width: a motif of {} steps does not fit into half a sample of {} steps", config.width,
          config.steps);
  const int64_t width = config.width > 0 ? config.width : std::max<int64_t>(half / 16, 16);
  for (int64_t i = 0; i < count; ++i) {
    // One random stream per sample; training and test samples count from opposite ends.
    const RandomStream random{seed, RandomSite::simulation,
                              static_cast<uint64_t>(test ? int64_t{0x7fffffff} - i : i)};
    const int64_t label = i % 4;
    at::Tensor series = at::empty({config.variables, config.steps}, at::kFloat);
    float* x = series.mutable_data_ptr<float>();
    for (int64_t j = 0; j < series.numel(); ++j)
      x[j] = static_cast<float>(config.noise * random.normal(static_cast<uint64_t>(j) + 4));
    for (int64_t part = 0; part < 2; ++part) {
      const auto begin = part * half + static_cast<int64_t>(random.uniform(static_cast<uint64_t>(part)) *
                                                            static_cast<double>(half - width));
      const bool second = part == 0 ? label >= 2 : label % 2 == 1;
      const double phase = tones ? random.uniform(static_cast<uint64_t>(part) + 2) : 0;
      for (int64_t v = 0; v < config.variables; ++v)
        for (int64_t t = 0; t < width; ++t) {
          const double at = (static_cast<double>(t) + 0.5) / static_cast<double>(width);
          const double wave = tones ? tone(second, static_cast<double>(t), phase) : chirp(second, at);
          x[v * config.steps + begin + t] += static_cast<float>(wave * std::sin(std::numbers::pi * at));
        }
    }
    out.samples.push_back(series);
    out.labels.push_back(static_cast<int32_t>(label));
  }
  return out;
}

}  // namespace modewise::data
