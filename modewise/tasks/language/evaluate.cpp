#include "modewise/tasks/language/evaluate.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>

#include "modewise/core/error.h"
#include "modewise/tasks/language/data.h"
#include "modewise/tasks/language/recall_scores.h"
#include "modewise/tasks/run_figures.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

/// The token before documents: begin, or for rolling the end token where there is no begin.
std::optional<int32_t> prefix_token(const LanguageSource& source, const std::string& convention) {
  std::optional<int32_t> prefix = source.tokenizer->begin_id();
  if (!prefix && convention == "rolling") prefix = source.tokenizer->end_id();
  const bool unused = source.run && !source.run->data.begin_token;
  return unused ? std::nullopt : prefix;
}

std::vector<int64_t> wanted_lengths(const LanguageSource& source, const LanguageEvaluateOptions& options) {
  if (!options.lengths.empty()) return options.lengths;
  return {source.model->config().context};
}

std::shared_ptr<models::LanguageModel> changed_model(const LanguageSource& source,
                                                     const LanguageEvaluateOptions& options, int64_t length) {
  if (options.changes.empty()) return source.model;
  return remade_model(*source.model, evaluation_config(source.model->config(), options, length));
}

report::Table recall_table(const Json& evaluation) {
  report::Table table({{"length"}, {"questions"}, {"recall %"}, {"loss"}});
  for (const Json& one : evaluation["results"])
    table.add_row({Cell(number(one, "length"), 0), one["asked"].get<int64_t>(),
                   Cell(100 * number(one, "accuracy"), 2), Cell(number(one, "loss"), 4)});
  return table;
}

bool is_recall(const Json& evaluation) {
  const Json& results = evaluation["results"];
  return !results.empty() && results.front().contains("by_pairs");
}

}  // namespace

data::TokenPart evaluation_text(const LanguageSource& source, const LanguageEvaluateOptions& options) {
  require(source.tokenizer != nullptr, ErrorKind::usage,
          "{} has no tokenizer beside it: name it with --tokenizer", source.name);
  if (options.data.empty()) {
    require(source.run.has_value(), ErrorKind::usage, "{} is a model, not a run: name the text with --data",
            source.name);
    LanguageConfig config = *source.run;
    config.train.test = true;
    return load_language_data(config, source.tokenizer).set.part(options.split);
  }
  data::TextConfig config;
  if (source.run) config = source.run->data;
  config.path = options.data;
  config.separator = options.separator;
  std::vector<std::string> notes;
  const auto file =
      data::load_tokens(config, config.path, *source.tokenizer, source.tokenizer->file().string(), notes);
  for (const std::string& note : notes) spdlog::info("{}", note);
  return {file, file->documents()};
}

models::LanguageModelConfig evaluation_config(const models::LanguageModelConfig& model,
                                              const LanguageEvaluateOptions& options, int64_t length) {
  std::vector<std::string> changes = options.changes;
  const double factor = static_cast<double>(length) / static_cast<double>(model.context);
  if (options.stretch) changes.push_back(fmt::format("rope.factor={}", std::max(1.0, factor)));
  // A stretch by nothing leaves the codes as they were trained.
  if (options.stretch && factor <= 1)
    std::erase_if(changes, [](const std::string& one) { return one.starts_with("rope."); });
  return changes.empty() ? model : changed_config(model, changes);
}

Json evaluate_language(const LanguageSource& source, const LanguageEvaluateOptions& options) {
  return evaluate_text(source, evaluation_text(source, options), options);
}

Json evaluate_text(const LanguageSource& source, const data::TokenPart& text,
                   const LanguageEvaluateOptions& options) {
  require(!text.spans.empty(), ErrorKind::data, "there is no text in the {} split", options.split);
  const models::LanguageModelConfig& config = source.model->config();
  const std::vector<int64_t> lengths = wanted_lengths(source, options);
  Json json = {{"model", source.name},        {"attention", config.attention.form},
               {"context", config.context},   {"changes", options.changes},
               {"text", text.file->source()}, {"documents", text.spans.size()},
               {"tokens", text.tokens()},     {"bytes", text.bytes()},
               {"words", text.words()},       {"tokenizer", source.tokenizer->name()},
               {"results", Json::array()}};
  const auto measure = [&](const std::string& convention, int64_t length) {
    const auto model = changed_model(source, options, length);
    PerplexityOptions one;
    one.convention = convention;
    one.length = length;
    one.stride = std::min(options.stride, std::max<int64_t>(1, length - 1));
    one.windows = options.windows;
    one.longest = *std::max_element(lengths.begin(), lengths.end());
    one.most_tokens = options.most_tokens;
    json["results"].push_back(
        to_json(measure_perplexity(*model, text, prefix_token(source, convention), one)));
  };
  for (const std::string& convention : options.conventions) {
    if (convention == "stream")
      measure(convention, std::max(config.context, text.tokens()));
    else
      for (const int64_t length : lengths) measure(convention, length);
  }
  return json;
}

Json evaluate_recall(const LanguageSource& source, const LanguageEvaluateOptions& options) {
  Json json = {{"model", source.name},
               {"attention", source.model->config().attention.form},
               {"context", source.model->config().context},
               {"changes", options.changes},
               {"results", Json::array()}};
  for (const int64_t length : wanted_lengths(source, options)) {
    LanguageConfig config = *source.run;
    config.data.recall.length = length;
    config.data.validate(source.name);
    Json one = {{"length", length}};
    one.update(to_json(score_recall(*changed_model(source, options, length), config, options.split)));
    json["results"].push_back(std::move(one));
  }
  return json;
}

report::Table evaluation_table(const Json& evaluation) {
  if (is_recall(evaluation)) return recall_table(evaluation);
  report::Table table({{"convention"},
                       {"length"},
                       {"predicted"},
                       {"loss"},
                       {"perplexity"},
                       {"mean of windows"},
                       {"bits a byte"},
                       {"word perplexity"},
                       {"tokens/s"},
                       {"seconds"}});
  for (const Json& one : evaluation["results"])
    table.add_row({one["convention"].get<std::string>(), Cell(number(one, "length"), 0),
                   one["tokens"].get<int64_t>(), Cell(number(one, "loss"), 4),
                   Cell(number(one, "perplexity"), 3), Cell(number(one, "window_mean_perplexity"), 3),
                   Cell(number(one, "bits_per_byte"), 4), Cell(number(one, "word_perplexity"), 2),
                   Cell(number(one, "tokens_per_second"), 0), Cell(number(one, "seconds"), 1)});
  return table;
}

std::vector<report::LineChart> length_figures(const std::vector<Json>& evaluations) {
  const auto chart_of = [&](const char* key, const std::string& title, report::AxisScale scale) {
    report::LineChart chart;
    chart.title = title;
    chart.x.label = "tokens";
    chart.x.scale = report::AxisScale::log;
    chart.y.scale = scale;
    for (const Json& evaluation : evaluations) {
      std::map<std::string, report::LineSeries> by_convention;  // "" of recall
      for (const Json& one : evaluation["results"]) {
        if (!one.contains("length")) continue;
        report::LineSeries& line = by_convention[one.value("convention", "")];
        line.x.push_back(number(one, "length"));
        line.y.push_back(number(one, key));
      }
      for (auto& [convention, line] : by_convention) {
        line.label = evaluation.value("name", evaluation["model"].get<std::string>());
        if (by_convention.size() > 1) line.label += " " + convention;
        chart.series.push_back(std::move(line));
      }
    }
    return chart;
  };
  if (!evaluations.empty() && is_recall(evaluations.front()))
    return {chart_of("accuracy", "Recall", report::AxisScale::linear)};
  return {chart_of("perplexity", "Perplexity", report::AxisScale::log),
          chart_of("tokens_per_second", "Tokens a second", report::AxisScale::log)};
}

}  // namespace modewise::tasks
