#include "modewise/tasks/language_modeling/run.h"

#include <fmt/format.h>

#include "modewise/core/error.h"
#include "modewise/models/language_modeling/files.h"
#include "modewise/tasks/language_modeling/evaluate.h"
#include "modewise/tasks/language_modeling/scores.h"
#include "modewise/tasks/language_modeling/task.h"
#include "modewise/tasks/run_tokenizer.h"
#include "modewise/tasks/test_split.h"
#include "modewise/train/checkpoint/checkpoint.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json describe_part(const data::TokenPart& part) {
  return {{"documents", part.spans.size()},
          {"tokens", part.tokens()},
          {"bytes", part.bytes()},
          {"words", part.words()}};
}

/// Metrics of the text of `part`, or recall, at each length for each variant: {variant: {length: metrics}}.
Json score_lengths(models::LanguageModel& model, const LanguageModelingConfig& config,
                   const LanguageData& data, const std::string& part) {
  // Non-owning pointer: the model outlives it.
  const std::shared_ptr<models::LanguageModel> shared(std::shared_ptr<void>(), &model);
  const LanguageSource source{"", shared, data.tokenizer, config};
  Json out = Json::object();
  for (const std::string& variant : config.language.variants) {
    LanguageEvaluateOptions options;
    options.split = part;
    options.conventions = {"spread"};
    options.lengths = config.language.lengths;
    options.windows = config.language.length_windows;
    options.stride = config.language.length_stride;
    if (variant == "lambda")
      options.changes = {"attention.type=lambda", fmt::format("attention.window={}", config.model.context),
                         "attention.sinks=4"};
    else if (variant != "plain")
      options.changes = {"rope.scaling=" + variant};
    options.stretch = variant != "lambda" && variant != "plain";
    const Json evaluation = config.data.is_recall() ? evaluate_recall(source, options)
                                                    : evaluate_text(source, data.set.part(part), options);
    for (const Json& one : evaluation["results"])
      out[variant][std::to_string(one["length"].get<int64_t>())] = one;
  }
  return out;
}

/// "test" (of the validation text if there is no test text), and "lengths" if requested.
Json score_test(models::LanguageModel& model, const LanguageModelingConfig& config,
                const LanguageData& data) {
  const bool own = config.data.is_recall() || !data.set.test.spans.empty();
  Json figures = {{"test", score_part(model, config, data, own ? "test" : "validation")}};
  if (!config.language.lengths.empty()) figures["lengths"] = score_lengths(model, config, data, "test");
  return figures;
}

}  // namespace

Json describe(const LanguageModelingConfig& config, const LanguageData& data) {
  if (config.data.is_recall()) return {{"source", "recall"}, {"hash", data.hash}};
  return {{"source", data.set.source},
          {"hash", data.hash},
          {"tokenizer", {{"name", data.tokenizer->name()}, {"hash", data.tokenizer->hash()}}},
          {"train", describe_part(data.set.train)},
          {"validation", describe_part(data.set.validation)},
          {"test", describe_part(data.set.test)},
          {"notes", data.set.notes}};
}

Json score_part(models::LanguageModel& model, const LanguageModelingConfig& config, const LanguageData& data,
                const std::string& part) {
  if (config.data.is_recall()) return to_json(score_recall(model, config, part));
  const data::TokenStream stream = data.stream(part);
  require(stream.size() > 1, ErrorKind::data, "{}: there is no {} text", data.set.source, part);
  const data::TokenWindows windows(part, stream, std::min(config.model.context, stream.size() - 1));
  return to_json(score_windows(model, windows, {config.language.evaluation_batch, 0}));
}

TrainedRun train_language_model(const LanguageModelingConfig& config, const LanguageData& data,
                                train::RunFolder& run, bool resume, bool accept_changes) {
  const bool begun = resume && !train::CheckpointStore(run.checkpoints()).empty();
  LanguageModelingTask task(config, data, !config.init.empty() && !begun);
  TrainedRun result;
  result.training = train::train(task, config.train, run, resume, accept_changes);
  if (!result.training.to_be_evaluated()) return result;
  result.metrics = run.read_metrics();
  result.metrics["parameters"] = config.model.parameters();
  result.metrics["validation"] = score_part(task.model(), config, data, "validation");
  result.metrics["test_read"] = config.train.test;
  if (config.train.test)
    result.metrics.update(score_test(task.model(), config, data));
  else if (!config.language.lengths.empty())
    result.metrics["lengths"] = score_lengths(task.model(), config, data, "validation");
  if (config.output.export_model) {
    fs::remove_all(run.file("model"));  // left by an interrupted evaluation
    models::save_language_model(run.file("model"), task.model(), {.tokenizer = data.tokenizer});
  }
  run.write_metrics(result.metrics);
  return result;
}

Json evaluate_left_out_test(const train::RunFolder& run, models::LanguageModel& model,
                            LanguageModelingConfig config, std::shared_ptr<text::Tokenizer> tokenizer) {
  config.train.test = true;
  const LanguageData data = load_language_data(config, std::move(tokenizer));
  Json figures = score_test(model, config, data);
  write_test_figures(run, figures, data.hash);
  return figures;
}

LanguageModelingRun open_language_run(const fs::path& path) {
  const auto config = [](const train::RunFolder& folder) {
    return load_language_config(folder.file("config.toml").string(), {});
  };
  return open_run<LanguageModelingRun>(path, "language_modeling", config, [](LanguageModelingRun& run) {
    if (!run.config.data.is_recall()) run.tokenizer = run_tokenizer(run.folder);
    return models::make_unset_language_model(run.config.model);
  });
}

}  // namespace modewise::tasks
