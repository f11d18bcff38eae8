#include "modewise/tasks/image_classification/run.h"

#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "modewise/core/aliases.h"
#include "modewise/core/error.h"
#include "modewise/data/image_classification/augment.h"
#include "modewise/models/vision/cost.h"
#include "modewise/models/vision/vision_transformer.h"
#include "modewise/tasks/classification/choose_epochs.h"
#include "modewise/tasks/image_classification/robustness.h"
#include "modewise/tasks/image_classification/spec.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kUsualImageEpochs = 20;

std::vector<double> numbers(const at::Tensor& x) {
  const float* values = x.const_data_ptr<float>();
  return {values, values + x.numel()};
}

}  // namespace

ClassDescription ImageClassificationRun::about() const {
  ClassDescription about{image_classification_spec, "images", {"auc", "accuracy", "loss"}, {"row", "column"}};
  const models::VisionModelConfig& model = config.model;
  about.combine = model.name != "cnn"                      ? model.attention.combined()
                  : model.cnn.attention == "kronecker-sum" ? "mean"
                                                           : "product";
  about.view = "model input before normalization";
  about.removal = "the rows or columns become the mean of the image";
  return about;
}

void ImageClassificationRun::load_training_samples(bool with_test) {
  require(!config.data.path.empty(), ErrorKind::usage,
          "no data: give --data FOLDER, such as cifar-10-batches-bin, or a folder with one folder of images "
          "per class or with labels.csv");
  take_members();
  data::ImageSet set = data::load_images(config.data, with_test);
  require_parts(set, with_test);
  take(std::move(set));
  choose_epochs(config.train, std::ssize(this->set().train), kUsualImageEpochs);
  models::take_vit_sizes(config.model, shape_);
  config.model.choose_patch(shape_);
  models::validate(config.model, shape_);
}

void ImageClassificationRun::load_samples_of(const std::string& path, bool with_test) {
  data::ImageConfig wanted = config.data;
  if (!path.empty()) {
    wanted.path = path;
    wanted.format = "auto";
    wanted.use_other_data();
    wanted.size = shape_.size;
    wanted.channels = shape_.channels == 1 ? "grey" : "color";
  }
  wanted.trained = true;
  wanted.labelled = labelled_;
  wanted.classes_are_labels = config.data.classes.empty();
  wanted.classes = trained_classes_;
  data::ImageSet set = data::load_images(wanted, with_test);
  require(
      set.height() == shape_.size[0] && set.width() == shape_.size[1] && set.channels() == shape_.channels,
      ErrorKind::data,
      "{}: images of {} × {} pixels and {} channels, but the run was trained on {} × {} and {} ({})",
      set.source, set.height(), set.width(), set.channels(), shape_.size[0], shape_.size[1], shape_.channels,
      source_);
  set.mean = mean_;
  set.stddev = stddev_;
  show(std::move(set));
}

std::string ImageClassificationRun::samples_text() const {
  return fmt::format("images of {} × {} pixels, {} channel{}", set_.height(), set_.width(), set_.channels(),
                     set_.channels() == 1 ? "" : "s");
}

nlohmann::ordered_json ImageClassificationRun::describe() const {
  return {{"source", set_.source},       {"hash", hash()},
          {"classes", set_.classes},     {"size", {set_.height(), set_.width()}},
          {"channels", set_.channels()}, {"mean", numbers(set_.mean)},
          {"std", numbers(set_.stddev)}, {"samples", part_sizes(set_)}};
}

void ImageClassificationRun::restore(const nlohmann::ordered_json& json, const std::string& file) {
  source_ = json.at("source").get<std::string>();
  trained_classes_ = json.at("classes").get<std::vector<std::string>>();
  shape_ = {json.at("size").get<std::vector<int64_t>>(), json.at("channels").get<int64_t>(),
            std::ssize(trained_classes_), false};
  const auto mean = json.at("mean").get<std::vector<double>>();
  const auto stddev = aliased_member(json, "std").get<std::vector<double>>();
  require(
      shape_.size.size() == 2 && std::ssize(mean) == shape_.channels && std::ssize(stddev) == shape_.channels,
      ErrorKind::data, "{}: size must have 2 numbers, mean and std one per channel, got {}, {} and {}", file,
      shape_.size.size(), mean.size(), stddev.size());
  mean_ = at::tensor(mean, at::kFloat);
  stddev_ = at::tensor(stddev, at::kFloat);
}

void ImageClassificationRun::make_model(Purpose purpose) {
  model_ = models::make_vision_classifier(config.model, shape_, seed());
  if (purpose != Purpose::open) join();
  auto* vit = dynamic_cast<models::VisionTransformer*>(model_.get());
  if (purpose == Purpose::open || vit == nullptr || config.model.vit.from.empty()) return;
  for (const std::string& note : vit->take_weights(config.model.vit.from, set_.classes))
    spdlog::warn("{}", note);
}

void ImageClassificationRun::finish(nlohmann::ordered_json& metrics) {
  ClassificationRun::finish(metrics);
  if (config.images.robustness.empty() || !metrics.contains("test")) return;
  RobustnessOptions options;
  options.of = config.images.robustness;
  const nlohmann::ordered_json found = evaluate_robustness(*this, "test", options);
  nlohmann::ordered_json& by_name = metrics["test"]["robustness"];
  for (const nlohmann::ordered_json& one : found.at("perturbations"))
    for (size_t i = 0; i < one.at("strengths").size(); ++i)
      by_name[one.at("name").get<std::string>()][fmt::format("{}", one["strengths"][i].get<double>())] =
          one.at("accuracy")[i];
}

nn::ModelCost ImageClassificationRun::cost() const {
  return models::vision_classifier_cost(config.model, shape_);
}

data::LabelledBatch ImageClassificationRun::gather(std::span<const int64_t> samples) const {
  return data::gather_images(set_, samples);
}

void ImageClassificationRun::augment(data::LabelledBatch& batch, int64_t number) const {
  data::augment(batch, config.augment, data::black_pixel(set_), seed(), static_cast<uint64_t>(number));
}

}  // namespace modewise::tasks
