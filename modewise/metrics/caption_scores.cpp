#include "modewise/metrics/caption_scores.h"

#include <nlohmann/json.hpp>

#include "modewise/core/error.h"
#include "modewise/metrics/caption_rouge.h"
#include "modewise/metrics/cider.h"
#include "modewise/metrics/meteor.h"

namespace modewise::metrics {

std::vector<CaptionScores::Named> CaptionScores::named() const {
  return {{"bleu_1", "BLEU-1", bleu[0]},
          {"bleu_2", "BLEU-2", bleu[1]},
          {"bleu_3", "BLEU-3", bleu[2]},
          {"bleu_4", "BLEU-4", bleu[3]},
          {"meteor_exact_stem", "METEOR (exact+stem)", meteor_exact_stem},
          {"rouge_l", "ROUGE-L", rouge_l},
          {"cider_d", "CIDEr-D", cider_d}};
}

CaptionEvaluation score_captions(std::span<const CaptionCase> images,
                                 const std::vector<std::string_view>& words) {
  require(!images.empty(), ErrorKind::usage, "there are no captions to score");
  const CiderScorer cider(images);
  const MeteorExactStem meteor(words);
  CaptionEvaluation evaluation;
  BleuCounts bleu_sum;
  MeteorCounts meteor_sum;
  for (const CaptionCase& image : images) {
    CaptionScores& scores = evaluation.images.emplace_back();
    scores.cider_d = cider.score(image);
    scores.rouge_l = caption_rouge_l(image);
    const BleuCounts bleu = bleu_counts(image);
    scores.bleu = bleu.score();
    bleu_sum.add(bleu);
    const MeteorCounts counts = meteor.best_counts(image);
    scores.meteor_exact_stem = counts.score();
    meteor_sum.add(counts);
    evaluation.all.cider_d += scores.cider_d;
    evaluation.all.rouge_l += scores.rouge_l;
  }
  const auto count = static_cast<double>(images.size());
  evaluation.all.cider_d /= count;
  evaluation.all.rouge_l /= count;
  evaluation.all.bleu = bleu_sum.score();
  evaluation.all.meteor_exact_stem = meteor_sum.score();
  return evaluation;
}

nlohmann::ordered_json to_json(const CaptionScores& scores) {
  nlohmann::ordered_json json;
  for (const CaptionScores::Named& one : scores.named()) json[std::string(one.key)] = one.value;
  return json;
}

}  // namespace modewise::metrics
