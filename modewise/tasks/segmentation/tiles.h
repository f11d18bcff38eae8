#pragma once
// An area of any size through a model that takes windows: windows overlap, their logits are blended with
// weights that fall towards a window's edge, and finished rows are handed on from top to bottom, so that
// memory is bounded by a strip of one window's height. Processes can share the windows.

#include <cstdint>
#include <functional>
#include <span>

#include "modewise/data/segmentation/augment.h"
#include "modewise/data/segmentation/raster.h"
#include "modewise/models/segmentation/segmenter.h"
#include "modewise/train/distributed/workers.h"

namespace modewise::tasks {

struct TileOptions {
  double overlap = 0.25;  // share of the window, below 1; windows move on by a pixel at least
  int64_t batch = 16;     // windows at a time
};

/// Finished rows of the area: `logits` [rows, W, C] blended, `valid` [rows, W]: whether any date has data
/// there (where none has, the logits are 0).
struct FinishedRows {
  int64_t first_row = 0, rows = 0;  // counted from the area's first
  std::span<const float> logits;
  std::span<const uint8_t> valid;
};

using AreaReader = std::function<data::SceneWindow(const data::PixelRect&)>;
using RowTaker = std::function<void(const FinishedRows&)>;

/// Classifies `area`; `read` is asked only for parts of it, `take` gets all its rows in order, of several
/// `workers` the lead's alone. The model is in evaluation mode. Config error when the overlap is no such
/// share. Throws train::EvaluationInterrupted when a signal came.
void classify_area(models::Segmenter& model, const data::PixelRect& area, const TileOptions& options,
                   const AreaReader& read, const RowTaker& take, train::Workers& workers = train::alone());

/// The class with the highest logit of each pixel of logits [n, C]; the first among equals.
void highest_classes(std::span<const float> logits, int64_t classes, std::span<int16_t> out);

}  // namespace modewise::tasks
