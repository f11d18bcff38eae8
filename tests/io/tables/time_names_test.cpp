#include "modewise/io/tables/time_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace modewise::io {
namespace {

TEST(TimeName, KnowsWordsOfTime) {
  for (const char* name : {"time", "Date", "datetime", "TIMESTAMP", "ds", "MESS_DATUM", "ObservationDate",
                           "obs_date", "utc", "epoch", "Zeitstempel", "fecha", "unix_time", "start time",
                           "DateTime (UTC)", "observationdate", "decimal_date", "MTU (CET/CEST)"})
    EXPECT_EQ(time_name(name), TimeName::whole) << name;
  for (const char* name : {"response_time", "year", "month", "Jahr", "lead_time", "date_id"})
    EXPECT_EQ(time_name(name), TimeName::part) << name;
  for (const char* name : {"", "load", "update", "sometimes", "candidate", "temperature", "OT", "1", "gas"})
    EXPECT_EQ(time_name(name), TimeName::none) << name;
  EXPECT_EQ(name_words("ObsDate_utc2 TTime"), (std::vector<std::string>{"obs", "date", "utc", "t", "time"}));
  EXPECT_TRUE(names_hours("Hr_End"));
  EXPECT_TRUE(names_hours("HourEnding"));
  EXPECT_FALSE(names_hours("sunshine"));
}

}  // namespace
}  // namespace modewise::io
