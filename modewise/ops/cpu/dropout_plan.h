#pragma once
// Dropout rate and key as parameters of the loops.

#include "modewise/ops/cpu/loops.h"
#include "modewise/ops/training/dropout_key.h"
#include "modewise/ops/training/dropout_threshold.h"

namespace modewise::ops {

inline DropoutPlan dropout_plan(double p, const DropoutKey& key) {
  return {.key = {static_cast<uint32_t>(key.seed), static_cast<uint32_t>(key.seed >> 32)},
          .step = static_cast<uint32_t>(key.step),
          .site = key.site,
          .threshold = dropout_threshold(p),
          .scale = dropout_kept_scale(p)};
}

}  // namespace modewise::ops
