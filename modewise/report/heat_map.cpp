#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/io/images/png.h"
#include "modewise/report/markup.h"
#include "modewise/report/plot.h"

namespace modewise::report {
namespace {

constexpr int64_t kMaxShapes = 400;  // cells drawn as shapes with tooltips; more become one image
constexpr int64_t kMaxPixels = 512;  // maximum image side in cells
constexpr int kColors = 255;         // palette entries, plus one for "missing"

double position(double value, const Range& range) {
  return (value - range.low()) / (range.high() - range.low());
}

// Axis labels of one side: every `step`-th, so that they do not overlap.
struct Side {
  std::vector<std::string> labels;  // empty: indices
  int64_t count = 0;
  double widest = 0;

  Side(const std::vector<std::string>& names, int64_t cells) : count(cells) {
    for (const auto& name : names) labels.push_back(shorten(name, 24));
    for (const auto& label : labels) widest = std::max(widest, text_width(label, 11));
    if (labels.empty()) widest = text_width(std::to_string(std::max<int64_t>(0, cells - 1)), 11);
  }
  std::string label(int64_t i) const {
    return labels.empty() ? std::to_string(i) : labels[static_cast<size_t>(i)];
  }
  // The smallest step with `needed` pixels per label; 1-2-5 steps for indices.
  int64_t step(double cell, double needed) const {
    const auto minimum = static_cast<int64_t>(std::ceil(needed / std::max(cell, 1e-6)));
    if (!labels.empty()) return std::max<int64_t>(1, minimum);
    for (int64_t power = 1;; power *= 10)
      for (const int64_t multiple : {1, 2, 5})
        if (multiple * power >= minimum) return multiple * power;
  }
};

struct HeatMapLayout {
  Rect plot;
  bool rotated;  // column labels at 45 degrees
};

bool square_cells(const HeatMap& map) {
  return map.rows <= 4 * map.columns && map.columns <= 4 * map.rows;
}

struct Margins {
  double left, right, bottom;
  bool rotated;
};

Margins margins_of(const HeatMap& map, double width) {
  const Side rows(map.row_labels, map.rows), columns(map.column_labels, map.columns);
  double left = rows.widest + 8 + (map.y_label.empty() ? 0 : 18);
  const double right = (map.color_bar ? color_bar_width(map) : 0) + 2;
  const double cell =
      std::max(1.0, width - left - right) / static_cast<double>(std::max<int64_t>(1, map.columns));
  const bool rotated = !columns.labels.empty() && columns.widest + 6 > cell;
  if (rotated) left = std::max(left, columns.widest * 0.71);  // the first label ends below its column
  const double bottom = (rotated ? columns.widest * 0.71 + 14 : 18) + (map.x_label.empty() ? 0 : 18);
  return {left, right, bottom, rotated};
}

HeatMapLayout lay_out(const HeatMap& map, const Rect& area) {
  const Margins margins = margins_of(map, area.width);
  double width = std::max(1.0, area.width - margins.left - margins.right);
  double height = std::max(1.0, area.height - margins.bottom - 4);
  if (square_cells(map) && map.rows > 0) {
    const double cell =
        std::min(width / static_cast<double>(map.columns), height / static_cast<double>(map.rows));
    width = cell * static_cast<double>(map.columns);
    height = cell * static_cast<double>(map.rows);
  }
  return {{area.x + margins.left, area.y + 4, width, height}, margins.rotated};
}

void draw_cells(Canvas& canvas, const HeatMap& map, const HeatMapLayout& layout, const Range& range) {
  const double width = layout.plot.width / static_cast<double>(map.columns);
  const double height = layout.plot.height / static_cast<double>(map.rows);
  const Side rows(map.row_labels, map.rows), columns(map.column_labels, map.columns);
  for (int64_t row = 0; row < map.rows; ++row)
    for (int64_t column = 0; column < map.columns; ++column) {
      const double value = map.values[static_cast<size_t>(row * map.columns + column)];
      if (!is_shown(value)) continue;
      const Color color = scale_color(map.scale, position(value, range));
      const Rect cell{layout.plot.x + width * static_cast<double>(column),
                      layout.plot.y + height * static_cast<double>(row), width, height};
      canvas.rect(cell, Paint::fixed(color),
                  fmt::format("{}, {}: {}", rows.label(row), columns.label(column), number_label(value, 4)));
      const std::string text = number_label(value, 2);
      if (map.show_values && height >= 14 && text_width(text, 10) + 4 <= width)
        canvas.text(
            cell.x + width / 2, cell.y + height / 2 + 3.5, text,
            {.anchor = TextStyle::Anchor::middle,
             .size = 10,
             .paint = Paint::fixed(lightness(color) > 0.62 ? Color{29, 33, 41} : Color{255, 255, 255})});
    }
}

// Draws one palette image; beyond kMaxPixels per side, each pixel shows the value of its block farthest from
// the middle of the scale (diverging) or from its low end, so that no peak is lost.
void draw_image(Canvas& canvas, const HeatMap& map, const HeatMapLayout& layout, const Range& range) {
  const int64_t height = std::min(map.rows, kMaxPixels), width = std::min(map.columns, kMaxPixels);
  const double middle = map.scale == ColorScale::diverging ? (range.low() + range.high()) / 2 : range.low();
  std::vector<double> pixels(static_cast<size_t>(width * height), NAN);
  for (int64_t row = 0; row < map.rows; ++row)
    for (int64_t column = 0; column < map.columns; ++column) {
      const double value = map.values[static_cast<size_t>(row * map.columns + column)];
      double& pixel =
          pixels[static_cast<size_t>(row * height / map.rows * width + column * width / map.columns)];
      if (is_shown(value) && !(std::abs(value - middle) <= std::abs(pixel - middle))) pixel = value;
    }
  std::vector<Color> palette;
  for (int i = 0; i < kColors; ++i) palette.push_back(scale_color(map.scale, i / (kColors - 1.0)));
  palette.push_back({});
  io::Image indices{height, width, 1, {}};
  for (const double pixel : pixels)
    indices.pixels.push_back(std::isnan(pixel)
                                 ? static_cast<uint8_t>(kColors)
                                 : static_cast<uint8_t>(std::lround(
                                       std::clamp(position(pixel, range), 0.0, 1.0) * (kColors - 1))));
  canvas.image(layout.plot, io::format_palette_png(indices, color_bytes(palette), kColors));
}

void draw_labels(Canvas& canvas, const HeatMap& map, const HeatMapLayout& layout, const Rect& area) {
  const Rect& plot = layout.plot;
  const Side rows(map.row_labels, map.rows), columns(map.column_labels, map.columns);
  const double width = plot.width / static_cast<double>(map.columns),
               height = plot.height / static_cast<double>(map.rows);
  for (int64_t row = 0, step = rows.step(height, 13); row < map.rows; row += step)
    canvas.text(plot.x - 5, plot.y + height * (static_cast<double>(row) + 0.5) + 4, rows.label(row),
                {.anchor = TextStyle::Anchor::end, .paint = Paint::muted()});
  const int64_t step =
      columns.step(width, layout.rotated ? 14 : columns.widest + (columns.labels.empty() ? 10 : 6));
  for (int64_t column = 0; column < map.columns; column += step) {
    const double middle = plot.x + width * (static_cast<double>(column) + 0.5);
    if (layout.rotated) {
      canvas.text(middle + 4, plot.bottom() + 12, columns.label(column),
                  {.anchor = TextStyle::Anchor::end, .rotate = -45, .paint = Paint::muted()});
    } else {
      canvas.text(middle, plot.bottom() + 14, columns.label(column),
                  {.anchor = TextStyle::Anchor::middle, .paint = Paint::muted()});
    }
  }
  const double below = layout.rotated ? columns.widest * 0.71 + 26 : 32;
  if (!map.x_label.empty())
    canvas.text(plot.x + plot.width / 2, plot.bottom() + below, map.x_label,
                {.anchor = TextStyle::Anchor::middle});
  if (!map.y_label.empty())
    canvas.text(area.x + 11, plot.y + plot.height / 2, map.y_label,
                {.anchor = TextStyle::Anchor::middle, .rotate = -90});
}

}  // namespace

double color_bar_width(const HeatMap& map) {
  const Range range = color_range(map);
  double widest = 0;
  for (const Tick& tick : number_ticks(range.low(), range.high(), 4))
    widest = std::max(widest, text_width(tick.label, 11));
  return 14 + 12 + 6 + widest + (map.value_label.empty() ? 2 : 20);
}

void draw_color_bar(Canvas& canvas, const HeatMap& map, const Rect& plot) {
  const Range range = color_range(map);
  const Rect bar{plot.right() + 14, plot.y, 12, plot.height};
  canvas.gradient_bar(bar, map.scale);
  const Scale scale(AxisScale::linear, range, bar.bottom(), bar.y);
  double widest = 0;
  for (const Tick& tick :
       number_ticks(range.low(), range.high(), std::clamp(static_cast<int>(bar.height / 35), 1, 5))) {
    canvas.text(bar.right() + 5, scale(tick.position) + 4, tick.label, {.paint = Paint::muted()});
    widest = std::max(widest, text_width(tick.label, 11));
  }
  if (!map.value_label.empty())
    canvas.text(bar.right() + widest + 18, bar.y + bar.height / 2, map.value_label,
                {.anchor = TextStyle::Anchor::middle, .rotate = -90});
}

void check(const HeatMap& map) {
  require(
      map.rows >= 0 && map.columns >= 0 && static_cast<int64_t>(map.values.size()) == map.rows * map.columns,
      ErrorKind::usage, "the heat map \"{}\" of {} x {} cells has {} values", map.title, map.rows,
      map.columns, map.values.size());
  require(map.row_labels.empty() || static_cast<int64_t>(map.row_labels.size()) == map.rows, ErrorKind::usage,
          "the heat map \"{}\" has {} rows and {} row labels", map.title, map.rows, map.row_labels.size());
  require(map.column_labels.empty() || static_cast<int64_t>(map.column_labels.size()) == map.columns,
          ErrorKind::usage, "the heat map \"{}\" has {} columns and {} column labels", map.title, map.columns,
          map.column_labels.size());
}

Range color_range(const HeatMap& map) {
  Range range;
  range.include(map.values);
  Axis axis{.label = map.value_label, .min = map.min, .max = map.max};
  if (map.scale == ColorScale::diverging && !map.min && !map.max && !range.empty()) {
    const double reach = std::max(std::abs(range.low()), std::abs(range.high()));
    if (reach > 0) axis.min = -reach, axis.max = reach;
  }
  return range.for_axis(axis, 0);
}

double natural_height(const HeatMap& map, double width) {
  const double heading = map.title.empty() ? 0 : 22;
  const Margins margins = margins_of(map, width);
  if (map.rows == 0 || map.columns == 0) return 120 + heading;
  const double plot = std::max(1.0, width - margins.left - margins.right);
  const double natural = square_cells(map)
                             ? plot * static_cast<double>(map.rows) / static_cast<double>(map.columns)
                             : std::clamp(static_cast<double>(map.rows) * 15.0, 60.0, plot);
  return heading + margins.bottom + 6 + std::clamp(natural, 40.0, 560.0);
}

void draw(Canvas& canvas, const HeatMap& map, const Rect& area, bool) {
  const Rect inner = draw_heading(canvas, area, map.title, {});
  if (map.rows == 0 || map.columns == 0) {
    canvas.text(inner.x + inner.width / 2, inner.y + inner.height / 2, "no data",
                {.anchor = TextStyle::Anchor::middle, .paint = Paint::muted()});
    return;
  }
  const Range range = color_range(map);
  const HeatMapLayout layout = lay_out(map, inner);
  if (map.rows * map.columns <= kMaxShapes) {
    canvas.begin_crisp();
    draw_cells(canvas, map, layout, range);
    canvas.end_crisp();
  } else {
    draw_image(canvas, map, layout, range);
  }
  const Rect& plot = layout.plot;
  canvas.stroke(fmt::format("M{} {}h{}v{}h-{}z", coordinate(plot.x), coordinate(plot.y),
                            coordinate(plot.width), coordinate(plot.height), coordinate(plot.width)),
                {Paint::axis()});
  draw_labels(canvas, map, layout, inner);
  if (map.color_bar) draw_color_bar(canvas, map, plot);
}

}  // namespace modewise::report
