#pragma once
// Shared parts of the charts: ranges, scales from values to pixels, ticks and grid, legends, thinning of long
// curves.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modewise/report/canvas.h"
#include "modewise/report/figure.h"
#include "modewise/report/ticks.h"

namespace modewise::report {

/// Whether a chart can show `value` on this scale.
bool is_shown(double value, AxisScale scale = AxisScale::linear);

/// Range of the finite values included so far.
class Range {
 public:
  explicit Range(AxisScale scale = AxisScale::linear) : scale_(scale) {}
  void include(double value);
  void include(std::span<const double> values);
  bool empty() const { return !(low_ <= high_); }
  double low() const { return low_; }
  double high() const { return high_; }
  /// Widened by the fraction `margin` of its span on both sides (in logarithms on a logarithmic axis);
  /// explicit limits of the axis take precedence; never empty.
  Range for_axis(const Axis& axis, double margin) const;

 private:
  AxisScale scale_;
  double low_ = 1, high_ = 0;  // empty
};

/// Map from values to pixels.
class Scale {
 public:
  Scale(AxisScale scale, const Range& range, double first_pixel, double last_pixel);
  double operator()(double value) const;

 private:
  bool log_;
  double low_, high_, first_, last_;
};

std::vector<Tick> axis_ticks(AxisScale scale, const Range& range, int count);

struct LegendEntry {
  enum class Kind { line, points, area };
  std::string label;
  Paint paint;
  Kind kind = Kind::line;
  std::string dash = {};
  double opacity = 1;
};
/// Draws entries left to right, wrapping at `width`; returns the height.
double draw_legend(Canvas& canvas, double x, double y, double width, const std::vector<LegendEntry>& entries);
double legend_height(double width, const std::vector<LegendEntry>& entries);

/// Draws title and legend at the top of `area`; returns the remaining area.
Rect draw_heading(Canvas& canvas, const Rect& area, const std::string& title,
                  const std::vector<LegendEntry>& entries);

struct Point {
  double x = 0, y = 0;
};
/// Thins a curve: of each run of points in one pixel column it keeps the first, lowest, highest and last.
std::vector<Point> thin(std::vector<Point> points);
std::string path_through(std::span<const Point> points);

/// Colours of series: the given ones, and for kAutomaticColor the next unused one.
std::vector<int> resolve_colors(std::span<const int> colors);
template <class Chart>
std::vector<int> colors_of(const Chart& chart) {
  std::vector<int> colors;
  for (const auto& series : chart.series) colors.push_back(series.color);
  return resolve_colors(colors);
}

void draw(Canvas& canvas, const LineChart& chart, const Rect& area, bool legend = true);
void draw(Canvas& canvas, const BarChart& chart, const Rect& area, bool legend = true);
void draw(Canvas& canvas, const HeatMap& map, const Rect& area, bool legend = true);
std::vector<LegendEntry> legend_of(const LineChart& chart);
std::vector<LegendEntry> legend_of(const BarChart& chart);
void check(const LineChart& chart);
void check(const BarChart& chart);
void check(const HeatMap& map);
Range color_range(const HeatMap& map);
/// Draws the colour bar to the right of `plot`; color_bar_width is its width in pixels.
void draw_color_bar(Canvas& canvas, const HeatMap& map, const Rect& plot);
double color_bar_width(const HeatMap& map);
/// Default height of a chart of this width.
double natural_height(const LineChart& chart, double width);
double natural_height(const BarChart& chart, double width);
double natural_height(const HeatMap& map, double width);

}  // namespace modewise::report
