// CRC-32C against the values of RFC 3720, events and records against TensorBoard's own bytes (events.json),
// and the order of event files in a folder.

#include "modewise/io/events/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "../vector_file.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/io/events/crc32c.h"
#include "tests/scratch_folder.h"

namespace modewise::io {
namespace {

std::string bytes_of(const nlohmann::json& hex) {
  std::string out;
  for (const std::byte byte : from_hex(hex)) out.push_back(static_cast<char>(byte));
  return out;
}

TEST(Crc32c, IsThatOfRfc3720) {
  std::string rising, falling;
  for (int i = 0; i < 32; ++i) {
    rising.push_back(static_cast<char>(i));
    falling.push_back(static_cast<char>(31 - i));
  }
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(crc32c(rising), 0x46dd794eu);
  EXPECT_EQ(crc32c(falling), 0x113fdb5cu);
  EXPECT_EQ(crc32c(bytes_of("01c00000000000000000000000000000140000000000040000000014000000182800000000000000"
                            "0200000000000000")),
            0xd9963a56u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(""), 0u);
}

TEST(Events, AreTensorBoardsBytes) {
  const nlohmann::json vectors = load_vectors("events.json");
  const nlohmann::json& version = vectors.at("version");
  EXPECT_EQ(tf_record(version_event(version.at("time"))), bytes_of(version.at("record")));
  const nlohmann::json& start = vectors.at("start");
  EXPECT_EQ(tf_record(start_event(start.at("time"), start.at("step"))), bytes_of(start.at("record")));
  ASSERT_EQ(vectors.at("summaries").size(), 4u);
  for (const nlohmann::json& summary : vectors.at("summaries")) {
    std::vector<EventValue> values;
    for (const nlohmann::json& value : summary.at("values")) {
      if (value[1].is_array())
        values.push_back({value[0], EventImage{value[1][0], value[1][1], bytes_of(vectors.at("png"))}});
      else
        values.push_back({value[0], value[1].is_string() ? std::nan("") : value[1].get<double>()});
    }
    EXPECT_EQ(tf_record(summary_event(summary.at("time"), summary.at("step"), values)),
              bytes_of(summary.at("record")));
  }
}

TEST(EventFile, EachStandsBehindThoseThatAreThere) {
  const ScratchFolder scratch;
  std::vector<std::string> names;
  for (int i = 0; i < 3; ++i) names.push_back(EventFile(scratch.path()).path().filename());
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  for (const std::string& name : names)
    EXPECT_THAT(name, testing::MatchesRegex("events\\.out\\.tfevents\\.[0-9]{10}\\..+"));
  scratch.write("events.out.tfevents.9000000000.elsewhere", "");
  EXPECT_THAT(EventFile(scratch.path()).path().filename().string(),
              testing::StartsWith("events.out.tfevents.9000000001."));
  // Names without a time belong to other programs.
  scratch.write("events.out.tfevents.99999999999999999999.x", "");
  scratch.write("events.out.tfevents.77777777777.x", "");
  scratch.write("events.out.tfevents.", "");
  EXPECT_THAT(EventFile(scratch.path()).path().filename().string(),
              testing::StartsWith("events.out.tfevents.9000000002."));
}

TEST(EventFile, HoldsEachEventAsSoonAsItIsAdded) {
  const ScratchFolder scratch;
  EventFile file(scratch.path());
  const auto length = [&] { return std::filesystem::file_size(file.path()); };
  EXPECT_EQ(length(), 16 + 9 + 2 + 13);  // length and sums; time; "brain.Event:2"
  file.add_start(5);
  EXPECT_EQ(length(), 40 + 16 + 9 + 2 + 4);
  file.add(5, std::vector<EventValue>{{"a", 1.0}});
  EXPECT_EQ(length(), 71 + 16 + 9 + 2 + 2 + 2 + 3 + 5);
}

TEST(EventFile, SaysWhatFolderIsMissing) {
  const ScratchFolder scratch;
  try {
    EventFile file(scratch / "none");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cannot_create);
    EXPECT_THAT(error.what(),
                testing::MatchesRegex(
                    "cannot create .*/none/events\\.out\\.tfevents\\..*: No such file or directory"));
  }
}

}  // namespace
}  // namespace modewise::io
