#pragma once
// Brings a window of the past to zero centre and unit deviation, and the forecast back (RevIN, Kim et al.,
// ICLR 2022, and relatives), and takes the residual cycle of CycleNet off in between (Lin et al., NeurIPS
// 2024, arXiv 2409.18479). Statistics are over observed cells; one that is not observed stays 0 throughout.

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>

#include <cstdint>
#include <vector>

namespace modewise::nn {

enum class Centre { none, mean, last };

struct WindowNormalizationOptions {
  Centre centre = Centre::mean;
  bool scale = true;      // divide by the deviation, sqrt(biased variance + 1e-5)
  bool affine = false;    // learned weight and bias a series
  int64_t cycle = 0;      // W: CycleNet's learned profile of W rows a series, after normalising; 0: none
  double cycle_gain = 1;  // the profile is gain × parameter, under Adam a learning rate × gain; CycleNet: 1
};

/// A window after normalize(), and what denormalize() needs.
struct NormalizedWindow {
  at::Tensor values;      // [B, N_1 … N_j, L], 0 where not observed
  at::Tensor centre;      // [B, N_1 … N_j, 1] or undefined
  at::Tensor stddev;   // [B, N_1 … N_j, 1] or undefined
  at::Tensor first_step;  // [B]
  int64_t lookback = 0;
};

class WindowNormalization : public torch::nn::Module {
 public:
  WindowNormalization(std::vector<int64_t> series, const WindowNormalizationOptions& options);

  /// past [B, N_1 … N_j, L], 0 where not observed; observed bool or undefined; first_step [B] int64 (used for
  /// the cycle alone).
  NormalizedWindow normalize(const at::Tensor& past, const at::Tensor& observed,
                             const at::Tensor& first_step) const;
  /// [B, N_1 … N_j, H] -> the same in the window's own scale.
  at::Tensor denormalize(const at::Tensor& forecast, const NormalizedWindow& window) const;
  /// Differences [B, N_1 … N_j, H, Q] between forecasts, in the window's own scale.
  at::Tensor denormalize_differences(const at::Tensor& differences, const NormalizedWindow& window) const;

  /// Starts the cycle from `profile` [W, N_1 … N_j], in the scale of the windows' normalised values.
  void set_cycle(const at::Tensor& profile);

 private:
  /// The learned profile at steps offset … offset+count−1 after each window's first: [B, N_1 … N_j, count].
  at::Tensor cycle_at(const at::Tensor& first_step, int64_t offset, int64_t count) const;
  at::Tensor per_series(const at::Tensor& parameter) const;  // [N_1 … N_j, 1]

  std::vector<int64_t> series_;
  WindowNormalizationOptions options_;
  // One-dimensional, so that weight decay, which spares vectors, leaves them alone.
  at::Tensor affine_weight_, affine_bias_;  // [N]
  at::Tensor cycle_;                        // [N · W], a series' profile together
};

/// The last observed value of each series [B, N_1 … N_j, 1]; 0 where nothing was observed.
at::Tensor last_observed(const at::Tensor& past, const at::Tensor& observed);

}  // namespace modewise::nn
