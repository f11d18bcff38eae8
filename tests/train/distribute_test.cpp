// distribute(): rank 0 receives the items of several workers as from a single one.

#include "modewise/train/distributed/distribute.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>

#include "modewise/core/error.h"
#include "tests/error_of.h"
#include "thread_group.h"

namespace modewise::train {
namespace {

/// Items with varying number, dtype and shape of tensors, including none and empty ones.
Tensors item(int64_t index) {
  Tensors out;
  for (int64_t i = 0; i < index % 3; ++i) out.push_back(at::arange(index * i).view({index, i}).t());
  if (index % 2 == 0) out.push_back(at::full({2, 1, 2}, static_cast<double>(index) + 0.25, at::kDouble));
  return out;
}

TEST(Distribute, RankZeroTakesEachItemOnceAndInOrder) {
  for (const int64_t size : {1, 2, 4})
    for (const int64_t count : {0, 1, 3, 4, 17}) {
      std::vector<std::atomic<int64_t>> maker(static_cast<size_t>(count));
      for (std::atomic<int64_t>& one : maker) one = -1;
      std::vector<int64_t> taken;
      ThreadGroup(size).run([&](Workers& workers) {
        distribute(
            workers, count,
            [&](int64_t index) {
              EXPECT_EQ(maker[static_cast<size_t>(index)].exchange(workers.rank()), -1);
              return item(index);
            },
            [&](int64_t index, const Tensors& made) {
              EXPECT_TRUE(workers.is_rank_zero());
              taken.push_back(index);
              const Tensors wanted = item(index);
              ASSERT_EQ(made.size(), wanted.size());
              for (size_t i = 0; i < made.size(); ++i) {
                EXPECT_EQ(made[i].scalar_type(), wanted[i].scalar_type());
                EXPECT_TRUE(made[i].equal(wanted[i])) << index;
              }
            });
      });
      ASSERT_EQ(std::ssize(taken), count);
      for (int64_t index = 0; index < count; ++index) {
        EXPECT_EQ(taken[static_cast<size_t>(index)], index);
        EXPECT_EQ(maker[static_cast<size_t>(index)], index % size);
      }
    }
}

TEST(CheckEqualOnAllRanks, NamesWhoDiffersAndInWhat) {
  const auto sentences = [](const std::vector<Common>& of_rank_zero, const std::vector<Common>& of_odd) {
    std::vector<std::string> said(4);
    ThreadGroup(4).run([&](Workers& workers) {
      try {
        check_equal_on_all_ranks(workers, workers.rank() % 2 == 0 ? of_rank_zero : of_odd);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::data);
        said[static_cast<size_t>(workers.rank())] = error.what();
      }
    });
    return said;
  };
  const std::vector<Common> common = {{"settings", "a"}, {"data", "b"}};
  EXPECT_THAT(sentences(common, common), testing::Each(""));
  EXPECT_THAT(sentences(common, {{"settings", "a"}, {"data", "c"}}),
              testing::Each("the processes disagree: rank 1, 3 has different data than rank 0"));
  EXPECT_THAT(sentences(common, {{"settings", "b"}, {"data", "a"}}),
              testing::Each("the processes disagree: rank 1, 3 has different settings than rank 0"));
  check_equal_on_all_ranks(single_process(), common);
}

TEST(SingleProcess, HasNobodyToSendTo) {
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { single_process().send(at::full({1}, 1), 1); }),
            "cannot send to process 1: there is only one process");
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { single_process().receive(1); }),
            "cannot receive from process 1: there is only one process");
}

}  // namespace
}  // namespace modewise::train
