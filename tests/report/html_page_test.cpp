#include "modewise/report/html_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "tests/error_of.h"

namespace modewise::report {
namespace {

using testing::HasSubstr;
using testing::Not;

HtmlPage page_of(const std::string& text) {
  HtmlPage page(text, text);
  page.add_fact(text, text);
  page.add_section(text);
  page.add_section(text, 3);
  page.add_paragraph(text);
  page.add_figure(LineChart{.title = text, .series = {{.label = text, .y = {1, 2}}}}, text);
  page.add_figure_grid(
      {{HeatMap{.title = text, .rows = 1, .columns = 1, .values = {1}}, text}, {LineChart{}, text}});
  Table table({{text}});
  table.add_row({text});
  page.add_table(table, text);
  page.add_preformatted(text, text);
  return page;
}

TEST(HtmlPage, NeedsNoNetworkAndNoScript) {
  const std::string html = page_of("plain").html();
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("<link")));
  EXPECT_THAT(html, Not(HasSubstr("@import")));
  const std::regex address("(src|href)=\"(?!#|data:)");
  EXPECT_FALSE(std::regex_search(html, address));
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(html, HasSubstr("@media print"));
}

TEST(HtmlPage, EscapesEveryText) {
  const std::string html = page_of("</h1><script>alert(1)</script>\" onclick=\"x").html();
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("\" onclick")));
}

TEST(HtmlPage, ContentsLinkToHeadingsWithIdsOfTheirOwn) {
  HtmlPage page("t");
  page.add_section("Error by horizon");
  page.add_section("Error, by horizon!", 3);
  page.add_section("温度");
  const std::string html = page.html();
  for (const char* id : {"error-by-horizon", "error-by-horizon-2", "section"}) {
    EXPECT_THAT(html, HasSubstr(std::string("id=\"") + id + "\""));
    EXPECT_THAT(html, HasSubstr(std::string("href=\"#") + id + "\""));
  }
  EXPECT_EQ(error_of(ErrorKind::usage, [&] { page.add_section("x", 4); }),
            "a section's level must be 2 or 3, got 4");
}

TEST(HtmlPage, IdsAreUnique) {
  const std::string html = page_of("same").html();
  const std::regex id(" id=\"([^\"]+)\"");
  std::set<std::string> seen;
  for (auto match = std::sregex_iterator(html.begin(), html.end(), id); match != std::sregex_iterator();
       ++match)
    EXPECT_TRUE(seen.insert((*match)[1]).second) << (*match)[1];
  EXPECT_GE(seen.size(), 4u);
}

TEST(HtmlPage, IsTheSameEveryTime) {
  EXPECT_EQ(page_of("a").html(), page_of("a").html());
}

TEST(HtmlPage, WritesTheFile) {
  const auto path = std::filesystem::temp_directory_path() / "modewise_html_page_test.html";
  const HtmlPage page = page_of("file");
  page.write(path);
  EXPECT_EQ(read_file(path), page.html());
  std::filesystem::remove(path);
  EXPECT_EQ(error_of(ErrorKind::cannot_create, [&] { page.write("/nonexistent/folder/page.html"); }),
            "cannot create /nonexistent/folder/page.html: No such file or directory");
}

}  // namespace
}  // namespace modewise::report
