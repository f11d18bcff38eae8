// Files, folders and locks when system calls fail.

#include "tests/failing_calls.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "modewise/core/claims.h"
#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/file_lock.h"
#include "modewise/core/folder.h"
#include "modewise/core/output_file.h"
#include "modewise/core/remove_tree.h"
#include "modewise/core/standard_streams.h"
#include "tests/scratch_folder.h"

namespace modewise {
namespace {

namespace fs = std::filesystem;

std::string reason_of(int error) {
  return std::generic_category().message(error);
}

class FailingFileCalls : public testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> list;
    for (const fs::path& path : entries_of(folder.path())) list.push_back(path.filename());
    std::sort(list.begin(), list.end());
    return list;
  }

  ScratchFolder folder;
  const std::string file = folder.write("file", "old");
};

TEST_F(FailingFileCalls, AWriteIsRepeatedOrTheOldFileStays) {
  const std::string large(200'000, 'x');  // is not gathered
  for (const std::string& text : {std::string("new"), large}) {
    expect_repeated("write", [&] { write_file_atomically(file, text); });
    expect_repeated("fsync", [&] { write_file_atomically(file, text); });
    EXPECT_EQ(read_file(file), text);
  }
  {
    const FailingCalls waits("write", EAGAIN);  // a pipe would be full
    write_file_atomically(file, std::string_view("old"));
  }
  {
    const FailingCalls interrupted("close", EINTR);  // Linux has closed it all the same
    write_file_atomically(file, std::string_view("old"));
  }
  const auto write = [&] { write_file_atomically(file, std::string_view("new")); };
  EXPECT_EQ(error_with("write", ENOSPC, ErrorKind::io, write),
            "cannot write " + file + ": No space left on device");
  EXPECT_EQ(error_with("write", 0, ErrorKind::io, write), "cannot write " + file + ": Input/output error");
  EXPECT_EQ(error_with("close", EIO, ErrorKind::io, write), "cannot close " + file + ": Input/output error");
  EXPECT_EQ(error_with("rename", EDQUOT, ErrorKind::io, write),
            "cannot rename the temporary file to " + file + ": Disk quota exceeded");
  const std::string synced = error_with("fsync", EIO, ErrorKind::io, write);
  EXPECT_THAT(synced, testing::StartsWith("cannot sync " + file + ".tmp-"));
  EXPECT_THAT(synced, testing::EndsWith(": Input/output error"));
  EXPECT_EQ(read_file(file), "old");
  EXPECT_THAT(names(), testing::ElementsAre("file"));
}

TEST_F(FailingFileCalls, AFileIsOldOrNewWhicheverCallFails) {
  for (const std::string_view name : {"close", "fsync", "rename", "stat", "write"})
    for (int number = 1, calls = number; number <= calls; ++number) {
      SCOPED_TRACE(std::string(name) + " " + std::to_string(number));
      folder.write("file", "old");
      bool failed = false;
      FailingCalls failing(name, EIO, number);
      try {
        write_file_atomically(file, std::string_view("new"));
      } catch (const Error& error) {
        failed = true;
        EXPECT_EQ(error.kind(), ErrorKind::io);
        EXPECT_THAT(error.what(), testing::EndsWith(": Input/output error"));
      }
      calls = failing.calls();
      const std::string text = read_file(file);
      EXPECT_TRUE(text == "new" || (text == "old" && failed)) << text;
      EXPECT_THAT(names(), testing::ElementsAre("file"));
    }
}

TEST_F(FailingFileCalls, AReadIsRepeatedOrAnError) {
  expect_repeated("read", [&] { EXPECT_EQ(read_file(file), "old"); });
  const auto read = [&] { read_file(file); };
  EXPECT_EQ(error_with("read", EIO, ErrorKind::io, read), "cannot read " + file + ": Input/output error");
  EXPECT_EQ(error_with("fstat", EIO, ErrorKind::io, read), "cannot examine " + file + ": Input/output error");
}

TEST_F(FailingFileCalls, StandardInputIsReadWholeOrAnError) {
  const std::string text(3'000'000, 'x');
  const int kept = ::dup(STDIN_FILENO), opened = ::open(folder.write("input", text).c_str(), O_RDONLY);
  ASSERT_TRUE(kept >= 0 && opened >= 0 && ::dup2(opened, STDIN_FILENO) == STDIN_FILENO);
  expect_repeated("read", [&] { EXPECT_EQ(read_standard_input(), text); });
  EXPECT_EQ(error_with("read", EIO, ErrorKind::io, [] { read_standard_input(); }),
            "cannot read standard input: Input/output error");
  ::dup2(kept, STDIN_FILENO);
  ::close(kept);
  ::close(opened);
}

TEST_F(FailingFileCalls, AFolderIsListedWholeOrAnError) {
  expect_repeated("fdopendir", [&] { EXPECT_THAT(names(), testing::ElementsAre("file")); });
  EXPECT_EQ(error_with("readdir", EIO, ErrorKind::io, [&] { names(); }),
            "cannot list folder " + folder.path().string() + ": Input/output error");
}

TEST_F(FailingFileCalls, ACopyIsRepeatedOrAnErrorWithoutAFile) {
  expect_repeated("read", [&] { copy_durably(file, folder / "copy"); });
  EXPECT_EQ(read_file(folder / "copy"), "old");
  fs::remove(folder / "copy");
  EXPECT_EQ(error_with("read", EIO, ErrorKind::io, [&] { copy_durably(file, folder / "copy"); }),
            "cannot read " + file + ": Input/output error");
  EXPECT_EQ(error_with("mkdir", EDQUOT, ErrorKind::io, [&] { copy_durably(folder.path(), folder / "copy"); }),
            "cannot copy " + folder.path().string() + " to " + folder.path("copy") + ": Disk quota exceeded");
  EXPECT_THAT(names(), testing::ElementsAre("file"));
}

TEST_F(FailingFileCalls, AFolderIsMadeOrAnError) {
  EXPECT_EQ(error_with("mkdir", ENOSPC, ErrorKind::cannot_create, [&] { make_folders(folder / "a" / "b"); }),
            "cannot create " + folder.path("a") + ": No space left on device");
  const auto write = [&](const fs::path& made) { write_file_synced(made / "x", as_bytes("x")); };
  EXPECT_THAT(
      error_with("rename", ENOSPC, ErrorKind::io, [&] { write_folder_atomically(folder / "made", write); }),
      testing::EndsWith(" to " + folder.path("made") + ": No space left on device"));
  EXPECT_THAT(names(), testing::ElementsAre("file"));
}

TEST_F(FailingFileCalls, ARemovalIsRepeatedOrAnError) {
  folder.write("tree/a/b", "");
  expect_repeated("unlinkat", [&] { remove_tree(folder / "tree"); });
  folder.write("tree/a", "");
  EXPECT_EQ(error_with("unlinkat", EROFS, ErrorKind::io, [&] { remove_tree(folder / "tree"); }),
            "cannot remove " + folder.path("tree") + ": Read-only file system");
  const std::string left = temporary_beside(folder / "tree").filename();
  folder.write(left + "/file", "");
  EXPECT_EQ(error_with("unlinkat", EIO, ErrorKind::io,
                       [&] { remove_temporaries(folder.path(), [](std::string_view) { return true; }); }),
            "cannot remove " + folder.path(left) + ": Input/output error");
}

TEST_F(FailingFileCalls, ALockIsRepeatedUnsupportedOrAnError) {
  using Mode = FileLock::Mode;
  for (const Mode mode : {Mode::wait, Mode::attempt}) {
    expect_repeated(
        "flock", [&] { EXPECT_EQ(FileLock::of_file(folder / "lock", mode).state(), FileLock::State::held); });
    for (const int error : {ENOLCK, EBADF, ENOSYS, EOPNOTSUPP, EINVAL}) {
      const FailingCalls calls("flock", error);
      const FileLock lock = FileLock::of_folder(folder.path(), mode);
      EXPECT_EQ(lock.state(), FileLock::State::unsupported);
      EXPECT_EQ(lock.reason(), reason_of(error));
    }
    EXPECT_EQ(error_with("flock", EIO, ErrorKind::io, [&] { FileLock::of_file(folder / "lock", mode); }),
              "cannot lock " + folder.path("lock") + ": Input/output error");
  }
  // The file that was opened may be another one than that which has the name.
  const FailingCalls calls("fstat", ESTALE, 1, 2);
  EXPECT_EQ(FileLock::of_folder(folder.path(), Mode::attempt).state(), FileLock::State::held);
  EXPECT_EQ(calls.calls(), 3);
}

TEST_F(FailingFileCalls, ClaimsSayWhereTheFileSystemHasNoLocks) {
  const std::chrono::milliseconds lease(60'000);
  Claims guarded(folder / "claims", lease);
  EXPECT_EQ(guarded.reason_unguarded(), "");
  {
    const FailingCalls calls("flock", ENOLCK, 1, 100);
    EXPECT_EQ(Claims(folder / "claims", lease).reason_unguarded(), reason_of(ENOLCK));
    const auto claim = guarded.take("work");  // the file system has lost its locks
    ASSERT_NE(claim, nullptr);
    EXPECT_FALSE(guarded.guarded());
    EXPECT_EQ(guarded.reason_unguarded(), reason_of(ENOLCK));
    EXPECT_TRUE(claim->heartbeat());
  }
  EXPECT_FALSE(fs::exists(folder / "claims/work.json"));
  auto claim = guarded.take("work");
  const FailingCalls calls("flock", EIO);
  claim.reset();  // cannot be released: it expires
  EXPECT_TRUE(fs::exists(folder / "claims/work.json"));
}

}  // namespace
}  // namespace modewise
