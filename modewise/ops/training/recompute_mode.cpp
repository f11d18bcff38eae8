#include "modewise/ops/training/recompute_mode.h"

#include <torch/library.h>

#include <utility>

namespace modewise::ops {

namespace {

thread_local bool recompute_enabled = false;

bool set_recompute_mode(bool on) {
  return std::exchange(recompute_enabled, on);
}

}  // namespace

bool recompute_mode() {
  return recompute_enabled;
}

RecomputeGuard::RecomputeGuard(bool on) : before_(set_recompute_mode(on)) {}

RecomputeGuard::~RecomputeGuard() {
  set_recompute_mode(before_);
}

// Python binding: sets the mode and returns the previous one.
TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("set_recompute_mode(bool on) -> bool", set_recompute_mode);
}

}  // namespace modewise::ops
