#pragma once
// Report page as one self-contained HTML file: no network access, no scripts, light and dark mode, printable.
// All text is escaped.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "modewise/report/figure.h"
#include "modewise/report/table.h"

namespace modewise::report {

struct CaptionedFigure {
  Figure figure;
  std::string caption;
};

struct CaptionedImage {
  std::string png;      // the file's bytes
  std::string caption;  // also the alt text
};

class HtmlPage {
 public:
  explicit HtmlPage(std::string title, std::string subtitle = "");

  /// Adds an entry to the list in the header: run name, date, machine, ….
  void add_fact(std::string name, std::string value);
  /// Adds a heading (level 2 or 3), also to the table of contents.
  void add_section(const std::string& heading, int level = 2);
  void add_paragraph(const std::string& text);
  void add_figure(const Figure& figure, const std::string& caption = "");
  /// Adds a grid of figures, each at least `min_width` CSS pixels wide.
  void add_figure_grid(const std::vector<CaptionedFigure>& figures, double min_width = 420);
  /// Adds a grid of PNG images without smoothing, each at most `width` CSS pixels wide.
  void add_figures(const std::vector<CaptionedImage>& figures, double width = 320);
  void add_table(const Table& table, const std::string& caption = "");
  /// Adds monospaced text, such as a config; collapsed under `summary` if that is not empty.
  void add_preformatted(const std::string& text, const std::string& summary = "");

  std::string html() const;
  /// Writes html() atomically.
  void write(const std::filesystem::path& path) const;

 private:
  struct Heading {
    std::string text, id;
    int level;
  };
  std::string next_figure(const Figure& figure, const std::string& caption, double width);

  std::string title_, subtitle_;
  std::vector<std::pair<std::string, std::string>> facts_;
  std::vector<Heading> headings_;
  std::string body_;
  int figures_ = 0, tables_ = 0;
};

}  // namespace modewise::report
