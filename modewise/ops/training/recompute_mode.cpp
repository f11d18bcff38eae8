#include "modewise/ops/training/recompute_mode.h"

#include <torch/library.h>

#include <utility>

namespace modewise::ops {

namespace {

thread_local bool on_here = false;

bool set_recompute_mode(bool on) {
  return std::exchange(on_here, on);
}

}  // namespace

bool recompute_mode() {
  return on_here;
}

RecomputeGuard::RecomputeGuard(bool on) : before_(set_recompute_mode(on)) {}

RecomputeGuard::~RecomputeGuard() {
  set_recompute_mode(before_);
}

// For Python: the mode from now on; the one before.
TORCH_LIBRARY_FRAGMENT(modewise, m) {
  m.def("set_recompute_mode(bool on) -> bool", set_recompute_mode);
}

}  // namespace modewise::ops
