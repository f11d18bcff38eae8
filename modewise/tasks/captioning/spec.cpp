#include "modewise/tasks/captioning/spec.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "modewise/core/data_files.h"
#include "modewise/core/output_file.h"
#include "modewise/io/captions/caption_file.h"
#include "modewise/report/table.h"
#include "modewise/tasks/captioning/explain.h"
#include "modewise/tasks/captioning/run.h"
#include "modewise/tasks/run/commands.h"
#include "modewise/tasks/run/load_config.h"
#include "modewise/tasks/run/open_run.h"
#include "modewise/tasks/run/test_split.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

std::unique_ptr<Run> create(const Settings& settings) {
  return std::make_unique<CaptioningRun>(load_config<CaptioningConfig>(settings));
}

/// Options of `evaluate` for captioners.
struct CaptionEvaluation {
  std::string images, out;
  int64_t beams = 0;  // 0: from the run's config
  bool strict = false, allow_missing = false, allow_outside = false, force = false;
  void fields(Fields& f) {
    f.add("images", images, "folder of the images of --data");
    f.add("out", out, "write captions to a JSON file in COCO results format");
    f.add("beam_size", beams, "beam width", {.min = 0, .max = 1024});
    f.add("strict", strict, "with --data: refuse captions without an image, and images without captions");
    f.add("allow_missing", allow_missing, "of earlier versions, without effect");
    f.add("allow_outside", allow_outside, "allow image paths outside the folder");
    f.add("overwrite", force, "overwrite the file of --out");
  }
};

Result evaluate(const EvaluateRequest& request) {
  CaptionEvaluation options;
  Fields fields = fields_of(options);
  for (const std::string& setting : request.settings) fields.set(setting);
  fields.validate("evaluate");
  prepare_output(options.out, options.force);
  const auto run = open_run_as<CaptioningRun>(captioning_spec, request.run);
  const bool own = request.data.empty();
  const OptionNeed needs[] = {{"--images", "without --data", !own},
                              {"--strict", "without --data", !own},
                              {"--overwrite", "without --out", !options.out.empty()},
                              {"--detail", "on captioners, which have no further tables", false}};
  refuse_without_effect(captioning_spec, request, needs);
  data::CaptionConfig& source = run->config.data;
  source.allow_outside = options.allow_outside || (own && source.allow_outside);
  if (!own) source.strict = options.strict;
  if (!own && !options.images.empty()) source.images = options.images;
  if (options.beams > 0) run->config.captions.beams = options.beams;
  run->load({.with_test = !own || request.split == "test" || request.split == "all",
             .path = request.data,
             .unchanged = own,
             .split = request.split});
  log_notes(run->set);
  const EvaluatedCaptions evaluated = run->caption_split(request.split);
  for (const std::string& warning : evaluated.evaluation.warnings) spdlog::warn("{}", warning);
  if (!options.out.empty()) write_captions(options.out, evaluated.captions, run->set);
  if (own && request.split == "test" && test_is_unread(run->folder())) {
    write_test_figures(run->folder(), {{"test", evaluated.json}}, run->hash());
    write_captions(run->folder().file("captions.json"), evaluated.captions, run->set);
  }
  const std::string split = evaluated.json.at("split");
  return {evaluated.json, tables_text(run->tables({{split, evaluated.json}}))};
}

Result describe_data(const Settings& settings) {
  const data::CaptionSet set = data::load_captions(load_config<CaptioningConfig>(settings).data);
  Json json = describe_captions(set, hash_of(set));
  std::string text = set.source + "\n";
  for (const std::string& note : set.notes) text += "note: " + note + "\n";
  text += fmt::format("{} words in the vocabulary\n\n", set.vocabulary.words().size());
  report::Table table({{"split"}, {"images"}, {"captions"}});
  for (const char* part : {"train", "validation", "test"})
    table.add_row({part, std::ssize(set.part(part)), captions_of(set, set.part(part))});
  return {std::move(json), text + table.to_text()};
}

bool owns(const std::filesystem::path& data) {
  constexpr std::string_view kEndings[] = {".json", ".jsonl", ".csv", ".tsv", ".txt", ".token"};
  return std::ranges::find(kEndings, lower_extension(data)) != std::ranges::end(kEndings) &&
         std::filesystem::is_regular_file(data) && io::is_caption_file(data.string());
}

}  // namespace

const TaskSpec captioning_spec = {
    .name = "captioning",
    .command = "caption",
    .subject = "a captioner",
    .summary = "Trains an image captioner and evaluates it on the test images.",
    .example = "modewise train caption --data captions_train2017.json --images train2017",
    .data_help = "captions: COCO's or Karpathy's JSON, a table, or lines (data.path)",
    .model_help = "model (model.name): transformer, lstm",
    .options = {{"--images", "data.images", "folder of its images"},
                {"--test", "data.test_path", "captions of a separate test set"},
                {"--test-images", "data.test_images", "folder of the test images"},
                {"--attention", "model.encoder.attention",
                 "attention type of the encoder: none, or one of docs/synthesizers.md"},
                {"--size", "data.size", "image height and width in pixels"},
                {"--strict", "data.strict", "refuse captions without an image, and images without captions",
                 ShortOption::Takes::nothing},
                {"--allow-missing", "data.allow_missing", "of earlier versions, without effect",
                 ShortOption::Takes::nothing},
                {"--allow-outside", "data.allow_outside", "allow image paths outside the folder",
                 ShortOption::Takes::nothing},
                {"--allow-size", "data.allow_size", "decode images of any size",
                 ShortOption::Takes::nothing}},
    .validation = {{"/validation/cider_d", "validation CIDEr-D", "highest", 3},
                   {"/validation/loss", "validation loss", "lowest", 3}},
    .create = create,
    .describe_data = describe_data,
    .comparison = caption_comparison,
    .owns = owns,
    .evaluate = evaluate,
    .evaluate_options =
        {.title = "Captions",
         .options = {{"--images", "images", "folder of the images of --data"},
                     {"--beam-size", "beam_size", "beam width (default: that of the run)"},
                     {"--out", "out", "write captions to a JSON file in COCO results format"},
                     {"--strict", "strict",
                      "with --data: refuse captions without an image, and images without captions",
                      ShortOption::Takes::nothing},
                     {"--allow-missing", "allow_missing", "of earlier versions, without effect",
                      ShortOption::Takes::nothing},
                     {"--allow-outside", "allow_outside", "allow image paths outside the folder",
                      ShortOption::Takes::nothing},
                     {"--overwrite", "overwrite", "overwrite the file of --out",
                      ShortOption::Takes::nothing}}},
    .predict_with = "modewise caption",
    .explain = explain_captions,
};

}  // namespace modewise::tasks
