#pragma once
// Window normalization: standardizes a lookback window and denormalizes the forecast (RevIN, Kim et al., ICLR
// 2022, and variants); in between, subtracts the residual cycle of CycleNet (Lin et al., NeurIPS 2024, arXiv
// 2409.18479). Statistics use observed cells only; missing cells stay 0 throughout.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <vector>

namespace modewise::nn {

enum class Centre { none, mean, last };

struct WindowNormalizationOptions {
  Centre centre = Centre::mean;
  bool scale = true;      // divide by the standard deviation, sqrt(biased variance + 1e-5)
  bool affine = false;    // learned weight and bias per series
  int64_t cycle = 0;      // W: CycleNet's learned cycle of W steps per series, after normalizing; 0: none
  double cycle_gain = 1;  // cycle = gain × parameter: under Adam, learning rate × gain; CycleNet: 1
};

/// A normalized window and the statistics that denormalize() needs.
struct NormalizedWindow {
  at::Tensor values;      // [B, N_1 … N_j, L], 0 where not observed
  at::Tensor centre;      // [B, N_1 … N_j, 1] or undefined
  at::Tensor stddev;      // [B, N_1 … N_j, 1] or undefined
  at::Tensor first_step;  // [B]
  int64_t lookback = 0;
};

class WindowNormalization : public torch::nn::Module {
 public:
  WindowNormalization(std::vector<int64_t> series, const WindowNormalizationOptions& options);

  /// past [B, N_1 … N_j, L], 0 where not observed; observed bool or undefined; first_step [B] int64 (used
  /// only for the cycle).
  NormalizedWindow normalize(const at::Tensor& past, const at::Tensor& observed,
                             const at::Tensor& first_step) const;
  /// Denormalizes forecasts [B, N_1 … N_j, H].
  at::Tensor denormalize(const at::Tensor& forecast, const NormalizedWindow& window) const;
  /// Denormalizes differences [B, N_1 … N_j, H, Q] between forecasts: scale only, no centre.
  at::Tensor denormalize_differences(const at::Tensor& differences, const NormalizedWindow& window) const;

  /// Initializes the cycle to `profile` [W, N_1 … N_j], in the scale of normalized windows.
  void set_cycle(const at::Tensor& profile);

 private:
  /// The learned cycle at steps offset … offset+count−1 after each window's first step: [B, N_1 … N_j,
  /// count].
  at::Tensor cycle_at(const at::Tensor& first_step, int64_t offset, int64_t count) const;
  at::Tensor per_series(const at::Tensor& parameter) const;  // [N_1 … N_j, 1]

  std::vector<int64_t> series_;
  WindowNormalizationOptions options_;
  // One-dimensional: weight decay skips vectors.
  at::Tensor affine_weight_, affine_bias_;  // [N]
  at::Tensor cycle_;                        // [N · W], series-major
};

/// The last observed value of each series [B, N_1 … N_j, 1]; 0 where nothing was observed.
at::Tensor last_observed(const at::Tensor& past, const at::Tensor& observed);

}  // namespace modewise::nn
