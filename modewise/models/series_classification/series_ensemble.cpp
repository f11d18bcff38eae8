#include "modewise/models/series_classification/series_ensemble.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

namespace modewise::models {

SeriesEnsemble::SeriesEnsemble(const SeriesModelConfig& config, const SeriesShape& shape,
                               nn::Initializer& init)
    : ClassEnsemble(series_models(), config, shape, init),
      factors_(register_buffer("factors", at::ones({members(), shape.variables}, at::kDouble))),
      shifts_(register_buffer("shifts", at::zeros({members(), shape.variables}, at::kDouble))) {}

void SeriesEnsemble::set_scale(int64_t member, const std::vector<double>& factor,
                               const std::vector<double>& shift) {
  const at::NoGradGuard no_grad;
  factors_.select(0, member).copy_(at::tensor(at::ArrayRef<double>(factor)));
  shifts_.select(0, member).copy_(at::tensor(at::ArrayRef<double>(shift)));
}

ClassifierInput SeriesEnsemble::input_of(int64_t member, const ClassifierInput& input) const {
  at::Tensor values = checked(input).values.to(at::kDouble) * factors_.select(0, member).unsqueeze(-1) +
                      shifts_.select(0, member).unsqueeze(-1);
  if (input.valid.defined()) values = values.masked_fill(input.valid.logical_not().unsqueeze(1), 0);
  return {values.to(input.values.scalar_type()), input.valid};
}

}  // namespace modewise::models
