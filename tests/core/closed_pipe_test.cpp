#include "modewise/core/closed_pipe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/output_file.h"

namespace modewise {
namespace {

using testing::ExitedWithCode;
using testing::KilledBySignal;

using Handler = void (*)(int);

struct Pipe {
  std::array<int, 2> ends{};
  Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
  int reading() const { return ends[0]; }
  int writing() const { return ends[1]; }
};

/// Runs in a child process with the SIGPIPE handler `at_start`: writes to a broken pipe and prints the error
/// to stderr.
[[noreturn]] void write_without_reader(Handler at_start, bool finishes) {
  std::signal(SIGPIPE, at_start);
  survive_closed_pipes();
  if (finishes) finish_without_reader();
  const Pipe pipe;
  ::close(pipe.reading());
  try {
    write_all(pipe.writing(), as_bytes("result\n"), "to stdout");
  } catch (const Error& error) {
    std::fputs(error.what(), stderr);
    std::_Exit(error.exit_code());
  }
  std::_Exit(0);
}

TEST(ClosedPipe, EndsAFilterAsTheSystemWould) {
  EXPECT_EXIT(write_without_reader(SIG_DFL, false), KilledBySignal(SIGPIPE), "^$");
}

TEST(ClosedPipe, IsAnErrorWhereTheWorkIsFinishedFirst) {
  EXPECT_EXIT(write_without_reader(SIG_DFL, true), ExitedWithCode(74),
              "^cannot write to stdout: Broken pipe$");
}

TEST(ClosedPipe, IsAnErrorWhereTheSignalWasIgnoredAtTheStart) {
  EXPECT_EXIT(write_without_reader(SIG_IGN, false), ExitedWithCode(74),
              "^cannot write to stdout: Broken pipe$");
}

TEST(WriteAll, WaitsForAPipeThatDoesNotBlock) {
  const Pipe pipe;
  ASSERT_EQ(::fcntl(pipe.writing(), F_SETFL, O_NONBLOCK), 0);
  std::string text(1 << 20, 'x'), read;
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>('a' + i % 17);
  std::thread reader([&] {
    std::array<char, 4096> part{};
    for (ssize_t n = 0; (n = ::read(pipe.reading(), part.data(), part.size())) > 0;)
      read.append(part.data(), static_cast<size_t>(n));
  });
  write_all(pipe.writing(), as_bytes(text), "to the pipe");
  ::close(pipe.writing());
  reader.join();
  ::close(pipe.reading());
  EXPECT_EQ(read, text);
}

TEST(SyncFile, NamesWhatCannotBeSynced) {
  const Pipe pipe;
  try {
    sync_file(pipe.writing(), "the pipe");
    ADD_FAILURE() << "a pipe was synced";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_STREQ(error.what(), "cannot sync the pipe: Invalid argument");
  }
  ::close(pipe.reading());
  ::close(pipe.writing());
}

}  // namespace
}  // namespace modewise
