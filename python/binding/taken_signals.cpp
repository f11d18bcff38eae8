#include "python/binding/taken_signals.h"

namespace modewise::python {

TakenSignals::TakenSignals() {
  for (size_t i = 0; i < kStopSignals.size(); ++i) sigaction(kStopSignals[i], nullptr, &before_[i]);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, &pipe_before_);
  set_stop_signal(0);
  install_stop_handlers();
}

TakenSignals::~TakenSignals() {
  if (taken_) give_back();
}

std::vector<int> TakenSignals::give_back() {
  for (size_t i = 0; i < kStopSignals.size(); ++i) sigaction(kStopSignals[i], &before_[i], nullptr);
  sigaction(SIGPIPE, &pipe_before_, nullptr);
  taken_ = false;
  std::vector<int> arrived;
  for (const int signal : kStopSignals)
    if (stop_signal_arrived(signal)) arrived.push_back(signal);
  set_stop_signal(0);
  return arrived;
}

}  // namespace modewise::python
