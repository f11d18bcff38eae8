#include "modewise/core/data_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scratch_folder.h"

namespace modewise {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

std::vector<std::string> relative_names(const ScratchFolder& folder, const std::vector<fs::path>& paths) {
  std::vector<std::string> out;
  for (const fs::path& path : paths) out.push_back(path.lexically_relative(folder.path()).generic_string());
  return out;
}

TEST(DataFiles, AreListedWithoutThoseOfSystemsAndArchivers) {
  const ScratchFolder folder;
  for (const char* name :
       {"b.png", "._b.png", ".DS_Store", "Thumbs.db", "THUMBS.DB", "desktop.ini", "a/x.png", "a/._x.png",
        "__MACOSX/a/._x.png", ".git/config", "a/.hidden/y.png", "B.png"})
    folder.write(name, "x");
  EXPECT_THAT(relative_names(folder, data_files_below(folder.path())),
              ElementsAre("B.png", "a/x.png", "b.png"));
  EXPECT_THAT(relative_names(folder, data_entries(folder.path())), ElementsAre("B.png", "a", "b.png"));
  EXPECT_TRUE(data_entries(folder.path() / "nowhere").empty());
}

TEST(DataFiles, AreVisitedThroughLinksOnceAround) {
  const ScratchFolder folder, other;
  folder.write("a/x.png", "x");
  other.write("deep/y.png", "y");
  fs::create_directory_symlink(other.path(), folder.path() / "link");
  fs::create_directory_symlink(folder.path(), folder.path() / "a/around");
  EXPECT_THAT(relative_names(folder, data_files_below(folder.path())),
              ElementsAre("a/x.png", "link/deep/y.png"));
  std::vector<std::string> seen;
  const auto stop = [&](const fs::path& entry) {
    seen.push_back(entry.filename().string());
    return entry.filename() == "x.png";
  };
  EXPECT_TRUE(visit_data_entries(folder.path(), stop));
  EXPECT_EQ(seen.back(), "x.png");
  EXPECT_FALSE(visit_data_entries(other.path(), stop));
}

TEST(DataFiles, AreNotTextsThatNoFileCanHaveAsItsName) {
  const ScratchFolder folder;
  folder.write("a/x.png", "x");
  EXPECT_TRUE(holds_file(folder.path(), "a/x.png"));
  EXPECT_FALSE(holds_file(folder.path(), "a"));
  EXPECT_FALSE(holds_file(folder.path(), "y.png"));
  EXPECT_FALSE(holds_file(folder.path(), "a/x.png/y.png"));
  EXPECT_FALSE(holds_file(folder.path(), std::string_view("a/x.png\0y", 9)));
  EXPECT_FALSE(holds_file(folder.path(), std::string(300, 'x')));
  EXPECT_FALSE(holds_file(folder.path(), std::string(5000, '/') + "x"));
}

TEST(DataFiles, HaveExtensionsInLowerCase) {
  EXPECT_EQ(lower_extension("x/A.TIFF"), ".tiff");
  EXPECT_EQ(lower_extension("x.y/plain"), "");
  EXPECT_EQ(ending_of("A.NII.GZ", {".nii.gz", ".nii"}), ".nii.gz");
  EXPECT_EQ(ending_of("a.Nii", {".nii.gz", ".nii"}), ".nii");
  EXPECT_EQ(ending_of("nii", {".nii.gz", ".nii"}), "");
}

}  // namespace
}  // namespace modewise
