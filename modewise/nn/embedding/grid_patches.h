#pragma once
// Patch embedding of grids with any number of modes (images, volumes): a convolution with stride = kernel,
// computed as one matrix product; or a stem of small strided convolutions with the same total reduction.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "modewise/nn/embedding/patch_embedding.h"
#include "modewise/nn/initializer.h"
#include "modewise/nn/layers/batch_norm.h"
#include "modewise/nn/layers/convolution.h"
#include "modewise/nn/layers/module_list.h"

namespace modewise::nn {

/// Cuts x [B, N_1 … N_k, C] into patches [B, n_1 … n_k, p_1·…·p_k·C] with n_i = ⌈N_i / p_i⌉: zero padding at
/// the end, cells of a patch in row-major order, channels last.
at::Tensor cut_grid(const at::Tensor& x, const std::vector<int64_t>& patch);
/// The number of patches n_1 … n_k along each mode.
std::vector<int64_t> grid_patch_counts(const std::vector<int64_t>& size, const std::vector<int64_t>& patch);
/// Joins the patches of an image back to pixels: x [B, n_1, n_2, p·p·C] -> [B, n_1·p, n_2·p, C].
at::Tensor join_patches(const at::Tensor& x, int64_t size);

/// Patch embedding of a grid and its padding mask.
class GridEmbedding : public torch::nn::Module {
 public:
  /// values [B, N_1 … N_k, C], 0 where not valid; valid [B, N_1 … N_k] bool or undefined. A token is valid if
  /// any cell of its patch is; batch normalisation uses valid tokens only.
  virtual PatchTokens forward(const at::Tensor& values, const at::Tensor& valid,
                              at::ScalarType dtype) const = 0;
};

/// Linear patch embedding, then nothing, ReLU, or ReLU and BatchNorm (as released). State names as in the
/// released code: conv.0 [D, C, p_1 … p_k], conv.2.
class GridPatches : public GridEmbedding {
 public:
  GridPatches(Initializer& init, int64_t channels, std::vector<int64_t> patch, int64_t width,
              PatchActivation activation);
  PatchTokens forward(const at::Tensor& values, const at::Tensor& valid, at::ScalarType dtype) const override;

 private:
  std::vector<int64_t> patch_;
  PatchActivation activation_;
  at::Tensor weight_, bias_;
  std::shared_ptr<BatchNorm> norm_;
};

/// Convolutional stem: log2(p) convolutions of kernel 3 and stride 2, each followed by BatchNorm and ReLU,
/// width doubling up to D (the multilayer encoder of paper 002, appendix B). p is a power of 2, the same
/// along all modes.
class GridStem : public GridEmbedding {
 public:
  GridStem(Initializer& init, int64_t modes, int64_t channels, int64_t patch, int64_t width);
  PatchTokens forward(const at::Tensor& values, const at::Tensor& valid, at::ScalarType dtype) const override;

 private:
  int64_t modes_, patch_;
  std::shared_ptr<ModuleList<Convolution>> convolutions_;
  std::shared_ptr<ModuleList<BatchNorm>> norms_;
};

}  // namespace modewise::nn
