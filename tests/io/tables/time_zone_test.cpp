#include "modewise/io/tables/time_zone.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "modewise/io/tables/date_time.h"
#include "tests/scratch_folder.h"

namespace modewise::io {
namespace {

int64_t at(int year, int month, int day, int hour = 0, int minute = 0, int second = 0) {
  return to_seconds({year, month, day, hour, minute, second});
}

/// An environment variable during a test.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    value ? ::setenv(name_, value->c_str(), 1) : ::unsetenv(name_);
    ::tzset();
  }

  const char* name_;
  std::optional<std::string> before_;
};

/// The offset of the C library's zone (TZ), which does not share code with ours.
int64_t offset_of_c_library(int64_t utc_seconds) {
  const std::time_t time = utc_seconds;
  std::tm local{};
  ::localtime_r(&time, &local);
  return local.tm_gmtoff;
}

/// Compares the offsets from `first` to `last` in steps that hit every hour of the day and week.
void expect_offsets_of_c_library(const TimeZone& zone, int64_t first, int64_t last, int64_t step) {
  for (int64_t time = first; time < last; time += step)
    ASSERT_EQ(zone.offset_at(time), offset_of_c_library(time)) << zone.name() << " at " << time;
}

std::string big_endian(int64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> 8 * i);
  return text;
}

/// A TZif file (RFC 8536) of version 2 with one offset, no transitions, and a rule.
std::string zone_file(int64_t offset, const std::string& rule) {
  const std::string header = "TZif2" + std::string(15, '\0') + big_endian(0, 4) + big_endian(0, 4) +
                             big_endian(0, 4) + big_endian(0, 4) + big_endian(1, 4) + big_endian(4, 4);
  const std::string block = big_endian(offset, 4) + std::string(2, '\0') + std::string("LMT\0", 4);
  return header + block + header + block + "\n" + rule + "\n";
}

TEST(TimeZone, ReadsTheSystemsZones) {
  const auto fixed = TimeZone::find("+01:30");
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->offset_at(0), 5400);
  EXPECT_EQ(TimeZone::find("CET")->offset_at(at(2024, 7, 1)), 3600);
  EXPECT_EQ(TimeZone::find("Nowhere/City"), nullptr);
  EXPECT_EQ(TimeZone::find("../etc/passwd"), nullptr);
  const auto berlin = TimeZone::find("Europe/Berlin");
  if (!berlin) GTEST_SKIP() << "no time zones on this system";
  EXPECT_EQ(berlin->offset_at(at(2024, 1, 1)), 3600);
  EXPECT_EQ(berlin->offset_at(at(2024, 7, 1)), 7200);
  EXPECT_EQ(berlin->offset_at(at(2024, 3, 31, 0, 59, 59)), 3600);
  EXPECT_EQ(berlin->offset_at(at(2024, 3, 31, 1)), 7200);
  EXPECT_EQ(berlin->offset_at(at(2090, 7, 1)), 7200) << "by rule";
  EXPECT_EQ(berlin->offset_at(at(2090, 12, 1)), 3600);
  EXPECT_EQ(berlin->to_utc(at(2024, 10, 27, 2, 30)),
            (std::pair{at(2024, 10, 27, 0, 30), at(2024, 10, 27, 1, 30)}));
  EXPECT_EQ(berlin->to_utc(at(2024, 3, 31, 2, 30)), std::nullopt);
  EXPECT_EQ(berlin->to_utc(at(2024, 5, 1)), (std::pair{at(2024, 4, 30, 22), at(2024, 4, 30, 22)}));
  const auto sydney = TimeZone::find("Australia/Sydney");
  EXPECT_EQ(sydney->offset_at(at(2090, 1, 1)), 11 * 3600);
  EXPECT_EQ(sydney->offset_at(at(2090, 7, 1)), 10 * 3600);
}

TEST(TimeZone, HasTheOffsetsOfTheCLibrary) {
  std::ifstream list("/usr/share/zoneinfo/zone1970.tab");
  if (!list) GTEST_SKIP() << "no time zones on this system";
  int zones = 0;
  for (std::string line; std::getline(list, line);) {
    std::istringstream in(line);
    std::string countries, place, name;
    if (line.starts_with("#") || !(in >> countries >> place >> name)) continue;
    const auto zone = TimeZone::find(name);
    ASSERT_TRUE(zone) << name;
    const Variable variable("TZ", name);
    expect_offsets_of_c_library(*zone, at(1890, 1, 1), at(2100, 1, 1), 9 * 86400 + 3 * 3600 + 7);
    ++zones;
  }
  EXPECT_GT(zones, 200);
}

TEST(TimeZone, FollowsEveryFormOfRule) {
  const ScratchFolder folder;
  for (const char* rule :
       {"CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "IST-1GMT0,M10.5.0,M3.5.0/1", "AAA3BBB,J60/2,J300/1:30:15",
        "AAA3BBB,59,364/-3", "AAA-3:15:20BBB+1,J1/0,J365/24", "<+0330>-3:30", "UTC0",
        "AAA-14BBB,M1.1.1/+50,M12.4.6"}) {
    folder.write("Made/Zone", zone_file(0, rule));
    const Variable zones("TZDIR", folder.path().string());
    const auto zone = TimeZone::find("Made/Zone");
    ASSERT_TRUE(zone) << rule;
    const Variable variable("TZ", rule);
    SCOPED_TRACE(rule);
    expect_offsets_of_c_library(*zone, at(1999, 1, 1), at(2033, 1, 1), 3 * 3600 + 1007);
  }
}

TEST(TimeZone, RefusesDamagedFiles) {
  const ScratchFolder folder;
  const Variable zones("TZDIR", folder.path().string());
  const auto found = [&](const std::string& bytes) {
    folder.write("Zone", bytes);
    return TimeZone::find("Zone") != nullptr;
  };
  const std::string whole = zone_file(3600, "CET-1CEST,M3.5.0,M10.5.0/3");
  EXPECT_TRUE(found(whole));
  EXPECT_TRUE(found(zone_file(3600, "")));
  for (size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(found(whole.substr(0, size))) << size;
  for (const char* rule :
       {"C-1", "CET", "<CET-1", "CET-1CE", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0", "CET-1CEST,M3.5,M10.5.0",
        "CET-1CEST,M3.5.0,J", "CET-1CEST,M3.5.0,M10.5.0/", "CET-1CEST,M3.5.0,M10.5.0/3x",
        "CET-1CEST,J1000,M10.5.0"})
    EXPECT_FALSE(found(zone_file(3600, rule))) << rule;
  std::string other = whole;
  other[4] = '1';
  EXPECT_FALSE(found(other)) << "32-bit times alone";
}

}  // namespace
}  // namespace modewise::io
