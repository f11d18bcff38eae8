#pragma once
// Stop signal handlers for the time of one call, in which long work saves and stops. Python's handlers are
// restored afterwards; the caller passes them the signals that arrived.

#include <array>
#include <csignal>
#include <vector>

#include "modewise/core/stop_signal.h"

namespace modewise::python {

class TakenSignals {
 public:
  /// Also ignores SIGPIPE: a closed stderr must not end a training.
  TakenSignals();
  ~TakenSignals();
  TakenSignals(const TakenSignals&) = delete;
  TakenSignals& operator=(const TakenSignals&) = delete;

  /// Restores the previous handlers; returns the stop signals that arrived until then.
  std::vector<int> give_back();

 private:
  std::array<struct sigaction, kStopSignals.size()> before_ = {};
  struct sigaction pipe_before_ {};
  bool taken_ = true;
};

}  // namespace modewise::python
