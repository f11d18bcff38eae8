#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/report/markup.h"
#include "modewise/report/plot.h"

namespace modewise::report {
namespace {

constexpr size_t kMaxCategories = 200;
constexpr double kBar = 15, kGap = 9;

size_t shown_categories(const BarChart& chart) {
  return std::min(chart.categories.size(), kMaxCategories);
}

double error_of(const BarSeries& series, size_t i) {
  return i < series.errors.size() && is_shown(series.errors[i]) ? std::abs(series.errors[i]) : 0;
}

// Decimals of all value labels of a chart: three significant digits of the largest, none for integers; −1 if
// the numbers are too large or small for a common format.
int value_decimals(const BarChart& chart) {
  double largest = 0;
  bool whole = true;
  for (const auto& series : chart.series)
    for (size_t i = 0; i < shown_categories(chart); ++i) {
      if (!is_shown(series.values[i])) continue;
      largest = std::max(largest, std::abs(series.values[i]));
      whole = whole && series.values[i] == std::round(series.values[i]) && error_of(series, i) == 0;
    }
  if (largest >= 1e5 || (largest > 0 && largest < 1e-3)) return -1;
  if (whole) return 0;
  return largest >= 100 ? 1 : largest >= 10 ? 2 : largest >= 0.1 ? 3 : 5;
}

std::string value_text(const BarSeries& series, size_t i, int decimals) {
  const double value = series.values[i], error = error_of(series, i);
  if (!is_shown(value) || decimals < 0)
    return number_label(value) + (error > 0 ? " ± " + number_label(error, 2) : "");
  std::string text = fmt::format("{}{:.{}f}", value < 0 ? "−" : "", std::abs(value), decimals);
  return error > 0 ? fmt::format("{} ± {:.{}f}", text, error, decimals) : text;
}

struct BarLayout {
  Rect plot;
  Scale value;
  double category_height;
  int decimals;  // of the value labels
};

Range value_range(const BarChart& chart) {
  Range range;
  range.include(0.0);
  for (const auto& series : chart.series)
    for (size_t i = 0; i < shown_categories(chart); ++i) {
      if (!is_shown(series.values[i])) continue;
      range.include(series.values[i] + error_of(series, i));
      range.include(series.values[i] - error_of(series, i));
    }
  Axis axis = chart.value;
  if (!axis.min && range.low() == 0) axis.min = 0;
  if (!axis.max && range.high() == 0 && range.low() < 0) axis.max = 0;
  return range.for_axis(axis, 0.03);
}

double widest_category(const BarChart& chart) {
  double widest = 0;
  for (size_t i = 0; i < shown_categories(chart); ++i)
    widest = std::max(widest, text_width(shorten(chart.categories[i], 32), 11));
  return widest;
}

BarLayout lay_out(const BarChart& chart, const Rect& area, const Range& range) {
  const int decimals = value_decimals(chart);
  double value_width = 0;
  if (chart.show_values)
    for (const auto& series : chart.series)
      for (size_t i = 0; i < shown_categories(chart); ++i)
        value_width = std::max(value_width, text_width(value_text(series, i, decimals), 11));
  const double label_line = chart.value.label.empty() ? 0 : 18;
  const double left = widest_category(chart) + 8 + (range.low() < 0 ? value_width : 0);
  const Rect plot{area.x + left, area.y + 2, std::max(1.0, area.width - left - value_width - 12),
                  std::max(1.0, area.height - 22 - label_line)};
  return {plot, Scale(AxisScale::linear, range, plot.x, plot.right()),
          plot.height / static_cast<double>(std::max<size_t>(1, shown_categories(chart))), decimals};
}

void draw_axes(Canvas& canvas, const BarChart& chart, const BarLayout& layout, const Range& range,
               const Rect& area) {
  const Rect& plot = layout.plot;
  const int ticks = std::clamp(static_cast<int>(plot.width / 80), 2, 8);
  for (const Tick& tick : number_ticks(range.low(), range.high(), ticks)) {
    const double at = layout.value(tick.position);
    const bool grid = !chart.show_values;  // value labels replace the grid
    canvas.line(at, grid ? plot.y : plot.bottom(), at, plot.bottom() + (grid ? 0 : 4),
                {grid ? Paint::grid() : Paint::axis()});
    canvas.text(at, plot.bottom() + 15, tick.label,
                {.anchor = TextStyle::Anchor::middle, .paint = Paint::muted()});
  }
  canvas.text(plot.x + plot.width / 2, plot.bottom() + 32, chart.value.label,
              {.anchor = TextStyle::Anchor::middle});
  for (size_t i = 0; i < shown_categories(chart); ++i)
    canvas.text(area.x + widest_category(chart) + 2,
                plot.y + layout.category_height * (static_cast<double>(i) + 0.5) + 4,
                shorten(chart.categories[i], 32), {.anchor = TextStyle::Anchor::end});
}

void draw_bar(Canvas& canvas, const BarChart& chart, const BarLayout& layout, size_t series_index,
              size_t category, double top, double thickness, const Paint& paint) {
  const BarSeries& series = chart.series[series_index];
  const double middle = top + thickness / 2, zero = layout.value(0);
  double end = zero;
  if (is_shown(series.values[category])) {
    const double value = series.values[category], error = error_of(series, category);
    const std::string tip =
        fmt::format("{}{}{}: {}", chart.categories[category], series.label.empty() ? "" : ", ", series.label,
                    value_text(series, category, layout.decimals));
    const double at = layout.value(value);
    canvas.rect({std::min(zero, at), top, std::abs(at - zero), thickness}, paint, tip);
    end = layout.value(value + (value < 0 ? -error : error));
    if (error > 0)
      canvas.line(layout.value(value - error), middle, layout.value(value + error), middle,
                  {Paint::ink(), 1.2});
  }
  if (!chart.show_values) return;
  const bool negative = is_shown(series.values[category]) && series.values[category] < 0;
  canvas.text(end + (negative ? -5 : 5), middle + 4, value_text(series, category, layout.decimals),
              {.anchor = negative ? TextStyle::Anchor::end : TextStyle::Anchor::start,
               .size = 10.5,
               .paint = Paint::muted()});
}

}  // namespace

void check(const BarChart& chart) {
  for (const auto& series : chart.series) {
    require(series.values.size() == chart.categories.size(), ErrorKind::usage,
            "the bars \"{}\" of the chart \"{}\" must have one value for each of {} categories, got {}",
            series.label, chart.title, chart.categories.size(), series.values.size());
    require(series.errors.empty() || series.errors.size() == series.values.size(), ErrorKind::usage,
            "the bars \"{}\" of the chart \"{}\" have {} values but {} errors", series.label, chart.title,
            series.values.size(), series.errors.size());
  }
}

std::vector<LegendEntry> legend_of(const BarChart& chart) {
  std::vector<LegendEntry> entries;
  const auto colors = colors_of(chart);
  if (chart.series.size() < 2) return entries;
  for (size_t i = 0; i < chart.series.size(); ++i)
    entries.push_back(
        {shorten(chart.series[i].label, 40), Paint::series(colors[i]), LegendEntry::Kind::area, "", 1});
  return entries;
}

double natural_height(const BarChart& chart, double width) {
  const double heading = (chart.title.empty() ? 0 : 22) + legend_height(width, legend_of(chart));
  const auto bars = static_cast<double>(std::max<size_t>(1, chart.series.size()));
  const auto categories = static_cast<double>(std::max<size_t>(1, shown_categories(chart)));
  return heading + categories * (bars * kBar + kGap) + 28 + (chart.value.label.empty() ? 0 : 18);
}

void draw(Canvas& canvas, const BarChart& chart, const Rect& area, bool legend) {
  std::string title = chart.title;
  if (chart.categories.size() > kMaxCategories)
    title += fmt::format(" (first {} of {})", kMaxCategories, chart.categories.size());
  const Rect inner =
      draw_heading(canvas, area, title, legend ? legend_of(chart) : std::vector<LegendEntry>{});
  const Range range = value_range(chart);
  const BarLayout layout = lay_out(chart, inner, range);
  draw_axes(canvas, chart, layout, range, inner);
  if (chart.series.empty() || chart.categories.empty()) {
    canvas.text(layout.plot.x + layout.plot.width / 2, layout.plot.y + layout.plot.height / 2, "no data",
                {.anchor = TextStyle::Anchor::middle, .paint = Paint::muted()});
    return;
  }
  const auto colors = colors_of(chart);
  const auto bars = static_cast<double>(chart.series.size());
  const double height = layout.category_height;
  const double thickness = std::min((height - std::min(kGap, height * 0.35)) / bars, 48.0);
  for (size_t category = 0; category < shown_categories(chart); ++category)
    for (size_t i = 0; i < chart.series.size(); ++i) {
      const double top =
          layout.plot.y + height * static_cast<double>(category) + (height - bars * thickness) / 2;
      draw_bar(canvas, chart, layout, i, category, top + thickness * static_cast<double>(i), thickness - 1,
               Paint::series(colors[i]));
    }
  const double zero = layout.value(0);
  const Rect& plot = layout.plot;
  canvas.line(zero, plot.y, zero, plot.bottom(), {Paint::axis()});
  if (chart.show_values) canvas.line(plot.x, plot.bottom(), plot.right(), plot.bottom(), {Paint::axis()});
}

}  // namespace modewise::report
