#pragma once
// Writes the elements of one SVG figure. Every element carries its colours for light paper as attributes, so
// that any renderer shows them; dark_style() has the rules that replace them by class on a dark screen.

#include <string>
#include <string_view>

#include "modewise/report/color.h"

namespace modewise::report {

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

/// A colour that may differ on a dark screen: `hex` on light paper, `name` the suffix of its class (empty:
/// the same on both).
struct Paint {
  std::string hex, name;
  static Paint ink() { return {"#1d2129", "i"}; }
  static Paint muted() { return {"#667080", "m"}; }
  static Paint grid() { return {"#e3e6eb", "g"}; }
  static Paint axis() { return {"#9aa3af", "a"}; }
  static Paint paper() { return {"#ffffff", "p"}; }
  static Paint fixed(Color color) { return {color.hex(), ""}; }
  /// An index of the qualitative colours, kInkColor or kMutedColor.
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
  /// `tip` is shown when the pointer rests on it.
  void rect(const Rect& rect, const Paint& fill, std::string_view tip = {}, double radius = 0);
  void circle(double x, double y, double radius, const Paint& fill);
  void text(double x, double y, std::string_view text, const TextStyle& style = {});
  void stroke(std::string_view path, const StrokeStyle& style);
  void fill(std::string_view path, const Paint& paint, double opacity);
  /// A PNG stretched over `rect` without smoothing.
  void image(const Rect& rect, std::string_view png);
  void gradient_bar(const Rect& rect, ColorScale scale);
  /// What follows until end_clip() shows inside `rect` alone.
  void begin_clip(const Rect& rect);
  /// What follows until end_crisp() is drawn without smoothing, so that touching cells show no seams.
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

/// CSS rules for a dark screen, to be put inside `@media (prefers-color-scheme: dark)`.
std::string dark_style();

}  // namespace modewise::report
