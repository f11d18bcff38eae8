#include "modewise/tasks/language_modeling/spec.h"

#include <ATen/ops/empty.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/tasks/language_modeling/data.h"
#include "modewise/tasks/language_modeling/evaluate.h"

namespace modewise::tasks {
namespace {

/// Writes the tokens of a sample.
using Reader = std::function<void(int64_t sample, int64_t* out)>;

std::vector<int64_t> window_modes(const AttentionRequest& request, const LanguageSource& source) {
  const models::LanguageModelConfig& config = source.model->config();
  const std::vector<int64_t>& fold = config.attention.fold;
  if (!request.modes.empty()) return request.modes;
  require(!fold.empty(), ErrorKind::usage,
          "{} has attention '{}', which has no fold: set --modes, such as 8,8,8; its context is {} tokens",
          source.name, config.attention.type, config.context);
  require(fold.front() > 0, ErrorKind::usage,
          "the fold {} of {} grows with the text: set --modes, such as {},{} for its context of "
          "{} tokens",
          fmt::join(fold, ","), source.name,
          std::max<int64_t>(1, config.context / cell_count({fold.begin() + 1, fold.end()})),
          fmt::join(fold.begin() + 1, fold.end(), ","), config.context);
  return fold;
}

/// Sets `source` and `samples` of the result.
Reader text_reader(const AttentionRequest& request, const LanguageSource& source, AttentionMatrices& out) {
  LanguageEvaluateOptions options;
  options.data = request.data;
  options.separator = request.separator;
  options.split = request.split;
  const data::TokenPart part = evaluation_text(source, options);
  require(!part.spans.empty(), ErrorKind::data, "there is no text in the {} split", request.split);
  const auto [begin, end] =
      document_tokens(source.run ? source.run->config.data : data::TextConfig(), *source.tokenizer);
  data::TokenStream stream(part, begin, end);
  out.source = std::filesystem::path(part.file->source()).filename().string();
  if (request.data.empty()) out.source += fmt::format(", {} split", request.split);
  out.samples = stream.size() / out.tokens;
  require(out.samples > 0, ErrorKind::data,
          "{}: the text has {} tokens, fewer than a window of {} ({}): use smaller modes or more text",
          out.source, stream.size(), out.tokens, fmt::join(out.modes, " × "));
  return [stream = std::move(stream), n = out.tokens](int64_t sample, int64_t* tokens) {
    stream.read(sample * n, n, tokens);
  };
}

Reader recall_reader(const AttentionRequest& request, const LanguageModelingConfig& config,
                     AttentionMatrices& out) {
  require(request.data.empty(), ErrorKind::usage, "{} was trained on recall: --data cannot be used",
          request.run);
  require(request.split != "all", ErrorKind::usage, "--split must be train, validation or test");
  const data::RecallConfig& recall = config.data.recall;
  out.source = fmt::format("recall, {} split", request.split);
  out.samples = request.split == "train" ? recall.samples : recall.held_back;
  require(out.tokens <= recall.length, ErrorKind::data, "recall: a sample has {} tokens, fewer than {} ({})",
          recall.length, out.tokens, fmt::join(out.modes, " × "));
  return [config, part = request.split, n = out.tokens](int64_t sample, int64_t* tokens) {
    std::copy_n(recall_sample(config, part, sample).tokens.begin(), n, tokens);
  };
}

}  // namespace

AttentionMatrices language_attention(const AttentionRequest& request) {
  const LanguageSource source = open_language_source(request.run, request.tokenizer);
  const models::LanguageModelConfig& config = source.model->config();
  AttentionMatrices out;
  out.model = fmt::format("{}, attention {}", source.name, config.attention.type);
  if (!config.attention.fold.empty()) out.model += fmt::format(" {}", fmt::join(config.attention.fold, "·"));
  out.sample = "window";
  out.modes = window_modes(request, source);
  out.layers = config.layers;
  out.heads = config.heads;
  out.tokens = cell_count(out.modes);
  require(out.tokens <= config.context, ErrorKind::usage,
          "the modes {} have windows of {} tokens, longer than the context of {}, {}",
          fmt::join(out.modes, " × "), out.tokens, source.name, config.context);
  const bool recall = source.run && source.run->config.data.is_recall();
  const Reader read =
      recall ? recall_reader(request, source.run->config, out) : text_reader(request, source, out);
  out.of = [model = source.model, read, n = out.tokens](int64_t sample, int64_t layer) {
    const at::Tensor tokens = at::empty({1, n}, at::kLong);
    read(sample, tokens.mutable_data_ptr<int64_t>());
    return model->attention_matrix(tokens, layer).squeeze(0).to(at::kCPU);
  };
  return out;
}

}  // namespace modewise::tasks
