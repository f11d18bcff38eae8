// Inputs and files of this layer when system calls fail.

#include "tests/failing_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "modewise/core/file.h"
#include "modewise/io/byte_source.h"
#include "modewise/io/events/event_file.h"
#include "modewise/io/mapped_file.h"
#include "modewise/io/scratch_file.h"
#include "tests/io/damage.h"
#include "tests/scratch_folder.h"

namespace modewise::io {
namespace {

class FailingInputCalls : public testing::Test {
 protected:
  ScratchFolder folder;
  const std::string path = folder.write("file", "abcdef");
};

TEST_F(FailingInputCalls, AFileIsReadAgainOrAnError) {
  const FileSource source(path);
  std::array<std::byte, 4> bytes{};
  expect_repeated("pread", [&] { EXPECT_EQ(source.read(1, bytes), 4); });
  EXPECT_EQ(to_text(bytes), "bcde");
  EXPECT_EQ(source.read(4, bytes), 2);
  EXPECT_EQ(source.read(6, bytes), 0);
  {
    const FailingCalls cut("pread", 0);  // shorter than when it was opened
    EXPECT_EQ(source.read(0, bytes), 0);
  }
  const FailingCalls calls("pread", EIO);
  EXPECT_EQ(error_of(ErrorKind::io, [&] { source.read(0, bytes); }),
            "cannot read " + path + ": Input/output error");
}

TEST_F(FailingInputCalls, AFileThatCannotBeExaminedIsAnError) {
  const FailingCalls calls("fstat", EOVERFLOW);
  EXPECT_EQ(error_of(ErrorKind::no_input, [&] { MappedFile file(path); }),
            "cannot examine " + path + ": Value too large for defined data type");
}

TEST_F(FailingInputCalls, ATemporaryFileIsWrittenAgainOrAnError) {
  const char* const before = std::getenv("TMPDIR");
  ::setenv("TMPDIR", folder.path().c_str(), 1);
  ScratchFile file("rows");
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before, 1);
  std::array<std::byte, 3> bytes{};
  expect_repeated("fallocate", [&] { file.reserve(0, 3); });
  expect_repeated("pwrite", [&] { file.write(0, to_bytes("abc")); });
  expect_repeated("pread", [&] { file.read(0, bytes); });
  EXPECT_EQ(to_text(bytes), "abc");
  for (const int error : {EOPNOTSUPP, ENOSYS}) {  // the file system cannot allocate space
    const FailingCalls calls("fallocate", error);
    file.reserve(0, 3);
    EXPECT_EQ(calls.calls(), 1);
  }
  const std::string place = "rows: a temporary file in " + folder.path().string() + " cannot be ";
  const std::string advice = "; set TMPDIR to another folder";
  EXPECT_EQ(error_with("fallocate", ENOSPC, ErrorKind::io, [&] { file.reserve(0, 3); }),
            place + "allocated: No space left on device" + advice);
  EXPECT_EQ(error_with("pwrite", ENOSPC, ErrorKind::io, [&] { file.write(0, to_bytes("x")); }),
            place + "written: No space left on device" + advice);
  EXPECT_EQ(error_with("pwrite", 0, ErrorKind::io, [&] { file.write(0, to_bytes("x")); }),
            place + "written: Input/output error" + advice);
  EXPECT_EQ(error_with("pread", EIO, ErrorKind::io, [&] { file.read(0, bytes); }),
            place + "read: Input/output error" + advice);
}

TEST_F(FailingInputCalls, EventsAreWrittenAgainOrAnError) {
  const std::array<EventValue, 1> values = {EventValue{"loss", 1.0F}};
  std::filesystem::create_directory(folder / "events");
  {
    const FailingCalls calls("write", ENOSPC);
    EXPECT_THAT(error_of(ErrorKind::io, [&] { EventFile file(folder / "events"); }),
                testing::EndsWith(": No space left on device"));
  }
  EventFile file(folder / "events");
  expect_repeated("write", [&] { file.add(1, values); });
  expect_repeated("fsync", [&] { file.sync(); });
  const FailingCalls calls("fsync", EIO);
  EXPECT_THAT(error_of(ErrorKind::io, [&] { file.sync(); }), testing::EndsWith(": Input/output error"));
}

}  // namespace
}  // namespace modewise::io
