#pragma once
// SIGINT and SIGTERM as a flag that long loops look at, so that they can save before they end.

namespace modewise {

/// Raised by work that a signal stopped: the program exits 128 + signal.
struct Stopped {
  int signal;
};

/// Installs the handlers; a second SIGINT ends the process at once, as users expect.
void install_stop_handlers();

/// 0 while nobody asked to stop, else the signal's number (2 or 15).
int stop_signal();

/// For tests and for loops that stop of their own accord.
void set_stop_signal(int signal);

}  // namespace modewise
