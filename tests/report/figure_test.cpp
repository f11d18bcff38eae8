#include "modewise/report/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <regex>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/report/markup.h"
#include "modewise/report/plot.h"
#include "tests/error_of.h"

namespace modewise::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

size_t count(const std::string& text, const std::string& piece) {
  size_t found = 0;
  for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1)) ++found;
  return found;
}

std::string inline_svg(const Figure& figure, double width = 0, double height = 0) {
  return to_svg(figure, {.width = width, .height = height, .standalone = false, .id = "t"});
}

LineChart line_of(std::vector<double> y) {
  return {.series = {{.y = std::move(y)}}};
}

TEST(LineChart, PointsLieWhereTheAxesSay) {
  LineChart chart = line_of({0, 15, 30});
  chart.x.min = 0, chart.x.max = 2, chart.y.min = 0, chart.y.max = 30;
  // Inside a margin of 10: tick labels "10" are 12.32 wide, so the plot runs from x 10 + 12.32 + 8 = 30.32 to
  // 310 − 14 = 296, and from y 16 to 210 − 20 = 190.
  EXPECT_THAT(inline_svg(chart, 320, 220), HasSubstr("<path d=\"M30.32 190L163.16 103L296 16\""));
}

TEST(LineChart, TheNameOfTheValueAxisIsReadFromBelow) {
  LineChart chart = line_of({0, 15, 30});
  chart.y.label = "load";
  EXPECT_TRUE(std::regex_search(inline_svg(chart), std::regex("rotate\\(-90[^>]*>load</text>")));
  EXPECT_THAT(inline_svg(line_of({0, 15, 30})), Not(HasSubstr("rotate(")));
}

TEST(LineChart, HasOneLineATickOfTheValueAxis) {
  LineChart chart = line_of({0, 15, 30});
  chart.y.min = 0, chart.y.max = 30;
  const std::string svg = inline_svg(chart, 320, 220);
  EXPECT_EQ(count(svg, "<line class") + count(svg, "class=\"kg\""), 4u);  // grid lines at 0, 10, 20, 30
  EXPECT_EQ(count(svg, "<path "), 1u);
}

TEST(LineChart, MissingValuesBreakTheLineAndALonePointIsADot) {
  const std::string svg = inline_svg(line_of({1, 2, kNan, 3, kInfinity, 4, 5, -kInfinity}));
  EXPECT_EQ(count(svg, "<path "), 2u);
  EXPECT_EQ(count(svg, "<circle "), 1u);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(LineChart, ValuesNotAboveZeroAreMissingOnALogarithmicAxis) {
  LineChart chart = line_of({1, 10, 0, -1, 10, 100});
  chart.y.scale = AxisScale::log;
  EXPECT_EQ(count(inline_svg(chart), "<path "), 2u);
}

TEST(LineChart, NothingToDrawIsSaid) {
  for (const auto& y : {std::vector<double>{}, {kNan, kNan}})
    EXPECT_THAT(inline_svg(line_of(y)), HasSubstr(">no data</text>"));
  EXPECT_THAT(inline_svg(LineChart{}), HasSubstr(">no data</text>"));
}

TEST(LineChart, ExtremeValuesGiveFiniteCoordinates) {
  for (const auto& y :
       {std::vector<double>{5}, {7, 7, 7}, {0, 0}, {-1e300, 1e300}, {1e-320, 0}, {1e15, 1e15 + 1}}) {
    const std::string svg = inline_svg(line_of(y));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(LineChart, BandsAreFilledBetweenTheirEdgesAndBreakAtGaps) {
  LineChart chart = line_of({1, 2, 3, 4, 5});
  chart.series[0].bands = {{{0, 1, kNan, 3, 4}, {2, 3, 4, 5, 6}, "90 %"}};
  EXPECT_EQ(count(inline_svg(chart), "fill-opacity=\"0.2\""), 3u);  // two parts and the legend's swatch
}

TEST(LineChart, LongCurvesAreThinnedAndKeepTheirPeak) {
  std::vector<double> y(1'000'000, 0.0);
  for (size_t i = 0; i < y.size(); ++i) y[i] = std::sin(static_cast<double>(i) * 0.01);
  y[700'001] = 50;
  LineChart chart = line_of(y);
  chart.y.min = -10, chart.y.max = 50;
  const std::string svg = inline_svg(chart, 640, 320);
  EXPECT_LT(svg.size(), 60'000u);
  EXPECT_TRUE(std::regex_search(svg, std::regex("L[0-9.]+ 16L"))) << "the peak touches the top of the plot";
}

TEST(LineChart, LongBandsAreThinnedAndKeepTheirEdges) {
  // The least and greatest y of the filled shape of a band from −1 to 1 that reaches 40 and −30 at one point
  // each.
  const auto edges = [](size_t points) {
    LineChart chart = line_of(std::vector<double>(points, 0.0));
    Band band{std::vector<double>(points, -1.0), std::vector<double>(points, 1.0), ""};
    band.upper[points / 3] = 40;
    band.lower[points / 2] = -30;
    chart.series[0].bands = {band};
    chart.y.min = -50, chart.y.max = 50;
    const std::string svg = inline_svg(chart, 640, 320);
    EXPECT_LT(svg.size(), 60'000u);
    std::smatch shape;
    EXPECT_TRUE(std::regex_search(svg, shape, std::regex("d=\"([^\"]*)z\"")));
    const std::string path = shape[1];
    const std::regex corner("[ML]([0-9.]+) ([0-9.]+)");
    std::vector<double> heights;
    for (std::sregex_iterator at(path.begin(), path.end(), corner), end; at != end; ++at)
      heights.push_back(std::stod((*at)[2]));
    const auto [lowest, highest] = std::minmax_element(heights.begin(), heights.end());
    return std::pair(*lowest, *highest);
  };
  EXPECT_EQ(edges(100'000), edges(9));
}

TEST(LineChart, ManyPointsAndWideBandsStaySmall) {
  LineChart chart = line_of({});
  chart.series[0].style = LineSeries::Style::points;
  LineSeries banded;
  Band band;
  for (int i = 0; i < 300'000; ++i) {
    chart.series[0].y.push_back(std::fmod(i * 0.618033988749895, 1.0));
    banded.y.push_back(std::cos(i * 0.1));
    band.lower.push_back(banded.y.back() - 1);
    band.upper.push_back(banded.y.back() + 1);
  }
  banded.bands = {band};
  chart.series.push_back(banded);
  EXPECT_LT(inline_svg(chart).size(), 800'000u);
}

TEST(LineChart, RefusesLengthsThatDisagree) {
  LineChart chart = line_of({1, 2});
  chart.series[0].x = {1};
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { inline_svg(chart); }),
            "the series \"\" of the chart \"\" has 1 x and 2 y");
  chart = line_of({1, 2});
  chart.series[0].bands = {{{1}, {2}, ""}};
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { inline_svg(chart); }),
            "the band \"\" of the series \"\" must have 2 values on each side, got 1 and 1");
  chart = line_of({1, 2});
  chart.y.min = 3, chart.y.max = 3;
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { inline_svg(chart); }),
            "the axis \"\" must run from a smaller to a larger number, got 3 and 3");
}

TEST(Figure, TextFromAFileCannotBecomeMarkup) {
  const std::string evil = "</text></svg><script>alert('x')</script>\" onload=\"alert(1)";
  LineChart line{.title = evil,
                 .x = {evil},
                 .y = {evil},
                 .series = {{.label = evil, .y = {1, 2}}},
                 .marks = {{0, evil}}};
  BarChart bars;
  bars.title = evil;
  bars.categories = {evil, evil};
  bars.series = {{evil, {1, 2}}, {evil, {2, 3}}};
  HeatMap map{.title = evil, .x_label = evil, .value_label = evil, .rows = 1, .columns = 1, .values = {1}};
  map.row_labels = map.column_labels = {evil};
  for (const Figure& figure :
       {Figure(line), Figure(bars), Figure(map), Figure(Panels{evil, {line, bars, map}})}) {
    const std::string svg = to_svg(figure, {.id = evil, .description = evil});
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
    EXPECT_THAT(svg, Not(HasSubstr("\" onload")));
    EXPECT_EQ(count(svg, "</svg>"), 1u);
  }
}

TEST(BarChart, HasABarAValueAndADashForAMissingOne) {
  BarChart chart;
  chart.categories = {"a", "b", "c"};
  chart.series = {{"one", {1, kNan, -3}}, {"two", {4, 5, 6}}};
  const std::string svg = inline_svg(chart);
  EXPECT_EQ(count(svg, "</title></rect>"), 5u);
  EXPECT_EQ(count(svg, ">–</text>"), 1u);
  EXPECT_THAT(svg, HasSubstr("<title>c, one: −3</title>"));
}

TEST(BarChart, LengthsAreProportionalToValues) {
  BarChart chart;
  chart.categories = {"a", "b"};
  chart.series = {{"", {1, 3}}};
  const std::string svg = inline_svg(chart);
  // The chart is 76 pixels high, the axis 22. That leaves 27 for each bar: a gap of 10, and 17 for the bar.
  const std::regex bar("<rect x=\"([0-9.]+)\" y=\"[0-9.]+\" width=\"([0-9.]+)\" height=\"17\"");
  std::smatch first, second;
  ASSERT_TRUE(std::regex_search(svg, first, bar));
  const std::string rest = first.suffix();
  ASSERT_TRUE(std::regex_search(rest, second, bar));
  EXPECT_EQ(first[1], second[1]);
  EXPECT_NEAR(std::stod(second[2]), 3 * std::stod(first[2]), 0.03);
}

TEST(BarChart, EachBarAddsHeight) {
  BarChart chart;
  chart.series = {{"", {1, 2}}};
  chart.categories = {"a", "b"};
  const double height = natural_height(chart, 600);
  chart.categories.push_back("c"), chart.series[0].values.push_back(3);
  EXPECT_EQ(natural_height(chart, 600), height + 24);  // a bar of 15 and a gap of 9
  chart.value.label = "seconds";
  EXPECT_EQ(natural_height(chart, 600), height + 24 + 18);
}

TEST(BarChart, EmptyHugeAndBadInput) {
  EXPECT_THAT(inline_svg(BarChart{}), HasSubstr(">no data</text>"));
  BarChart many;
  many.title = "many";
  many.categories.assign(5000, "x");
  many.series = {{"", std::vector<double>(5000, 1.0)}};
  const std::string svg = inline_svg(many);
  EXPECT_THAT(svg, HasSubstr("many (first 200 of 5000)"));
  EXPECT_EQ(count(svg, "</title></rect>"), 200u);
  many.series[0].values.pop_back();
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { inline_svg(many); }),
            "the bars \"\" of the chart \"many\" must have one value for each of 5000 categories, got 4999");
}

TEST(HeatMap, CellsTakeTheColoursOfTheirValues) {
  HeatMap map{.rows = 2, .columns = 2, .values = {0, 1, 0.5, kNan}, .color_bar = false};
  const std::string svg = inline_svg(map, 220, 220);
  EXPECT_EQ(count(svg, "</title></rect>"), 3u);
  EXPECT_THAT(
      svg, HasSubstr("fill=\"" + scale_color(ColorScale::sequential, 0).hex() + "\"><title>0, 0: 0</title>"));
  EXPECT_THAT(svg, HasSubstr("fill=\"" + scale_color(ColorScale::sequential, 1).hex() +
                             "\"><title>0, 1: 1.000</title>"));
  EXPECT_THAT(svg, HasSubstr("fill=\"" + scale_color(ColorScale::sequential, 0.5).hex() +
                             "\"><title>1, 0: 0.5000</title>"));
}

TEST(HeatMap, TheNameOfTheColorBarIsReadFromBelow) {
  const HeatMap map{.value_label = "weight", .rows = 1, .columns = 2, .values = {0, 1}};
  EXPECT_TRUE(std::regex_search(inline_svg(map), std::regex("rotate\\(-90[^>]*>weight</text>")));
}

TEST(HeatMap, ColumnLabelsThatDoNotFitAreRotated) {
  HeatMap map{.rows = 1, .columns = 4, .values = {0, 1, 2, 3}, .color_bar = false};
  map.column_labels = {"a", "b", "c", "d"};
  EXPECT_THAT(inline_svg(map, 400, 200), Not(HasSubstr("rotate(")));
  map.column_labels[1] = "a name that is wider";
  EXPECT_THAT(inline_svg(map, 400, 200), HasSubstr("rotate("));
}

TEST(HeatMap, RotatedLabelsLieInsideTheFigure) {
  HeatMap map{.rows = 1, .columns = 4, .values = {0, 1, 2, 3}, .color_bar = false};
  map.column_labels = {"a name that is wider than its column", "b", "c", "d"};
  const std::string svg = inline_svg(map, 400, 300);
  // A label ends at its rotation's centre, and begins to the left of it and below.
  const std::regex label("rotate\\(-45 ([0-9.]+) ([0-9.]+)\\)[^>]*>(a name [^<]*)</text>");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(svg, found, label));
  const double extent = text_width(found[3].str(), 11) / std::sqrt(2);
  EXPECT_GT(std::stod(found[1]), extent);
  EXPECT_LT(std::stod(found[2]) + extent, 300);
}

TEST(HeatMap, DivergingIsSymmetricAboutZero) {
  HeatMap map{.rows = 1, .columns = 2, .values = {-1, 4}, .scale = ColorScale::diverging};
  const Range range = color_range(map);
  EXPECT_EQ(range.low(), -4);
  EXPECT_EQ(range.high(), 4);
}

TEST(HeatMap, LargeOnesBecomeOneBoundedImage) {
  HeatMap map{.rows = 3000, .columns = 2000};
  map.values.assign(6'000'000, 0.0);
  map.values[1'234'567] = 1;
  const std::string svg = inline_svg(map);
  EXPECT_EQ(count(svg, "<image "), 1u);
  EXPECT_EQ(count(svg, "</title></rect>"), 0u);
  EXPECT_LT(svg.size(), 40'000u);
}

TEST(HeatMap, EmptyConstantAndBadInput) {
  EXPECT_THAT(inline_svg(HeatMap{}), HasSubstr(">no data</text>"));
  for (const double value : {0.0, 3.0, kNan}) {
    const std::string svg = inline_svg(HeatMap{.rows = 2, .columns = 1, .values = {value, value}});
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
  }
  EXPECT_EQ(error_of(ErrorKind::usage,
                     [&] {
                       inline_svg(HeatMap{.rows = 2, .columns = 2, .values = {1, 2, 3}});
                     }),
            "the heat map \"\" of 2 x 2 cells has 3 values");
  HeatMap labelled{.rows = 1, .columns = 2, .values = {1, 2}};
  labelled.column_labels = {"only one"};
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { inline_svg(labelled); }),
            "the heat map \"\" has 2 columns and 1 column labels");
}

TEST(Panels, ShareTheLegendAndTheRangeWhenAsked) {
  LineChart left{.title = "left", .series = {{.label = "a", .y = {0, 1}}, {.label = "b", .y = {1, 0}}}};
  LineChart right = left;
  right.title = "right";
  right.series[0].y = {0, 30};
  const std::string svg = inline_svg(Panels{.title = "both", .panels = {left, right}, .share_y = true});
  EXPECT_EQ(count(svg, ">a</text>"), 1u);
  EXPECT_EQ(count(svg, ">30</text>"), 2u);
  right.series[1].label = "c";
  EXPECT_EQ(count(inline_svg(Panels{.panels = {left, right}}), ">a</text>"), 2u);
}

TEST(Panels, HeatMapsShareOneColourBar) {
  const HeatMap map{.rows = 2, .columns = 2, .values = {0, 1, 2, 3}};
  EXPECT_EQ(count(inline_svg(Panels{.panels = {map, map, map}}), "<linearGradient"), 3u);
  EXPECT_EQ(count(inline_svg(Panels{.panels = {map, map, map}, .share_color = true}), "<linearGradient"), 1u);
}

TEST(Panels, EmptyIsAFigureToo) {
  EXPECT_THAT(inline_svg(Panels{.title = "nothing"}), HasSubstr("nothing"));
}

TEST(Svg, StandaloneCarriesItsStyleAndPaper) {
  const std::string alone = to_svg(line_of({1, 2}));
  EXPECT_THAT(alone, HasSubstr("@media (prefers-color-scheme: dark)"));
  EXPECT_THAT(alone, HasSubstr("<rect class=\"fp\""));
  EXPECT_THAT(inline_svg(line_of({1, 2})), Not(HasSubstr("<style>")));
}

TEST(Thin, KeepsTheEndsAndTheExtremesOfEveryPixelColumn) {
  std::vector<Point> points;
  for (int i = 0; i < 30'000; ++i) points.push_back({i / 100.0, std::sin(i * 1.1)});
  points[12'345].y = 9;
  const auto thinned = thin(points);
  EXPECT_LE(thinned.size(), 1200u);
  EXPECT_EQ(thinned.front().x, points.front().x);
  EXPECT_EQ(thinned.back().x, points.back().x);
  const auto extremes = [](const std::vector<Point>& of) {  // of each pixel column
    std::map<double, std::pair<double, double>> out;
    for (const Point& point : of) {
      auto& [low, high] = out.try_emplace(std::floor(point.x), point.y, point.y).first->second;
      low = std::min(low, point.y);
      high = std::max(high, point.y);
    }
    return out;
  };
  EXPECT_EQ(extremes(thinned), extremes(points));
}

TEST(ResolveColors, SkipsColoursThatWereGiven) {
  EXPECT_THAT(resolve_colors(std::vector<int>{-1, 0, kInkColor, -1}),
              testing::ElementsAre(1, 0, kInkColor, 2));
}

}  // namespace
}  // namespace modewise::report
