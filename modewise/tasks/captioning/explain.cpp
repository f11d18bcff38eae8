#include "modewise/tasks/captioning/explain.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/softmax.h>
#include <fmt/format.h>

#include <array>

#include "modewise/core/error.h"
#include "modewise/nn/layers/device.h"
#include "modewise/tasks/captioning/run.h"

namespace modewise::tasks {

Explanation explain_captions(Run& opened, const ExplainOptions& options) {
  const CaptioningRun& run = as<CaptioningRun>(opened);
  const data::CaptionSet& set = run.set;
  const std::vector<int64_t> part = run.samples_of(options.split);
  std::vector<int64_t> samples;
  std::vector<std::vector<int64_t>> words;
  for (const int64_t i : spread_samples(std::ssize(part), options.samples)) {
    samples.push_back(part[static_cast<size_t>(i)]);
    words.push_back(set.vocabulary.numbers(set.images[static_cast<size_t>(samples.back())].words.front()));
  }
  const at::Tensor images = data::gather_images(set, samples);
  const data::CaptionTokens tokens = data::caption_tokens(words, run.model->max_words());
  const at::Tensor counted = tokens.targets.ne(data::Vocabulary::kPadding).unsqueeze(2);
  const auto scores = [&](const at::Tensor& seen) {
    const at::Tensor cells = run.model->encode(seen);
    const at::Tensor logits = run.model->logits(cells, nn::placed(tokens.inputs, cells.device()));
    return at::softmax(logits.to(at::kCPU), -1).mul(counted);
  };
  const at::Tensor whole = scores(images);
  const double count = static_cast<double>(counted.sum().item<int64_t>());
  const bool features = set.features.defined();
  const std::array<int64_t, 2> axes = {features ? 1 : 2, features ? 2 : 3};  // [B, h, w, F] or [B, C, h, w]
  const at::Tensor mean = images.mean(at::IntArrayRef(axes), true);
  Explanation e;
  e.title = fmt::format("{} on {}", model_title(run.config), data_title(run.config));
  e.subtitle = "Occlusion of a captioner";
  e.facts = {{"run", run.folder().path().string()},
             {"samples", fmt::format("{} images{}", samples.size(),
                                     run.whole() ? "" : fmt::format(" of the {} split", options.split))}};
  e.mode_names = {"row", "column"};
  for (size_t axis = 0; axis < axes.size(); ++axis)
    e.influences.push_back(influence_of(
        e.mode_names[axis], images.size(axes[axis]), 1, options.places, [&](int64_t begin, int64_t end) {
          const at::Tensor seen = images.clone();
          const at::Tensor band = seen.narrow(axes[axis], begin, end - begin);
          band.copy_(mean.expand_as(band));
          return (scores(seen) - whole).abs().sum({1, 2}).sum().item<double>() / 2 / count;
        }));
  e.effect_unit = "the probability mass of the next word that moves to other words";
  e.removal = "the rows or columns become the mean of the image";
  return e;
}

}  // namespace modewise::tasks
