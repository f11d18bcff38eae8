#pragma once
// SIGINT and SIGTERM for the time of one call: long work then saves and stops, and Python's own handlers are
// back afterwards.

#include <array>
#include <csignal>

namespace modewise::python {

class TakenSignals {
 public:
  TakenSignals();
  ~TakenSignals();
  TakenSignals(const TakenSignals&) = delete;
  TakenSignals& operator=(const TakenSignals&) = delete;

 private:
  static constexpr std::array kSignals = {SIGINT, SIGTERM};
  std::array<struct sigaction, 2> before_ = {};
};

}  // namespace modewise::python
