#include "python/binding/requests.h"

#include <spdlog/spdlog.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/models/language_modeling/files.h"
#include "modewise/models/language_modeling/text_generation.h"
#include "modewise/nn/layers/move_module.h"
#include "modewise/sweep/search.h"
#include "modewise/tasks/forecasting/backtest.h"
#include "modewise/tasks/registry.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/run_documents.h"
#include "modewise/tasks/run/run_tokenizer.h"
#include "modewise/tasks/run/search_run.h"
#include "modewise/tasks/run/train_run.h"
#include "modewise/text/tokenizer.h"
#include "modewise/train/checkpoint/run_folder.h"
#include "modewise/train/checkpoint/run_weights.h"
#include "modewise/train/loop/compute_device.h"

namespace modewise::python {
namespace {

using nlohmann::json;
using tasks::Result;

template <class Value>
void take(const json& request, const char* name, Value& value) {
  const auto found = request.find(name);
  if (found == request.end()) return;
  try {
    found->get_to(value);
  } catch (const json::exception&) {
    fail(ErrorKind::usage, "{} cannot be a value of type {}", name, found->type_name());
  }
}

std::string string_of(const json& request, const char* name) {
  std::string value;
  take(request, name, value);
  return value;
}

const tasks::TaskSpec& task_in(const json& request) {
  return tasks::task_named(string_of(request, "task"));
}

tasks::Settings settings_in(const json& request) {
  tasks::Settings settings;
  take(request, "config", settings.file);
  take(request, "assignments", settings.assignments);
  return settings;
}

Result train(const json& request) {
  tasks::TrainRequest training;
  take(request, "config", training.config);
  take(request, "assignments", training.assignments);
  take(request, "out", training.out);
  take(request, "resume", training.resume);
  take(request, "overwrite", training.exist_ok);
  take(request, "allow_config_changes", training.accept_changes);
  take(request, "command_line", training.command_line);
  take(request, "inputs", training.inputs);
  if (training.resume.empty()) return tasks::run_training(task_in(request), training);
  const tasks::TaskSpec& task = tasks::task_to_resume(training.resume);
  require(training.assignments.empty() || !sweep::holds_search(training.resume), ErrorKind::usage,
          "settings have no effect: the search in {} continues with the settings that it was started with",
          training.resume);
  const auto searched = tasks::resume_search(task, training.resume, string_of(request, "program"));
  return searched ? *searched : tasks::run_training(task, training);
}

Result search(const json& request) {
  tasks::ModelSearchRequest options;
  take(request, "config", options.config);
  take(request, "data", options.data);
  take(request, "assignments", options.assignments);
  take(request, "out", options.out);
  take(request, "budget", options.budget);
  take(request, "seed", options.seed);
  take(request, "jobs", options.jobs);
  take(request, "threads", options.threads);
  take(request, "overwrite", options.exist_ok);
  take(request, "no_test", options.no_test);
  take(request, "refit", options.refit);
  take(request, "program", options.program);
  return tasks::run_search(task_in(request), options);
}

Result evaluate(const json& request) {
  tasks::EvaluateRequest options;
  take(request, "run", options.run);
  take(request, "data", options.data);
  take(request, "masks", options.masks);
  take(request, "split", options.split);
  take(request, "detail", options.detail);
  take(request, "settings", options.settings);
  return tasks::evaluate_run(tasks::task_of_run(options.run), options);
}

Result predict(const json& request) {
  tasks::PredictRequest options;
  take(request, "run", options.run);
  take(request, "data", options.data);
  take(request, "out", options.out);
  take(request, "steps", options.steps);
  take(request, "future", options.future);
  take(request, "overwrite", options.force);
  return tasks::predict_run(tasks::task_of_run(options.run), options);
}

Result explain(const json& request) {
  tasks::ExplainRequest options;
  take(request, "run", options.run);
  take(request, "data", options.data);
  take(request, "masks", options.masks);
  take(request, "split", options.options.split);
  take(request, "samples", options.options.samples);
  take(request, "num_examples", options.options.singles);
  take(request, "max_positions", options.options.places);
  bool overwrite = false;
  take(request, "overwrite", overwrite);
  return tasks::explain_run(tasks::task_of_run(options.run), options, string_of(request, "out"), overwrite);
}

Result backtest(const json& request) {
  tasks::BacktestRequest options;
  options.run = string_of(request, "run");
  take(request, "stride", options.stride);
  take(request, "data", options.data);
  take(request, "split", options.split);
  return Result(tasks::backtest_run(options).json);
}

Result weights(const json& request) {
  const auto run = train::RunFolder::open(string_of(request, "run"));
  const train::RunWeights found = train::run_weights(run);
  nlohmann::ordered_json reply = {{"file", found.file.string()}, {"step", found.step}};
  return Result(std::move(reply));
}

Result show(const json& request) {
  return task_in(request).describe_data(settings_in(request));
}

Result task_names(const json& request) {
  const tasks::TaskSpec& found = tasks::task_named(string_of(request, "name"));
  nlohmann::ordered_json names = {{"name", found.name}, {"command", found.command}};
  return Result(std::move(names));
}

Result config(const json& request) {
  const std::unique_ptr<tasks::Run> run = task_in(request).create(settings_in(request));
  nlohmann::ordered_json toml = {{"toml", run->settings().fields.to_toml()}};
  return Result(std::move(toml));
}

std::shared_ptr<text::Tokenizer> tokenizer_of(const json& request) {
  const std::string run = string_of(request, "run");
  const auto tokenizer = tasks::run_tokenizer(train::RunFolder::open(run));
  require(tokenizer != nullptr, ErrorKind::usage, "{}: a run of the task '{}' has no tokenizer", run,
          tasks::task_of_run(run).name);
  return tokenizer;
}

Result encode(const json& request) {
  const auto tokenizer = tokenizer_of(request);
  nlohmann::ordered_json reply = {{"ids", tokenizer->encode(string_of(request, "text"))}};
  const auto id = [](const auto& one) { return one ? nlohmann::ordered_json(*one) : nullptr; };
  reply["begin"] = id(tokenizer->begin_id());
  const bool several = tokenizer->tokens_before_text().size() > 1;  // which no run is trained with
  reply["begin_before_text"] = several ? nullptr : id(tokenizer->begin_before_text());
  return Result(std::move(reply));
}

Result decode(const json& request) {
  std::vector<text::Tokenizer::Id> ids;
  take(request, "ids", ids);
  const auto tokenizer = tokenizer_of(request);
  bool skip_missing = false;
  take(request, "skip_missing", skip_missing);
  if (skip_missing) std::erase_if(ids, [&](const auto id) { return id >= tokenizer->size(); });
  nlohmann::ordered_json reply = {{"text", tokenizer->decode(ids)}};
  return Result(std::move(reply));
}

Result generate(const json& request) {
  const std::string run = string_of(request, "run");
  models::GenerationConfig generation;
  take(request, "tokens", generation.tokens);
  take(request, "stop", generation.stop);
  models::SamplingConfig& sampling = generation.sampling;
  take(request, "temperature", sampling.temperature);
  take(request, "top_k", sampling.top_k);
  take(request, "top_p", sampling.top_p);
  take(request, "min_p", sampling.min_p);
  take(request, "repetition_penalty", sampling.repetition_penalty);
  take(request, "seed", sampling.seed);
  sampling.validate();
  bool ignore_eos = false;
  take(request, "ignore_eos", ignore_eos);
  const models::LoadedLanguageModel loaded =
      models::load_language_model(run, {}, models::KeptWeights::as_activated);
  nn::move_module(*loaded.model, train::chosen_device());
  generation.stop_at_eos = !ignore_eos;
  generation.end_ids = loaded.special.end;
  const models::Generation made =
      models::generate_text(*loaded.model, loaded.tokenizer, string_of(request, "prompt"), generation,
                            [](auto) { return stop_signal() == 0; });
  for (const std::string& note : made.notes) spdlog::warn("{}", note);
  throw_if_stopped();
  nlohmann::ordered_json reply = {{"text", made.text}, {"ids", made.ids}, {"stopped_by", made.stopped_by}};
  return Result(std::move(reply));
}

}  // namespace

Result answer(const json& request) {
  static const std::map<std::string, Result (*)(const json&)> commands = {
      {"train", train},       {"search", search},   {"evaluate", evaluate}, {"predict", predict},
      {"generate", generate}, {"explain", explain}, {"backtest", backtest}, {"show", show},
      {"config", config},     {"encode", encode},   {"decode", decode},     {"weights", weights},
      {"task", task_names}};
  const auto found = commands.find(string_of(request, "command"));
  require(found != commands.end(), ErrorKind::usage, "unknown command '{}'", string_of(request, "command"));
  const std::string run = string_of(request, request.contains("run") ? "run" : "resume");
  if (run.empty()) return found->second(request);
  return tasks::reading_run(run, [&] { return found->second(request); });
}

}  // namespace modewise::python
