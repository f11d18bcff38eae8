#include "modewise/tasks/captioning/find.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>

#include <algorithm>

#include "modewise/core/stop_signal.h"
#include "modewise/nn/layers/device.h"
#include "modewise/nn/layers/evaluation_mode.h"
#include "modewise/tasks/captioning/loss.h"
#include "modewise/train/loop/task.h"

namespace modewise::tasks {

const std::vector<int64_t>& evaluated_images(const data::CaptionSet& set, const std::string& part) {
  return set.part(part == "validation" && set.validation.empty() ? "train" : part);
}

io::ImageTexts caption_texts(const data::CaptionSet& set, std::span<const int64_t> samples,
                             std::span<const std::vector<int64_t>> words) {
  io::ImageTexts texts;
  for (size_t i = 0; i < samples.size(); ++i)
    texts.add(set.images[static_cast<size_t>(samples[i])].id, set.vocabulary.text(words[i]));
  texts.sort();
  return texts;
}

std::vector<models::FoundCaption> find_captions(models::Captioner& model, const at::Tensor& cells,
                                                const models::BeamOptions& options) {
  return options.beams == 1 ? models::greedy_captions(model, cells)
                            : models::beam_captions(model, cells, options);
}

void CaptionFinder::for_batches(std::span<const int64_t> samples,
                                const std::function<void(std::span<const int64_t>)>& visit) const {
  const at::NoGradGuard no_grad;
  const nn::EvaluationMode evaluation(model);
  const auto size = static_cast<size_t>(batch);
  for (size_t begin = 0; begin < samples.size(); begin += size) {
    if (stop_signal() != 0) throw train::EvaluationInterrupted{};
    visit(samples.subspan(begin, std::min(size, samples.size() - begin)));
  }
}

std::vector<std::vector<int64_t>> CaptionFinder::words(std::span<const int64_t> samples,
                                                       const models::BeamOptions& options) const {
  std::vector<std::vector<int64_t>> words;
  for_batches(samples, [&](std::span<const int64_t> part) {
    for (models::FoundCaption& one :
         find_captions(model, model.encode(data::gather_images(set, part)), options))
      words.push_back(std::move(one.words));
  });
  return words;
}

io::ImageTexts CaptionFinder::captions(std::span<const int64_t> samples,
                                       const models::BeamOptions& options) const {
  return caption_texts(set, samples, words(samples, options));
}

WordLoss CaptionFinder::loss(std::span<const int64_t> samples) const {
  WordLoss loss;
  for_batches(samples, [&](std::span<const int64_t> part) {
    int64_t each = 0;
    std::vector<std::vector<std::vector<int64_t>>> captions;
    for (const int64_t i : part) {
      auto& own = captions.emplace_back();
      for (const auto& one : set.images[static_cast<size_t>(i)].words)
        own.push_back(set.vocabulary.numbers(one));
      each = std::max(each, std::ssize(own));
    }
    const data::CaptionTokens tokens = side_by_side(captions, each, model.max_words());
    const at::Tensor cells = model.encode(data::gather_images(set, part));
    const at::Tensor logits = model.logits(cells, nn::placed(tokens.inputs, cells.device()));
    const at::Tensor scores = at::log_softmax(logits.to(at::kCPU, at::kDouble), -1)
                                  .gather(2, tokens.targets.unsqueeze(2))
                                  .squeeze(2);
    const at::Tensor counted = tokens.targets.ne(data::Vocabulary::kPadding);
    loss.sum -= scores.mul(counted).sum(1).sum().item<double>();
    loss.words += counted.sum().item<int64_t>();
  });
  return loss;
}

}  // namespace modewise::tasks
