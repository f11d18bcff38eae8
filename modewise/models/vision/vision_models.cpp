// Registry of vision classifiers, with their checks of config and sample shape.

#include <fmt/ranges.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/models/class_ensemble.h"
#include "modewise/models/vision/config.h"
#include "modewise/models/vision/convolution_network.h"
#include "modewise/models/vision/cost.h"
#include "modewise/models/vision/residual_network.h"
#include "modewise/models/vision/token_classifier.h"
#include "modewise/models/vision/vision_transformer.h"
#include "modewise/nn/attention/grid_attention.h"

namespace modewise::models {
namespace {

void check_patches(const VisionModelConfig& config, const VisionShape& shape, const std::string& source) {
  const std::vector<int64_t>& size = config.patch.size;
  require(size.size() <= 1 || size.size() == shape.size.size(), ErrorKind::config,
          "{}: patch.size has {} entries [{}], but the samples have {} axes", source, size.size(),
          fmt::join(size, ", "), shape.size.size());
  const std::vector<int64_t> along = config.patch.along(shape.size);
  for (size_t i = 0; i < along.size(); ++i)
    require(along[i] <= shape.size[i], ErrorKind::config,
            "{}: patch.size = {} is larger than the {} voxels along axis {}", source, along[i], shape.size[i],
            i);
  if (config.patch.embedding != "stem") return;
  require(
      shape.size.size() <= 3, ErrorKind::config,
      "{}: patch.embedding = \"stem\" is for up to 3 axes, but the samples have {}; \"linear\" is for any "
      "number",
      source, shape.size.size());
  const bool equal = std::all_of(along.begin(), along.end(), [&](int64_t p) { return p == along.front(); });
  require(equal && along.front() >= 2 && (along.front() & (along.front() - 1)) == 0, ErrorKind::config,
          "{}: patch.embedding = \"stem\" needs one patch.size that is a power of 2, got [{}]", source,
          fmt::join(size, ", "));
}

void check_tokens(const VisionModelConfig& config, const VisionShape& shape, const std::string& source) {
  check_patches(config, shape, source);
  validate_encoder(config, grid_tokens(config, shape), source);
}

void check_softmax(const VisionModelConfig& config, const VisionShape& shape, const std::string& source) {
  check_tokens(config, shape, source);
  require(config.attention.kernel != "linear", ErrorKind::config,
          "{}: attention.kernel = \"linear\" is only for hot and transformer, not for {}", source,
          config.name);
}

void check_vit(const VisionModelConfig& config, const VisionShape& shape, const std::string& source) {
  check_patches(config, shape, source);
  require(config.width % config.heads == 0, ErrorKind::config,
          "{}: width = {} must be a multiple of heads = {}", source, config.width, config.heads);
  require(config.vit.from.empty() || shape.size.size() == 2, ErrorKind::config,
          "{}: vit.from is for images, but the samples have {} axes", source, shape.size.size());
}

void use_vit_defaults(VisionModelConfig& config) {
  config.patch.embedding = "linear";
}

void check_voxels(const VisionModelConfig& config, const VisionShape& shape, const std::string& source) {
  require(
      !shape.missing, ErrorKind::config,
      "{}: {} does not support masks, but some voxels are missing or the volumes differ in size; data.size "
      "resamples them to one size",
      source, config.name);
  require(shape.size.size() <= 3, ErrorKind::config, "{}: {} is for up to 3 axes, but the samples have {}",
          source, config.name, shape.size.size());
}

void check_residual(const VisionModelConfig& config, const VisionShape& shape, const std::string& source) {
  check_voxels(config, shape, source);
  require(config.resnet.convolution == "3d" || shape.size.size() == 3, ErrorKind::config,
          "{}: resnet.convolution = \"{}\" is for volumes of 3 axes, but the samples have {}", source,
          config.resnet.convolution, shape.size.size());
}

std::shared_ptr<VisionClassifier> make_ensemble(const VisionModelConfig& config, const VisionShape& shape,
                                                nn::Initializer& init) {
  return std::make_shared<ClassEnsemble<VisionModelConfig, VisionShape, VisionClassifier>>(
      vision_models(), config, shape, init);
}

void check_convolutions(const VisionModelConfig& config, const VisionShape& shape,
                        const std::string& source) {
  check_voxels(config, shape, source);
  require(shape.size.size() >= 2, ErrorKind::config, "{}: {} is for 2 or 3 axes, but the samples have {}",
          source, config.name, shape.size.size());
  require(!config.cnn.widths.empty(), ErrorKind::config,
          "{}: cnn.widths is empty: at least one convolution is needed", source);
  require(config.cnn.kernel % 2 == 1, ErrorKind::config, "{}: cnn.kernel = {} must be odd", source,
          config.cnn.kernel);
  require(config.cnn.widths.back() % config.cnn.heads == 0, ErrorKind::config,
          "{}: cnn.heads = {} must divide the last of cnn.widths, {}", source, config.cnn.heads,
          config.cnn.widths.back());
  const std::string fault = nn::mixture_fault({config.cnn.attention}, config.cnn.mixture);
  require(fault.empty(), ErrorKind::config, "{}: cnn.mixture {}", source, fault);
  for (const int64_t size : ConvolutionNetwork::map_sizes(config, shape))
    require(size >= 1, ErrorKind::config,
            "{}: cnn.widths has {} convolutions, each halving samples of {}: nothing is left", source,
            config.cnn.widths.size(), fmt::join(shape.size, " × "));
}

}  // namespace

const std::vector<VisionModelRow>& vision_models() {
  const SharedOptions pooled = joined({token_options(), {"position.encoding", "attention.kernel"}});
  const SharedOptions tokens = joined(
      {pooled,
       {"position.rotary", "position.rotary_modes", "position.rotary_base", "attention.query_key_norm"}});
  const SharedOptions dense = joined({tokens, {"attention.type"}, random_feature_options()});
  const SharedOptions stages = {"precision", "resnet"};
  static const std::vector<VisionModelRow> rows = {
      {"hot", "hot", joined({tokens, {"attention"}}), make_model<TokenClassifier>, token_classifier_cost,
       nullptr, check_tokens},
      {"transformer", "transformer", dense, make_model<TokenClassifier>, token_classifier_cost, nullptr,
       check_tokens},
      {"divided", "divided", tokens, make_model<TokenClassifier>, token_classifier_cost, nullptr,
       check_softmax, "timesformer"},
      {"pooling-attention", "pooling", pooled, make_model<TokenClassifier>, token_classifier_cost, nullptr,
       check_softmax, "mvit"},
      {"vit",
       "",
       {"precision", "width", "hidden", "layers", "heads", "dropout", "patch.size", "patch.dropout",
        "attention.dropout"},
       make_model<VisionTransformer>,
       vision_transformer_cost,
       use_vit_defaults,
       check_vit},
      {"resnet18", "", stages, make_model<ResidualNetwork>, resnet18_cost, nullptr, check_residual},
      {"resnet50", "", stages, make_model<ResidualNetwork>, resnet50_cost, nullptr, check_residual},
      {"cnn",
       "",
       {"precision", "head.dropout"},
       make_model<ConvolutionNetwork>,
       convolution_network_cost,
       nullptr,
       check_convolutions},
      {"ensemble",
       "",
       {},
       make_ensemble,
       members_cost<vision_classifier_cost>,
       nullptr,
       check_members<VisionModelConfig, VisionShape>},
  };
  return rows;
}

void validate(const VisionModelConfig& config, const VisionShape& shape, const std::string& source) {
  check_options(vision_models(), config, source);
  require(!shape.size.empty() && shape.classes >= 2, ErrorKind::config,
          "{}: a classifier needs samples and at least 2 classes, got {}", source, shape.classes);
  row_of(vision_models(), config.name).check(config, shape, source);
}

std::shared_ptr<VisionClassifier> make_vision_classifier(const VisionModelConfig& config,
                                                         const VisionShape& shape, uint64_t seed) {
  validate(config, shape);
  nn::Initializer init(seed);
  return row_of(vision_models(), config.name).make(config, shape, init);
}

}  // namespace modewise::models
