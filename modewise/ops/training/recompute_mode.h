#pragma once
// Recompute mode (activation checkpointing inside operators), a thread-local flag like at::GradMode:
// operators save few tensors and recompute the rest in backward. Results and gradients are bitwise equal.

namespace modewise::ops {

bool recompute_mode();

/// Sets the mode of this thread for its lifetime. Forward then saves no outputs of norms, dropout, linear
/// maps or short mode products, no scores and no hidden activations of feed_forward, as long as recomputing
/// them takes at most one large matrix product.
class RecomputeGuard {
 public:
  explicit RecomputeGuard(bool on);
  ~RecomputeGuard();
  RecomputeGuard(const RecomputeGuard&) = delete;
  RecomputeGuard& operator=(const RecomputeGuard&) = delete;

 private:
  bool before_;
};

}  // namespace modewise::ops
