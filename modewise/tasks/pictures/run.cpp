#include "modewise/tasks/pictures/run.h"

#include <ATen/ops/tensor.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "modewise/analysis/image_cost.h"
#include "modewise/core/error.h"
#include "modewise/data/pictures/augment.h"
#include "modewise/models/grids/vision_transformer.h"
#include "modewise/tasks/labelled/choose_epochs.h"
#include "modewise/tasks/labelled/members.h"

namespace modewise::tasks {
namespace {

constexpr int64_t kUsualPictureEpochs = 20;

std::vector<double> numbers(const at::Tensor& x) {
  const float* values = x.const_data_ptr<float>();
  return {values, values + x.numel()};
}

}  // namespace

void PicturesRun::require_data() const {
  require(!config.data.path.empty(), ErrorKind::usage,
          "no data: give --data FOLDER, such as cifar-10-batches-bin or a folder with a folder of pictures "
          "for each class");
}

void PicturesRun::load_samples(bool with_test) {
  take_members(*this);
  data::PictureSet set = data::load_pictures(config.data, with_test);
  require_parts(set, with_test);
  take(std::move(set));
  choose_epochs(config.train, std::ssize(this->set().train), kUsualPictureEpochs);
  models::take_vit_sizes(config.model, shape_);
  config.model.choose_patch(shape_);
  models::validate(config.model, shape_);
}

void PicturesRun::load_samples_of(const std::string& path, bool with_test) {
  data::PictureConfig wanted = config.data;
  if (!path.empty()) {
    wanted.path = path;
    wanted.format = "auto";
    wanted.size = shape_.size;
    wanted.channels = shape_.channels == 1 ? "grey" : "color";
  }
  wanted.classes = trained_classes_;
  data::PictureSet set = data::load_pictures(wanted, with_test);
  require(
      set.height() == shape_.size[0] && set.width() == shape_.size[1] && set.channels() == shape_.channels,
      ErrorKind::data,
      "{}: pictures of {} × {} pixels and {} channels, but the run was trained on {} × {} and {} ({})",
      set.source, set.height(), set.width(), set.channels(), shape_.size[0], shape_.size[1], shape_.channels,
      source_);
  set.mean = mean_;
  set.deviation = deviation_;
  show(std::move(set));
}

std::string PicturesRun::samples_text() const {
  return fmt::format("pictures of {} × {} pixels, {} channel{}", set_.height(), set_.width(), set_.channels(),
                     set_.channels() == 1 ? "" : "s");
}

nlohmann::ordered_json PicturesRun::describe() const {
  return {{"source", set_.source},
          {"hash", hash()},
          {"classes", set_.classes},
          {"size", {set_.height(), set_.width()}},
          {"channels", set_.channels()},
          {"mean", numbers(set_.mean)},
          {"deviation", numbers(set_.deviation)},
          {"samples", part_sizes(set_)}};
}

void PicturesRun::read_description(const nlohmann::ordered_json& json, const std::string& file) {
  source_ = json.at("source").get<std::string>();
  trained_classes_ = json.at("classes").get<std::vector<std::string>>();
  shape_ = {json.at("size").get<std::vector<int64_t>>(), json.at("channels").get<int64_t>(),
            std::ssize(trained_classes_), false};
  const auto mean = json.at("mean").get<std::vector<double>>();
  const auto deviation = json.at("deviation").get<std::vector<double>>();
  require(shape_.size.size() == 2 && std::ssize(mean) == shape_.channels &&
              std::ssize(deviation) == shape_.channels,
          ErrorKind::data,
          "{}: size must hold 2 numbers, mean and deviation one a channel, got {}, {} and {}", file,
          shape_.size.size(), mean.size(), deviation.size());
  mean_ = at::tensor(mean, at::kFloat);
  deviation_ = at::tensor(deviation, at::kFloat);
}

void PicturesRun::make_model(bool to_train) {
  model_ = models::make_grid_classifier(config.model, shape_, seed());
  if (to_train) mixture_ = join_members(*this);
  auto* vit = dynamic_cast<models::VisionTransformer*>(model_.get());
  if (!to_train || vit == nullptr || config.model.vit.from.empty()) return;
  for (const std::string& note : vit->take_weights(config.model.vit.from)) spdlog::warn("{}", note);
}

analysis::ModelCost PicturesRun::cost() const {
  return analysis::grid_classifier_cost(config.model, shape_);
}

data::LabelledBatch PicturesRun::gather(std::span<const int64_t> samples) const {
  return data::gather_pictures(set_, samples);
}

void PicturesRun::vary(data::LabelledBatch& batch, int64_t number) const {
  data::augment(batch, config.augment, data::black_pixel(set_), seed(), static_cast<uint64_t>(number));
}

}  // namespace modewise::tasks
