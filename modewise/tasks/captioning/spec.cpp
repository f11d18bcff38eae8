#include "modewise/tasks/captioning/spec.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "modewise/analysis/caption_cost.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"
#include "modewise/report/table.h"
#include "modewise/tasks/captioning/explain.h"
#include "modewise/tasks/captioning/report.h"
#include "modewise/tasks/captioning/run.h"
#include "modewise/tasks/load_config.h"
#include "modewise/tasks/rank_tracking.h"
#include "modewise/tasks/test_split.h"
#include "modewise/tasks/training.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;
using report::Cell;

void log_notes(const data::CaptionSet& set) {
  for (size_t i = 0; i < set.notes.size(); ++i)
    spdlog::log(i < set.warnings ? spdlog::level::warn : spdlog::level::info, "{}", set.notes[i]);
}

int64_t captions_of(const data::CaptionSet& set, const std::vector<int64_t>& samples) {
  int64_t count = 0;
  for (const int64_t i : samples) count += std::ssize(set.images[static_cast<size_t>(i)].captions);
  return count;
}

class CaptionsJob final : public ConfiguredTraining<CaptioningConfig> {
 public:
  void load_config(const std::string& file, const std::vector<std::string>& assignments) override {
    config_ = tasks::load_config<CaptioningConfig>(file, assignments);
    refuse_rank_tracking(config_.train, "captioning", file);
    require(!config_.data.path.empty(), ErrorKind::usage,
            "no captions: give --data captions.json in COCO format, and --images FOLDER");
  }
  void load_data() override {
    set_ = data::load_captions(config_.data, reads_test());
    models::validate(config_.model, caption_shape(set_));
    hash_ = hash_of(set_);
  }
  std::string data_hash() const override { return hash_; }
  Json describe_data() const override { return describe(set_); }

  void announce() const override {
    log_notes(set_);
    if (set_.validation.empty())
      spdlog::info("there are no validation images: the weights are selected on the training images");
    spdlog::info("{}: {} captions of {} training images, {} words; {} validation images, {}; model {}",
                 set_.source, captions_of(set_, set_.train), set_.train.size(),
                 set_.vocabulary.words().size(), set_.validation.size(),
                 test_count(reads_test(), set_.test.size()), model_title(config_));
  }

  analysis::ModelCost cost() const override {
    return analysis::caption_cost(config_.model, caption_shape(set_));
  }
  TrainedRun train(train::RunFolder& folder, bool resume, bool accept_changes) override {
    return train_captioner(config_, set_, folder, resume, accept_changes);
  }
  void write_report(const train::RunFolder& folder) override {
    write_caption_report(open_caption_run(folder.path()), set_, folder.file("report.html"));
  }
  std::string summary(const Json& metrics) const override {
    return tables_text(caption_tables(caption_parts(metrics)));
  }

 private:
  data::CaptionSet set_;
  std::string hash_;
};

/// Options of `evaluate` for captioners.
struct CaptionEvaluation {
  std::string images, out;
  int64_t beams = 0;  // 0: from the run's config
  bool allow_missing = false, allow_outside = false, force = false;
  void fields(Fields& f) {
    f.add("images", images, "folder of the images of --data");
    f.add("out", out, "write captions to a JSON file in COCO results format");
    f.add("beam_size", beams, "beam width", {.min = 0, .max = 1024});
    f.add("allow_missing", allow_missing, "with --data: skip images whose file is missing");
    f.add("allow_outside", allow_outside, "allow image paths outside the folder");
    f.add("overwrite", force, "overwrite the file of --out");
  }
};

/// All captioned images of another file.
data::CaptionSet other_captions(const CaptioningRun& run, const std::string& data,
                                const CaptionEvaluation& options) {
  data::CaptionConfig config = run.config.data;
  config.path = data;
  if (!options.images.empty()) config.images = options.images;
  config.test_path = config.test_ids = config.validation_ids = "";
  config.split_ratios = {1, 0, 0};
  config.allow_missing = options.allow_missing;
  config.allow_outside = options.allow_outside;
  return data::load_captions(config, true, &run.trained);
}

Result evaluate(const EvaluateRequest& request) {
  CaptionEvaluation options;
  Fields fields = fields_of(options);
  for (const std::string& setting : request.settings) fields.set(setting);
  fields.validate("evaluate");
  require_new(options.out, options.force);
  CaptioningRun run = open_caption_run(request.run);
  run.config.data.allow_outside |= options.allow_outside;
  const bool own = request.data.empty();
  const data::CaptionSet set =
      own ? run.load(request.split == "test") : other_captions(run, request.data, options);
  log_notes(set);
  models::BeamOptions search = run.search();
  if (options.beams > 0) search.beams = options.beams;
  const CaptionFinder finder{*run.model, set, run.config.captions.evaluation_batch};
  const EvaluatedCaptions evaluated =
      own ? evaluate_part(finder, request.split, search) : evaluate_samples(finder, set.train, "all", search);
  for (const std::string& warning : evaluated.evaluation.warnings) spdlog::warn("{}", warning);
  if (!options.out.empty())
    write_file_atomically(options.out, json_text(results_json(evaluated.captions)) + "\n");
  if (own && request.split == "test" && test_is_unread(run.folder)) {
    write_test_figures(run.folder, {{"test", evaluated.json}}, hash_of(set));
    write_file_atomically(run.folder.file("captions.json"),
                          json_text(results_json(evaluated.captions)) + "\n");
  }
  return {evaluated.json, tables_text(caption_tables(Json::array({evaluated.json})))};
}

Result refuse_prediction(const PredictRequest& options) {
  fail(ErrorKind::usage, "{} is a captioner: use modewise caption", options.run);
}

/// The run's own images; `data`: current location of the captions file.
data::CaptionSet images_of(CaptioningRun& run, const std::string& data, bool with_test) {
  if (!data.empty()) run.config.data.path = data;
  return run.load(with_test);
}

void write_report(const std::string& path, const std::string& data, const std::filesystem::path& out) {
  CaptioningRun run = open_caption_run(path);
  const data::CaptionSet set = images_of(run, data, !test_is_unread(run.folder));
  write_caption_report(run, set, out);
}

Explanation explain(const ExplainRequest& request) {
  CaptioningRun run = open_caption_run(request.run);
  const data::CaptionSet set = images_of(run, request.data, request.options.split == "test");
  return explain_captions(run, set, request.options);
}

Result describe_data(const std::string& file, const std::vector<std::string>& assignments) {
  const data::CaptionSet set = data::load_captions(load_config<CaptioningConfig>(file, assignments).data);
  Json json = describe(set);
  std::string text = set.source + "\n";
  for (const std::string& note : set.notes) text += "note: " + note + "\n";
  text += fmt::format("{} words in the vocabulary\n\n", set.vocabulary.words().size());
  report::Table table({{"split"}, {"images"}, {"captions"}});
  for (const char* part : {"train", "validation", "test"})
    table.add_row({part, std::ssize(set.part(part)), captions_of(set, set.part(part))});
  return {std::move(json), text + table.to_text()};
}

bool owns(const std::filesystem::path& data) {
  return data.extension() == ".json" && data.filename().string().starts_with("captions");
}

}  // namespace

const TaskSpec captioning_spec = {
    .name = "captioning",
    .command = "caption",
    .summary = "Trains an image captioner and evaluates it on the test images.",
    .example = "modewise train caption --data captions_train2017.json --images train2017",
    .data_help = "captions: JSON in COCO format (data.path)",
    .model_help = "model (model.name): transformer, lstm",
    .options = {{"--images", "data.images", "folder of its images"},
                {"--test", "data.test_path", "captions of a separate test set"},
                {"--test-images", "data.test_images", "folder of the test images"},
                {"--attention", "model.encoder.attention",
                 "attention type of the encoder: none, or one of docs/synthesizers.md"},
                {"--size", "data.size", "image height and width in pixels"},
                {"--allow-missing", "data.allow_missing", "skip images whose file is missing",
                 ShortOption::Takes::nothing},
                {"--allow-outside", "data.allow_outside", "allow image paths outside the folder",
                 ShortOption::Takes::nothing},
                {"--allow-size", "data.allow_size", "decode images of any size",
                 ShortOption::Takes::nothing}},
    .evaluate_title = "Captions",
    .evaluate_options = {{"--images", "images", "folder of the images of --data"},
                         {"--beam-size", "beam_size", "beam width (default: that of the run)"},
                         {"--out", "out", "write captions to a JSON file in COCO results format"},
                         {"--allow-missing", "allow_missing",
                          "with --data: skip images whose file is missing", ShortOption::Takes::nothing},
                         {"--allow-outside", "allow_outside", "allow image paths outside the folder",
                          ShortOption::Takes::nothing},
                         {"--overwrite", "overwrite", "overwrite the file of --out",
                          ShortOption::Takes::nothing}},
    .validation = {{"/validation/cider_d", "validation CIDEr-D", "highest", 3},
                   {"/validation/loss", "validation loss", "lowest", 3}},
    .owns = owns,
    .defaults = default_config<CaptioningConfig>,
    .config = any_config<load_config<CaptioningConfig>>,
    .training = make_training<CaptionsJob>,
    .evaluate = evaluate,
    .predict = refuse_prediction,
    .write_report = write_report,
    .comparison = caption_comparison,
    .explain = explain,
    .describe_data = describe_data,
};

}  // namespace modewise::tasks
