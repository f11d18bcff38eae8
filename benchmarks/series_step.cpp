// Times a training step and inference of classifiers of long simulated series, alternating, as in Fig. 12 of
// Tensorized Attention: PatchTST with full attention, with tensor attention, and a temporal convolutional
// network. Prints one JSON line per length: {"steps", "tokens", "models": {NAME: {"train", "inference"}}}
// with the median seconds.
//
//   series_step --steps 1024 4096 16384 --threads 1

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "modewise/core/allocator.h"
#include "modewise/data/series_classification/sources.h"
#include "modewise/tasks/classification/class_task.h"
#include "modewise/tasks/series_classification/run.h"
#include "modewise/train/loop/optimizer.h"

namespace modewise {
namespace {

struct Options {
  std::vector<int64_t> steps = {1024, 2048, 4096, 8192, 16384};
  int64_t batch = 4, repeats = 5;
  int threads = 1;
  std::vector<std::string> settings;
};

Options parse(int argc, char** argv) {
  Options options;
  CLI::App app("Times classifiers of long series");
  app.add_option("--steps", options.steps, "lengths of the series");
  app.add_option("--batch", options.batch);
  app.add_option("--threads", options.threads);
  app.add_option("--repeats", options.repeats);
  app.add_option("--set", options.settings, "setting of all PatchTST models, e.g. model.patch.length=16");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

/// One model at one length.
class Timed {
 public:
  Timed(const std::vector<std::string>& settings, const data::SeriesCollection& set, int64_t batch) {
    run_.load_config("", settings);
    run_.take(set);
    task_ = std::make_unique<tasks::ClassTask>(run_);
    for (int64_t i = 0; i < batch; ++i) samples_.push_back(i);
    std::vector<train::NamedTensor> parameters;
    for (const auto& item : task_->module().named_parameters())
      parameters.push_back({item.key(), item.value()});
    optimizer_ = std::make_unique<train::Optimizer>(std::move(parameters), train::OptimizerConfig{});
  }

  double train_step() {
    task_->module().train();
    const auto batch = task_->load(samples_);
    return seconds([&] {
      task_->loss(*batch, 0, step_++).backward();
      optimizer_->step({.learning_rate = 1e-3, .beta1 = 0.9});
      optimizer_->clear_gradients();
    });
  }
  int64_t tokens(int64_t steps) const { return run_.config.model.tokens(steps); }
  double inference() {
    return seconds([&] { tasks::score_samples(run_, samples_); });
  }

 private:
  static double seconds(const std::function<void()>& action) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    action();
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  tasks::SeriesClassificationRun run_;
  std::unique_ptr<tasks::ClassTask> task_;
  std::unique_ptr<train::Optimizer> optimizer_;
  std::vector<int64_t> samples_;
  uint64_t step_ = 0;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

data::SeriesCollection simulated(int64_t steps, int64_t batch) {
  data::CollectionConfig config;
  config.path = "motifs";
  config.motifs.cases = std::max<int64_t>(8, 2 * batch);
  config.motifs.steps = steps;
  return data::load_collection(config);
}

std::vector<std::string> settings_of(const Options& options, std::vector<std::string> own) {
  std::vector<std::string> all = {"model.width=128", "model.hidden=256",      "model.heads=8",
                                  "model.layers=3",  "model.patch.length=16", "model.patch.stride=8"};
  all.insert(all.end(), options.settings.begin(), options.settings.end());
  if (own.front() == "model.name=tcn") all.clear();
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

void run(const Options& options) {
  if (options.threads > 0) at::set_num_threads(options.threads);
  const std::map<std::string, std::vector<std::string>> models = {
      {"patchtst full", {"model.attention.type=full"}},
      {"patchtst axial", {"model.attention.type=axial"}},
      {"patchtst causal", {"model.attention.type=summary"}},
      {"tcn", {"model.name=tcn"}},
  };
  for (const int64_t steps : options.steps) {
    const data::SeriesCollection set = simulated(steps, options.batch);
    std::map<std::string, std::unique_ptr<Timed>> timed;
    for (const auto& [name, own] : models)
      timed[name] = std::make_unique<Timed>(settings_of(options, own), set, options.batch);
    std::map<std::string, std::vector<double>> train, inference;
    for (int64_t repeat = -1; repeat < options.repeats; ++repeat)
      for (const auto& [name, model] : timed) {
        const double step = model->train_step(), pass = model->inference();
        if (repeat < 0) continue;  // warm-up
        train[name].push_back(step);
        inference[name].push_back(pass);
      }
    nlohmann::ordered_json line = {{"steps", steps},
                                   {"tokens", timed.at("patchtst full")->tokens(steps)},
                                   {"batch", options.batch},
                                   {"models", nlohmann::ordered_json::object()}};
    for (const auto& [name, own] : models)
      line["models"][name] = {{"train", median(train[name])}, {"inference", median(inference[name])}};
    std::cout << line.dump() << std::endl;
  }
}

}  // namespace
}  // namespace modewise

int main(int argc, char** argv) {
  modewise::keep_freed_memory();
  modewise::run(modewise::parse(argc, argv));
}
