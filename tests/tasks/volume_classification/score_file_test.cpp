// Score files of MedMNIST's evaluator: names and contents.

#include "modewise/tasks/volume_classification/score_file.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "tests/error_of.h"

namespace modewise::tasks {
namespace {

using testing::HasSubstr;

TEST(ScoreFile, IsWrittenReadAndNamedAsMedMnistDoes) {
  EXPECT_EQ(score_file_name("adrenalmnist3d", 28, "test", 0.88649, 0.8384, "1"),
            "adrenalmnist3d_test_[AUC]0.886_[ACC]0.838@1.csv");
  const std::string name = score_file_name("organmnist3d", 64, "val", 1, 0.5, "run 2");
  EXPECT_EQ(name, "organmnist3d_64_val_[AUC]1.000_[ACC]0.500@run 2.csv");
  const ScoreFileName parsed = parse_score_file_name("folder/" + name);
  EXPECT_EQ(parsed.flag, "organmnist3d");
  EXPECT_EQ(parsed.size_flag, "_64");
  EXPECT_EQ(parsed.split, "val");
  EXPECT_EQ(parsed.run, "run 2");
  EXPECT_EQ(parse_score_file_name("scores.csv").flag, "");

  const std::filesystem::path path = std::filesystem::temp_directory_path() / "modewise_scores_test.csv";
  const metrics::ScoreTable table =
      metrics::ScoreTable{3, {0.5, 0.25, 0.25, 0.125, 0.75, 0.125, 1.0 / 3, 0, 2.0 / 3}, {0, 1, 2}};
  write_file_atomically(path, format_scores(table));
  const metrics::ScoreTable again = read_scores(path);
  EXPECT_EQ(again.classes, table.classes);
  EXPECT_EQ(again.scores, table.scores);
  EXPECT_TRUE(format_scores(table).starts_with("0,"));
  write_file_atomically(path, std::string_view("0,0.25,0.75\n1,1,0\n"));
  EXPECT_EQ(read_scores(path).classes, 2);
  EXPECT_EQ(read_scores(path).scores, (std::vector<double>{0.25, 0.75, 1, 0}));
  write_file_atomically(path, std::string_view("0,0.5\n1,1\n"));
  EXPECT_THAT(error_of(ErrorKind::data, [&] { read_scores(path); }),
              HasSubstr("(at least 2), got 2 columns"));
  write_file_atomically(path, std::string_view("0,0.5,0.5\n1,0.5,oops\n"));
  try {
    read_scores(path);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::data);
    EXPECT_THAT(error.what(), HasSubstr("2"));
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace modewise::tasks
