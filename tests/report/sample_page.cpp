// Writes a page with every kind of figure and table, with hostile names, for visual inspection and for
// tests/python/test_report.py, which checks that it is well-formed. Usage: report_sample FOLDER

#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/random.h"
#include "modewise/report/html_page.h"

using namespace modewise;
using namespace modewise::report;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kHour = 3600, kStart = 1467331200;  // 2016-07-01T00:00:00

double noise(int64_t i) {
  // A sum of incommensurate waves: irregular enough for a figure, and reproducible.
  const auto t = static_cast<double>(i);
  return 0.6 * std::sin(12.9898 * t) + 0.4 * std::sin(78.233 * t + 1);
}

LineChart forecast_chart() {
  LineSeries past{.label = "observed", .color = kInkColor};
  LineSeries forecast{.label = "hot, median"};
  Band wide{{}, {}, "95 %"}, narrow{{}, {}, "80 %"};
  for (int i = 0; i < 192; ++i) {
    const double level = 17 + 5 * std::sin(2 * std::numbers::pi * i / 24) + 0.02 * i;
    past.x.push_back(kStart + i * kHour);
    past.y.push_back(i >= 60 && i < 66 ? kNan : level + noise(i));
    if (i < 96) continue;
    const double spread = 0.4 + 0.012 * (i - 96);
    forecast.x.push_back(kStart + i * kHour);
    forecast.y.push_back(level);
    wide.lower.push_back(level - 1.96 * spread);
    wide.upper.push_back(level + 1.96 * spread);
    narrow.lower.push_back(level - 1.28 * spread);
    narrow.upper.push_back(level + 1.28 * spread);
  }
  forecast.bands = {wide, narrow};
  return {"Oil temperature, 96 hours ahead",
          {"", AxisScale::date},
          {"temperature (°C)"},
          {past, forecast},
          {{kStart + 96 * kHour, "forecast begins"}}};
}

LineChart learning_curves(AxisScale scale) {
  LineSeries training{.label = "training"}, validation{.label = "validation", .x = {}, .y = {}};
  for (int i = 1; i <= 20000; ++i) {
    training.x.push_back(i);
    training.y.push_back(0.3 + 2 * std::exp(-i / 900.0) + 0.05 * std::abs(noise(i)));
    if (i % 1000 != 0) continue;
    validation.x.push_back(i);
    validation.y.push_back(0.38 + 1.8 * std::exp(-i / 900.0) + 1e-6 * i);
  }
  return {"Learning curves", {"step"}, {"loss", scale}, {training, validation}, {{7000, "best"}}};
}

BarChart model_bars() {
  return {"Test error by model",
          {"mean squared error"},
          {"hot", "patchtst", "itransformer", "dlinear", "seasonal <b>naïve</b> & co", "repeat"},
          {{"ETTh1", {0.375, 0.381, 0.387, 0.386, 0.512, 1.295}, {0.004, 0.003, 0.006, 0.001, 0, 0}},
           {"Weather", {0.159, 0.174, 0.176, 0.196, kNan, 0.259}, {0.002, 0.001, 0.001, 0, 0, 0}}}};
}

HeatMap attention(int64_t size, int head, bool labels) {
  HeatMap map{.title = "head " + std::to_string(head),
              .x_label = "key",
              .y_label = "query",
              .rows = size,
              .columns = size};
  for (int64_t row = 0; row < size; ++row) {
    double total = 0;
    std::vector<double> scores;
    for (int64_t column = 0; column < size; ++column) {
      const auto gap = static_cast<double>(std::abs(row - column));
      const double period = 2.0 + head;
      scores.push_back(std::exp(1.5 * std::cos(2 * std::numbers::pi * gap / period) - gap * 0.6 / period));
      total += scores.back();
    }
    for (const double score : scores) map.values.push_back(score / total);
  }
  if (labels)
    for (int64_t i = 0; i < size; ++i) map.row_labels.push_back("T (degC) " + std::to_string(i));
  map.column_labels = map.row_labels;
  return map;
}

HeatMap correlation() {
  const std::vector<std::string> names = {"HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"};
  HeatMap map{.title = "Change of the forecast, by variable",
              .value_label = "change (°C)",
              .rows = 7,
              .columns = 7,
              .row_labels = names,
              .column_labels = names,
              .scale = ColorScale::diverging,
              .show_values = true};
  for (int i = 0; i < 49; ++i)
    map.values.push_back(i == 24 ? kNan : 0.9 * std::cos(i * 1.7) * std::exp(-i / 60.0));
  return map;
}

Panels horizons() {
  Panels panels{.title = "Error by horizon", .columns = 3, .share_y = true};
  for (const char* name : {"ETTh1", "Weather", "Exchange"}) {
    LineChart chart{name, {"hours ahead"}, {"MSE"}, {}};
    for (const double level : {1.0, 1.15, 1.4}) {
      LineSeries series{.label = level == 1 ? "hot" : level < 1.2 ? "patchtst" : "repeat"};
      for (int i = 1; i <= 96; ++i) {
        series.x.push_back(i);
        series.y.push_back(level *
                           (0.1 + 0.03 * std::sqrt(i) + 0.0004 * static_cast<double>(name[0]) * i / 10));
      }
      chart.series.push_back(series);
    }
    panels.panels.push_back(chart);
  }
  return panels;
}

// The figure of the README: attention over 7 variables × 24 hours as the Kronecker product of one matrix per
// mode.
Panels kronecker_figure() {
  const std::vector<std::string> names = {"HUFL", "HULL", "MUFL", "MULL", "LUFL", "LULL", "OT"};
  const auto softmax_rows = [](int64_t size, auto score) {
    std::vector<double> out;
    for (int64_t row = 0; row < size; ++row) {
      double total = 0;
      for (int64_t column = 0; column < size; ++column) total += std::exp(score(row, column));
      for (int64_t column = 0; column < size; ++column) out.push_back(std::exp(score(row, column)) / total);
    }
    return out;
  };
  HeatMap variables{
      .title = "S₁: 7 variables", .rows = 7, .columns = 7, .row_labels = names, .column_labels = names};
  variables.values = softmax_rows(7, [](int64_t row, int64_t column) {
    return (row == column ? 1.5 : 0) + (row / 2 == column / 2 ? 1.3 : 0) + 0.5 * noise(7 * row + column);
  });
  HeatMap hours{.title = "S₂: 24 hours", .x_label = "key", .y_label = "query", .rows = 24, .columns = 24};
  hours.values = softmax_rows(24, [](int64_t row, int64_t column) {
    const auto gap = static_cast<double>(row - column);
    return 1.6 * std::cos(2 * std::numbers::pi * gap / 12) - 0.09 * std::abs(gap);
  });
  HeatMap both{.title = "S₁ ⊗ S₂: all 168 tokens, never formed",
               .x_label = "key",
               .y_label = "query",
               .rows = 168,
               .columns = 168,
               .max = 0.06,
               .color_bar = false};
  for (size_t row = 0; row < 168; ++row)
    for (size_t column = 0; column < 168; ++column)
      both.values.push_back(variables.values[row / 24 * 7 + column / 24] *
                            hours.values[row % 24 * 24 + column % 24]);
  variables.color_bar = hours.color_bar = false;
  return {.panels = {variables, hours, both}, .columns = 3};
}

Table results() {
  Table table({{"model"},
               {"parameters"},
               {"MSE", Column::Best::lowest},
               {"MAE", Column::Best::lowest},
               {"coverage 80 %"}});
  table.add_row({"hot (product)", Cell::count(686544), Cell::mean_sd(0.3751, 0.0042),
                 Cell::mean_sd(0.3892, 0.0031), 0.803});
  table.add_row({"hot (sum)", Cell::count(686544), Cell::mean_sd(0.3792, 0.0038),
                 Cell::mean_sd(0.3889, 0.0029), 0.798});
  table.add_row({"patchtst", Cell::count(6903888), Cell::mean_sd(0.3811, 0.0027),
                 Cell::mean_sd(0.4013, 0.0012), 0.811});
  table.add_rule();
  table.add_row({"repeat <script>alert(1)</script>", 0, Cell::mean_sd(1.2953, std::nullopt), 0.713, kNan});
  return table;
}

std::vector<CaptionedFigure> odd_figures() {
  const double infinity = std::numeric_limits<double>::infinity();
  LineChart empty{"No series", {"x"}, {"y"}, {}};
  LineChart one{"One point", {"x"}, {"y"}, {{.label = "p", .x = {3}, .y = {5}}}};
  LineChart broken{
      "NaN, ±∞ and a constant",
      {"x"},
      {"y"},
      {{.label = "gaps \x01\xff", .x = {}, .y = {1, kNan, 2, infinity, 3, 2, -infinity, 1}},
       {.label = "constant", .x = {}, .y = std::vector<double>(8, 2.5), .style = LineSeries::Style::dashed}}};
  LineChart dots{"Points", {"truth"}, {"forecast"}, {{.label = "", .style = LineSeries::Style::points}}};
  for (int i = 0; i < 3000; ++i) {
    dots.series[0].x.push_back(noise(i));
    dots.series[0].y.push_back(noise(i) + 0.3 * noise(i + 77));
  }
  BarChart negative;
  negative.title = "Negative bars";
  negative.value.label = "skill (%)";
  negative.categories = {"one", "two", "three"};
  negative.series = {{"a", {12, -7, kNan}}, {"b", {3, 9, -1}}};
  HeatMap none{.title = "Empty heat map"};
  return {
      {empty, "Nothing to draw."}, {one, "A single point."},       {broken, "Missing values break the line."},
      {dots, "A scatter plot."},   {negative, "Bars below zero."}, {none, "No cells."}};
}

void write_page(const std::filesystem::path& folder) {
  HtmlPage page("Oil temperature forecast <ETTh1>", "Run \"etth1-hot\" & its baselines");
  page.add_fact("run", "etth1-hot");
  page.add_fact("date", "2016-07-01 12:00");
  page.add_fact("machine", "4 cores, avx512_bf16, 24 GiB");
  page.add_section("Forecasts");
  page.add_paragraph(
      "Forecast against truth on the last test window; the bands hold 80 % and 95 % of held-back values.");
  page.add_figure(forecast_chart(), "Observed oil temperature and its forecast.");
  page.add_section("Accuracy");
  page.add_table(results(), "Test error, mean ± standard deviation over 3 seeds.");
  page.add_figure(model_bars(), "The same as bars.");
  page.add_figure(horizons(), "Error grows with the horizon.");
  page.add_section("Training");
  page.add_figure_grid(
      {{learning_curves(AxisScale::linear), "Linear."}, {learning_curves(AxisScale::log), "Logarithmic."}});
  page.add_section("Attention");
  page.add_section("By head", 3);
  Panels heads{.title = "Attention over hours, layer 1", .columns = 4, .share_color = true};
  for (int head = 1; head <= 8; ++head) heads.panels.push_back(attention(96, head, false));
  page.add_figure(heads, "Every row sums to one.");
  page.add_section("By variable", 3);
  page.add_figure_grid(
      {{attention(12, 2, true), "Twelve variables."}, {correlation(), "A diverging scale."}});
  page.add_section("Odd input");
  page.add_figure_grid(odd_figures(), 300);
  page.add_section("Settings");
  page.add_preformatted("[model]\nname = \"hot\"  # <&>\n", "config.toml");
  page.write(folder / "page.html");
}

}  // namespace

int main(int argc, char** argv) try {
  require(argc == 2, ErrorKind::usage, "usage: report_sample FOLDER");
  const std::filesystem::path folder = argv[1];
  write_page(folder);
  write_file_atomically(folder / "lines.svg", to_svg(forecast_chart()));
  write_file_atomically(folder / "bars.svg", to_svg(model_bars()));
  write_file_atomically(folder / "heat.svg", to_svg(correlation()));
  write_file_atomically(folder / "panels.svg", to_svg(horizons()));
  write_file_atomically(folder / "kronecker_attention.svg", to_svg(kronecker_figure(), {.width = 280}));
  std::puts(results().to_text().c_str());
  std::puts(results().to_markdown().c_str());
  std::puts(results().to_csv().c_str());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_code();
}
