#pragma once
// Images of reports: originals, and attention maps of words.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "modewise/report/html_page.h"
#include "modewise/tasks/captioning/run.h"

namespace modewise::tasks {

/// PNG of image `sample`; "" for a set of features.
std::string image_png(const data::CaptionSet& set, int64_t sample);

/// PNG of pixels [S, S, 3] uint8 (undefined: grey), multiplied by 1/5 + 4/5 · weight / largest weight, with
/// `weights` [h, w] ≥ 0 interpolated between cell centres.
std::string looked_at_png(const at::Tensor& pixels, const at::Tensor& weights);

/// Attention maps of the words of a caption of image `sample` (Captioner::looked), EOS last. Empty for a
/// model without weights of cells.
std::vector<report::CaptionedImage> word_maps(const CaptioningRun& run, int64_t sample);

}  // namespace modewise::tasks
