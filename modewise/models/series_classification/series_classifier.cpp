#include "modewise/models/series_classification/series_classifier.h"

#include <fmt/ranges.h>

#include "modewise/core/error.h"

namespace modewise::models {

ClassifierInput SeriesClassifier::checked(const ClassifierInput& input) const {
  const at::Tensor& x = input.values;
  require(x.dim() == 3 && x.size(1) == shape_.variables && x.size(2) == shape_.length, ErrorKind::data,
          "expected series [B, {}, {}], got [{}]", shape_.variables, shape_.length,
          fmt::join(x.sizes(), ", "));
  require(!input.valid.defined() || (input.valid.dim() == 2 && input.valid.size(0) == x.size(0) &&
                                     input.valid.size(1) == x.size(2)),
          ErrorKind::data, "a mask must be [B, T] of its series [{}], got [{}]", fmt::join(x.sizes(), ", "),
          fmt::join(input.valid.sizes(), ", "));
  if (!input.valid.defined()) return input;
  return {x.masked_fill(input.valid.logical_not().unsqueeze(1), 0), input.valid};
}

at::Tensor mean_over_time(const at::Tensor& x, const at::Tensor& valid) {
  if (!valid.defined()) return x.mean(1);
  const at::Tensor weight = valid.unsqueeze(-1).to(x.scalar_type());
  return (x * weight).sum(1) / weight.sum(1);
}

}  // namespace modewise::models
