#include "modewise/tasks/captioning/run.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <spdlog/spdlog.h>

#include <map>
#include <numeric>

#include "modewise/core/aliases.h"
#include "modewise/core/counted.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/models/captioning/cost.h"
#include "modewise/tasks/captioning/task.h"
#include "modewise/tasks/run/own_samples.h"
#include "modewise/tasks/run/rank_tracking.h"
#include "modewise/tasks/run/result.h"
#include "modewise/tasks/run/run_figures.h"

namespace modewise::tasks {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> numbers(const at::Tensor& x) {
  const float* values = x.const_data_ptr<float>();
  return {values, values + x.numel()};
}

/// Evenly spaced training images.
std::vector<int64_t> evaluated_training(const data::CaptionSet& set, int64_t maximum) {
  std::vector<int64_t> samples;
  for (const int64_t i : spread_samples(std::ssize(set.train), maximum))
    samples.push_back(set.train[static_cast<size_t>(i)]);
  return samples;
}

/// Warns of training captions that are longer than the model's.
void warn_of_cuts(data::CaptionSet& set, int64_t max_words) {
  int64_t cut = 0, all = 0;
  for (const int64_t i : set.train)
    for (const auto& words : set.images[static_cast<size_t>(i)].words) {
      ++all;
      if (std::ssize(words) >= max_words) ++cut;
    }
  if (cut > 0)
    set.warn(fmt::format(
        "{}: {} of {} training captions have {} or more words, so that their ends are cut (model.max_words)",
        set.source, cut, all, max_words));
}

}  // namespace

void CaptioningRun::load(const DataRequest& request) {
  if (request.training) {
    require(!config.data.path.empty(), ErrorKind::usage,
            "no captions: give --data FILE, such as COCO's captions.json, and --images FOLDER");
  }
  const bool own = request.own();
  if (!request.path.empty()) config.data.path = request.path;
  data::CaptionConfig source = config.data;
  source.other = !own;
  if (!own) source.test_path.clear();
  const auto read = [&](bool with_test) {
    set = data::load_captions(source, with_test, request.training ? nullptr : &set);
    hash_.clear();
  };
  bool same = own && !request.unchanged;
  if (same)
    read(request.with_test);
  else
    same = load_and_compare(*this, request.with_test, read);
  if (own && !same) refuse_changed(*this, source.path);
  whole_ = !same || request.split == "all";
  if (whole_) announce_others(*this, set.source, counted(set.images.size(), "image"), set.contents);
  if (request.training) {
    shape_ = caption_shape(set);
    models::validate(config.model, shape_);
    warn_of_cuts(set, config.model.max_words);
  }
}

std::vector<int64_t> CaptioningRun::samples_of(const std::string& split) const {
  std::vector<int64_t> samples(set.images.size());
  std::iota(samples.begin(), samples.end(), int64_t{0});
  if (!whole_) samples = set.part(split);
  require(!samples.empty(), ErrorKind::data, "{}: there are no {} images", set.source, split);
  return samples;
}

void CaptioningRun::keep() const {
  keep_training_samples(folder(), set.train, set.contents);
}

std::string CaptioningRun::hash() const {
  if (hash_.empty()) hash_ = hash_of(set);
  return hash_;
}

Json CaptioningRun::describe() const {
  return describe_captions(set, hash());
}

void CaptioningRun::restore(const Json& json, const std::string& file) {
  set.source = json.at("source").get<std::string>();
  set.vocabulary = {json.at("words").get<std::vector<std::string>>(), file};
  const auto size = json.at("size").get<std::vector<int64_t>>();
  require(size.size() == 3, ErrorKind::data,
          "{}: size must have height, width and channels or features, got {} numbers", file, size.size());
  shape_.height = size[0];
  shape_.width = size[1];
  shape_.vocabulary = set.vocabulary.size();
  if (!config.data.features.empty()) {
    shape_.features = size[2];
    return;
  }
  shape_.channels = size[2];
  const auto mean = json.at("mean").get<std::vector<double>>();
  const auto stddev = aliased_member(json, "std").get<std::vector<double>>();
  require(std::ssize(mean) == shape_.channels && std::ssize(stddev) == shape_.channels &&
              shape_.height == config.data.size && shape_.width == config.data.size,
          ErrorKind::data,
          "{}: expected images of {} × {} pixels with mean and standard deviation of each channel, as in "
          "config.toml",
          file, config.data.size, config.data.size);
  set.mean = at::tensor(mean, at::kFloat);
  set.stddev = at::tensor(stddev, at::kFloat);
}

void CaptioningRun::announce() {
  log_notes(set);
  if (set.validation.empty())
    spdlog::info("there are no validation images: the weights are selected on the training images");
  spdlog::info("{}: {} captions of {} training images, {} words; {} validation images, {}; model {}",
               set.source, captions_of(set, set.train), set.train.size(), set.vocabulary.words().size(),
               set.validation.size(), test_count(config.train.test, set.test.size()), model_title(config));
}

void CaptioningRun::make_model(Purpose /*purpose*/) {
  model = models::make_captioner(config.model, shape_, static_cast<uint64_t>(config.train.seed));
}

nn::ModelCost CaptioningRun::cost() const {
  return models::caption_cost(config.model, shape_);
}

std::unique_ptr<train::ModuleTask> CaptioningRun::task() {
  return std::make_unique<CaptioningTask>(config, set, hash(), model);
}

Json CaptioningRun::evaluate(const std::string& split, bool keep, train::Workers& /*workers*/) {
  const EvaluatedCaptions evaluated = caption_split(split);
  if (keep) write_captions(folder().file("captions.json"), evaluated.captions, set);
  return evaluated.json;
}

void CaptioningRun::finish(Json& metrics) {
  int64_t parameters = 0;
  for (const at::Tensor& parameter : model->parameters()) parameters += parameter.numel();
  metrics["parameters"] = parameters;
  metrics["test_read"] = config.train.test;
  EvaluatedCaptions last =
      caption_samples(evaluated_training(set, config.captions.evaluated_training), "train");
  metrics["train"] = last.json;
  metrics["validation"] = last.json;
  const auto caption = [&](const char* part) {
    last = caption_split(part);
    return last.json;
  };
  if (!set.part("validation").empty()) metrics["validation"] = caption("validation");
  if (!set.part("test").empty()) metrics["test"] = timed_test([&] { return caption("test"); });
  write_captions(folder().file("captions.json"), last.captions, set);
}

EvaluatedCaptions CaptioningRun::caption_samples(std::span<const int64_t> samples,
                                                 const std::string& split) const {
  const CaptionFinder finder{*model, set, config.captions.evaluation_batch};
  EvaluatedCaptions evaluated;
  evaluated.captions = finder.captions(samples, search());
  evaluated.evaluation =
      evaluate_captions(evaluated.captions, "the generated captions", set.references(samples), set.source);
  evaluated.json = {{"split", split}};
  evaluated.json.update(to_json(evaluated.evaluation));
  evaluated.json["loss"] = finder.loss(samples).mean();
  evaluated.json["beams"] = search().beams;
  return evaluated;
}

EvaluatedCaptions CaptioningRun::caption_split(const std::string& split) const {
  return caption_samples(samples_of(split), whole_ ? "all" : split);
}

std::string CaptioningRun::caption_of(const io::Image& image) const {
  const at::NoGradGuard no_grad;
  const at::Tensor pixels = data::stored_image(image, config.data).unsqueeze(0);
  const at::Tensor images = data::model_images(pixels, set.mean, set.stddev);
  return set.vocabulary.text(find_captions(*model, model->encode(images), search()).front().words);
}

Json describe_captions(const data::CaptionSet& set, const std::string& hash) {
  const at::Tensor& images = set.features.defined() ? set.features : set.pixels;
  Json json = {
      {"source", set.source},
      {"hash", hash},
      {"pictures",
       {{"train", set.train.size()}, {"validation", set.validation.size()}, {"test", set.test.size()}}},
      {"size", {images.size(1), images.size(2), images.size(3)}}};
  if (set.pixels.defined()) {
    json["mean"] = numbers(set.mean);
    json["std"] = numbers(set.stddev);
  }
  json["words"] = set.vocabulary.words();
  json["notes"] = set.notes;
  return json;
}

void log_notes(const data::CaptionSet& set) {
  for (size_t i = 0; i < set.notes.size(); ++i)
    spdlog::log(i < set.warnings ? spdlog::level::warn : spdlog::level::info, "{}", set.notes[i]);
}

int64_t captions_of(const data::CaptionSet& set, const std::vector<int64_t>& samples) {
  int64_t count = 0;
  for (const int64_t i : samples) count += std::ssize(set.images[static_cast<size_t>(i)].captions);
  return count;
}

void write_captions(const std::filesystem::path& file, const io::ImageTexts& captions,
                    const data::CaptionSet& set) {
  std::map<int64_t, const std::string*> files;
  for (const data::CaptionedImage& image : set.images) files[image.id] = &image.file;
  Json results = Json::array();
  for (size_t i = 0; i < captions.size(); ++i)
    results.push_back({{"image_id", captions.image(i)},
                       {"caption", std::string(captions.text(i))},
                       {"file_name", *files.at(captions.image(i))}});
  write_file_atomically(file, json_text(results) + "\n");
}

}  // namespace modewise::tasks
