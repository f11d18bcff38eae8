#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/io/captions/coco_captions.h"
#include "modewise/metrics/caption_scores.h"
#include "modewise/text/ptb_words.h"

namespace modewise::cli {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

/// METEOR's search goes over pairs of words.
constexpr size_t kMostWords = 1000;

struct ScoreOptions {
  std::string captions, references, per_image;
  bool force = false;
};

/// The words of texts as numbers, and how many texts have none.
class NumberedCaptions {
 public:
  NumberedCaptions(const io::ImageTexts& texts, const std::string& source, std::string_view list,
                   metrics::WordNumbers& words)
      : texts_(texts), source_(source), list_(list), words_(words), numbers_(texts.size()) {}

  metrics::Words words_of(size_t i) {
    const std::vector<std::string> words = text::ptb_words(texts_.text(i));
    require(words.size() <= kMostWords, ErrorKind::data, "{}: {}[{}] has {} words; a caption may have {}",
            source_, list_, i, words.size(), kMostWords);
    if (words.empty() && empty_++ == 0) first_empty_ = i;
    numbers_[i] = words_.numbers(words);
    return numbers_[i];
  }
  /// Says so when some texts have no words.
  size_t warn_of_empty(std::string_view consequence) const {
    if (empty_ > 0)
      spdlog::warn("{}: captions without words: {}, the first is {}[{}]; {}", source_, empty_, list_,
                   first_empty_, consequence);
    return empty_;
  }

 private:
  const io::ImageTexts& texts_;
  const std::string& source_;
  std::string_view list_;
  metrics::WordNumbers& words_;
  std::vector<std::vector<int32_t>> numbers_;
  size_t empty_ = 0, first_empty_ = 0;
};

struct Scored {
  metrics::CaptionEvaluation evaluation;
  size_t references = 0, without_caption = 0, empty = 0;
};

size_t images_with_captions(const io::CocoCaptions& references) {
  size_t count = 0;
  for (size_t i = 0; i < references.images.size(); ++i)
    if (!references.captions.of(references.images.image(i)).empty()) ++count;
  return count;
}

Scored score_all(const ScoreOptions& options, const io::ImageTexts& captions,
                 const io::CocoCaptions& references) {
  metrics::WordNumbers words;
  NumberedCaptions candidates(captions, options.captions, "", words);
  NumberedCaptions others(references.captions, options.references, "annotations", words);
  Scored scored;
  std::vector<metrics::CaptionCase> images;
  for (size_t i = 0; i < captions.size(); ++i) {
    const auto found = references.captions.of(captions.image(i));
    require(!found.empty(), ErrorKind::data, "{}: [{}] is of image {}, which {} in {}", options.captions, i,
            captions.image(i), references.images.of(captions.image(i)).empty() ? "is not" : "has no caption",
            options.references);
    metrics::CaptionCase& image = images.emplace_back();
    image.candidate = candidates.words_of(i);
    for (const uint32_t reference : found) image.references.push_back(others.words_of(reference));
    scored.references += found.size();
  }
  scored.empty = candidates.warn_of_empty("they score 0");
  others.warn_of_empty("they stay among the references");
  const size_t all = images_with_captions(references);
  scored.without_caption = all - images.size();
  if (scored.without_caption > 0)
    spdlog::warn("{}: no caption for {} of the {} images that have references in {}; scored over the others",
                 options.captions, scored.without_caption, all, options.references);
  scored.evaluation = metrics::score_captions(images, words.words());
  return scored;
}

std::string per_image_csv(const metrics::CaptionEvaluation& evaluation, const io::ImageTexts& captions) {
  std::string csv = "image_id";
  for (const auto& one : evaluation.all.named()) csv += fmt::format(",{}", one.key);
  csv += "\n";
  for (size_t i = 0; i < captions.size(); ++i) {
    csv += fmt::format("{}", captions.image(i));
    for (const auto& one : evaluation.images[i].named()) csv += fmt::format(",{}", one.value);
    csv += "\n";
  }
  return csv;
}

void score(const Program& program, const ScoreOptions& options) {
  require_new(options.per_image, options.force);
  const io::ImageTexts captions = io::read_coco_results(options.captions);
  require(captions.size() > 0, ErrorKind::data, "{}: the list holds no captions", options.captions);
  const io::CocoCaptions references = io::read_coco_captions(options.references);
  const Scored scored = score_all(options, captions, references);
  if (!options.per_image.empty())
    write_file_atomically(options.per_image, per_image_csv(scored.evaluation, captions));
  Json json = {{"images", captions.size()},
               {"references", scored.references},
               {"images_without_caption", scored.without_caption},
               {"empty_captions", scored.empty}};
  json.update(to_json(scored.evaluation.all));
  report::Table table({{"metric"}, {"score"}});
  for (const auto& one : scored.evaluation.all.named()) table.add_row({one.title, Cell(one.value, 4)});
  program.print(tasks::Result(
      std::move(json),
      fmt::format("{} images, {} references\n\n{}", Cell::count(static_cast<int64_t>(captions.size())).text(),
                  Cell::count(static_cast<int64_t>(scored.references)).text(), table.to_text())));
}

}  // namespace

void add_score(Program& program) {
  const auto [command, options] = program.add_command<ScoreOptions>(
      program.app(), "score",
      "How near captions of images come to those that people wrote: BLEU, METEOR (exact and stem matches), "
      "ROUGE-L, CIDEr-D.",
      "modewise score captions.json captions_val2017.json", score);
  command
      ->add_option("captions", options.captions,
                   R"(results of COCO's form: [{"image_id": 1, "caption": "…"}])")
      ->required();
  command
      ->add_option(
          "references", options.references,
          R"(annotations of COCO's form: {"images": […], "annotations": [{"image_id": 1, "caption": "…"}]})")
      ->required();
  command->add_option("--per-image", options.per_image, ".csv to write: the scores of each image");
  command->add_flag("--force", options.force, "overwrite that file");
}

}  // namespace modewise::cli
