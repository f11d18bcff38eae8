#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "modewise/core/aliases.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/parse_json.h"
#include "modewise/data/segmentation/segmentation_set.h"

namespace modewise::data {

using OrderedJson = nlohmann::ordered_json;

SceneSummary SegmentationSet::summary() const {
  return {classes_,     rule_, times_, file_bands_, window_, missing_, class_pixels(SceneSplit::train),
          config_.path, hash_};
}

OrderedJson to_json(const SceneSummary& summary) {
  return {{"classes", to_json(summary.classes)},
          {"bands", summary.rule.bands},
          {"nodata", summary.rule.nodata},
          {"mean", summary.rule.scale.mean},
          {"std", summary.rule.scale.stddev},
          {"times", summary.times},
          {"file_bands", summary.file_bands},
          {"window", summary.window},
          {"missing", summary.missing},
          {"training_pixels", summary.training_pixels},
          {"source", summary.source},
          {"hash", summary.hash}};
}

SceneSummary read_scene_summary(const std::string& path) {
  const OrderedJson json = parse_json(read_file(path), path);
  try {
    SceneSummary summary;
    summary.classes = class_map_from_json(json.at("classes"));
    json.at("bands").get_to(summary.rule.bands);
    json.at("nodata").get_to(summary.rule.nodata);
    json.at("mean").get_to(summary.rule.scale.mean);
    aliased_member(json, "std").get_to(summary.rule.scale.stddev);
    json.at("times").get_to(summary.times);
    json.at("file_bands").get_to(summary.file_bands);
    json.at("window").get_to(summary.window);
    json.at("missing").get_to(summary.missing);
    json.at("training_pixels").get_to(summary.training_pixels);
    json.at("source").get_to(summary.source);
    json.at("hash").get_to(summary.hash);
    const size_t bands = summary.rule.bands.size();
    require(bands > 0 && summary.rule.scale.mean.size() == bands && summary.rule.scale.stddev.size() == bands,
            ErrorKind::data, "its lists of bands, means and standard deviations differ in length");
    for (const int64_t band : summary.rule.bands)
      require(band >= 0 && band < summary.file_bands, ErrorKind::data, "band {} of {}", band,
              summary.file_bands);
    return summary;
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: not a segmentation run's data.json: {}", path, error.what());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::no_input || error.kind() == ErrorKind::io) throw;
    fail(ErrorKind::data, "{}: not a segmentation run's data.json: {}", path, error.what());
  }
}

void require_fits(const SceneSummary& run, const RasterInfo& image) {
  require(image.times == run.times && image.bands == run.file_bands, ErrorKind::data,
          "{}: {} dates of {} bands, but the run was trained on {} of {} ({})", image.source, image.times,
          image.bands, run.times, run.file_bands, run.source);
}

}  // namespace modewise::data
