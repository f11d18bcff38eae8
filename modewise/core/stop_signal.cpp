#include "modewise/core/stop_signal.h"

#include <atomic>
#include <csignal>

namespace modewise {
namespace {

std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free);

void on_signal(int signal) {
  received.store(signal);
  std::signal(signal, SIG_DFL);
}

}  // namespace

void install_stop_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int stop_signal() {
  return received.load();
}

void set_stop_signal(int signal) {
  received.store(signal);
}

}  // namespace modewise
