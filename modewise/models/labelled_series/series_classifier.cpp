#include "modewise/models/labelled_series/series_classifier.h"

#include <fmt/ranges.h>

#include "modewise/core/error.h"
#include "modewise/models/labelled_series/baselines.h"
#include "modewise/models/labelled_series/config.h"
#include "modewise/models/labelled_series/convolutions.h"
#include "modewise/models/labelled_series/patch_classifier.h"

namespace modewise::models {

void SeriesClassifier::check(const ClassifierInput& input) const {
  const at::Tensor& x = input.values;
  require(x.dim() == 3 && x.size(1) == shape_.variables && x.size(2) == shape_.length, ErrorKind::data,
          "expected series [B, {}, {}], got [{}]", shape_.variables, shape_.length,
          fmt::join(x.sizes(), ", "));
  require(!input.valid.defined() || (input.valid.dim() == 2 && input.valid.size(0) == x.size(0) &&
                                     input.valid.size(1) == x.size(2)),
          ErrorKind::data, "a mask must be [B, T] of its series [{}], got [{}]", fmt::join(x.sizes(), ", "),
          fmt::join(input.valid.sizes(), ", "));
}

at::Tensor mean_over_time(const at::Tensor& x, const at::Tensor& valid) {
  if (!valid.defined()) return x.mean(1);
  const at::Tensor weight = valid.unsqueeze(-1).to(x.scalar_type());
  return (x * weight).sum(1) / weight.sum(1);
}

std::shared_ptr<SeriesClassifier> make_series_classifier(const SeriesModelConfig& config,
                                                         const SeriesShape& shape, uint64_t seed) {
  validate(config, shape);
  nn::Initializer init(seed);
  if (config.name == "nearest") return std::make_shared<NearestCase>(shape);
  if (config.name == "dlinear") return std::make_shared<LinearClassifier>(config, shape, init);
  if (config.name == "tcn") return std::make_shared<TemporalConvolutions>(config, shape, init);
  if (config.name == "resnet") return std::make_shared<SeriesResidualNetwork>(config, shape, init);
  return std::make_shared<PatchClassifier>(config, shape, init);
}

}  // namespace modewise::models
