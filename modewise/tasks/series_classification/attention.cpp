#include "modewise/tasks/series_classification/attention.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/tasks/run/model_output.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/series_classification/run.h"
#include "modewise/tasks/series_classification/spec.h"

namespace modewise::tasks {
namespace {

/// The fold with the smallest first mode that fits `tokens`.
std::vector<int64_t> filled_fold(std::vector<int64_t> fold, int64_t tokens) {
  const int64_t rest = cell_count({fold.begin() + 1, fold.end()});
  fold.front() = (tokens + rest - 1) / rest;
  return fold;
}

std::vector<int64_t> patch_modes(const AttentionRequest& request,
                                 const nn::SequenceAttentionOptions& attention, int64_t tokens) {
  if (request.modes.empty()) {
    require(!attention.fold.empty(), ErrorKind::usage,
            "the run has attention '{}', which has no fold: set --modes to fold the {} patches of a "
            "sample",
            attention.type, tokens);
    return filled_fold(attention.fold, tokens);
  }
  require(cell_count(request.modes) >= tokens && filled_fold(request.modes, tokens) == request.modes,
          ErrorKind::usage,
          "the modes {} do not fit the {} patches of a sample: with {} the first must be {}",
          fmt::join(request.modes, " × "), tokens,
          request.modes.size() == 1
              ? "one mode"
              : fmt::format("{} after it", fmt::join(request.modes.begin() + 1, request.modes.end(), " × ")),
          filled_fold(request.modes, tokens).front());
  return request.modes;
}

}  // namespace

AttentionMatrices series_attention(const AttentionRequest& request) {
  const std::shared_ptr<SeriesClassificationRun> run =
      open_run_as<SeriesClassificationRun>(series_classification_spec, request.run);
  const models::SeriesModelConfig& config = run->config.model;
  require(config.name == "patchtst", ErrorKind::usage, "{} is a run of '{}', which has no attention matrices",
          request.run, config.name);
  require(request.tokenizer.empty(), ErrorKind::usage,
          "--tokenizer is for language models; {} classifies series", request.run);
  AttentionMatrices out;
  out.tokens = config.tokens(run->model().shape().length);
  out.modes =
      patch_modes(request, config.attention.options(config.width, config.heads, out.tokens), out.tokens);
  run->load_samples_of(request.data, true);
  const auto samples = std::make_shared<const std::vector<int64_t>>(run->set().split(request.split));
  require(!samples->empty(), ErrorKind::data, "{}: there are no {} samples", run->set().source,
          request.split);
  out.model = fmt::format("{}, {}", run->folder().path().filename().string(), run->settings().model);
  out.sample = "sample";
  out.source = fmt::format("{}, {} split", std::filesystem::path(run->set().source).filename().string(),
                           request.split);
  out.layers = config.blocks;
  out.heads = config.heads;
  out.samples = std::ssize(*samples);
  out.of = [run, samples](int64_t sample, int64_t layer) {
    const data::LabelledBatch batch = run->gather(std::span(&(*samples)[static_cast<size_t>(sample)], 1));
    return attention_of(run->model(), models::ClassifierInput{batch.values, batch.valid})
        .full[static_cast<size_t>(layer)]
        .squeeze(0);
  };
  return out;
}

}  // namespace modewise::tasks
