#include "modewise/report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "modewise/core/error.h"
#include "modewise/report/markup.h"
#include "modewise/report/plot.h"

namespace modewise::report {
namespace {

constexpr double kMargin = 10, kPanelGap = 22;

struct Size {
  double width, height;
};

double default_width(const Panel& panel) {
  if (const auto* map = std::get_if<HeatMap>(&panel)) return map->columns > 4 * map->rows ? 720 : 420;
  return 720;
}

Size size_of(const Panel& panel, const SvgOptions& options) {
  const double width = options.width > 0 ? options.width - 2 * kMargin : default_width(panel);
  const double height =
      options.height > 0 ? options.height - 2 * kMargin
                         : std::visit([&](const auto& chart) { return natural_height(chart, width); }, panel);
  require(width > 0 && height > 0, ErrorKind::usage, "a figure of {} x {} pixels is too small to draw",
          options.width, options.height);
  return {width, height};
}

std::string wrap(const Canvas& canvas, const Size& size, const std::string& title,
                 const SvgOptions& options) {
  const double width = size.width + 2 * kMargin, height = size.height + 2 * kMargin;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"mw\" role=\"img\" viewBox=\"0 0 {0} {1}\" "
      "width=\"{0}\" "
      "height=\"{1}\" font-family=\"Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif\" "
      "font-size=\"11\">\n",
      coordinate(width), coordinate(height));
  const std::string description = options.description.empty() ? title : options.description;
  if (!description.empty()) out += fmt::format("<desc>{}</desc>\n", escape_markup(description));
  if (options.standalone) {
    out += fmt::format("<style>@media (prefers-color-scheme: dark){{{}}}</style>\n", dark_style());
    out += fmt::format("<rect class=\"fp\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", coordinate(width),
                       coordinate(height), Paint::paper().hex);
  }
  return out + canvas.content() + "</svg>\n";
}

void share_line_ranges(Panels& figure) {
  Range x, y;
  for (const auto& panel : figure.panels)
    if (const auto* chart = std::get_if<LineChart>(&panel))
      for (const auto& series : chart->series) {
        if (series.x.empty() && !series.y.empty()) {
          x.include(0.0);
          x.include(static_cast<double>(series.y.size() - 1));
        }
        x.include(series.x);
        y.include(series.y);
        for (const auto& band : series.bands) {
          y.include(band.lower);
          y.include(band.upper);
        }
      }
  for (auto& panel : figure.panels)
    if (auto* chart = std::get_if<LineChart>(&panel)) {
      const auto share = [](Axis& axis, const Range& range, double margin) {
        if (range.empty() || axis.min || axis.max || axis.scale == AxisScale::log) return;
        const Range wide = range.for_axis(axis, margin);
        axis.min = wide.low();
        axis.max = wide.high();
      };
      if (figure.share_x) share(chart->x, x, 0);
      if (figure.share_y) share(chart->y, y, 0.05);
    }
}

// Gives every heat map the common range, and returns the one whose colour bar is drawn for all.
std::optional<HeatMap> share_color_range(Panels& figure) {
  Range values;
  for (const auto& panel : figure.panels)
    if (const auto* map = std::get_if<HeatMap>(&panel)) values.include(map->values);
  if (values.empty() || !figure.share_color) return std::nullopt;
  std::optional<HeatMap> shared;
  for (auto& panel : figure.panels)
    if (auto* map = std::get_if<HeatMap>(&panel)) {
      HeatMap all{.value_label = map->value_label, .rows = 1, .columns = 2, .scale = map->scale};
      all.values = {values.low(), values.high()};
      const Range range = color_range(all);
      if (!map->min) map->min = range.low();
      if (!map->max) map->max = range.high();
      if (!shared && map->color_bar) shared = *map;
      map->color_bar = false;
    }
  return shared;
}

bool same_entries(const std::vector<LegendEntry>& a, const std::vector<LegendEntry>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const LegendEntry& left, const LegendEntry& right) {
                      return left.label == right.label && left.paint.hex == right.paint.hex &&
                             left.kind == right.kind && left.dash == right.dash;
                    });
}

std::vector<LegendEntry> legend_of_panel(const Panel& panel) {
  if (const auto* line = std::get_if<LineChart>(&panel)) return legend_of(*line);
  if (const auto* bars = std::get_if<BarChart>(&panel)) return legend_of(*bars);
  return {};
}

// The legend common to all panels, drawn once; empty if they differ.
std::vector<LegendEntry> common_legend(const Panels& figure) {
  if (figure.panels.size() < 2) return {};
  const auto first = legend_of_panel(figure.panels[0]);
  for (const auto& panel : figure.panels)
    if (!same_entries(first, legend_of_panel(panel))) return {};
  return first;
}

std::string panels_svg(Panels figure, const SvgOptions& options) {
  require(figure.columns >= 1, ErrorKind::usage, "the figure \"{}\" needs at least one column, got {}",
          figure.title, figure.columns);
  share_line_ranges(figure);
  const std::optional<HeatMap> color_bar = share_color_range(figure);
  const auto columns =
      std::min(static_cast<size_t>(figure.columns), std::max<size_t>(1, figure.panels.size()));
  const auto legend = common_legend(figure);
  SvgOptions panel_options = options;
  if (options.width <= 0)
    panel_options.width = std::max(220.0, 860.0 / static_cast<double>(columns)) + 2 * kMargin;

  std::vector<Size> sizes;
  for (const auto& panel : figure.panels) sizes.push_back(size_of(panel, panel_options));
  const double width = sizes.empty() ? 400 : sizes[0].width;
  const double total = static_cast<double>(columns) * (width + kPanelGap) - kPanelGap;
  Canvas canvas(options.id);
  const double top = draw_heading(canvas, {kMargin, kMargin, total, 0}, figure.title, legend).y + 4;
  double y = top;
  for (size_t first = 0; first < figure.panels.size(); first += columns) {
    double height = 0;
    for (size_t i = first; i < std::min(first + columns, sizes.size()); ++i)
      height = std::max(height, sizes[i].height);
    for (size_t i = first; i < std::min(first + columns, sizes.size()); ++i) {
      const Rect area{kMargin + static_cast<double>(i - first) * (width + kPanelGap), y, width, height};
      std::visit([&](const auto& chart) { draw(canvas, chart, area, legend.empty()); }, figure.panels[i]);
    }
    y += height + (first + columns < figure.panels.size() ? kPanelGap : 0);
  }
  if (!color_bar) return wrap(canvas, {total, y - kMargin}, figure.title, options);
  const double height = std::min(y - top - 30, 320.0);
  draw_color_bar(canvas, *color_bar, {kMargin, top + 26, total, std::max(40.0, height - 26)});
  return wrap(canvas, {total + color_bar_width(*color_bar), y - kMargin}, figure.title, options);
}

}  // namespace

std::string to_svg(const Figure& figure, const SvgOptions& options) {
  if (const auto* panels = std::get_if<Panels>(&figure)) {
    for (const auto& panel : panels->panels) std::visit([](const auto& chart) { check(chart); }, panel);
    return panels_svg(*panels, options);
  }
  return std::visit(
      [&](const auto& chart) -> std::string {
        if constexpr (!std::is_same_v<std::decay_t<decltype(chart)>, Panels>) {
          check(chart);
          const Size size = size_of(chart, options);
          Canvas canvas(options.id);
          draw(canvas, chart, {kMargin, kMargin, size.width, size.height});
          return wrap(canvas, size, chart.title, options);
        }
        return "";
      },
      figure);
}

}  // namespace modewise::report
