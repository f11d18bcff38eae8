#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/tasks/captioning/evaluate.h"

namespace modewise::cli {
namespace {

using report::Cell;

struct ScoreOptions {
  std::string captions, references, per_image;
  bool force = false;
};

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
  prepare_output(options.per_image, options.force);
  const io::CaptionFile references = io::read_captions(options.references);
  const io::ImageTexts captions = tasks::match_files(io::read_coco_results(options.captions),
                                                     options.captions, references, options.references);
  const tasks::CaptionQuality evaluated =
      tasks::evaluate_captions(captions, options.captions, references, options.references);
  for (const std::string& warning : evaluated.warnings) spdlog::warn("{}", warning);
  if (!options.per_image.empty())
    write_file_atomically(options.per_image, per_image_csv(evaluated.evaluation, captions));
  report::Table table({{"metric"}, {"score"}});
  for (const auto& one : evaluated.evaluation.all.named()) table.add_row({one.title, Cell(one.value, 4)});
  program.print(tasks::Result(
      to_json(evaluated),
      fmt::format("{} images, {} references\n\n{}", Cell::count(static_cast<int64_t>(captions.size())).text(),
                  Cell::count(static_cast<int64_t>(evaluated.references)).text(), table.to_text())));
}

}  // namespace

void add_score(Program& program) {
  const auto [command, options] = program.add_command<ScoreOptions>(
      program.app(), "score",
      "Scores captions of images against reference captions: BLEU, METEOR (exact and stem matches), "
      "ROUGE-L, CIDEr-D.",
      "modewise score captions.json captions_val2017.json", score);
  command
      ->add_option("captions", options.captions,
                   R"(captions in COCO results format: [{"image_id": 1, "caption": "…"}])")
      ->required();
  command
      ->add_option(
          "references", options.references,
          R"(references in a format of --data of train caption: {"images": […], "annotations": [{"image_id": 1, "caption": "…"}]})")
      ->required();
  command->add_option("--per-image", options.per_image, "write the scores of each image to a .csv file");
  command->add_flag("--overwrite", options.force, "overwrite the file of --per-image");
}

}  // namespace modewise::cli
