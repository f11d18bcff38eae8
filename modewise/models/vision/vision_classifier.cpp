#include "modewise/models/vision/vision_classifier.h"

#include <fmt/ranges.h>

#include "modewise/core/error.h"

namespace modewise::models {

ClassifierInput VisionClassifier::checked(const ClassifierInput& input) const {
  const at::Tensor& values = input.values;
  require(values.dim() == static_cast<int64_t>(shape_.size.size()) + 2 && values.size(-1) == shape_.channels,
          ErrorKind::data, "expected volumes of {} axes and {} channels, got [{}]", shape_.size.size(),
          shape_.channels, fmt::join(values.sizes(), ", "));
  require(!input.valid.defined() || input.valid.sizes() == values.sizes().slice(0, values.dim() - 1),
          ErrorKind::data, "a mask must have the shape of its volumes [{}] without channels, got [{}]",
          fmt::join(values.sizes(), ", "), fmt::join(input.valid.sizes(), ", "));
  if (!input.valid.defined()) return input;
  return {values.masked_fill(input.valid.logical_not().unsqueeze(-1), 0), input.valid};
}

}  // namespace modewise::models
