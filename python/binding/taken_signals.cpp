#include "python/binding/taken_signals.h"

#include "modewise/core/stop_signal.h"

namespace modewise::python {

TakenSignals::TakenSignals() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &before_[i]);
  set_stop_signal(0);
  install_stop_handlers();
}

TakenSignals::~TakenSignals() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  set_stop_signal(0);
}

}  // namespace modewise::python
