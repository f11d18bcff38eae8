// Splits of a segmentation set: windows, blocks, training tiles.

#include <fmt/format.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/data/segmentation/blocks.h"
#include "modewise/data/segmentation/segmentation_set.h"

namespace modewise::data {
namespace {

constexpr int64_t kUsualWindow = 64, kSsl4eoWindow = 224;

PixelRect central(const PixelRect& area, int64_t side) {
  const int64_t height = std::min(side, area.height), width = std::min(side, area.width);
  return {area.row + (area.height - height) / 2, area.column + (area.width - width) / 2, height, width};
}

/// Starts of tiles of `tile` pixels along an axis, `count` of them, evenly spread.
std::vector<int64_t> starts(int64_t length, int64_t tile, int64_t count) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(count > 1 ? i * (length - tile) / (count - 1) : (length - tile) / 2);
  return result;
}

}  // namespace

void SegmentationSet::choose_window(int64_t multiple) {
  window_ = config_.window;
  if (window_ == 0) {
    int64_t side = files_.layout == "ssl4eo" ? kSsl4eoWindow : kUsualWindow;
    for (const PixelRect& size : sizes_) {
      const int64_t shorter = std::min(size.height, size.width);
      side = std::min(side, files_.layout == "scene" ? shorter / 3 : shorter);
    }
    window_ = std::max(multiple, side / multiple * multiple);
  }
  require(window_ % multiple == 0, ErrorKind::config,
          "data.window = {} must be a multiple of {} (the model's patch or downsampling)", window_, multiple);
}

void SegmentationSet::split_tiles() {
  for (size_t i = 0; i < files_.files.size(); ++i) {
    const SceneSplit split = files_.files[i].split.value_or(SceneSplit::train);
    const bool evaluated = split != SceneSplit::train && config_.centre > 0;
    areas_[static_cast<size_t>(split)].push_back(
        {static_cast<int64_t>(i), evaluated ? central(sizes_[i], config_.centre) : sizes_[i]});
  }
  require(!areas_[0].empty(), ErrorKind::data, "{}: no tiles to train on", config_.path);
}

void SegmentationSet::split_scene() {
  BlockRequest request;
  request.height = sizes_[0].height;
  request.width = sizes_[0].width;
  request.window = window_;
  request.validation = config_.validation;
  request.test = config_.test;
  request.guard = config_.guard;
  request.seed = static_cast<uint64_t>(config_.split_seed);
  request.source = config_.path;
  const auto grid = chosen_grid(request);
  request.rows = config_.blocks.empty() ? grid.first : config_.blocks[0];
  request.columns = config_.blocks.empty() ? grid.second : config_.blocks[1];
  require(request.rows <= request.height && request.columns <= request.width, ErrorKind::data,
          "{}: data.blocks = [{}, {}] exceeds its {} × {} pixels", config_.path, request.rows,
          request.columns, request.height, request.width);
  std::vector<std::vector<int64_t>> histograms;
  for (int64_t row = 0; row < request.rows; ++row)
    for (int64_t column = 0; column < request.columns; ++column) {
      histograms.emplace_back(static_cast<size_t>(classes_.size()), 0);
      for (const PixelRect& part : in_parts(block_area(request, row, column), 1))
        for (const int16_t label : labels(0, part))
          if (label >= 0) ++histograms.back()[static_cast<size_t>(label)];
    }
  const BlockSplit split = split_blocks(request, histograms);
  for (size_t i = 0; i < areas_.size(); ++i)
    for (const PixelRect& area : split.areas[i]) areas_[i].push_back({0, area});
  files_.rule = fmt::format("{} × {} blocks, guard of {} pixels between splits, seed {}", request.rows,
                            request.columns, config_.guard, config_.split_seed);
}

void SegmentationSet::cut_tiles() {
  const int64_t stride = config_.stride > 0 ? config_.stride : std::max<int64_t>(1, window_ / 2);
  const int64_t side = window_ + stride;
  bool small = false;
  for (const SceneArea& area : areas_[0]) {
    small = small || area.area.height < window_ || area.area.width < window_;
    // Tiles up to about the window size are one sample each; larger areas are cut.
    const bool one = files_.layout != "scene" && std::max(area.area.height, area.area.width) <= side;
    const auto count = [&](int64_t length) {
      return one ? 1 : std::max<int64_t>(0, length - window_ + stride - 1) / stride + 1;
    };
    const int64_t height = one ? area.area.height : std::min(side, area.area.height),
                  width = one ? area.area.width : std::min(side, area.area.width);
    for (const int64_t row : starts(area.area.height, height, count(area.area.height)))
      for (const int64_t column : starts(area.area.width, width, count(area.area.width)))
        tiles_.push_back({area.file, {area.area.row + row, area.area.column + column, height, width}});
  }
  if (small)
    notes_.push_back(fmt::format(
        "some training areas are smaller than the window of {} pixels: the rest of the window is missing",
        window_));
  missing_ = missing_ || small;
}

}  // namespace modewise::data
