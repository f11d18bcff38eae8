#include "modewise/io/shortened_file.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <string_view>

#include "modewise/core/error.h"

namespace modewise::io {
namespace {

// Everything here runs in a signal handler: async-signal-safe calls only, no allocation, no locks.

/// The file of a line of /proc/self/maps (BEGIN-END rights offset device inode FILE) if its range contains
/// `address`.
std::string_view file_at(std::string_view line, uintptr_t address) {
  const char* last = line.data() + line.size();
  uintptr_t begin = 0, end = 0;
  const char* dash = std::from_chars(line.data(), last, begin, 16).ptr;
  if (dash == last) return {};
  std::from_chars(dash + 1, last, end, 16);
  const size_t file = line.find('/');
  return address >= begin && address < end && file != std::string_view::npos ? line.substr(file)
                                                                             : std::string_view();
}

std::string_view mapped_at(uintptr_t address, std::span<char> line) {
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  size_t length = 0;
  for (char c = 0; ::read(maps, &c, 1) == 1;) {
    if (c != '\n') {
      if (length < line.size()) line[length++] = c;
      continue;
    }
    if (const std::string_view file = file_at({line.data(), length}, address); !file.empty()) return file;
    length = 0;
  }
  return {};
}

void say(std::string_view text) {
  static_cast<void>(::write(STDERR_FILENO, text.data(), text.size()) >= 0);
}

void on_bus_error(int number, siginfo_t* info, void*) {
  std::array<char, 8192> line;
  const std::string_view file = mapped_at(reinterpret_cast<uintptr_t>(info->si_addr), line);
  if (file.empty()) {  // another cause: the instruction is repeated and ends the process
    ::signal(number, SIG_DFL);
    return;
  }
  say("error: cannot read ");
  say(file);
  say(": it was truncated while it was read, or its disk failed\n");
  ::_exit(static_cast<int>(ErrorKind::io));
}

}  // namespace

void end_at_shortened_files() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace modewise::io
