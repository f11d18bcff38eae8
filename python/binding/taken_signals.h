#pragma once
// The stop signals for the time of one call: long work then saves and stops. Python's own handlers are back
// afterwards, and are to be given what arrived meanwhile.

#include <array>
#include <csignal>
#include <vector>

#include "modewise/core/stop_signal.h"

namespace modewise::python {

class TakenSignals {
 public:
  /// SIGPIPE is ignored as well: a closed stderr must not end a training.
  TakenSignals();
  ~TakenSignals();
  TakenSignals(const TakenSignals&) = delete;
  TakenSignals& operator=(const TakenSignals&) = delete;

  /// Puts the handlers of before back; the stop signals that arrived until then.
  std::vector<int> give_back();

 private:
  std::array<struct sigaction, kStopSignals.size()> before_ = {};
  struct sigaction pipe_before_ {};
  bool taken_ = true;
};

}  // namespace modewise::python
