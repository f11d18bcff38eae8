#pragma once
// Sliding-window inference for areas of any size: windows overlap, logits are blended with weights that fall
// towards window edges, and finished rows are passed on from top to bottom, so that memory is bounded by a
// strip of one window's height. Processes can distribute the windows.

#include <cstdint>
#include <functional>
#include <span>

#include "modewise/data/segmentation/augment.h"
#include "modewise/data/segmentation/raster.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {

struct TileOptions {
  double overlap = 0.25;  // relative to the window, below 1; the stride is at least one pixel
  int64_t batch = 16;     // batch size in windows
};

/// Finished rows of the area: blended `logits` [rows, W, C], `valid` [rows, W]: whether any date has data
/// (otherwise logits are 0).
struct FinishedRows {
  int64_t first_row = 0, rows = 0;  // counted from the area's first
  std::span<const float> logits;
  std::span<const uint8_t> valid;
};

using AreaReader = std::function<data::SceneWindow(const data::PixelRect&)>;
using RowTaker = std::function<void(const FinishedRows&)>;

/// Classifies `area`; `read` reads parts of it, `take` gets all rows in order, with several `workers` only on
/// rank 0. The model must be in evaluation mode. Config error for an invalid overlap. Throws
/// train::EvaluationInterrupted on a stop signal.
void classify_area(models::Segmenter& model, const data::PixelRect& area, const TileOptions& options,
                   const AreaReader& read, const RowTaker& take,
                   train::Workers& workers = train::single_process());

/// Argmax of logits [n, C]; the first of equal ones.
void highest_classes(std::span<const float> logits, int64_t classes, std::span<int16_t> out);

}  // namespace modewise::tasks
