#include "modewise/tasks/volume_classification/run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/data/volume_classification/augment.h"
#include "modewise/models/vision/cost.h"
#include "modewise/tasks/classification/choose_epochs.h"
#include "modewise/tasks/volume_classification/score_file.h"
#include "modewise/tasks/volume_classification/spec.h"

namespace modewise::tasks {

namespace fs = std::filesystem;
namespace {

constexpr int64_t kUsualVolumeEpochs = 40;

}  // namespace

ClassDescription VolumeClassificationRun::about() const {
  ClassDescription about{volume_classification_spec, "volumes", {"auc", "accuracy", "loss"}, {}};
  for (size_t axis = 0; axis < shape_.size.size(); ++axis)
    about.modes.push_back(fmt::format("axis {}", axis));
  about.combine = config.model.attention.combined();
  about.view = "the slice along the first axis with the largest sum";
  about.removal = "the slab becomes the mean of the volume";
  about.shared_settings = {"classify.flip_axes", "augment.shape_transform"};
  return about;
}

void VolumeClassificationRun::load_training_samples(bool with_test) {
  require(!config.data.path.empty(), ErrorKind::usage,
          "no data: give --data FILE, such as adrenalmnist3d.npz or a folder of NIfTI files");
  take_members();
  data::VolumeSet set = data::load_volumes(config.data, with_test);
  require_parts(set, with_test);
  const std::vector<int64_t> seen = set.class_counts(set.validation);
  require(std::ssize(seen) - std::count(seen.begin(), seen.end(), int64_t{0}) >= 2, ErrorKind::data,
          "{}: the validation volumes are all of one class, so AUC cannot select the best weights",
          set.source);
  take(std::move(set));
  for (const auto& [key, axes] :
       {std::pair("classify", &config.classify.flips), std::pair("augment", &config.augment.flips)})
    for (const int64_t axis : *axes)
      require(axis < this->set().modes(), ErrorKind::config,
              "{}.flip_axes contains {}, but the volumes have axes 0 to {}", key, axis,
              this->set().modes() - 1);
  if (config.augment.interpolation == "auto")
    config.augment.interpolation = data::two_valued(this->set()) ? "nearest" : "linear";
  config.augment.choose_rotation(this->set().modes());
  choose_epochs(config.train, std::ssize(this->set().train), kUsualVolumeEpochs);
  require(config.model.vit.from.empty(), ErrorKind::config,
          "model: vit.from is an option of `train classify-images`, not of volumes");
  config.model.choose_patch(shape_);
  models::validate(config.model, shape_);
}

void VolumeClassificationRun::load_samples_of(const std::string& path, bool with_test) {
  data::VolumeConfig wanted = config.data;
  if (!path.empty()) {
    wanted.path = path;
    wanted.format = "auto";
    wanted.use_other_data();
  }
  wanted.trained = true;
  wanted.labelled = labelled_;
  wanted.classes_are_labels = config.data.classes.empty();
  wanted.classes = trained_classes_;
  if (!trained_intensity_.empty()) wanted.intensity = trained_intensity_;
  wanted.trained_unit = trained_unit_;
  data::VolumeSet set = data::load_volumes(wanted, with_test);
  require(set.modes() == std::ssize(shape_.size) && set.channels() == shape_.channels, ErrorKind::data,
          "{}: volumes with {} axes and {} channels, but the run was trained on {} axes and {} channels ({})",
          set.source, set.modes(), set.channels(), shape_.size.size(), shape_.channels, source_);
  const std::vector<int64_t> size = set.size();
  for (size_t i = 0; i < size.size(); ++i)
    require(size[i] <= shape_.size[i], ErrorKind::data,
            "{}: volumes of up to {} voxels, but the run was trained on {} ({}); a run trained with "
            "data.size resamples them",
            set.source, fmt::join(size, " × "), fmt::join(shape_.size, " × "), source_);
  require(
      shape_.missing || (size == shape_.size && !set.masked()), ErrorKind::data,
      "{}: volumes with missing voxels or of other sizes than {}, but the run was trained on complete ones "
      "({}), so its model takes no masks",
      set.source, fmt::join(shape_.size, " × "), source_);
  if (trained_voxels_.exclude(set.voxels))
    set.warn(
        fmt::format("{}: voxels of {}, but the run was trained on {} ({}); a run trained with "
                    "data.spacing resamples them",
                    set.source, set.voxels.text(), trained_voxels_.text(), source_));
  show(std::move(set));
}

std::string VolumeClassificationRun::samples_text() const {
  return fmt::format("volumes of {} voxels", fmt::join(set_.size(), " × "));
}

nlohmann::ordered_json VolumeClassificationRun::describe() const {
  return {{"source", set_.source},       {"hash", hash()},
          {"flag", set_.flag},           {"classes", set_.classes},
          {"size", set_.size()},         {"channels", set_.channels()},
          {"missing", set_.masked()},    {"intensity", set_.intensity},
          {"intensity_unit", set_.unit}, {"spacing", {set_.voxels.smallest, set_.voxels.largest}},
          {"samples", part_sizes(set_)}};
}

void VolumeClassificationRun::restore(const nlohmann::ordered_json& json, const std::string& file) {
  source_ = json.at("source").get<std::string>();
  trained_classes_ = json.at("classes").get<std::vector<std::string>>();
  shape_ = {json.at("size").get<std::vector<int64_t>>(), json.at("channels").get<int64_t>(),
            std::ssize(trained_classes_), json.at("missing").get<bool>()};
  trained_intensity_ = json.value("intensity", "");
  trained_unit_ = json.value("intensity_unit", 0.0);
  if (!json.contains("spacing")) return;
  trained_voxels_ = {json["spacing"].at(0).get<std::vector<double>>(),
                     json["spacing"].at(1).get<std::vector<double>>()};
  const size_t axes = trained_voxels_.smallest.size();
  require((axes == 0 || axes == 3) && trained_voxels_.largest.size() == axes, ErrorKind::data,
          "{}: spacing must have the smallest and the largest sizes of three axes", file);
}

void VolumeClassificationRun::make_model(Purpose purpose) {
  model_ = models::make_vision_classifier(config.model, shape_, seed());
  if (purpose != Purpose::open) join();
}

nn::ModelCost VolumeClassificationRun::cost() const {
  return models::vision_classifier_cost(config.model, shape_);
}

data::LabelledBatch VolumeClassificationRun::gather(std::span<const int64_t> samples) const {
  return data::gather_volumes(set_, samples, shape_.size);
}

void VolumeClassificationRun::augment(data::LabelledBatch& batch, int64_t number) const {
  data::augment(batch, config.augment, seed(), static_cast<uint64_t>(number));
}

void VolumeClassificationRun::prepare(data::LabelledBatch& batch) const {
  data::transform_for_evaluation(batch, config.augment);
}

data::LabelledBatch VolumeClassificationRun::view(const data::LabelledBatch& batch, int64_t number) const {
  return data::flipped(batch, config.classify.flips, static_cast<uint64_t>(number));
}

void VolumeClassificationRun::keep_scores(const metrics::ScoreTable& table,
                                          const metrics::ClassMetrics& metrics) const {
  if (!config.output.scores) return;
  const std::string flag = set_.flag.empty() ? escape_text(fs::path(set_.source).stem().string()) : set_.flag;
  // Remove a score file of an earlier evaluation, whose name contains its metrics.
  for (const fs::path& entry : entries_of(folder().path())) {
    const std::string name = entry.filename().string();
    if (name.starts_with(flag) && name.find("_test_[AUC]") != std::string::npos) fs::remove(entry);
  }
  const int64_t size = set_.flag.empty() ? 28 : set_.size().front();
  write_file_atomically(folder().file(score_file_name(flag, size, "test", metrics.auc, metrics.accuracy,
                                                      std::to_string(config.train.seed))),
                        format_scores(table));
}

}  // namespace modewise::tasks
