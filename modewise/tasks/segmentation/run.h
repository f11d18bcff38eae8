#pragma once
// A segmentation run from its config to its folder, and back from its folder to a segmenter.
//
// Besides the trainer's files a run keeps data.json (classes, bands, scale, window); metrics.json gains
// "validation" and, where training reads it, "test".

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "modewise/tasks/open_run.h"
#include "modewise/tasks/segmentation/task.h"
#include "modewise/tasks/trained_run.h"

namespace modewise::tasks {

/// Trains, evaluates on the validation and the test areas, and writes all of it. With `resume` the run goes
/// on where it was (a finished one is evaluated anew). Throws train::EvaluationInterrupted when a signal came
/// after the training.
TrainedRun train_segment(const SegmentationConfig& config, const data::SegmentationSet& data, train::RunFolder& run,
                         bool resume, bool accept_changes = false);

/// A run's segmenter with its best weights.
struct SegmentationRun : OpenRun<SegmentationConfig, models::Segmenter> {
  data::SceneSummary data = {};
};

/// Errors as open_run.
SegmentationRun open_segment_run(const std::filesystem::path& path);

/// "train", "validation"; any other name is the test part.
data::SceneSplit scene_split(const std::string& name);

/// The evaluation (metrics.h) of the areas of a split, called `name`, with the mean "loss". Of several
/// `workers` the lead has it; the others get null.
nlohmann::ordered_json evaluate_areas(models::Segmenter& model, const SegmentationConfig& config,
                                   const data::SegmentationSet& data, const std::string& name,
                                   data::SceneSplit split, train::Workers& workers = train::alone());

/// Judges a run on the test areas that its training left unread, and writes what training would have:
/// metrics.json's "test". `set` is the run's own, whole. Returns the evaluation. Several train::workers()
/// share the areas; the lead writes, the others return null.
nlohmann::ordered_json evaluate_left_out_test(const SegmentationRun& run, const data::SegmentationSet& set);

/// The images that `run` is asked about: those it was trained on, or, when `path` is not empty, others with
/// their masks; `whole`: unsplit. Without `with_test` the test part stays unread.
data::SegmentationSet load_run_scenes(const SegmentationRun& run, const std::string& path, const std::string& masks,
                               bool whole, bool with_test = true);

}  // namespace modewise::tasks
