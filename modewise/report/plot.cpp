#include "modewise/report/plot.h"

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/report/markup.h"

namespace modewise::report {
namespace {

constexpr double kLargest = 1e300;  // sums and differences of shown values stay finite
constexpr double kLegendLine = 17, kSwatch = 20;

double entry_width(const LegendEntry& entry) {
  return kSwatch + 6 + text_width(entry.label, 11) + 16;
}

void draw_swatch(Canvas& canvas, double x, double y, const LegendEntry& entry) {
  if (entry.kind == LegendEntry::Kind::area) {
    const Rect box{x, y - 5, kSwatch, 10};
    canvas.fill(fmt::format("M{} {}h{}v{}h-{}z", coordinate(box.x), coordinate(box.y), coordinate(box.width),
                            coordinate(box.height), coordinate(box.width)),
                entry.paint, entry.opacity);
  } else if (entry.kind == LegendEntry::Kind::points) {
    canvas.circle(x + kSwatch / 2, y, 3, entry.paint);
  } else {
    canvas.line(x, y, x + kSwatch, y, {entry.paint, 2, entry.dash});
  }
}

}  // namespace

bool is_shown(double value, AxisScale scale) {
  return std::isfinite(value) && std::abs(value) <= kLargest && (scale != AxisScale::log || value > 1e-300);
}

void Range::include(double value) {
  if (!is_shown(value, scale_)) return;
  if (empty()) low_ = high_ = value;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

void Range::include(std::span<const double> values) {
  for (const double value : values) include(value);
}

Range Range::for_axis(const Axis& axis, double margin) const {
  for (const auto& limit : {axis.min, axis.max})
    require(!limit || is_shown(*limit, axis.scale), ErrorKind::usage, "the axis \"{}\" cannot end at {}",
            axis.label, limit.value_or(0));
  require(!axis.min || !axis.max || *axis.min < *axis.max, ErrorKind::usage,
          "the axis \"{}\" must run from a smaller to a larger number, got {} and {}", axis.label,
          axis.min.value_or(0), axis.max.value_or(0));
  const bool log = axis.scale == AxisScale::log;
  Range out(axis.scale);
  out.low_ = empty() ? (log ? 1 : 0) : low_;
  out.high_ = empty() ? (log ? 10 : 1) : high_;
  if (log) {
    const double pad = out.high_ > out.low_ ? std::pow(out.high_ / out.low_, margin) : 2;
    out.low_ = std::max(out.low_ / pad, 1e-300);
    out.high_ *= pad;
  } else if (out.high_ - out.low_ > std::max(std::abs(out.low_), std::abs(out.high_)) * 1e-12) {
    const double pad = margin * (out.high_ - out.low_);
    out.low_ -= pad;
    out.high_ += pad;
  } else {
    const double pad = axis.scale == AxisScale::date ? 43200 : out.low_ == 0 ? 1 : std::abs(out.low_) / 2;
    out.low_ -= pad;
    out.high_ += pad;
  }
  if (axis.min) out.low_ = *axis.min;
  if (axis.max) out.high_ = *axis.max;
  if (!(out.low_ < out.high_)) (axis.min ? out.high_ : out.low_) = axis.min ? out.low_ + 1 : out.high_ - 1;
  return out;
}

Scale::Scale(AxisScale scale, const Range& range, double first_pixel, double last_pixel)
    : log_(scale == AxisScale::log),
      low_(log_ ? std::log10(range.low()) : range.low()),
      high_(log_ ? std::log10(range.high()) : range.high()),
      first_(first_pixel),
      last_(last_pixel) {}

double Scale::operator()(double value) const {
  const double at = log_ ? std::log10(value) : value;
  return first_ + (at - low_) / (high_ - low_) * (last_ - first_);
}

std::vector<Tick> axis_ticks(AxisScale scale, const Range& range, int count) {
  if (scale == AxisScale::log) return log_ticks(range.low(), range.high(), count);
  if (scale == AxisScale::date) return date_ticks(range.low(), range.high(), count);
  return number_ticks(range.low(), range.high(), count);
}

double legend_height(double width, const std::vector<LegendEntry>& entries) {
  double x = 0, lines = entries.empty() ? 0 : 1;
  for (const auto& entry : entries) {
    if (x > 0 && x + entry_width(entry) - 16 > width) {
      x = 0;
      ++lines;
    }
    x += entry_width(entry);
  }
  return lines * kLegendLine;
}

double draw_legend(Canvas& canvas, double x, double y, double width,
                   const std::vector<LegendEntry>& entries) {
  double at = 0, line = 0;
  for (const auto& entry : entries) {
    if (at > 0 && at + entry_width(entry) - 16 > width) {
      at = 0;
      ++line;
    }
    const double middle = y + line * kLegendLine + kLegendLine / 2;
    draw_swatch(canvas, x + at, middle, entry);
    canvas.text(x + at + kSwatch + 6, middle + 4, entry.label);
    at += entry_width(entry);
  }
  return legend_height(width, entries);
}

Rect draw_heading(Canvas& canvas, const Rect& area, const std::string& title,
                  const std::vector<LegendEntry>& entries) {
  double y = area.y;
  if (!title.empty()) {
    canvas.text(area.x, y + 13, title, {.size = 13, .bold = true});
    y += 22;
  }
  if (!entries.empty()) y += draw_legend(canvas, area.x, y, area.width, entries) + 6;
  return {area.x, y, area.width, area.bottom() - y};
}

std::vector<Point> thin(std::vector<Point> points) {
  if (points.size() <= 2000) return points;
  std::vector<Point> out;
  for (size_t begin = 0; begin < points.size();) {
    size_t end = begin, low = begin, high = begin;
    const double column = std::floor(points[begin].x);
    for (; end < points.size() && std::floor(points[end].x) == column; ++end) {
      if (points[end].y < points[low].y) low = end;
      if (points[end].y > points[high].y) high = end;
    }
    size_t last = points.size();
    for (const size_t index : {begin, std::min(low, high), std::max(low, high), end - 1}) {
      if (index != last) out.push_back(points[index]);
      last = index;
    }
    begin = end;
  }
  return out;
}

std::string path_through(std::span<const Point> points) {
  std::string out;
  for (const Point& point : points) {
    out += out.empty() ? "M" : "L";
    out += coordinate(point.x) + " " + coordinate(point.y);
  }
  return out;
}

std::vector<int> resolve_colors(std::span<const int> colors) {
  std::vector<int> out(colors.begin(), colors.end());
  int next = 0;
  for (int& color : out) {
    if (color != kAutomaticColor) continue;
    while (std::find(colors.begin(), colors.end(), next) != colors.end()) ++next;
    color = next++;
  }
  return out;
}

}  // namespace modewise::report
