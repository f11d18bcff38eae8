#include "modewise/nn/embedding/grid_patches.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/relu.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "modewise/nn/layers/module_list.h"
#include "modewise/ops/dense/linear.h"

namespace modewise::nn {
namespace {

void check_patch(const std::vector<int64_t>& patch, int64_t modes) {
  TORCH_CHECK_VALUE(
      std::ssize(patch) == modes && std::ranges::all_of(patch, [](int64_t p) { return p >= 1; }),
      "patches: expected a size of at least 1 for each of ", modes, " modes, got ", at::IntArrayRef(patch));
}

/// Mask of the patches with at least one valid cell.
at::Tensor patch_mask(const at::Tensor& valid, const std::vector<int64_t>& patch) {
  return cut_grid(valid.unsqueeze(-1), patch).any(-1);
}

}  // namespace

std::vector<int64_t> grid_patch_counts(const std::vector<int64_t>& size, const std::vector<int64_t>& patch) {
  check_patch(patch, std::ssize(size));
  std::vector<int64_t> out;
  for (size_t i = 0; i < size.size(); ++i) out.push_back((size[i] + patch[i] - 1) / patch[i]);
  return out;
}

at::Tensor cut_grid(const at::Tensor& x, const std::vector<int64_t>& patch) {
  const auto modes = static_cast<int64_t>(patch.size());
  check_patch(patch, x.dim() - 2);
  std::vector<int64_t> padding = {0, 0}, split = {x.size(0)}, order = {0}, out = {x.size(0)};
  bool pads = false;
  for (int64_t mode = modes - 1; mode >= 0; --mode) {
    const int64_t p = patch[static_cast<size_t>(mode)], rest = x.size(mode + 1) % p;
    padding.insert(padding.end(), {0, rest == 0 ? 0 : p - rest});
    pads = pads || rest != 0;
  }
  for (int64_t mode = 0; mode < modes; ++mode) {
    const int64_t p = patch[static_cast<size_t>(mode)], count = (x.size(mode + 1) + p - 1) / p;
    split.insert(split.end(), {count, p});
    out.push_back(count);
    order.push_back(1 + 2 * mode);
  }
  for (int64_t mode = 0; mode < modes; ++mode) order.push_back(2 + 2 * mode);
  order.push_back(1 + 2 * modes);
  split.push_back(x.size(-1));
  out.push_back(-1);
  return (pads ? at::constant_pad_nd(x, padding) : x).reshape(split).permute(order).reshape(out);
}

at::Tensor join_patches(const at::Tensor& x, int64_t size) {
  TORCH_CHECK_VALUE(x.dim() == 4 && size >= 1 && x.size(3) % (size * size) == 0,
                    "join_patches: x must be [B, n_1, n_2, size·size·C] with a size of at least 1, got ",
                    x.sizes(), " and size ", size);
  const int64_t rows = x.size(1), columns = x.size(2);
  return x.view({x.size(0), rows, columns, size, size, x.size(3) / (size * size)})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({x.size(0), rows * size, columns * size, x.size(3) / (size * size)});
}

GridPatches::GridPatches(Initializer& init, int64_t channels, std::vector<int64_t> patch, int64_t width,
                         PatchActivation activation)
    : patch_(std::move(patch)), activation_(activation) {
  const auto parts = register_module("conv", std::make_shared<Sequence>());
  const auto convolution = parts->register_module("0", std::make_shared<Sequence>());
  std::vector<int64_t> sizes = {width, channels};
  int64_t cells = channels;
  for (const int64_t p : patch_) {
    sizes.push_back(p);
    cells *= p;
  }
  const double bound = 1.0 / std::sqrt(static_cast<double>(cells));
  weight_ = convolution->register_parameter("weight", init.uniform(sizes, bound));
  bias_ = convolution->register_parameter("bias", init.uniform({width}, bound));
  if (activation == PatchActivation::relu_norm)
    norm_ = parts->register_module("2", std::make_shared<BatchNorm>(width));
}

PatchTokens GridPatches::forward(const at::Tensor& values, const at::Tensor& valid,
                                 at::ScalarType dtype) const {
  PatchTokens out;
  if (valid.defined()) out.mask = patch_mask(valid, patch_);
  const at::Tensor weight = weight_.movedim(1, -1).flatten(1);  // channels last, as the cells of a patch
  out.tokens = ops::linear(cut_grid(values.to(dtype), patch_), weight, bias_);
  if (activation_ != PatchActivation::none) out.tokens = at::relu(out.tokens);
  if (norm_) out.tokens = norm_->forward(out.tokens, out.mask);
  return out;
}

GridStem::GridStem(Initializer& init, int64_t modes, int64_t channels, int64_t patch, int64_t width)
    : modes_(modes),
      patch_(patch),
      convolutions_(register_module("conv", std::make_shared<ModuleList<Convolution>>())),
      norms_(register_module("norm", std::make_shared<ModuleList<BatchNorm>>())) {
  TORCH_CHECK_VALUE(patch >= 2 && (patch & (patch - 1)) == 0,
                    "GridStem: patch must be a power of 2, at least 2, got ", patch);
  int64_t from = channels;
  for (int64_t reduction = 2; reduction <= patch; reduction *= 2) {
    const int64_t to = std::max<int64_t>(width * reduction / patch, 1);
    convolutions_->push_back(std::make_shared<Convolution>(init, modes, from, to, 3, 2, 1));
    norms_->push_back(std::make_shared<BatchNorm>(to));
    from = to;
  }
}

PatchTokens GridStem::forward(const at::Tensor& values, const at::Tensor& valid, at::ScalarType dtype) const {
  PatchTokens out{values.to(dtype), {}};
  int64_t reduction = 1;
  for (size_t i = 0; i < convolutions_->size(); ++i) {
    reduction *= 2;
    at::Tensor x = (*convolutions_)[i].forward(out.tokens);
    if (valid.defined())
      out.mask = patch_mask(valid, std::vector<int64_t>(static_cast<size_t>(modes_), reduction));
    x = (*norms_)[i].forward(x, out.mask).relu_();
    // Zero invalid cells, so that they do not leak into neighbours in the next convolution.
    out.tokens = out.mask ? x.masked_fill(out.mask->logical_not().unsqueeze(-1), 0) : x;
  }
  return out;
}

}  // namespace modewise::nn
