#include "modewise/report/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "modewise/report/figure.h"
#include "modewise/report/markup.h"

namespace modewise::report {
namespace {

std::string fill_attributes(const Paint& paint) {
  return paint.name.empty() ? fmt::format("fill=\"{}\"", paint.hex)
                            : fmt::format("class=\"f{}\" fill=\"{}\"", paint.name, paint.hex);
}

std::string stroke_attributes(const StrokeStyle& style) {
  std::string out = style.paint.name.empty()
                        ? fmt::format("stroke=\"{}\"", style.paint.hex)
                        : fmt::format("class=\"k{}\" stroke=\"{}\"", style.paint.name, style.paint.hex);
  if (style.width != 1) out += fmt::format(" stroke-width=\"{}\"", coordinate(style.width));
  if (!style.dash.empty()) out += fmt::format(" stroke-dasharray=\"{}\"", style.dash);
  return out;
}

std::string rect_attributes(const Rect& rect) {
  return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", coordinate(rect.x), coordinate(rect.y),
                     coordinate(std::max(0.0, rect.width)), coordinate(std::max(0.0, rect.height)));
}

}  // namespace

std::string coordinate(double value) {
  // Clamped: coordinates far outside make no visible difference, but some renderers overflow.
  const double rounded = std::round(std::clamp(std::isnan(value) ? 0.0 : value, -1e5, 1e5) * 100) / 100;
  std::string text = fmt::format("{:.2f}", rounded == 0 ? 0.0 : rounded);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

Paint Paint::series(int index) {
  if (index == kInkColor) return ink();
  if (index < 0) return muted();
  return {series_color(index).hex(), std::to_string(index % kSeriesColors)};
}

std::string Canvas::fresh_id() {
  return fmt::format("{}-{}", escape_markup(id_), ++ids_);
}

void Canvas::line(double x1, double y1, double x2, double y2, const StrokeStyle& style) {
  out_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n", coordinate(x1), coordinate(y1),
                      coordinate(x2), coordinate(y2), stroke_attributes(style));
}

void Canvas::rect(const Rect& rect, const Paint& fill, std::string_view tip, double radius) {
  out_ += fmt::format("<rect {} {}", rect_attributes(rect), fill_attributes(fill));
  if (radius > 0) out_ += fmt::format(" rx=\"{}\"", coordinate(radius));
  out_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escape_markup(tip));
}

void Canvas::circle(double x, double y, double radius, const Paint& fill) {
  out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" {}/>\n", coordinate(x), coordinate(y),
                      coordinate(radius), fill_attributes(fill));
}

void Canvas::text(double x, double y, std::string_view text, const TextStyle& style) {
  out_ +=
      fmt::format("<text x=\"{}\" y=\"{}\" {}", coordinate(x), coordinate(y), fill_attributes(style.paint));
  if (style.anchor == TextStyle::Anchor::middle) out_ += " text-anchor=\"middle\"";
  if (style.anchor == TextStyle::Anchor::end) out_ += " text-anchor=\"end\"";
  if (style.size != 11) out_ += fmt::format(" font-size=\"{}\"", coordinate(style.size));
  if (style.bold) out_ += " font-weight=\"600\"";
  if (style.rotate != 0)
    out_ += fmt::format(" transform=\"rotate({} {} {})\"", coordinate(style.rotate), coordinate(x),
                        coordinate(y));
  out_ += fmt::format(">{}</text>\n", escape_markup(text));
}

void Canvas::stroke(std::string_view path, const StrokeStyle& style) {
  out_ += fmt::format("<path d=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>\n", path,
                      stroke_attributes(style));
}

void Canvas::fill(std::string_view path, const Paint& paint, double opacity) {
  out_ += fmt::format("<path d=\"{}\" {} fill-opacity=\"{}\"/>\n", path, fill_attributes(paint),
                      coordinate(opacity));
}

void Canvas::image(const Rect& rect, std::string_view png) {
  out_ += fmt::format(
      "<image {} preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
      "href=\"data:image/png;base64,{}\"/>\n",
      rect_attributes(rect), base64(png));
}

void Canvas::gradient_bar(const Rect& rect, ColorScale scale) {
  constexpr int stops = 16;
  const std::string id = fresh_id();
  out_ += fmt::format("<linearGradient id=\"{}\" x1=\"0\" y1=\"1\" x2=\"0\" y2=\"0\">", id);
  for (int i = 0; i <= stops; ++i) {
    const double at = static_cast<double>(i) / stops;
    out_ += fmt::format("<stop offset=\"{}\" stop-color=\"{}\"/>", at, scale_color(scale, at).hex());
  }
  out_ += fmt::format("</linearGradient>\n<rect {} fill=\"url(#{})\"/>\n", rect_attributes(rect), id);
}

void Canvas::begin_clip(const Rect& rect) {
  const std::string id = fresh_id();
  out_ += fmt::format("<clipPath id=\"{}\"><rect {}/></clipPath>\n<g clip-path=\"url(#{})\">\n", id,
                      rect_attributes(rect), id);
}

std::string dark_style() {
  std::string out;
  const auto rule = [&](std::string_view name, std::string_view hex) {
    out += fmt::format("svg.mw .f{0}{{fill:{1}}}svg.mw .k{0}{{stroke:{1}}}", name, hex);
  };
  rule("i", "#e6e9ee");
  rule("m", "#9aa4b2");
  rule("g", "#2c323c");
  rule("a", "#5b6573");
  rule("p", "#14171c");
  for (int i = 0; i < kSeriesColors; ++i) rule(std::to_string(i), series_color(i, true).hex());
  return out;
}

}  // namespace modewise::report
