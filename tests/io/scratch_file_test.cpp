#include "modewise/io/scratch_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "modewise/core/error.h"
#include "tests/io/damage.h"
#include "tests/scratch_folder.h"

namespace modewise::io {
namespace {

namespace fs = std::filesystem;

size_t open_files() {
  const fs::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

class ScratchFileTest : public testing::Test {
 protected:
  ScratchFileTest() { ::setenv("TMPDIR", folder_.path().c_str(), 1); }
  ~ScratchFileTest() override {
    if (before_.empty())
      ::unsetenv("TMPDIR");
    else
      ::setenv("TMPDIR", before_.c_str(), 1);
  }

  std::string said(const std::function<void()>& action) const {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(ErrorKind::io));
      return error.what();
    }
    return "";
  }
  static std::string read(const ScratchFile& file, uint64_t offset, size_t size) {
    std::vector<std::byte> bytes(size);
    file.read(offset, bytes);
    return to_text(bytes);
  }

  std::string before_ = std::getenv("TMPDIR") == nullptr ? "" : std::getenv("TMPDIR");
  ScratchFolder folder_;
};

TEST_F(ScratchFileTest, GivesBackWhatWasWrittenAnywhere) {
  ScratchFile file("rows of a picture");
  file.reserve(4, 10);
  file.write(9, to_bytes("abcde"));
  file.write(4, to_bytes("12345"));
  EXPECT_EQ(read(file, 4, 10), "12345abcde");
  EXPECT_EQ(read(file, 7, 4), "45ab");
  EXPECT_EQ(read(file, 0, 4), std::string(4, '\0'));
  file.write(5, to_bytes("-"));
  EXPECT_EQ(read(file, 4, 3), "1-3");
  EXPECT_EQ(read(file, 4, 0), "");
}

TEST_F(ScratchFileTest, HasNoNameAndGoesWithItsObject) {
  const size_t before = open_files();
  {
    const ScratchFile file("rows");
    EXPECT_EQ(open_files(), before + 1);
    EXPECT_TRUE(fs::is_empty(folder_.path()));
  }
  EXPECT_EQ(open_files(), before);
}

TEST_F(ScratchFileTest, LiesInTmpdirElseInVarTmp) {
  const std::string folder = folder_.path("none");
  ::setenv("TMPDIR", folder.c_str(), 1);
  EXPECT_EQ(said([] { ScratchFile("rows"); }),
            "rows: a temporary file in " + folder +
                " cannot be created: No such file or directory; set TMPDIR to another folder");
  for (const bool empty : {false, true}) {
    empty ? ::setenv("TMPDIR", "", 1) : ::unsetenv("TMPDIR");
    const ScratchFile file("rows");
    std::array<std::byte, 1> byte;
    EXPECT_EQ(said([&] { file.read(0, byte); }),
              "rows: a temporary file in /var/tmp cannot be read: Input/output error; set TMPDIR to another "
              "folder");
  }
}

TEST_F(ScratchFileTest, SaysThatItEnds) {
  ScratchFile file("rows");
  file.write(0, to_bytes("abc"));
  const std::string ended = "rows: a temporary file in " + folder_.path().string() +
                            " cannot be read: Input/output error; set TMPDIR to another folder";
  EXPECT_EQ(said([&] { read(file, 0, 4); }), ended);
  EXPECT_EQ(said([&] { read(file, 3, 1); }), ended);
}

TEST_F(ScratchFileTest, SaysThatThereIsNoRoom) {
  ScratchFile file("rows");
  const std::string place = "rows: a temporary file in " + folder_.path().string();
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{1000, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string reserved = said([&] { file.reserve(500, 501); });
  const std::string fitting = said([&] { file.reserve(500, 500); });
  const std::string written = said([&] { file.write(996, to_bytes("12345")); });
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(reserved, place + " cannot be allocated: File too large; set TMPDIR to another folder");
  EXPECT_EQ(fitting, "");
  EXPECT_EQ(written, place + " cannot be written: File too large; set TMPDIR to another folder");
  EXPECT_EQ(read(file, 996, 4), "1234");  // the part that fits
}

}  // namespace
}  // namespace modewise::io
