#include "modewise/data/series_classification/sources.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "modewise/core/error.h"
#include "modewise/core/name_index.h"
#include "modewise/core/nearest_name.h"
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

bool only_count(const std::vector<std::string>& names) {
  const size_t first = !names.empty() && names[0] == "1" ? 1 : 0;
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] != std::to_string(first + i)) return false;
  return true;
}

std::vector<size_t> order_of_steps(const std::vector<std::string>& names, const TableForm& like,
                                   const std::string& path) {
  if (names.empty() || like.columns.empty() || names == like.columns) return {};
  const NameIndex known(names), trained(like.columns);
  std::vector<std::string> missing, unknown;
  std::vector<size_t> order;
  for (const std::string& name : like.columns) {
    const std::optional<size_t> place = known.find(name);
    place ? order.push_back(*place) : missing.push_back(name);
  }
  for (const std::string& name : names)
    if (!trained.find(name)) unknown.push_back(name);
  require(missing.empty() && unknown.empty(), ErrorKind::data,
          "{}: the columns of the values differ from those of the training table: {}{}{}; the names must be "
          "the same, in any order",
          path, missing.empty() ? "" : "missing " + listed_names(missing),
          missing.empty() || unknown.empty() ? "" : ", ",
          unknown.empty() ? "" : "unknown " + listed_names(unknown));
  return order;
}

namespace {

/// Puts the steps of all samples into the order of `order`; missing values at their end end the samples
/// again.
void reorder(io::SeriesFile& file, const std::vector<size_t>& order) {
  constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values;
  const float* from = file.values.data();
  file.missing = 0;
  for (int32_t& length : file.lengths) {
    const auto steps = static_cast<size_t>(length), dimensions = static_cast<size_t>(file.dimensions);
    const auto value = [&](size_t v, size_t t) { return t < steps ? from[v * steps + t] : kMissing; };
    size_t kept = 0;
    for (size_t v = 0; v < dimensions; ++v)
      for (size_t t = 0; t < order.size(); ++t)
        if (!std::isnan(value(v, order[t]))) kept = std::max(kept, t + 1);
    for (size_t v = 0; v < dimensions; ++v)
      for (size_t t = 0; t < kept; ++t) {
        values.push_back(value(v, order[t]));
        file.missing += std::isnan(values.back());
      }
    from += dimensions * steps;
    length = static_cast<int32_t>(kept);
  }
  file.values = std::move(values);
}

}  // namespace

RawSamples samples_of(io::SeriesFile file, const std::string& path, const TableForm& like) {
  RawSamples out;
  if (only_count(file.steps)) file.steps.clear();
  if (const std::vector<size_t> order = order_of_steps(file.steps, like, path); !order.empty()) {
    reorder(file, order);
    out.notes.push_back(path + kMatchedByName);
    file.steps = like.columns;
  }
  out.form.columns = std::move(file.steps);
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
