#include "modewise/tasks/text/regression.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/stop_signal.h"
#include "modewise/metrics/agreement.h"
#include "modewise/metrics/json_number.h"
#include "modewise/models/text/cost.h"
#include "modewise/models/text/files.h"
#include "modewise/nn/layers/device.h"
#include "modewise/nn/layers/dropout.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/tasks/classification/classification_run.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/test_split.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Metrics of regression; `loss` is the mean squared error, r2 is NaN for constant targets.
struct NumberFigures {
  double pearson = 0, spearman = 0, loss = 0, mae = 0, r2 = 0;
};

NumberFigures number_figures(std::span<const double> predicted, std::span<const double> targets) {
  const auto count = static_cast<double>(targets.size());
  const double mean = std::accumulate(targets.begin(), targets.end(), 0.0) / count;
  double squares = 0, absolute = 0, spread = 0;
  for (size_t i = 0; i < predicted.size(); ++i) {
    squares += std::pow(predicted[i] - targets[i], 2);
    absolute += std::abs(predicted[i] - targets[i]);
    spread += std::pow(targets[i] - mean, 2);
  }
  return {metrics::pearson(predicted, targets), metrics::spearman(predicted, targets), squares / count,
          absolute / count, spread > 0 ? 1 - squares / spread : std::nan("")};
}

TargetScale scale_of(const data::TextSet& set) {
  double sum = 0, squares = 0;
  for (const int64_t i : set.train) sum += set.targets[static_cast<size_t>(i)];
  const auto count = static_cast<double>(set.train.size());
  const double mean = sum / count;
  for (const int64_t i : set.train) squares += std::pow(set.targets[static_cast<size_t>(i)] - mean, 2);
  return {mean, squares > 0 ? std::sqrt(squares / count) : 1};
}

/// The scale in a run's data.json.
TargetScale saved_scale(const Json& data, const std::string& file) {
  const auto targets = data.find("targets");
  if (targets == data.end()) return {};
  const TargetScale scale = {targets->at("mean").get<double>(), targets->at("std").get<double>()};
  require(scale.std > 0, ErrorKind::data, "{}: targets: std must be above 0, got {}", file, scale.std);
  return scale;
}

struct NumberBatch final : train::Batch {
  models::TextInput input;
  at::Tensor targets;  // [B], standardized
};

class RegressionTask final : public train::ModuleTask {
 public:
  explicit RegressionTask(const RegressionRun& run) : run_(run), hash_(run.hash()) {}

  torch::nn::Module& module() override { return run_.module(); }
  int64_t training_samples() const override { return std::ssize(run_.set().train); }
  double rate_factor(std::string_view parameter) const override { return layer_rate(run_.config, parameter); }
  train::Criterion criterion() const override {
    const std::string& select = run_.config.text.select;
    if (select == "loss") return {"val_loss"};
    return {"val_" + select, false, "val_loss", 0};  // constant predictions have no correlation
  }
  std::string data_hash() const override { return hash_; }

  std::unique_ptr<train::Batch> load(std::span<const int64_t> samples) const override {
    std::vector<int64_t> chosen;
    std::vector<double> targets;
    for (const int64_t i : samples) {
      chosen.push_back(run_.set().train[static_cast<size_t>(i)]);
      targets.push_back(run_.scale().standardized(run_.set().targets[static_cast<size_t>(chosen.back())]));
    }
    auto batch = std::make_unique<NumberBatch>();
    batch->input = run_.reading.input(run_.set(), chosen);
    batch->targets = at::tensor(targets, at::kFloat);
    return batch;
  }

  at::Tensor loss(const train::Batch& batch, uint64_t seed, uint64_t step) override {
    const auto& numbers = static_cast<const NumberBatch&>(batch);
    nn::set_dropout_step(run_.module(), seed, step);
    const at::Device device = nn::device_of(run_.model());
    const at::Tensor predicted = run_.model().forward(numbers.input.to(device)).squeeze(1);
    return (predicted - nn::placed(numbers.targets, device)).square().mean();
  }

  std::vector<double> loss_counts(const train::Batch& batch) const override {
    return {static_cast<double>(static_cast<const NumberBatch&>(batch).targets.size(0))};
  }

  at::Tensor sums(const train::Share& share) override {
    const std::span<const int64_t> samples = run_.set().validation;
    const int64_t first = share.first(std::ssize(samples)), last = share.last(std::ssize(samples));
    const std::vector<double> own =
        run_.predicted(samples.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first)));
    at::Tensor all = at::zeros({std::ssize(samples)}, at::kDouble);
    std::ranges::copy(own, all.mutable_data_ptr<double>() + first);
    return all;
  }

  train::Metrics metrics_of(const at::Tensor& sums) override {
    std::vector<double> targets;
    for (const int64_t i : run_.set().validation)
      targets.push_back(run_.set().targets[static_cast<size_t>(i)]);
    const NumberFigures figures =
        number_figures({sums.const_data_ptr<double>(), static_cast<size_t>(sums.numel())}, targets);
    const double variance = run_.scale().std * run_.scale().std;
    return {{"val_pearson", figures.pearson},
            {"val_spearman", figures.spearman},
            {"val_loss", figures.loss / variance}};  // as the training loss, of standardized targets
  }

 private:
  const RegressionRun& run_;
  std::string hash_;
};

std::vector<int64_t> samples_of(const data::TextSet& set, const std::string& split, bool predicted) {
  std::vector<int64_t> samples = set.split(split);
  require(!samples.empty(), ErrorKind::data, "{}: {}", set.source, set.no_samples(split));
  for (const int64_t i : samples)
    require(!predicted || !std::isnan(set.targets[static_cast<size_t>(i)]), ErrorKind::data,
            "{}: {} has no number", set.source, set.called(i));
  return samples;
}

}  // namespace

ObjectiveDescription RegressionRun::about() const {
  return {.title = "Text regression",
          .data = "FILE or FOLDER",
          .select = "pearson",
          .new_split = "test",
          .columns = {{"split", "split"},
                      {"texts", "samples"},
                      {"Pearson", "pearson", 3},
                      {"Spearman", "spearman", 3},
                      {"R²", "r2", 3},
                      {"MAE", "mae", 3},
                      {"squared error", "loss", 3}},
          .charts = {{"Validation correlations", {"val_pearson", "val_spearman"}},
                     {"Squared errors of standardized targets", {"train_loss", "val_loss"}}}};
}

void RegressionRun::load_data(const std::string& path, bool with_test) {
  data::TextDataConfig wanted = config.data;
  if (!path.empty()) {
    wanted.path = path;
    wanted.validation = wanted.test = "";
  }
  const bool file = !path.empty() && !fs::is_directory(path);
  set_ = file ? data::load_texts_for(path, config.data, {{}, trained_on_pairs_, trained_hash_}, with_test,
                                     labelled_)
              : data::load_texts(wanted, true, with_test);
  other_texts = !path.empty() && set_.drawn.empty();
  if (reading.tokenizer) reading.warn_of_cuts(set_);  // `data show` reads no tokenizer
  if (file) return;
  samples_of(set_, "train", true);
  samples_of(set_, "validation", true);
  if (with_test) samples_of(set_, "test", true);
  if (!scale_)
    scale_ = has_folder() ? saved_scale(read_run_data(folder()), folder().file("data.json").string())
                          : scale_of(set_);
}

Json RegressionRun::describe_data() const {
  return {
      {"source", set_.source},
      {"hash", hash()},
      {"pairs", set_.pairs()},
      {"targets", {{"mean", scale().mean}, {"std", scale().std}}},
      {"samples",
       {{"train", set_.train.size()}, {"validation", set_.validation.size()}, {"test", set_.test.size()}}}};
}

void RegressionRun::restore(const Json& data, const std::string& file) {
  ObjectiveRun::restore(data, file);
  trained_on_pairs_ = data.at("pairs").get<bool>();
  trained_hash_ = data.value("hash", "");
  scale_ = saved_scale(data, file);
}

void RegressionRun::log_data_notes() const {
  log_notes(set_);
}

std::string RegressionRun::data_text(bool with_test) const {
  return fmt::format("{} training {}, {} validation, {}", set_.train.size(),
                     set_.pairs() ? "pairs of texts" : "texts", set_.validation.size(),
                     test_count(with_test, set_.test.size()));
}

nn::ModelCost RegressionRun::cost() const {
  return models::text_cost(config.model, reading.length, {.classes = 1});
}

void RegressionRun::make_model(Purpose purpose) {
  model_ = models::make_text_classifier(config.model, 1, static_cast<uint64_t>(config.train.seed));
  if (purpose != Purpose::train) return;
  const at::Tensor initial = model_->named_parameters()["output.weight"].detach().clone();
  start_weights(config, *model_);
  // A head of model.from returns numbers in units.
  if (!at::equal(initial, model_->named_parameters()["output.weight"]))
    model_->rescale(1 / scale().std, -scale().mean / scale().std);
}

void RegressionRun::save(const fs::path& folder) const {
  models::save_text_model(
      folder, *model_,
      {.regression = true, .scale = scale().std, .shift = scale().mean, .tokenizer = reading.tokenizer});
}

std::unique_ptr<train::ModuleTask> RegressionRun::task() {
  return std::make_unique<RegressionTask>(*this);
}

std::vector<double> RegressionRun::predicted(std::span<const int64_t> samples) const {
  const at::NoGradGuard no_grad;
  const nn::EvaluationMode evaluation(*model_);
  std::vector<double> all;
  const auto step = static_cast<size_t>(config.text.evaluation_batch);
  for (size_t begin = 0; begin < samples.size(); begin += step) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    const auto part = samples.subspan(begin, std::min(step, samples.size() - begin));
    const at::Tensor numbers =
        output_of(*model_, reading.input(set_, part)).squeeze(1).to(at::kDouble).contiguous();
    for (int64_t i = 0; i < numbers.numel(); ++i)
      all.push_back(scale().restored(numbers.const_data_ptr<double>()[i]));
  }
  return all;
}

Json RegressionRun::score(const std::string& split) const {
  const std::vector<int64_t> samples = samples_of(set_, split, true);
  std::vector<double> targets;
  for (const int64_t i : samples) targets.push_back(set_.targets[static_cast<size_t>(i)]);
  const NumberFigures figures = number_figures(predicted(samples), targets);
  return {{"split", split},
          {"samples", samples.size()},
          {"pearson", metrics::finite_or_null(figures.pearson)},
          {"spearman", metrics::finite_or_null(figures.spearman)},
          {"r2", metrics::finite_or_null(figures.r2)},
          {"mae", metrics::finite_or_null(figures.mae)},
          {"loss", metrics::finite_or_null(figures.loss)}};
}

void RegressionRun::finish(Json& metrics) {
  ObjectiveRun::finish(metrics);
  const Json& last = metrics.at(evaluated_part(metrics));
  const double r2 = last.at("r2").is_null() ? 1 : last.at("r2").get<double>();
  if (r2 <= 0)
    spdlog::warn(
        "R² of the {} is {:.3f}: always predicting the mean target is as good or better. More epochs or "
        "another "
        "learning rate may help",
        last.at("split").get<std::string>(), r2);
}

void RegressionRun::add_sections(report::HtmlPage& page, const std::string& split) const {
  const std::vector<int64_t> samples = samples_of(set_, split, true);
  const std::vector<double> numbers = predicted(samples);
  std::vector<size_t> order(samples.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto target = [&](size_t i) { return set_.targets[static_cast<size_t>(samples[i])]; };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::abs(numbers[a] - target(a)) > std::abs(numbers[b] - target(b));
  });
  page.add_section("Largest errors");
  report::Table table({{"text"}, {"second text"}, {"predicted"}, {"true"}});
  for (size_t k = 0; k < std::min<size_t>(8, order.size()); ++k) {
    const auto sample = static_cast<size_t>(samples[order[k]]);
    table.add_row({std::string(set_.first[sample]), set_.pairs() ? std::string(set_.second[sample]) : "",
                   report::Cell(numbers[order[k]], 2), report::Cell(target(order[k]), 2)});
  }
  page.add_table(table);
}

Result RegressionRun::predict(const PredictRequest& request) {
  require(!wants_npz(request.out), ErrorKind::usage,
          "predictions of text regression are written as .csv, not {}", request.out);
  labelled_ = false;
  load_data(request.data, true);
  log_data_notes();
  const std::vector<int64_t> samples =
      samples_of(set_, fs::is_regular_file(request.data) ? "all" : "test", false);
  const std::vector<double> numbers = predicted(samples);
  std::string csv = "text,number\n";
  Json json = {{"texts", Json::array()}};
  for (size_t i = 0; i < samples.size(); ++i) {
    const std::string name = set_.sample_name(samples[i]);
    csv += fmt::format("{},{}\n", report::csv_cell(name, request.csv_reader), numbers[i]);
    json["texts"].push_back({{"name", name}, {"number", numbers[i]}});
  }
  if (request.out.empty()) return {std::move(json), std::move(csv)};
  write_file_atomically(fs::path(request.out), csv);
  json["file"] = request.out;
  return {std::move(json), ""};
}

}  // namespace modewise::tasks
