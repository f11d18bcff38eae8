#include "modewise/train/loop/prefetcher.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <numeric>
#include <stdexcept>

#include "modewise/train/loop/sample_order.h"

namespace modewise::train {
namespace {

struct Numbered : Batch {
  explicit Numbered(int64_t i) : index(i) {}
  int64_t index;
};

int64_t number_of(const std::unique_ptr<Batch>& batch) {
  return static_cast<const Numbered&>(*batch).index;
}

TEST(Prefetcher, GivesTheBatchesInOrderFromAnyIndex) {
  for (const int64_t capacity : {1, 3, 100}) {
    Prefetcher batches([](int64_t i) { return std::make_unique<Numbered>(i); }, 5, 40, capacity);
    for (int64_t i = 5; i < 40; ++i) EXPECT_EQ(number_of(batches.next()), i);
    EXPECT_EQ(batches.next(), nullptr);
    EXPECT_EQ(batches.next(), nullptr);
  }
}

TEST(Prefetcher, HasNothingForAnEmptyRange) {
  Prefetcher batches([](int64_t i) { return std::make_unique<Numbered>(i); }, 7, 7, 2);
  EXPECT_EQ(batches.next(), nullptr);
}

TEST(Prefetcher, RunsAheadByItsCapacityAndNoFurther) {
  std::atomic<int64_t> loaded = 0;
  Prefetcher batches(
      [&](int64_t i) {
        ++loaded;
        return std::make_unique<Numbered>(i);
      },
      0, 1000, 4);
  for (int wait = 0; loaded < 4 && wait < 1000; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(loaded, 4);
  EXPECT_EQ(number_of(batches.next()), 0);
  for (int wait = 0; loaded < 5 && wait < 1000; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(loaded, 5);
}

TEST(Prefetcher, ThrowsALoadersExceptionInItsTurn) {
  Prefetcher batches(
      [](int64_t i) -> std::unique_ptr<Batch> {
        if (i == 3) throw std::runtime_error("sample 3 is damaged");
        return std::make_unique<Numbered>(i);
      },
      0, 10, 8);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(number_of(batches.next()), i);
  try {
    batches.next();
    FAIL() << "no exception";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "sample 3 is damaged");
  }
  EXPECT_EQ(batches.next(), nullptr);
}

TEST(Prefetcher, EndsCleanlyWithBatchesWaitingAndALoadUnderWay) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    Prefetcher batches([](int64_t i) { return std::make_unique<Numbered>(i); }, 0, 1000000, 3);
    for (int i = 0; i < repeat % 5; ++i) batches.next();
  }
}

TEST(SampleOrder, VisitsEverySampleOnceAnEpochInAnotherOrderEachTime) {
  SampleOrder order(23, 5, false, 1, 9);
  EXPECT_EQ(order.batches_per_epoch(), 5);
  std::vector<std::vector<int64_t>> epochs;
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    std::vector<int64_t> seen;
    for (int64_t batch = 0; batch < 5; ++batch) {
      const auto samples = order.samples_of(epoch * 5 + batch);
      EXPECT_EQ(static_cast<int64_t>(samples.size()), order.samples_in(epoch * 5 + batch));
      seen.insert(seen.end(), samples.begin(), samples.end());
    }
    epochs.push_back(seen);
    std::sort(seen.begin(), seen.end());
    std::vector<int64_t> all(23);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(seen, all);
  }
  EXPECT_NE(epochs[0], epochs[1]);
  SampleOrder other(23, 5, false, 1, 9);  // starting in the middle gives the same samples
  const auto samples = other.samples_of(7);
  EXPECT_TRUE(std::equal(samples.begin(), samples.end(), epochs[1].begin() + 10));
}

TEST(SampleOrder, GroupsBatchesToStepsWithinAnEpoch) {
  const SampleOrder order(23, 5, false, 2, 0);
  EXPECT_EQ(order.steps_per_epoch(), 3);
  EXPECT_EQ(order.first_batch(0), 0);
  EXPECT_EQ(order.first_batch(2), 4);
  EXPECT_EQ(order.first_batch(3), 5);  // the epoch's last step has one batch
  EXPECT_EQ(order.samples_in(4), 3);
  const SampleOrder dropping(23, 5, true, 2, 0);
  EXPECT_EQ(dropping.batches_per_epoch(), 4);
  EXPECT_EQ(dropping.steps_per_epoch(), 2);
}

TEST(Prefetcher, LoadsOnOneThreadThatLeavesSignalsToTheOthers) {
  const auto blocked = [](int signal) {
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, nullptr, &now);
    return sigismember(&now, signal) == 1;
  };
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  Prefetcher batches(
      [&](int64_t i) {
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) EXPECT_TRUE(blocked(signal)) << signal;
        for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL}) EXPECT_FALSE(blocked(fault)) << fault;
        EXPECT_EQ(omp_get_max_threads(), 1);
        return std::make_unique<Numbered>(i);
      },
      0, 1, 1);
  EXPECT_FALSE(blocked(SIGTERM));
  EXPECT_EQ(number_of(batches.next()), 0);
  EXPECT_EQ(at::get_num_threads(), 3);
  at::set_num_threads(before);
}

}  // namespace
}  // namespace modewise::train
