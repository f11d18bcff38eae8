#include "modewise/core/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "modewise/core/error.h"
#include "modewise/core/hash.h"
#include "modewise/core/nearest_name.h"
#include "modewise/core/progress.h"

namespace modewise {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class File : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::temp_directory_path() / ("modewise_file_test_" + std::to_string(::getpid()));
};

TEST_F(File, AtomicWriteReplacesAndLeavesNoTemporary) {
  const fs::path path = folder_ / "a.txt";
  write_file_atomically(path, std::string_view("one"));
  write_file_atomically(path, std::string_view("two\n"));
  EXPECT_EQ(read_file(path), "two\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(File, FailedWriteKeepsTheOldFileAndNamesTheReason) {
  const fs::path path = folder_ / "missing" / "a.txt";
  try {
    write_file_atomically(path, std::string_view("x"));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cannot_create);
    EXPECT_THAT(error.what(), HasSubstr("No such file or directory"));
  }
  fs::create_directory(folder_ / "taken");
  EXPECT_THROW(write_file_atomically(folder_ / "taken", std::string_view("x")), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(File, ReadingAFolderOrNothingIsNoInput) {
  for (const fs::path& path : {folder_, folder_ / "nothing"}) {
    try {
      read_file(path);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 66);
    }
  }
}

// Reference values of the xxHash project for XXH3 128 bits, seed 0.
TEST(ContentHash, MatchesXxh3OfTheEmptyInput) {
  EXPECT_EQ(content_hash({}), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(content_hash(as_bytes("a")), content_hash(as_bytes("b")));
}

TEST(NearestName, OffersOnlyNearNames) {
  const std::vector<std::string> names = {"learning_rate", "weight_decay", "epochs"};
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(nearest_name_hint("lerning_rate", names), " (did you mean 'learning_rate'?)");
  EXPECT_EQ(nearest_name_hint("epoch", names), " (did you mean 'epochs'?)");
  EXPECT_EQ(nearest_name_hint("colour", names), "");
}

TEST(DurationText, ReadsAsPeopleWriteIt) {
  EXPECT_EQ(duration_text(12.2), "12 s");
  EXPECT_EQ(duration_text(245), "4:05");
  EXPECT_EQ(duration_text(3723), "1:02:03");
  EXPECT_EQ(duration_text(-1), "?");
}

}  // namespace
}  // namespace modewise
