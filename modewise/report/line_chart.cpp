#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "modewise/core/error.h"
#include "modewise/report/markup.h"
#include "modewise/report/plot.h"

namespace modewise::report {
namespace {

constexpr double kBandOpacity = 0.2;

double x_of(const LineSeries& series, size_t i) {
  return series.x.empty() ? static_cast<double>(i) : series.x[i];
}

std::string dash_of(const LineSeries& series, int color) {
  if (series.style == LineSeries::Style::dashed) return "6 4";
  if (series.style == LineSeries::Style::dotted) return "1.5 3";
  constexpr std::array<const char*, 4> rounds = {"", "8 3", "3 2",
                                                 "8 3 2 3"};  // dash patterns of reused colours
  return color < 0 ? "" : rounds[static_cast<size_t>(color / kSeriesColors) % rounds.size()];
}

struct Frame {
  Rect plot;
  Scale x, y;
  AxisScale x_scale, y_scale;
};

void draw_x_axis(Canvas& canvas, const Axis& axis, const Frame& frame, const std::vector<Tick>& ticks,
                 bool context) {
  const Rect& plot = frame.plot;
  canvas.line(plot.x, plot.bottom(), plot.right(), plot.bottom(), {Paint::axis()});
  for (const Tick& tick : ticks) {
    const double at = frame.x(tick.position);
    canvas.line(at, plot.bottom(), at, plot.bottom() + 4, {Paint::axis()});
    canvas.text(at, plot.bottom() + 16, tick.label,
                {.anchor = TextStyle::Anchor::middle, .paint = Paint::muted()});
    if (!tick.context.empty())
      canvas.text(at, plot.bottom() + 29, tick.context,
                  {.anchor = TextStyle::Anchor::middle, .paint = Paint::muted()});
  }
  if (!axis.label.empty())
    canvas.text(plot.x + plot.width / 2, plot.bottom() + (context ? 45 : 33), axis.label,
                {.anchor = TextStyle::Anchor::middle});
}

// Lays out and draws the axes inside `area`; returns the plot's rectangle and scales.
Frame draw_frame(Canvas& canvas, const LineChart& chart, const Rect& area) {
  Range x_data(chart.x.scale), y_data(chart.y.scale);
  for (const auto& series : chart.series) {
    for (size_t i = 0; i < series.y.size(); ++i) x_data.include(x_of(series, i));
    y_data.include(series.y);
    for (const auto& band : series.bands) {
      y_data.include(band.lower);
      y_data.include(band.upper);
    }
  }
  for (const auto& mark : chart.marks) x_data.include(mark.x);
  const bool points = std::any_of(chart.series.begin(), chart.series.end(), [](const auto& series) {
    return series.style == LineSeries::Style::points;
  });
  const Range x_range = x_data.for_axis(chart.x, points ? 0.02 : 0), y_range = y_data.for_axis(chart.y, 0.05);

  const auto y_ticks =
      axis_ticks(chart.y.scale, y_range, std::clamp(static_cast<int>(area.height / 55), 2, 8));
  const double spacing = chart.x.scale == AxisScale::date ? 85 : 65;
  const auto x_ticks =
      axis_ticks(chart.x.scale, x_range, std::clamp(static_cast<int>(area.width / spacing), 2, 12));
  double widest = 0;
  for (const Tick& tick : y_ticks) widest = std::max(widest, text_width(tick.label, 11));
  const bool context =
      std::any_of(x_ticks.begin(), x_ticks.end(), [](const Tick& t) { return !t.context.empty(); });
  const double left = widest + 8 + (chart.y.label.empty() ? 0 : 18);
  const double bottom = (context ? 33 : 20) + (chart.x.label.empty() ? 0 : 18);
  const Rect plot{area.x + left, area.y + 6, std::max(1.0, area.width - left - 14),
                  std::max(1.0, area.height - bottom - 6)};
  const Frame frame{plot, Scale(chart.x.scale, x_range, plot.x, plot.right()),
                    Scale(chart.y.scale, y_range, plot.bottom(), plot.y), chart.x.scale, chart.y.scale};
  for (const Tick& tick : y_ticks) {
    const double at = frame.y(tick.position);
    canvas.line(plot.x, at, plot.right(), at, {Paint::grid()});
    canvas.text(plot.x - 6, at + 4, tick.label, {.anchor = TextStyle::Anchor::end, .paint = Paint::muted()});
  }
  draw_x_axis(canvas, chart.x, frame, x_ticks, context);
  if (!chart.y.label.empty())
    canvas.text(area.x + 11, plot.y + plot.height / 2, chart.y.label,
                {.anchor = TextStyle::Anchor::middle, .rotate = -90});
  return frame;
}

// Runs of points without missing values.
std::vector<std::vector<Point>> runs_of(const LineSeries& series, const std::vector<double>& values,
                                        const Frame& frame) {
  std::vector<std::vector<Point>> runs(1);
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_shown(x_of(series, i), frame.x_scale) && is_shown(values[i], frame.y_scale)) {
      runs.back().push_back({frame.x(x_of(series, i)), frame.y(values[i])});
    } else if (!runs.back().empty()) {
      runs.emplace_back();
    }
  }
  if (runs.back().empty()) runs.pop_back();
  return runs;
}

// The lowest (or highest) edge in every pixel column, so that a thinned band covers the whole band.
std::vector<Point> envelope(const std::vector<Point>& points, bool upper) {
  if (points.size() <= 2000) return points;
  std::vector<Point> out;
  for (const Point& point : points) {
    if (out.empty() || std::floor(out.back().x) != std::floor(point.x)) {
      out.push_back(point);
    } else {
      out.back().y = upper ? std::min(out.back().y, point.y) : std::max(out.back().y, point.y);
    }
  }
  out.push_back({points.back().x, out.back().y});
  return out;
}

void draw_band(Canvas& canvas, const LineSeries& series, const Band& band, const Frame& frame,
               const Paint& paint) {
  std::vector<double> lower = band.lower, upper = band.upper;
  for (size_t i = 0; i < lower.size(); ++i)  // a band needs both edges
    if (!is_shown(lower[i], frame.y_scale) || !is_shown(upper[i], frame.y_scale)) lower[i] = upper[i] = NAN;
  const auto lower_runs = runs_of(series, lower, frame), upper_runs = runs_of(series, upper, frame);
  for (size_t i = 0; i < lower_runs.size(); ++i) {
    std::vector<Point> edge = envelope(upper_runs[i], true), back = envelope(lower_runs[i], false);
    edge.insert(edge.end(), back.rbegin(), back.rend());
    canvas.fill(path_through(edge) + "z", paint, kBandOpacity);
  }
}

// Draws at most one dot per cell of a grid that is coarse enough for at most 8,000 dots.
void draw_points(Canvas& canvas, const std::vector<std::vector<Point>>& runs, const Frame& frame,
                 const Paint& paint) {
  size_t total = 0;
  for (const auto& run : runs) total += run.size();
  const double cell = total <= 2000 ? 0.01 : std::sqrt(frame.plot.width * frame.plot.height / 8000);
  std::unordered_set<uint64_t> seen;
  for (const auto& run : runs)
    for (const Point& point : run) {
      const auto column = static_cast<uint64_t>(std::clamp(point.x / cell, 0.0, 1e9));
      const auto row = static_cast<uint64_t>(std::clamp(point.y / cell, 0.0, 1e9));
      if (seen.insert(column << 32 | row).second) canvas.circle(point.x, point.y, 2.2, paint);
    }
}

void draw_series(Canvas& canvas, const LineSeries& series, int color, const Frame& frame) {
  const Paint paint = Paint::series(color);
  const auto runs = runs_of(series, series.y, frame);
  if (series.style == LineSeries::Style::points) return draw_points(canvas, runs, frame, paint);
  for (const auto& run : runs) {
    if (run.size() == 1) {
      canvas.circle(run[0].x, run[0].y, 2.2, paint);
    } else {
      canvas.stroke(path_through(thin(run)), {paint, 1.6, dash_of(series, color)});
    }
  }
}

void draw_marks(Canvas& canvas, const LineChart& chart, const Frame& frame) {
  for (const Mark& mark : chart.marks) {
    if (!is_shown(mark.x, frame.x_scale)) continue;
    const double at = frame.x(mark.x);
    if (at < frame.plot.x - 0.5 || at > frame.plot.right() + 0.5) continue;
    canvas.line(at, frame.plot.y, at, frame.plot.bottom(), {Paint::muted(), 1, "3 3"});
    const bool left = at + text_width(mark.label, 11) + 6 > frame.plot.right();
    canvas.text(
        at + (left ? -5 : 5), frame.plot.y + 9, mark.label,
        {.anchor = left ? TextStyle::Anchor::end : TextStyle::Anchor::start, .paint = Paint::muted()});
  }
}

}  // namespace

void check(const LineChart& chart) {
  for (const auto& series : chart.series) {
    require(series.x.empty() || series.x.size() == series.y.size(), ErrorKind::usage,
            "the series \"{}\" of the chart \"{}\" has {} x and {} y", series.label, chart.title,
            series.x.size(), series.y.size());
    for (const auto& band : series.bands)
      require(band.lower.size() == series.y.size() && band.upper.size() == series.y.size(), ErrorKind::usage,
              "the band \"{}\" of the series \"{}\" must have {} values on each side, got {} and {}",
              band.label, series.label, series.y.size(), band.lower.size(), band.upper.size());
  }
}

std::vector<LegendEntry> legend_of(const LineChart& chart) {
  std::vector<LegendEntry> entries;
  const auto colors = colors_of(chart);
  for (size_t i = 0; i < chart.series.size(); ++i) {
    const auto& series = chart.series[i];
    const Paint paint = Paint::series(colors[i]);
    const auto kind =
        series.style == LineSeries::Style::points ? LegendEntry::Kind::points : LegendEntry::Kind::line;
    if (!series.label.empty())
      entries.push_back({shorten(series.label, 40), paint, kind, dash_of(series, colors[i])});
    double see_through = 1;
    for (const auto& band : series.bands) {
      see_through *= 1 - kBandOpacity;
      if (!band.label.empty())
        entries.push_back({shorten(band.label, 40), paint, LegendEntry::Kind::area, "", 1 - see_through});
    }
  }
  // A single line without a band needs no legend if the title or the axis names it.
  const bool said = !chart.y.label.empty() || !chart.title.empty();
  if (chart.series.size() == 1 && entries.size() == 1 && said) entries.clear();
  return entries;
}

double natural_height(const LineChart& chart, double width) {
  return std::clamp(width * 0.5, 200.0, 340.0) + (chart.title.empty() ? 0 : 22) +
         legend_height(width, legend_of(chart));
}

void draw(Canvas& canvas, const LineChart& chart, const Rect& area, bool legend) {
  const Rect inner =
      draw_heading(canvas, area, chart.title, legend ? legend_of(chart) : std::vector<LegendEntry>{});
  const Frame frame = draw_frame(canvas, chart, inner);
  const bool any = std::any_of(chart.series.begin(), chart.series.end(), [&](const auto& series) {
    return std::any_of(series.y.begin(), series.y.end(),
                       [&](double y) { return is_shown(y, frame.y_scale); });
  });
  if (!any)
    canvas.text(frame.plot.x + frame.plot.width / 2, frame.plot.y + frame.plot.height / 2, "no data",
                {.anchor = TextStyle::Anchor::middle, .paint = Paint::muted()});
  const auto colors = colors_of(chart);
  canvas.begin_clip({frame.plot.x - 2, frame.plot.y - 2, frame.plot.width + 4, frame.plot.height + 4});
  for (size_t i = 0; i < chart.series.size(); ++i)
    for (const auto& band : chart.series[i].bands)
      draw_band(canvas, chart.series[i], band, frame, Paint::series(colors[i]));
  for (size_t i = 0; i < chart.series.size(); ++i) draw_series(canvas, chart.series[i], colors[i], frame);
  canvas.end_clip();
  draw_marks(canvas, chart, frame);
}

}  // namespace modewise::report
