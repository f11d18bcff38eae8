#include "modewise/core/stop_signal.h"

#include <atomic>
#include <cstdint>

namespace modewise {
namespace {

std::atomic<int> first_signal{0};
std::atomic<uint32_t> arrived_signals{0};  // one bit per signal
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free);

uint32_t bit_of(int signal) {
  return uint32_t{1} << static_cast<uint32_t>(signal);
}

void note(int signal) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal);
  arrived_signals.fetch_or(bit_of(signal));
}

void on_stop_signal(int signal) {
  note(signal);
  if (signal != SIGHUP) std::signal(signal, SIG_DFL);
}

}  // namespace

void install_stop_handlers() {
  for (const int signal : kStopSignals) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = on_stop_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

void remove_stop_handlers() {
  for (const int signal : kStopSignals) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == on_stop_signal) std::signal(signal, SIG_DFL);
  }
}

int stop_signal() {
  return first_signal.load();
}

void throw_if_stopped() {
  if (stop_signal() != 0) throw Stopped{stop_signal()};
}

bool stop_signal_arrived(int signal) {
  return (arrived_signals.load() & bit_of(signal)) != 0;
}

void set_stop_signal(int signal) {
  first_signal.store(0);
  arrived_signals.store(0);
  if (signal != 0) note(signal);
}

}  // namespace modewise
