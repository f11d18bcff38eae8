#include "modewise/train/distributed/side_thread.h"

#include <gtest/gtest.h>
#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <vector>

namespace modewise::train {
namespace {

TEST(SideThread, TakesNoSignalAndComputesAlone) {
  sigset_t mask;
  int threads = 0;
  side_thread([&] {
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    threads = omp_get_max_threads();
  }).join();
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) EXPECT_EQ(sigismember(&mask, signal), 1);
  for (const int fault : {SIGSEGV, SIGFPE}) EXPECT_EQ(sigismember(&mask, fault), 0);
  EXPECT_EQ(threads, 1);
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  EXPECT_EQ(sigismember(&mask, SIGTERM), 0);
}

TEST(OrderedJobs, AreDoneInOrderAndWaitedFor) {
  OrderedJobs jobs;
  jobs.wait();  // no jobs
  std::vector<int> done;
  for (int round = 0; round < 3; ++round) {
    done.clear();
    for (int i = 0; i < 50; ++i) jobs.give([&done, i] { done.push_back(i); });
    jobs.wait();
    ASSERT_EQ(done.size(), 50U);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(done[static_cast<size_t>(i)], i);
  }
}

TEST(OrderedJobs, EndWithTheFirstThatThrows) {
  OrderedJobs jobs;
  std::atomic<int> done = 0;
  jobs.give([&] { ++done; });
  jobs.give([] { throw std::runtime_error("no answer"); });
  for (int i = 0; i < 10; ++i) jobs.give([&] { ++done; });
  for (int again = 0; again < 2; ++again) {
    try {
      jobs.wait();
      FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "no answer");
    }
    jobs.give([&] { ++done; });
  }
  EXPECT_EQ(done, 1);
}

TEST(OrderedJobs, ThatHaveNotBegunAreDroppedAtTheEnd) {
  std::atomic<int> done = 0;
  std::atomic<bool> begun = false;
  {
    OrderedJobs jobs;
    jobs.give([&] {
      begun = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ++done;
    });
    jobs.give([&] { ++done; });
    while (!begun) std::this_thread::yield();
  }
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace modewise::train
