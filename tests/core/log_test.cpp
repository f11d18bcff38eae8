#include "modewise/core/log.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include "modewise/core/file.h"
#include "modewise/core/progress.h"
#include "tests/scratch_folder.h"

namespace modewise {
namespace {

TEST(Log, WritesEscapedLines) {
  const ScratchFolder folder;
  const std::string file = folder.path("log.txt");
  testing::internal::CaptureStderr();
  set_up_logging(0, "never");
  log_to_file(file);
  spdlog::info("{} is a class", "\x1b]0;owned\x07\u202E\xff\nerror: forged");
  log_lines(LogLevel::warning, "one\ntwo\u009B\n");
  log_to_file("");
  const std::string shown = "\\x1b]0;owned\\x07\\u202e\\xff\\x0aerror: forged is a class\none\ntwo\\u009b\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), shown);
  const std::string kept = read_file(file);
  EXPECT_NE(kept.find(" info \\x1b]0;owned\\x07\\u202e\\xff\\x0aerror: forged is a class\n"),
            std::string::npos);
  EXPECT_NE(kept.find(" warning two\\u009b\n"), std::string::npos);
}

}  // namespace
}  // namespace modewise
