#include "modewise/tasks/text/attention.h"

#include <fmt/ranges.h>

#include <limits>
#include <memory>

#include "modewise/core/error.h"
#include "modewise/data/text/token_rows.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/text/encoder_run.h"
#include "modewise/tasks/text/spec.h"

namespace modewise::tasks {
namespace {

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
  const std::shared_ptr<Run> run = open_run(text_spec, request.run);
  DataRequest samples;
  samples.path = request.data;
  samples.split = request.split;
  run->load(samples);
  const EncoderRun* encoder = &as<EncoderRun>(*run);
  NamedTexts texts = encoder->shown_texts(request.split, std::numeric_limits<int64_t>::max());
  const TextTaskConfig& config = encoder->text_config();
  const std::filesystem::path source = request.data.empty() ? config.data.path : request.data;
  AttentionMatrices out;
  out.model =
      fmt::format("{}, {}", std::filesystem::path(request.run).filename().string(), model_title(config));
  out.sample = "text";
  out.source = fmt::format("{}, {} split", source.filename().string(), request.split);
  out.modes = token_modes(request, config.model);
  out.layers = config.model.layers;
  out.heads = config.model.heads;
  out.tokens = cell_count(out.modes);
  std::erase_if(texts, [&](const auto& named) { return std::ssize(named.second.ids) < out.tokens; });
  require(!texts.empty(), ErrorKind::data, "{}: no text has {} tokens ({})", out.source, out.tokens,
          fmt::join(out.modes, " × "));
  out.samples = std::ssize(texts);
  const auto shown = std::make_shared<const NamedTexts>(std::move(texts));
  out.of = [run, encoder, shown, n = out.tokens](int64_t sample, int64_t layer) {
    text::FramedText text = (*shown)[static_cast<size_t>(sample)].second;
    text.ids.resize(static_cast<size_t>(n));
    text.types.resize(static_cast<size_t>(n));
    const data::TokenRows row = data::side_by_side(std::span(&text, 1), *encoder->reading.frame.padding);
    const models::AttentionView view = encoder->attention({row.ids, row.mask, row.types});
    require(!view.full.empty(), ErrorKind::usage, "attention '{}' has no matrices",
            encoder->text_config().model.attention.type);
    return view.full[static_cast<size_t>(layer)].squeeze(0);
  };
  return out;
}

}  // namespace modewise::tasks
