#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include "modewise/ops/accumulate_type.h"
#include "modewise/ops/reference/reference.h"

namespace modewise::ops::reference {

at::Tensor rotary(const at::Tensor& x, const at::Tensor& angles, double gain, bool inverse) {
  const auto type = accumulate_type(x.scalar_type());
  const auto cosine = (angles.cos() * gain).to(type).unsqueeze(1);
  const auto sine = (angles.sin() * (inverse ? -gain : gain)).to(type).unsqueeze(1);
  const auto halves = x.to(type).chunk(2, -1);
  return at::cat({halves[0] * cosine - halves[1] * sine, halves[1] * cosine + halves[0] * sine}, -1)
      .to(x.scalar_type());
}

}  // namespace modewise::ops::reference
