#include "modewise/core/stop_signal.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

namespace modewise {
namespace {

using testing::ExitedWithCode;
using testing::KilledBySignal;

/// Runs in a child process with a shell's default signal handlers: exits with the result of `work`.
[[noreturn]] void end_with(const std::function<int()>& work) {
  for (const int signal : kStopSignals) std::signal(signal, SIG_DFL);
  set_stop_signal(0);
  std::_Exit(work());
}

TEST(StopSignal, EachIsTaken) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EXIT(end_with([&] {
                  install_stop_handlers();
                  std::raise(signal);
                  return stop_signal();
                }),
                ExitedWithCode(signal), "");
}

TEST(StopSignal, OneThatIsIgnoredStaysIgnored) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EXIT(end_with([&] {
                  std::signal(signal, SIG_IGN);
                  install_stop_handlers();
                  std::raise(signal);
                  return stop_signal();
                }),
                ExitedWithCode(0), "");
}

TEST(StopSignal, ASecondSigintOrSigtermEndsTheProcess) {
  for (const int signal : {SIGINT, SIGTERM})
    EXPECT_EXIT(end_with([&] {
                  install_stop_handlers();
                  std::raise(signal);
                  std::raise(signal);
                  return 0;
                }),
                KilledBySignal(signal), "");
}

TEST(StopSignal, SighupMayComeAgain) {
  EXPECT_EXIT(end_with([] {
                install_stop_handlers();
                for (int i = 0; i < 3; ++i) std::raise(SIGHUP);
                return stop_signal();
              }),
              ExitedWithCode(SIGHUP), "");
}

TEST(StopSignal, TheFirstOneCountsAndAllAreKnown) {
  EXPECT_EXIT(end_with([] {
                install_stop_handlers();
                std::raise(SIGHUP);
                std::raise(SIGTERM);
                if (stop_signal_arrived(SIGINT) || !stop_signal_arrived(SIGTERM)) return 100;
                return stop_signal();
              }),
              ExitedWithCode(SIGHUP), "");
}

TEST(StopSignal, WithoutTheHandlersTheDefaultActionIsBack) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    EXPECT_EXIT(end_with([&] {
                  install_stop_handlers();
                  remove_stop_handlers();
                  std::raise(signal);
                  return 0;
                }),
                KilledBySignal(signal), "");
    EXPECT_EXIT(end_with([&] {
                  std::signal(signal, SIG_IGN);
                  install_stop_handlers();
                  remove_stop_handlers();
                  std::raise(signal);
                  return 21;
                }),
                ExitedWithCode(21), "");
  }
}

TEST(StopSignal, IsThrownOnceItHasArrived) {
  throw_if_stopped();
  set_stop_signal(SIGHUP);
  try {
    throw_if_stopped();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Stopped& stopped) {
    EXPECT_EQ(stopped.signal, SIGHUP);
  }
  EXPECT_TRUE(stop_signal_arrived(SIGHUP));
  set_stop_signal(0);
  throw_if_stopped();
  EXPECT_FALSE(stop_signal_arrived(SIGHUP));
}

}  // namespace
}  // namespace modewise
