#include "modewise/tasks/image_classification/robustness.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/core/progress.h"
#include "modewise/core/stop_signal.h"
#include "modewise/data/image_classification/perturbations.h"
#include "modewise/tasks/image_classification/run.h"
#include "modewise/tasks/run/model_output.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

std::vector<const data::Perturbation*> asked_for(const RobustnessOptions& options) {
  std::vector<const data::Perturbation*> all;
  for (const std::string& name : options.of) all.push_back(&data::find_perturbation(name));
  if (options.of.empty())
    for (const data::Perturbation& one : data::perturbations()) all.push_back(&one);
  return all;
}

/// `limit` samples, evenly spaced; 0: all.
std::vector<int64_t> spread(const std::vector<int64_t>& samples, int64_t limit) {
  const int64_t n = std::ssize(samples);
  if (limit == 0 || limit >= n) return samples;
  std::vector<int64_t> out;
  for (int64_t i = 0; i < limit; ++i) out.push_back(samples[static_cast<size_t>(i * n / limit)]);
  return out;
}

/// Accuracy of one run on images perturbed by `change`.
template <class Change>
double accuracy(const ImageClassificationRun& run, std::span<const int64_t> samples, const Change& change) {
  int64_t right = 0;
  const auto maximum = static_cast<size_t>(run.options().evaluation_batch);
  for (size_t first = 0; first < samples.size(); first += maximum) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    const auto batch = samples.subspan(first, std::min(maximum, samples.size() - first));
    const at::Tensor images = data::normalized(run.set(), change(data::unit_images(run.set(), batch), batch));
    const at::Tensor called = output_of(run.model(), models::ClassifierInput{images, {}}).argmax(-1);
    for (size_t i = 0; i < batch.size(); ++i)
      right += called.const_data_ptr<int64_t>()[i] == run.set().labels[static_cast<size_t>(batch[i])];
  }
  return static_cast<double>(right) / static_cast<double>(samples.size());
}

/// Runs of one model.
struct Group {
  std::string model;
  std::vector<const Json*> runs;
};

std::vector<Group> groups_of(const Json& runs) {
  std::vector<Group> groups;
  for (const Json& run : runs) {
    const auto name = run["model"].get<std::string>();
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.model == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), Group{name, {}});
    found->runs.push_back(&run);
  }
  return groups;
}

struct MeanAndStddev {
  double mean = 0, stddev = 0;  // stddev with ddof 1; 0 for one value

  explicit MeanAndStddev(const std::vector<double>& values) {
    const auto n = static_cast<double>(values.size());
    for (const double value : values) mean += value / n;
    for (const double value : values) stddev += (value - mean) * (value - mean);
    stddev = values.size() > 1 ? std::sqrt(stddev / (n - 1)) : 0;
  }
};

Cell percent_cell(const std::vector<double>& shares) {
  const MeanAndStddev m(shares);
  if (shares.size() == 1) return Cell::number(100 * m.mean, fmt::format("{:.1f}", 100 * m.mean));
  return Cell::number(100 * m.mean, fmt::format("{:.1f} ± {:.1f}", 100 * m.mean, 100 * m.stddev));
}

std::string strength_text(const Json& strength) {
  return fmt::format("{:g}", strength.get<double>());
}

ResultTable perturbation_table(const std::vector<Group>& groups, size_t index) {
  const Json& first = (*groups.front().runs.front())["perturbations"][index];
  const auto name = first["name"].get<std::string>(), measure = first["measure"].get<std::string>();
  using Best = report::Column::Best;
  std::vector<report::Column> columns = {{"model"}, {"unchanged", Best::highest}};
  for (const Json& strength : first["strengths"])
    columns.push_back({measure.empty() ? name : strength_text(strength), Best::highest});
  ResultTable out{measure.empty() ? name : fmt::format("{}, by {}", name, measure), "Accuracy in percent.",
                  report::Table(columns)};
  report::LineChart chart;
  chart.title = name;
  chart.x.label = measure;
  chart.y.label = "accuracy %";
  for (const Group& group : groups) {
    const auto shares = [&](const auto& of) {
      std::vector<double> all;
      for (const Json* run : group.runs) all.push_back(of(*run));
      return all;
    };
    std::vector<Cell> cells = {
        group.model, percent_cell(shares([](const Json& run) { return run["clean"].get<double>(); }))};
    report::LineSeries line;
    line.label = group.model;
    for (size_t i = 0; i < first["strengths"].size(); ++i) {
      const auto values =
          shares([&](const Json& run) { return run["perturbations"][index]["accuracy"][i].get<double>(); });
      cells.push_back(percent_cell(values));
      line.x.push_back(first["strengths"][i].get<double>());
      line.y.push_back(100 * MeanAndStddev(values).mean);
    }
    out.table.add_row(std::move(cells));
    chart.series.push_back(std::move(line));
  }
  if (first["strengths"].size() > 1) out.figures.push_back(std::move(chart));
  return out;
}

}  // namespace

void RobustnessOptions::fields(Fields& f) {
  f.add("robustness", robustness, "evaluate robustness: noise, flips, rotations, corruptions");
  f.add("of", of, "perturbations; empty: all");
  f.add("limit", limit, "number of images, evenly spaced; 0: all", {.min = 0});
  f.add("seed", seed, "seed of the random numbers", {.min = 0});
  f.add("report", report, "HTML file with tables and curves");
}

Json evaluate_robustness(ImageClassificationRun& run, const std::string& split,
                         const RobustnessOptions& options) {
  const at::NoGradGuard no_grad;
  const std::vector<int64_t> samples = spread(run.set().split(split), options.limit);
  require(!samples.empty(), ErrorKind::data, "{}: the {} split has no images", run.set().source, split);
  run.model().eval();
  const auto changes = asked_for(options);
  int64_t steps = 1;
  for (const data::Perturbation* change : changes) steps += std::ssize(change->strengths);
  const RunSettings settings = run.settings();
  Progress progress("evaluating " + run.folder().path().filename().string(), steps, "changes");
  int64_t done = 0;
  Json result = {
      {"model", settings.model},     {"data", settings.data}, {"run", run.folder().path().string()},
      {"seed", settings.train.seed}, {"split", split},        {"samples", samples.size()}};
  result["clean"] = accuracy(run, samples, [](const at::Tensor& x, auto) { return x; });
  progress.update(++done);
  for (const data::Perturbation* change : changes) {
    Json one = {{"name", change->name}, {"measure", change->measure}, {"strengths", change->strengths}};
    for (const double strength : change->strengths) {
      one["accuracy"].push_back(
          accuracy(run, samples, [&](const at::Tensor& x, std::span<const int64_t> batch) {
            return data::perturbed(*change, strength, x, batch, static_cast<uint64_t>(options.seed));
          }));
      progress.update(++done);
    }
    result["perturbations"].push_back(std::move(one));
  }
  return result;
}

std::vector<ResultTable> robustness_tables(const Json& runs) {
  const std::vector<Group> groups = groups_of(runs);
  std::vector<ResultTable> tables;
  for (size_t i = 0; i < runs.front()["perturbations"].size(); ++i)
    tables.push_back(perturbation_table(groups, i));
  return tables;
}

}  // namespace modewise::tasks
