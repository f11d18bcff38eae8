#pragma once
// Pictures as the pages show them: as they are, and under what a word looked at.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/report/html_page.h"
#include "modewise/tasks/captioning/run.h"

namespace modewise::tasks {

/// A PNG of picture `sample`; "" for a set of features.
std::string image_png(const data::CaptionSet& set, int64_t sample);

/// A PNG of pixels [S, S, 3] uint8, or of grey where they are undefined, darkened where `weights` [h, w] ≥ 0
/// are small: a pixel is multiplied by 1/5 + 4/5 · weight / the largest one, weights interpolated between the
/// centres of their cells.
std::string looked_at_png(const at::Tensor& pixels, const at::Tensor& weights);

/// The words of a caption of picture `sample`, each over what its prediction looked at (Captioner::looked),
/// the end mark last. Empty for a model that weighs no cells.
std::vector<report::CaptionedImage> word_maps(const CaptioningRun& run, const data::CaptionSet& set,
                                                int64_t sample);

}  // namespace modewise::tasks
