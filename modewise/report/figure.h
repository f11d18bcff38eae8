#pragma once
// Figures as plain data, drawn as SVG: line charts with uncertainty bands, bar charts, heat maps, and panels
// of them. A value that is NaN or infinite (or not positive on a logarithmic axis) is missing: it breaks the
// line, leaves the bar out, leaves the cell empty. Any text may come from a user's file; it is escaped.

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

/// Colour of a series: an index of the qualitative colours, or one of these.
inline constexpr int kAutomaticColor = -1;  // the next one not taken
inline constexpr int kInkColor = -2;        // the colour of text: for the truth
inline constexpr int kMutedColor = -3;      // grey: for context

/// An uncertainty band on the x of its series, as long as y. Give the widest first; narrower ones are darker.
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
  std::vector<double> values = {};  // one a category
  std::vector<double> errors = {};  // ± one standard deviation; empty: none
  int color = kAutomaticColor;
};

/// Bars from zero; with several series the bars of a category stand side by side.
struct BarChart {
  std::string title = {};
  Axis value = {};  // linear
  std::vector<std::string> categories = {};
  std::vector<BarSeries> series = {};
  bool horizontal = true;   // names of models are long
  bool show_values = true;  // the number at the end of each bar
};

struct HeatMap {
  std::string title = {};
  std::string x_label = {}, y_label = {}, value_label = {};
  int64_t rows = 0, columns = 0;
  std::vector<double> values = {};                               // row-major, rows × columns
  std::vector<std::string> row_labels = {}, column_labels = {};  // empty: indices from 0
  ColorScale scale = ColorScale::sequential;  // diverging: symmetric about 0 unless min and max are given
  std::optional<double> min = {}, max = {};
  bool show_values = false;  // written into the cells where they are large enough
  bool color_bar = true;
};

using Panel = std::variant<LineChart, BarChart, HeatMap>;

/// Small multiples in one figure: panels row by row.
struct Panels {
  std::string title = {};
  std::vector<Panel> panels = {};
  int columns = 2;
  bool share_x = false, share_y = false;  // line charts take one range
  bool share_color = false;               // heat maps take one range
};

using Figure = std::variant<LineChart, BarChart, HeatMap, Panels>;

struct SvgOptions {
  double width = 0, height = 0;  // of the figure (Panels: of one panel) in CSS pixels; 0: as suits the figure
  bool standalone = true;        // a file of its own, with its style inside; false: inline in an HtmlPage
  std::string id = "figure";     // prefix of the ids inside; must be unique in a page
  std::string description = {};  // for screen readers; the title when empty
};

/// Throws usage errors when lengths disagree (x and y, bands, categories and values, rows × columns).
/// Long curves are thinned to a few points a pixel that keep every extreme; a page of figures stays small.
std::string to_svg(const Figure& figure, const SvgOptions& options = {});

}  // namespace modewise::report
