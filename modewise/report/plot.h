#pragma once
// What the charts share: ranges, the map from values to pixels, the frame with ticks and grid, legends, and
// the thinning of long curves.

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

/// The finite values seen so far.
class Range {
 public:
  explicit Range(AxisScale scale = AxisScale::linear) : scale_(scale) {}
  void include(double value);
  void include(std::span<const double> values);
  bool empty() const { return !(low_ <= high_); }
  double low() const { return low_; }
  double high() const { return high_; }
  /// Widened by `margin` of its span on both sides (of its logarithm on a logarithmic axis); an axis's own
  /// limits win; never empty.
  Range for_axis(const Axis& axis, double margin) const;

 private:
  AxisScale scale_;
  double low_ = 1, high_ = 0;  // empty
};

/// Values to pixels.
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
/// Draws entries left to right, wrapping at `width`, and returns the height they took.
double draw_legend(Canvas& canvas, double x, double y, double width, const std::vector<LegendEntry>& entries);
double legend_height(double width, const std::vector<LegendEntry>& entries);

/// Title, then the legend, from the top of `area`; returns what is left below.
Rect draw_heading(Canvas& canvas, const Rect& area, const std::string& title,
                  const std::vector<LegendEntry>& entries);

struct Point {
  double x = 0, y = 0;
};
/// Keeps of each run of points within one pixel column the first, the lowest, the highest and the last.
std::vector<Point> thin(std::vector<Point> points);
std::string path_through(std::span<const Point> points);

/// The series' colours: the given ones, and for kAutomaticColor the next that none was given.
std::vector<int> resolve_colors(std::span<const int> colors);

void draw(Canvas& canvas, const LineChart& chart, const Rect& area, bool legend = true);
void draw(Canvas& canvas, const BarChart& chart, const Rect& area, bool legend = true);
void draw(Canvas& canvas, const HeatMap& map, const Rect& area, bool legend = true);
std::vector<LegendEntry> legend_of(const LineChart& chart);
std::vector<LegendEntry> legend_of(const BarChart& chart);
void check(const LineChart& chart);
void check(const BarChart& chart);
void check(const HeatMap& map);
Range color_range(const HeatMap& map);
/// The colour bar to the right of `plot`, and the pixels it needs there.
void draw_color_bar(Canvas& canvas, const HeatMap& map, const Rect& plot);
double color_bar_width(const HeatMap& map);
/// The height that suits a chart at this width.
double natural_height(const LineChart& chart, double width);
double natural_height(const BarChart& chart, double width);
double natural_height(const HeatMap& map, double width);

}  // namespace modewise::report
