#include "modewise/report/html_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/report/canvas.h"
#include "modewise/report/markup.h"

namespace modewise::report {
namespace {

constexpr std::string_view kStyle = R"css(
:root{color-scheme:light dark;--ink:#1d2129;--muted:#667080;--line:#dfe3e9;--paper:#fff;--panel:#f7f8fa;--accent:#0072b2}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.55 "Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif}
main{max-width:1080px;margin:0 auto;padding:2.2rem 1.4rem 4rem}
h1{font-size:1.75rem;line-height:1.2;margin:0}
h2{font-size:1.25rem;margin:2.4rem 0 .7rem;padding-top:.5rem;border-top:1px solid var(--line)}
h3{font-size:1.02rem;margin:1.6rem 0 .5rem}
p{max-width:46rem;margin:.6rem 0}
a{color:var(--accent)}
.subtitle{color:var(--muted);margin:.3rem 0 1.2rem}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.2rem;margin:1.2rem 0;padding:.8rem 1rem;background:var(--panel);border-radius:6px;font-size:.9rem}
dt{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere}
nav{font-size:.9rem;margin:1rem 0}
nav ol{list-style:none;margin:0;padding:0;columns:3 14rem}
nav .sub{padding-left:1rem}
nav a{text-decoration:none}
nav a:hover{text-decoration:underline}
figure{margin:1rem 0;break-inside:avoid}
figure svg{max-width:100%;height:auto;display:block}
.grid{display:grid;gap:1rem 1.4rem;align-items:start}
.grid figure{margin:0}
.grid svg{width:100%;max-width:640px}
figcaption{font-size:.87rem;color:var(--muted);max-width:46rem}
.scroll{overflow-x:auto;margin:.5rem 0 1.2rem}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.28rem .8rem;text-align:left;white-space:nowrap}
thead th{border-bottom:1.5px solid var(--ink);font-weight:600;vertical-align:bottom}
tbody tr:last-child td{border-bottom:1.5px solid var(--ink)}
tr.rule td{border-top:1px solid var(--line)}
th.n,td.n{text-align:right}
td strong{color:var(--accent)}
pre{background:var(--panel);padding:.8rem 1rem;border-radius:6px;overflow-x:auto;font:12.5px/1.45 ui-monospace,"DejaVu Sans Mono",Menlo,Consolas,monospace}
summary{cursor:pointer;color:var(--accent);font-size:.9rem}
)css";

constexpr std::string_view kDarkPage =
    ":root{--ink:#e6e9ee;--muted:#9aa4b2;--line:#2c323c;--paper:#14171c;--panel:#1c2027;--accent:#6db3e8}";

constexpr std::string_view kPrint =
    "@media print{:root{color-scheme:light;--ink:#000;--muted:#444;--line:#bbb;--paper:#fff;--panel:#fff;"
    "--accent:#000}body{font-size:10.5pt}main{max-width:none;padding:0}nav{display:none}"
    "h2,h3{break-after:avoid}table,pre{break-inside:avoid}.scroll{overflow:visible}pre{white-space:pre-wrap}"
    "a{text-decoration:none}}";

// "Error by horizon" -> "error-by-horizon"; ASCII letters and digits only, so that it is a safe id and link.
std::string slug(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if ((lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9')) {
      out.push_back(lower);
    } else if (!out.empty() && out.back() != '-') {
      out.push_back('-');
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out.empty() ? "section" : out;
}

}  // namespace

HtmlPage::HtmlPage(std::string title, std::string subtitle)
    : title_(std::move(title)), subtitle_(std::move(subtitle)) {}

void HtmlPage::add_fact(std::string name, std::string value) {
  facts_.emplace_back(std::move(name), std::move(value));
}

void HtmlPage::add_section(const std::string& heading, int level) {
  require(level == 2 || level == 3, ErrorKind::usage, "a section's level must be 2 or 3, got {}", level);
  const std::string wanted = slug(heading);
  std::string id = wanted;
  const auto taken = [&] {
    return std::any_of(headings_.begin(), headings_.end(),
                       [&](const Heading& other) { return other.id == id; });
  };
  for (int i = 2; taken(); ++i) id = fmt::format("{}-{}", wanted, i);
  headings_.push_back({heading, id, level});
  body_ += fmt::format("<h{0} id=\"{1}\">{2}</h{0}>\n", level, id, escape_markup(heading));
}

void HtmlPage::add_paragraph(const std::string& text) {
  body_ += fmt::format("<p>{}</p>\n", escape_markup(text));
}

std::string HtmlPage::next_figure(const Figure& figure, const std::string& caption, double width) {
  SvgOptions options{.width = width,
                     .standalone = false,
                     .id = fmt::format("figure-{}", ++figures_),
                     .description = caption};
  std::string out = "<figure>\n" + to_svg(figure, options);
  if (!caption.empty())
    out += fmt::format("<figcaption><b>Figure {}.</b> {}</figcaption>\n", figures_, escape_markup(caption));
  return out + "</figure>\n";
}

void HtmlPage::add_figure(const Figure& figure, const std::string& caption) {
  body_ += next_figure(figure, caption, 0);
}

void HtmlPage::add_figure_grid(const std::vector<CaptionedFigure>& figures, double min_width) {
  body_ += fmt::format(
      "<div class=\"grid\" style=\"grid-template-columns:repeat(auto-fill,minmax(min(100%,{}px),1fr))\">\n",
      coordinate(min_width));
  for (const auto& [figure, caption] : figures) body_ += next_figure(figure, caption, min_width);
  body_ += "</div>\n";
}

void HtmlPage::add_figures(const std::vector<CaptionedImage>& figures, double width) {
  body_ += fmt::format(
      "<div class=\"grid\" style=\"grid-template-columns:repeat(auto-fill,minmax(min(100%,{}px),1fr))\">\n",
      coordinate(width));
  for (const CaptionedImage& figure : figures) {
    const std::string text = escape_markup(figure.caption);
    body_ += fmt::format(
        "<figure><img style=\"width:100%;image-rendering:pixelated\" alt=\"{}\" "
        "src=\"data:image/png;base64,{}\"/>\n"
        "<figcaption>{}</figcaption></figure>\n",
        text, base64(figure.png), text);
  }
  body_ += "</div>\n";
}

void HtmlPage::add_table(const Table& table, const std::string& caption) {
  ++tables_;
  body_ += "<figure>\n";
  if (!caption.empty())
    body_ += fmt::format("<figcaption><b>Table {}.</b> {}</figcaption>\n", tables_, escape_markup(caption));
  body_ += "<div class=\"scroll\">\n" + table.to_html() + "</div>\n</figure>\n";
}

void HtmlPage::add_preformatted(const std::string& text, const std::string& summary) {
  const std::string block = fmt::format("<pre>{}</pre>\n", escape_markup(text));
  body_ += summary.empty()
               ? block
               : fmt::format("<details><summary>{}</summary>\n{}</details>\n", escape_markup(summary), block);
}

std::string HtmlPage::html() const {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";
  // Nothing may be loaded or run, whatever text the page contains.
  out +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "img-src data:\"/>\n";
  out += fmt::format("<title>{}</title>\n", escape_markup(title_));
  out += fmt::format(
      "<style>{}@media screen and (prefers-color-scheme: dark){{{}{}}}{}</style>\n</head>\n<body>\n<main>\n",
      kStyle, kDarkPage, dark_style(), kPrint);
  out += fmt::format("<header>\n<h1>{}</h1>\n", escape_markup(title_));
  if (!subtitle_.empty()) out += fmt::format("<p class=\"subtitle\">{}</p>\n", escape_markup(subtitle_));
  if (!facts_.empty()) {
    out += "<dl>\n";
    for (const auto& [name, value] : facts_)
      out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(name), escape_markup(value));
    out += "</dl>\n";
  }
  if (headings_.size() > 1) {
    out += "<nav aria-label=\"Contents\"><ol>\n";
    for (const auto& heading : headings_)
      out += fmt::format("<li{}><a href=\"#{}\">{}</a></li>\n", heading.level == 3 ? " class=\"sub\"" : "",
                         heading.id, escape_markup(heading.text));
    out += "</ol></nav>\n";
  }
  return out + "</header>\n" + body_ + "</main>\n</body>\n</html>\n";
}

void HtmlPage::write(const std::filesystem::path& path) const {
  write_file_atomically(path, html());
}

}  // namespace modewise::report
