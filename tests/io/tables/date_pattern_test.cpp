#include "modewise/io/tables/date_pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>

#include "modewise/io/tables/date_column.h"
#include "tests/io/tables/instants.h"

namespace modewise::io {
namespace {

TEST(DatePattern, ReadsAndWrites) {
  for (const auto& [text, pattern, expected] :
       std::initializer_list<std::tuple<const char*, const char*, int64_t>>{
           {"16-07-01 09", "%y-%m-%d %H", at(2016, 7, 1, 9)},
           {"20160701", "%Y%m%d", at(2016, 7, 1)},
           {"01072016 0930", "%d%m%Y %H%M", at(2016, 7, 1, 9, 30)},
           {"2016-183", "%Y-%j", at(2016, 7, 1)},
           {"1.7.2016, 09:30 Uhr", "%d.%m.%Y, %H:%M Uhr", at(2016, 7, 1, 9, 30)},
           {"09:30 PM on Jul 01 16", "%I:%M %p on %b %d %y", at(2016, 7, 1, 21, 30)},
           {"100% 2016", "100%% %Y", at(2016, 1, 1)},
           {"Fri, 1 July 2016 09:30:15.000 +0200", "%a, %-d %B %Y %H:%M:%S.%f %z", at(2016, 7, 1, 9, 30, 15)},
           {"Freitag 2016-07-01 09", "%A %Y-%m-%d %H", at(2016, 7, 1, 9)},
           {"2016-07-01 +0200, FRI", "%Y-%m-%d %z, %a", at(2016, 7, 1)},
           {"09:30:05 a.m. 2016", "%I:%M:%S %p %Y", at(2016, 1, 1, 9, 30, 5)},
           {"2016-07-01 24", "%Y-%m-%d %H", at(2016, 7, 2)},
           {"2016-07-01 24", "%Y-%m-%d %h", at(2016, 7, 1, 23)},
           {"3/2016", "%q/%Y", at(2016, 7, 1)},
           {"2/2016", "%o/%Y", at(2016, 7, 1)},
           {"W9 2016", "W%V %G", at(2016, 2, 29)},
           {"W09 2016", "W%V %G", at(2016, 2, 29)}}) {
    std::string_view rest = text;
    const auto date = read_pattern(rest, pattern);
    ASSERT_TRUE(date) << text;
    EXPECT_EQ(rest, "");
    EXPECT_EQ(to_seconds(date->time), expected) << text;
    EXPECT_EQ(format_date_time(expected, date->style), text);
  }
  std::string_view named = "Fri 2016-07-01 Z";
  EXPECT_EQ(read_pattern(named, "%a %Y-%m-%d %z")->style.text(), "%a %Y-%m-%d %z");
  EXPECT_EQ(pattern_error("%Y-%m-%d %H:%M:%S.%f %z"), "");
  EXPECT_EQ(pattern_error("%Y-%K"),
            "the code %K is not one of %Y %y %m %d %H %I %M %S %f %p %b %B %a %A %j %q %o "
            "%G %V %u %h %z %%");
  EXPECT_EQ(pattern_error("%d.%m."), "it has no year (%Y)");
  EXPECT_EQ(pattern_error("%Y-%"), "it ends in %");
  EXPECT_EQ(pattern_error("%Y%%"), "");
  for (const auto& [text, pattern] :
       {std::pair("Fry 2016", "%a %Y"), std::pair("2016 09:30 XM", "%Y %I:%M %p"),
        std::pair("2016 9.", "%Y %H.%f"), std::pair("2016 25", "%Y %H"), std::pair("2016", "%Y %H")}) {
    std::string_view rest = text;
    EXPECT_FALSE(read_pattern(rest, pattern)) << text;
  }
  DateColumn column("%d.%m.%y");
  EXPECT_TRUE(column.add(" 01.07.16 "));
  EXPECT_FALSE(column.add("01.07.2016"));
  EXPECT_FALSE(column.add("31.02.16"));
}

}  // namespace
}  // namespace modewise::io
