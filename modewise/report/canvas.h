#pragma once
// SVG writer for the elements of one figure. Colours for a light background are attributes, which every
// renderer supports; the CSS rules of dark_style() replace them by class on a dark screen.

#include <string>
#include <string_view>

#include "modewise/report/color.h"

namespace modewise::report {

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

/// A colour that may differ on a dark screen: `hex` on a light background, `name` the suffix of its CSS class
/// (empty: the same on both).
struct Paint {
  std::string hex, name;
  static Paint ink() { return {"#1d2129", "i"}; }
  static Paint muted() { return {"#667080", "m"}; }
  static Paint grid() { return {"#e3e6eb", "g"}; }
  static Paint axis() { return {"#9aa3af", "a"}; }
  static Paint paper() { return {"#ffffff", "p"}; }
  static Paint fixed(Color color) { return {color.hex(), ""}; }
  /// `index`: a qualitative colour, kInkColor or kMutedColor.
  static Paint series(int index);
};

struct TextStyle {
  enum class Anchor { start, middle, end };
  Anchor anchor = Anchor::start;
  double size = 11;
  bool bold = false;
  double rotate = 0;  // degrees about the anchor
  Paint paint = Paint::ink();
};

struct StrokeStyle {
  Paint paint = Paint::ink();
  double width = 1;
  std::string dash = {};  // stroke-dasharray; empty: solid
};

class Canvas {
 public:
  explicit Canvas(std::string id) : id_(std::move(id)) {}

  void line(double x1, double y1, double x2, double y2, const StrokeStyle& style);
  /// `tip`: tooltip.
  void rect(const Rect& rect, const Paint& fill, std::string_view tip = {}, double radius = 0);
  void circle(double x, double y, double radius, const Paint& fill);
  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  void stroke(std::string_view path, const StrokeStyle& style);
  void fill(std::string_view path, const Paint& paint, double opacity);
  /// Draws a PNG stretched over `rect` without smoothing.
  void image(const Rect& rect, std::string_view png);
  void gradient_bar(const Rect& rect, ColorScale scale);
  /// Clips the following elements to `rect`, until end_clip().
  void begin_clip(const Rect& rect);
  /// Draws the following elements without antialiasing, until end_crisp(), so that adjacent cells show no
  /// seams.
  void begin_crisp() { out_ += "<g shape-rendering=\"crispEdges\">\n"; }
  void end_clip() { out_ += "</g>\n"; }
  void end_crisp() { out_ += "</g>\n"; }

  const std::string& content() const { return out_; }

 private:
  std::string fresh_id();

  std::string id_, out_;
  int ids_ = 0;
};

/// `value` with at most two decimals, no trailing zeros.
std::string coordinate(double value);

/// CSS rules for a dark screen, for use inside `@media (prefers-color-scheme: dark)`.
std::string dark_style();

}  // namespace modewise::report
