#pragma once
// Whether operators keep little for the backward pass and compute the rest again there, in a thread and for a
// scope, as at::GradMode is. No bit of a result or gradient depends on it.

namespace modewise::ops {

bool recompute_mode();

/// Sets the mode of this thread until its end. What runs forward meanwhile keeps no result of a norm, a
/// dropout, a map or a short mode product, no scores and no hidden activations of feed_forward for the
/// operators that use them, so long as that takes at most one product of many rows to make again.
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
