#include "modewise/tasks/captioning/run.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include "modewise/core/aliases.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/tasks/captioning/task.h"
#include "modewise/tasks/load_config.h"
#include "modewise/tasks/result.h"
#include "modewise/tasks/run_figures.h"
#include "modewise/train/loop/trainer.h"

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

/// Model sizes from data.json.
models::CaptionShape read_description(CaptioningRun& run, const Json& json, const std::string& file) {
  run.trained.source = json.at("source").get<std::string>();
  run.trained.vocabulary = {json.at("words").get<std::vector<std::string>>(), file};
  models::CaptionShape shape;
  const auto size = json.at("size").get<std::vector<int64_t>>();
  require(size.size() == 3, ErrorKind::data,
          "{}: size must have height, width and channels or features, got {} numbers", file, size.size());
  shape.height = size[0];
  shape.width = size[1];
  shape.vocabulary = run.trained.vocabulary.size();
  if (!run.config.data.features.empty()) {
    shape.features = size[2];
    return shape;
  }
  shape.channels = size[2];
  const auto mean = json.at("mean").get<std::vector<double>>();
  const auto stddev = aliased_member(json, "std").get<std::vector<double>>();
  require(std::ssize(mean) == shape.channels && std::ssize(stddev) == shape.channels &&
              shape.height == run.config.data.size && shape.width == run.config.data.size,
          ErrorKind::data,
          "{}: expected images of {} × {} pixels with mean and standard deviation of each channel, as in "
          "config.toml",
          file, run.config.data.size, run.config.data.size);
  run.trained.mean = at::tensor(mean, at::kFloat);
  run.trained.stddev = at::tensor(stddev, at::kFloat);
  return shape;
}

}  // namespace

Json describe(const data::CaptionSet& set) {
  const at::Tensor& images = set.features.defined() ? set.features : set.pixels;
  Json json = {
      {"source", set.source},
      {"hash", hash_of(set)},
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

EvaluatedCaptions evaluate_samples(const CaptionFinder& finder, std::span<const int64_t> samples,
                                   const std::string& split, const models::BeamOptions& search) {
  EvaluatedCaptions evaluated;
  evaluated.captions = finder.captions(samples, search);
  evaluated.evaluation = evaluate_captions(evaluated.captions, "the generated captions",
                                           finder.set.references(samples), finder.set.source);
  evaluated.json = {{"split", split}};
  evaluated.json.update(to_json(evaluated.evaluation));
  evaluated.json["loss"] = finder.loss(samples).mean();
  evaluated.json["beams"] = search.beams;
  return evaluated;
}

EvaluatedCaptions evaluate_part(const CaptionFinder& finder, const std::string& part,
                                const models::BeamOptions& search) {
  const std::vector<int64_t>& samples = finder.set.part(part);
  require(!samples.empty(), ErrorKind::data, "{}: there are no {} images", finder.set.source, part);
  return evaluate_samples(finder, samples, part, search);
}

Json results_json(const io::ImageTexts& captions) {
  Json results = Json::array();
  for (size_t i = 0; i < captions.size(); ++i)
    results.push_back({{"image_id", captions.image(i)}, {"caption", std::string(captions.text(i))}});
  return results;
}

std::string caption_of(const CaptioningRun& run, const io::Image& image, const models::BeamOptions& search) {
  const at::NoGradGuard no_grad;
  const at::Tensor pixels = data::stored_image(image, run.config.data).unsqueeze(0);
  const at::Tensor images = data::model_images(pixels, run.trained.mean, run.trained.stddev);
  const auto found = find_captions(*run.model, run.model->encode(images), search);
  return run.trained.vocabulary.text(found.front().words);
}

TrainedRun train_captioner(const CaptioningConfig& config, const data::CaptionSet& set, train::RunFolder& run,
                           bool resume, bool accept_changes) {
  CaptioningTask task(config, set);
  TrainedRun result;
  result.training = train::train(task, config.train, run, resume, accept_changes);
  if (!result.training.to_be_evaluated()) return result;
  const CaptionFinder finder{task.model(), set, config.captions.evaluation_batch};
  const models::BeamOptions search{config.captions.beams, config.captions.length_penalty};
  result.metrics = run.read_metrics();
  int64_t parameters = 0;
  for (const at::Tensor& parameter : task.model().parameters()) parameters += parameter.numel();
  result.metrics["parameters"] = parameters;
  result.metrics["test_read"] = config.train.test;
  EvaluatedCaptions last =
      evaluate_samples(finder, evaluated_training(set, config.captions.evaluated_training), "train", search);
  result.metrics["train"] = last.json;
  result.metrics["validation"] = last.json;
  for (const char* part : {"validation", "test"}) {
    if (set.part(part).empty()) continue;
    last = evaluate_part(finder, part, search);
    result.metrics[part] = last.json;
  }
  write_file_atomically(run.file("captions.json"), json_text(results_json(last.captions)) + "\n");
  run.write_metrics(result.metrics);
  return result;
}

CaptioningRun open_caption_run(const std::filesystem::path& path) {
  return open_run<CaptioningRun>(
      path, "captioning", read_run_config<CaptioningConfig>, [](CaptioningRun& run) {
        const models::CaptionShape shape = read_run_data(
            run.folder,
            [&](const Json& json, const std::string& file) { return read_description(run, json, file); });
        return models::make_captioner(run.config.model, shape, static_cast<uint64_t>(run.config.train.seed));
      });
}

}  // namespace modewise::tasks
