#include "modewise/models/segmentation/segmenter.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <fmt/ranges.h>

#include "modewise/core/error.h"

namespace modewise::models {

at::Tensor Segmenter::checked_image(const SegmentationInput& input) const {
  const int64_t batch = input.image.defined() && input.image.dim() > 0 ? input.image.size(0) : 0;
  const auto check = [](const at::Tensor& tensor, const std::vector<int64_t>& wanted, const char* name) {
    require(tensor.defined() && tensor.sizes() == at::IntArrayRef(wanted), ErrorKind::data,
            "segmenter: {} must be [{}], got [{}]", name, fmt::join(wanted, ", "),
            tensor.defined() ? fmt::format("{}", fmt::join(tensor.sizes(), ", ")) : "nothing");
  };
  check(input.image, {batch, shape_.times, shape_.window, shape_.window, shape_.bands}, "image");
  at::Tensor image = input.image;
  if (input.valid.defined()) {
    check(input.valid, {batch, shape_.times, shape_.window, shape_.window}, "valid");
    require(input.valid.scalar_type() == at::kBool, ErrorKind::data, "segmenter: valid must be bool");
    image = at::where(input.valid.unsqueeze(-1), image, at::zeros({}, image.options()));
  }
  if (!shape_.missing) return image;
  const at::Tensor flags =
      input.valid.defined() ? input.valid.to(image.scalar_type())
                            : at::ones({batch, shape_.times, shape_.window, shape_.window}, image.options());
  return at::cat({image, flags.unsqueeze(-1)}, -1);
}

}  // namespace modewise::models
