#include "modewise/core/closed_pipe.h"

#include <atomic>
#include <csignal>

namespace modewise {
namespace {

std::atomic<bool> ends_without_reader{false};

}  // namespace

void survive_closed_pipes() {
  ends_without_reader = std::signal(SIGPIPE, SIG_IGN) == SIG_DFL;
}

void finish_without_reader() {
  ends_without_reader = false;
}

void end_without_reader() {
  if (!ends_without_reader) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

}  // namespace modewise
