#pragma once
// Stop signals (SIGINT, SIGTERM, SIGHUP) as a flag that long loops poll, so that they can save before they
// end.

#include <array>
#include <csignal>

namespace modewise {

inline constexpr std::array kStopSignals = {SIGINT, SIGTERM, SIGHUP};

/// Thrown by work that a signal interrupted: the program exits with 128 + signal.
struct Stopped {
  int signal;
};

/// Installs the handlers. A signal that is ignored stays ignored: nohup ignores SIGHUP, a shell SIGINT for
/// its background jobs. A second SIGINT or SIGTERM ends the process at once, as users expect; SIGHUP may come
/// again, since a terminal that closes and its shell both send it.
void install_stop_handlers();

/// For a child process before execve: the default action in place of the handlers.
void remove_stop_handlers();

/// Number of the first stop signal; 0 if none has arrived.
int stop_signal();

/// Throws Stopped once a signal has arrived. Commands call it before they write results.
void throw_if_stopped();

/// Whether this signal of kStopSignals has arrived, first or not.
bool stop_signal_arrived(int signal);

/// Sets the flag, for tests and for loops that stop by themselves; 0 clears it.
void set_stop_signal(int signal);

}  // namespace modewise
