#include "modewise/io/mapped_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "modewise/io/shortened_file.h"
#include "tests/io/damage.h"

namespace modewise::io {
namespace {

namespace fs = std::filesystem;

std::string refusal(const fs::path& path) {
  try {
    MappedFile file(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::no_input);
    EXPECT_THAT(error.what(), testing::HasSubstr(path.string()));
    return error.what();
  }
  return "";
}

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest() : folder_(fs::path(testing::TempDir()) / ("mapped." + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~MappedFileTest() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name) << content;
    return folder_ / name;
  }
  fs::path folder_;
};

TEST_F(MappedFileTest, ShowsTheBytes) {
  MappedFile file(write("a", "hello"));
  EXPECT_EQ(to_text(file.bytes()), "hello");
  MappedFile moved(std::move(file));
  EXPECT_EQ(to_text(moved.bytes()), "hello");
  EXPECT_TRUE(file.bytes().empty());
  MappedFile other(write("b", "other"));
  other = std::move(moved);
  EXPECT_EQ(to_text(other.bytes()), "hello");
}

TEST_F(MappedFileTest, ShowsAnEmptyFileAsNothing) {
  EXPECT_TRUE(MappedFile(write("empty", "")).bytes().empty());
}

TEST_F(MappedFileTest, SaysWhyItCannotRead) {
  const std::string here = folder_.string();
  EXPECT_EQ(refusal(folder_ / "missing"), "cannot open " + here + "/missing: No such file or directory");
  EXPECT_EQ(refusal(folder_), "cannot read " + here + ": it is a folder, not a file");
  EXPECT_EQ(refusal(folder_ / "-"), "cannot open " + here +
                                        "/-: there is no such file, and standard input is not read here: "
                                        "write its bytes to a file first");
  EXPECT_EQ(refusal("/dev/null"),
            "cannot read /dev/null: expected a regular file, got a pipe or device; write its bytes to a file "
            "first");
  EXPECT_EQ(refusal(write("file", "x") / "below"), "cannot open " + here + "/file/below: Not a directory");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(folder_ / "pipe"),
            "cannot read " + here +
                "/pipe: expected a regular file, got a pipe or device; write its bytes to a file first");
}

TEST_F(MappedFileTest, MayHaveTheDescriptorOfAnInputThatIsClosed) {
  const fs::path path = write("a", "hello");
  const int input = ::dup(0);
  ::close(0);
  {
    const MappedFile file(path);
    EXPECT_EQ(to_text(file.bytes()), "hello");
  }
  EXPECT_EQ(::fcntl(0, F_GETFD), -1);  // closed again
  if (input >= 0) ::dup2(input, 0), ::close(input);
}

TEST_F(MappedFileTest, EndsTheProgramWhereTheFileIsCutMeanwhile) {
  const fs::path path = write("cut", std::string(1 << 16, 'x'));
  EXPECT_EXIT(
      {
        end_at_shortened_files();
        const MappedFile file(path);
        fs::resize_file(path, 4096);
        volatile auto within = file.bytes()[4095];  // a page that still exists
        volatile auto behind = file.bytes()[4096];
        static_cast<void>(within);
        static_cast<void>(behind);
      },
      testing::ExitedWithCode(74),
      "error: cannot read " + path.string() + ": it was truncated while it was read");
}

TEST_F(MappedFileTest, OtherBusErrorsEndItAsBefore) {
  EXPECT_EXIT(
      {
        end_at_shortened_files();
        ::raise(SIGBUS);  // the handler restores the default action
        ::raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST_F(MappedFileTest, SaysThatItHasNoPermission) {
  const fs::path path = write("secret", "x");
  ::chmod(path.c_str(), 0);
  if (::access(path.c_str(), R_OK) == 0) GTEST_SKIP() << "this user may read every file";
  EXPECT_THAT(refusal(path), testing::HasSubstr("Permission denied"));
}

}  // namespace
}  // namespace modewise::io
