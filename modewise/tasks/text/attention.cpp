#include "modewise/tasks/text/attention.h"

#include <fmt/ranges.h>

#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/data/text/token_rows.h"
#include "modewise/tasks/text/objective_run.h"
#include "modewise/tasks/text/run.h"

namespace modewise::tasks {
namespace {

/// A run of any objective: its texts with special tokens, and their attention.
struct AttendingRun {
  std::shared_ptr<const void> owner;
  const TextTaskConfig* config = nullptr;
  const TextReading* reading = nullptr;
  std::string source;
  std::vector<text::FramedText> texts;
  std::function<models::AttentionView(const models::TextInput&)> attention;
};

AttendingRun open_classifier(const AttentionRequest& request) {
  auto made = std::make_unique<TextRun>();
  TextRun* run = made.get();
  const auto opened = std::make_shared<OpenedRun>(open_run(std::move(made), request.run));
  run->load_samples_of(request.data, true);
  AttendingRun out{opened, &run->config, &run->reading(), run->set().source, {}, nullptr};
  for (const int64_t i : run->set().split(request.split))
    out.texts.push_back(run->reading().framed(run->set(), i));
  out.attention = [run](const models::TextInput& input) { return run->model().text().attention(input); };
  return out;
}

AttendingRun open_other(const AttentionRequest& request) {
  const auto opened = std::make_shared<OpenedObjective>(open_objective(request.run));
  ObjectiveRun* run = opened->run.get();
  run->load_data(request.data, true);
  AttendingRun out{opened, &run->config, &run->reading, run->config.data.path, {}, nullptr};
  for (auto& [name, text] : run->shown_texts(request.split, std::numeric_limits<int64_t>::max()))
    out.texts.push_back(std::move(text));
  out.attention = [run](const models::TextInput& input) { return run->attention(input); };
  return out;
}

std::vector<int64_t> token_modes(const AttentionRequest& request, const models::TextModelConfig& model) {
  const std::vector<int64_t>& fold = model.attention.fold;
  if (!request.modes.empty()) return request.modes;
  require(!fold.empty() && fold.front() > 0, ErrorKind::usage,
          "{} has attention '{}', which has no fixed fold: set --modes, such as 4,4,4", request.run,
          model.attention.type);
  return fold;
}

}  // namespace

AttentionMatrices text_attention(const AttentionRequest& request) {
  require(request.tokenizer.empty(), ErrorKind::usage, "--tokenizer is for language models; {} has its own",
          request.run);
  const bool classify =
      read_run_config<TextTaskConfig>(train::RunFolder::open(request.run)).is("classification");
  const auto run = std::make_shared<AttendingRun>(classify ? open_classifier(request) : open_other(request));
  AttentionMatrices out;
  out.model = fmt::format("{}, {}", std::filesystem::path(request.run).filename().string(),
                          model_title(*run->config));
  out.sample = "text";
  out.source =
      fmt::format("{}, {} split", std::filesystem::path(run->source).filename().string(), request.split);
  out.modes = token_modes(request, run->config->model);
  out.layers = run->config->model.layers;
  out.heads = run->config->model.heads;
  out.tokens = cell_count(out.modes);
  std::erase_if(run->texts, [&](const text::FramedText& text) { return std::ssize(text.ids) < out.tokens; });
  require(!run->texts.empty(), ErrorKind::data, "{}: no text has {} tokens ({})", out.source, out.tokens,
          fmt::join(out.modes, " × "));
  out.samples = std::ssize(run->texts);
  out.of = [run, n = out.tokens](int64_t sample, int64_t layer) {
    text::FramedText text = run->texts[static_cast<size_t>(sample)];
    text.ids.resize(static_cast<size_t>(n));
    text.types.resize(static_cast<size_t>(n));
    const data::TokenRows row = data::side_by_side(std::span(&text, 1), *run->reading->frame.padding);
    const models::AttentionView view = run->attention({row.ids, row.mask, row.types});
    require(!view.full.empty(), ErrorKind::usage, "attention '{}' has no matrices",
            run->config->model.attention.type);
    return view.full[static_cast<size_t>(layer)].squeeze(0);
  };
  return out;
}

}  // namespace modewise::tasks
