#pragma once
// Stop signals (SIGINT, SIGTERM, SIGHUP) as a flag that long loops look at, so that they can save before they
// end.

#include <array>
#include <csignal>

namespace modewise {

inline constexpr std::array kStopSignals = {SIGINT, SIGTERM, SIGHUP};

/// Raised by work that a signal stopped: the program exits 128 + signal.
struct Stopped {
  int signal;
};

/// Installs the handlers. A signal that is ignored stays ignored: nohup ignores SIGHUP, a shell SIGINT for
/// its background jobs. A second SIGINT or SIGTERM ends the process at once, as users expect; SIGHUP may come
/// again, since a terminal that closes and its shell both send it.
void install_stop_handlers();

/// For a child process before execve: the default action in place of the handlers.
void remove_stop_handlers();

/// 0 while nobody asked to stop, else the first signal's number.
int stop_signal();

/// Throws Stopped once a signal has arrived: before a command writes what it worked out.
void throw_if_stopped();

/// Whether this one of kStopSignals has arrived, first or not.
bool stop_signal_arrived(int signal);

/// For tests and for loops that stop of their own accord; 0 forgets what has arrived.
void set_stop_signal(int signal);

}  // namespace modewise
