#pragma once
// Segmentation run: training to a run folder, and opening of a run folder.
//
// Besides the trainer's files it has data.json (classes, bands, scale, window); metrics.json has "validation"
// and, if training reads the test split, "test".

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "modewise/tasks/open_run.h"
#include "modewise/tasks/segmentation/task.h"
#include "modewise/tasks/trained_run.h"

namespace modewise::tasks {

/// Trains, evaluates the validation and test areas, and writes the results. With `resume` the run continues
/// (a finished one is evaluated again). Throws train::EvaluationInterrupted if a signal arrives after
/// training.
TrainedRun train_segment(const SegmentationConfig& config, const data::SegmentationSet& data,
                         train::RunFolder& run, bool resume, bool accept_changes = false);

/// A run with the best weights of its segmenter.
struct SegmentationRun : OpenRun<SegmentationConfig, models::Segmenter> {
  data::SceneSummary data = {};
};

/// Errors as open_run.
SegmentationRun open_segment_run(const std::filesystem::path& path);

/// "train", "validation"; any other name is the test split.
data::SceneSplit scene_split(const std::string& name);

/// Evaluates (metrics.h) the areas of a split, named `name`, with the mean "loss". With several `workers`
/// only rank 0 has the result; other ranks get null.
nlohmann::ordered_json evaluate_areas(models::Segmenter& model, const SegmentationConfig& config,
                                      const data::SegmentationSet& data, const std::string& name,
                                      data::SceneSplit split,
                                      train::Workers& workers = train::single_process());

/// Evaluates the unread test areas of a run and writes "test" of metrics.json like training. `set` is the
/// run's complete data. Returns the evaluation. Several train::workers() distribute the areas; rank 0 writes,
/// other ranks return null.
nlohmann::ordered_json evaluate_left_out_test(const SegmentationRun& run, const data::SegmentationSet& set);

/// Loads the run's training images, or, if `path` is not empty, others with their masks; `whole`: without a
/// split. Without `with_test` the test split stays unread.
data::SegmentationSet load_run_scenes(const SegmentationRun& run, const std::string& path,
                                      const std::string& masks, bool whole, bool with_test = true);

}  // namespace modewise::tasks
