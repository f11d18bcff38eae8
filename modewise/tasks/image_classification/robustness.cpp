#include "modewise/tasks/image_classification/robustness.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/argmax.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

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

/// Mean ± standard deviation of the accuracies at a JSON pointer, in percent.
Cell percent_cell(const RunGroup& group, const std::string& pointer) {
  const std::vector<double> values = group.values(pointer);
  const double percent = 100 * mean(values);
  const std::optional<double> stddev = standard_deviation(values);
  Cell cell = Cell::number(percent, stddev ? fmt::format("{:.1f} ± {:.1f}", percent, 100 * *stddev)
                                           : fmt::format("{:.1f}", percent));
  return std::move(cell).within(group.runs.front().tested);
}

/// Names of the groups, with that of their data if there are several.
std::vector<std::string> names_of(const std::vector<RunGroup>& groups) {
  const bool several = std::ranges::any_of(groups, [&](const RunGroup& one) {
    return one.runs.front().data_hash != groups.front().runs.front().data_hash;
  });
  std::vector<std::string> names;
  for (const RunGroup& group : groups)
    names.push_back(several ? fmt::format("{}: {}", group.task, group.name) : group.name);
  return names;
}

std::string strength_text(const Json& strength) {
  return fmt::format("{:g}", strength.get<double>());
}

ResultTable perturbation_table(const std::vector<RunGroup>& groups, size_t index) {
  const Json& first = groups.front().runs.front().metrics["perturbations"][index];
  const auto name = first["name"].get<std::string>(), measure = first["measure"].get<std::string>();
  using Best = report::Column::Best;
  std::vector<report::Column> columns = {{"model"}, {"images"}, {"unchanged", Best::highest}};
  for (const Json& strength : first["strengths"])
    columns.push_back({measure.empty() ? name : strength_text(strength), Best::highest});
  ResultTable out{measure.empty() ? name : fmt::format("{}, by {}", name, measure), "Accuracy in percent.",
                  report::Table(columns)};
  report::LineChart chart;
  chart.title = name;
  chart.x.label = measure;
  chart.y.label = "accuracy %";
  const std::vector<std::string> names = names_of(groups);
  for (size_t g = 0; g < groups.size(); ++g) {
    const RunGroup& group = groups[g];
    std::vector<Cell> cells = {names[g], Cell::count(group.runs.front().metrics["samples"].get<int64_t>()),
                               percent_cell(group, "/clean")};
    report::LineSeries line;
    line.label = names[g];
    for (size_t i = 0; i < first["strengths"].size(); ++i) {
      const std::string pointer = fmt::format("/perturbations/{}/accuracy/{}", index, i);
      cells.push_back(percent_cell(group, pointer));
      line.x.push_back(first["strengths"][i].get<double>());
      line.y.push_back(100 * mean(group.values(pointer)));
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

Json evaluate_robustness(ImageClassificationRun& run, const std::string& wanted,
                         const RobustnessOptions& options) {
  const at::NoGradGuard no_grad;
  const std::string split = run.whole() ? "all" : wanted;
  const std::vector<int64_t> samples = spread(samples_of(run.set(), split), options.limit);
  run.model().eval();
  const auto changes = asked_for(options);
  int64_t steps = 1;
  for (const data::Perturbation* change : changes) steps += std::ssize(change->strengths);
  const RunSettings settings = run.settings();
  Progress progress("evaluating " + run.folder().path().filename().string(), steps, "changes");
  int64_t done = 0;
  Json result = {{"model", settings.model},
                 {"data", data_name(run.set().source)},
                 {"run", run.folder().path().string()},
                 {"seed", settings.train.seed},
                 {"split", split},
                 {"samples", samples.size()}};
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

std::vector<ResultTable> robustness_tables(const std::vector<RunGroup>& groups) {
  std::vector<ResultTable> tables;
  for (size_t i = 0; i < groups.front().runs.front().metrics["perturbations"].size(); ++i)
    tables.push_back(perturbation_table(groups, i));
  return tables;
}

}  // namespace modewise::tasks
