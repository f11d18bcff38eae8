#pragma once
// Figures as plain data, rendered to SVG: line charts with uncertainty bands, bar charts, heat maps, and
// panels. NaN and infinite values (and non-positive ones on a logarithmic axis) are missing: a gap in the
// line, no bar, an empty cell. All text is escaped, since it may come from users' files.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "modewise/report/color.h"

namespace modewise::report {

enum class AxisScale { linear, log, date /* seconds since 1970-01-01T00:00:00 */ };

struct Axis {
  std::string label = {};
  AxisScale scale = AxisScale::linear;
  std::optional<double> min = {}, max = {};  // from the data when absent
};

/// Colour of a series: an index of the qualitative colours, or a constant.
inline constexpr int kAutomaticColor = -1;  // the next unused one
inline constexpr int kInkColor = -2;        // text colour: for the ground truth
inline constexpr int kMutedColor = -3;      // grey: for context

/// An uncertainty band at the x of its series, with as many values as y. The widest first; narrower ones are
/// darker.
struct Band {
  std::vector<double> lower = {}, upper = {};
  std::string label = {};
};

struct LineSeries {
  enum class Style { line, dashed, dotted, points };
  std::string label = {};
  std::vector<double> x = {};  // ascending; empty: 0, 1, 2, …
  std::vector<double> y = {};
  std::vector<Band> bands = {};
  Style style = Style::line;
  int color = kAutomaticColor;
};

/// A vertical line, such as where the forecast begins or the best epoch.
struct Mark {
  double x = 0;
  std::string label = {};
};

struct LineChart {
  std::string title = {};
  Axis x = {}, y = {};
  std::vector<LineSeries> series = {};
  std::vector<Mark> marks = {};
};

struct BarSeries {
  std::string label = {};
  std::vector<double> values = {};  // one per category
  std::vector<double> errors = {};  // ± one standard deviation; empty: none
  int color = kAutomaticColor;
};

/// Horizontal bars from zero; the bars of several series are grouped by category.
struct BarChart {
  std::string title = {};
  Axis value = {};  // linear
  std::vector<std::string> categories = {};
  std::vector<BarSeries> series = {};
  bool show_values = true;  // value label at the end of each bar
};

struct HeatMap {
  std::string title = {};
  std::string x_label = {}, y_label = {}, value_label = {};
  int64_t rows = 0, columns = 0;
  std::vector<double> values = {};                               // row-major, rows × columns
  std::vector<std::string> row_labels = {}, column_labels = {};  // empty: indices from 0
  ColorScale scale = ColorScale::sequential;  // diverging: symmetric about 0 unless min and max are given
  std::optional<double> min = {}, max = {};
  bool show_values = false;  // value labels in cells that are large enough
  bool color_bar = true;
};

using Panel = std::variant<LineChart, BarChart, HeatMap>;

/// Small multiples in one figure: panels row by row.
struct Panels {
  std::string title = {};
  std::vector<Panel> panels = {};
  int columns = 2;
  bool share_x = false, share_y = false;  // one range for all line charts
  bool share_color = false;               // one colour range for all heat maps
};

using Figure = std::variant<LineChart, BarChart, HeatMap, Panels>;

struct SvgOptions {
  double width = 0, height = 0;  // of the figure (Panels: of one panel) in CSS pixels; 0: automatic
  bool standalone = true;        // a separate file with its own style; false: inline in an HtmlPage
  std::string id = "figure";     // prefix of the ids inside; must be unique in a page
  std::string description = {};  // for screen readers; empty: the title
};

/// Throws usage errors if lengths differ (x and y, bands, categories and values, rows × columns). Long curves
/// are thinned to a few points per pixel that keep all extremes, so that pages stay small.
std::string to_svg(const Figure& figure, const SvgOptions& options = {});

}  // namespace modewise::report
