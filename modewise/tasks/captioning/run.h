#pragma once
// Captioning run.
//
// Besides the trainer's files it has data.json (source, counts, vocabulary, mean and standard deviation of
// the pixels) and captions.json (captions of the test images, or else of the validation images, in COCO
// results format); metrics.json has "train", "validation" (without validation images that of "train") and,
// if training reads the test split, "test".

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "modewise/io/captions/image_texts.h"
#include "modewise/tasks/captioning/config.h"
#include "modewise/tasks/captioning/evaluate.h"
#include "modewise/tasks/captioning/find.h"
#include "modewise/tasks/run/run.h"

namespace modewise::tasks {

/// Generated captions and their evaluation: {"split", "loss", metrics of evaluate_captions}.
struct EvaluatedCaptions {
  io::ImageTexts captions;
  CaptionQuality evaluation;
  nlohmann::ordered_json json;
};

class CaptioningRun final : public Run {
 public:
  explicit CaptioningRun(CaptioningConfig settings) : config(std::move(settings)) {}

  RunSettings settings() override {
    RunSettings settings = settings_of(config);
    settings.rankless = "captioning";
    return settings;
  }
  void load(const DataRequest& request) override;
  std::string hash() const override;
  nlohmann::ordered_json describe() const override;
  void restore(const nlohmann::ordered_json& json, const std::string& file) override;
  void announce() override;

  void make_model(Purpose purpose) override;
  torch::nn::Module& module() const override { return *model; }
  nn::ModelCost cost() const override;
  std::unique_ptr<train::ModuleTask> task() override;
  /// Writes the hashes of the training images.
  void keep() const override;

  nlohmann::ordered_json evaluate(const std::string& split, bool keep, train::Workers& workers) override;
  /// Also evaluates some training images, and writes captions.json.
  void finish(nlohmann::ordered_json& metrics) override;
  /// One row per evaluation.
  std::vector<ResultTable> tables(const nlohmann::ordered_json& metrics) const override;
  /// With images, their captions, and attention maps by word.
  report::HtmlPage page(const nlohmann::ordered_json& metrics) override;

  /// Generates and evaluates captions of images of the set.
  EvaluatedCaptions caption_samples(std::span<const int64_t> samples, const std::string& split) const;
  /// Images of a split, or all of other samples than the run's own; data error if there are none.
  std::vector<int64_t> samples_of(const std::string& split) const;
  bool whole() const { return whole_; }
  /// The same for a split, or for all of other samples than the run's own; data error if it is empty.
  EvaluatedCaptions caption_split(const std::string& split) const;
  /// Caption of a single image.
  std::string caption_of(const io::Image& image) const;
  models::BeamOptions search() const { return {config.captions.beams, config.captions.length_penalty}; }

  CaptioningConfig config;
  data::CaptionSet set;  // before load() only vocabulary, mean and std of the training images
  std::shared_ptr<models::Captioner> model;

 private:
  mutable std::string hash_;  // of the set, computed when it is asked for
  models::CaptionShape shape_;
  bool whole_ = false;  // whether the set is other data than the run's own, used without a split
};

/// data.json of a set.
nlohmann::ordered_json describe_captions(const data::CaptionSet& set, const std::string& hash);
/// Logs the notes and warnings of a set.
void log_notes(const data::CaptionSet& set);
/// Number of reference captions of samples.
int64_t captions_of(const data::CaptionSet& set, const std::vector<int64_t>& samples);

/// Writes captions of images of the set in COCO results format: [{"image_id", "caption", "file_name"}].
void write_captions(const std::filesystem::path& file, const io::ImageTexts& captions,
                    const data::CaptionSet& set);

}  // namespace modewise::tasks
