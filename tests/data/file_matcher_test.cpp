#include "modewise/data/file_matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace modewise::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string without_nii(const std::string& path) {
  return path.ends_with(".nii") ? path.substr(0, path.size() - 4) : path;
}

TEST(FileMatcher, TakesPathsAsWrittenThenUniqueNames) {
  const FileMatcher files({"p1/scan.nii", "p2/scan.nii", "p2/other.nii", "top.nii", "p3/deep/ct.nii"},
                          without_nii);
  for (const char* name : {"p1/scan.nii", "p1/scan", "p1\\scan.nii", "./p1/scan", " p1/scan.nii ",
                           "data/p1/scan", "C:\\data\\p1\\scan.nii"})
    EXPECT_THAT(files.find(name), ElementsAre(0)) << name;
  EXPECT_THAT(files.find("other"), ElementsAre(2));
  EXPECT_THAT(files.find("top"), ElementsAre(3));
  EXPECT_THAT(files.find("images/top.nii"), ElementsAre(3));
  EXPECT_THAT(files.find("deep/ct"), ElementsAre(4));
  EXPECT_THAT(files.find("scan"), ElementsAre(0, 1));
  // Another folder than that of the file of this name.
  EXPECT_THAT(files.find("p9/other.nii"), IsEmpty());
  EXPECT_THAT(files.find("top.dcm"), IsEmpty());
  EXPECT_THAT(files.find(""), IsEmpty());
}

TEST(FileMatcher, PrefersTheWholePath) {
  const FileMatcher files({"a.nii", "x/a.nii"}, without_nii);
  EXPECT_THAT(files.find("a"), ElementsAre(0));
  EXPECT_THAT(files.find("x/a"), ElementsAre(1));
}

TEST(FileMatcher, TakesFoldersAndNumbersWithoutLeadingZeros) {
  const FileMatcher files({"sub-01/anat/t1.nii", "sub-02/anat/t1.nii", "007.nii", "b/10.nii", "b/010.nii"},
                          without_nii);
  EXPECT_THAT(files.find("sub-02"), ElementsAre(1));
  EXPECT_THAT(files.find("anat"), ElementsAre(0, 1));
  EXPECT_THAT(files.find("7"), ElementsAre(2));
  EXPECT_THAT(files.find("10"), ElementsAre(3));
  EXPECT_THAT(files.find("0"), IsEmpty());
}

TEST(FileMatcher, CountsAndShowsThree) {
  EXPECT_EQ(with_examples("row", " of f.csv", {"a"}), "1 row of f.csv: a");
  EXPECT_EQ(with_examples("row", "", {"a", "b", "c"}), "3 rows: a, b, c");
  EXPECT_EQ(with_examples("row", "", {"a", "b", "c", "d"}), "4 rows: a, b, c, …");
}

}  // namespace
}  // namespace modewise::data
