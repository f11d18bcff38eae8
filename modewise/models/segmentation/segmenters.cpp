// Registry of segmenters, with their checks of config and image shape.

#include "modewise/core/error.h"
#include "modewise/models/segmentation/config.h"
#include "modewise/models/segmentation/cost.h"
#include "modewise/models/segmentation/token_segmenter.h"
#include "modewise/models/segmentation/unet.h"

namespace modewise::models {
namespace {

void check_tokens(const SegmenterConfig& config, const SegmentationShape& shape, const std::string& source) {
  validate_encoder(config, scene_tokens(config, shape), source);
}

void check_unet(const SegmenterConfig& config, const SegmentationShape& /*shape*/,
                const std::string& source) {
  require(config.unet.width % 4 == 0, ErrorKind::config, "{}: unet.width must be a multiple of 4, got {}",
          source, config.unet.width);
  require(config.time == "stack", ErrorKind::config,
          "{}: model 'unet' stacks dates as bands: time = \"stack\"", source);
}

void use_unet(SegmenterConfig& config) {
  config.time = "stack";
}

}  // namespace

const std::vector<SegmenterRow>& segmenters() {
  const SharedOptions tokens =
      joined({token_options(),
              {"time", "position.encoding", "position.rotary", "position.rotary_modes",
               "position.rotary_base", "attention.query_key_norm"}});
  const SharedOptions factors =
      joined({tokens,
              {"attention.combine", "attention.normalize_sum", "attention.pooling", "attention.share_modes",
               "attention.attend_modes", "attention.mode_masks", "attention.kernel"},
              random_feature_options()});
  static const std::vector<SegmenterRow> rows = {
      {"hot", "hot", factors, make_model<TokenSegmenter>, token_segmenter_cost, nullptr, check_tokens},
      {"transformer", "transformer", tokens, make_model<TokenSegmenter>, token_segmenter_cost, nullptr,
       check_tokens},
      {"unet", "", {"precision", "time"}, make_model<UNet>, unet_cost, use_unet, check_unet},
  };
  return rows;
}

void validate(const SegmenterConfig& config, const SegmentationShape& shape, const std::string& source) {
  check_options(segmenters(), config, source);
  require(shape.times >= 1 && shape.bands >= 1 && shape.classes >= 1 && shape.window >= 1, ErrorKind::config,
          "{}: a segmenter needs dates, bands, classes and a window of at least 1, got {}, {}, {} and {}",
          source, shape.times, shape.bands, shape.classes, shape.window);
  const int64_t multiple = window_multiple(config);
  require(shape.window % multiple == 0, ErrorKind::config,
          "{}: the window of {} pixels must be a multiple of {} for model '{}'", source, shape.window,
          multiple, config.name);
  row_of(segmenters(), config.name).check(config, shape, source);
}

std::shared_ptr<Segmenter> make_segmenter(const SegmenterConfig& config, const SegmentationShape& shape,
                                          uint64_t seed) {
  validate(config, shape);
  nn::Initializer init(seed);
  return row_of(segmenters(), config.name).make(config, shape, init);
}

}  // namespace modewise::models
