// Distributed training: the roles of rank 0 and other ranks, the same bits for any number of processes, and
// shard gradients that sum to the gradient of the whole batch.

#include "modewise/train/distributed/workers.h"

#include <ATen/Parallel.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/stop_signal.h"
#include "modewise/train/distributed/shards.h"
#include "modewise/train/distributed/tree_sum.h"
#include "modewise/train/loop/trainer.h"
#include "tests/error_of.h"
#include "tests/scratch_folder.h"
#include "thread_group.h"
#include "toy_task.h"

namespace modewise::train {
namespace {

TrainConfig two_epochs(int64_t shards) {
  TrainConfig config;
  config.epochs = 2;
  config.batch_size = 40;  // 4 steps an epoch, the last of 30 samples
  config.patience = 0;
  config.shards = shards;
  return config;
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

class WorkersTest : public testing::Test {
 protected:
  void SetUp() override { at::set_num_threads(1); }

  /// One training by `size` workers; returns the task of each.
  std::vector<std::unique_ptr<ToyTask>> trained(int64_t size, const TrainConfig& config,
                                                const std::string& name, int64_t samples = 150) {
    std::vector<std::unique_ptr<ToyTask>> tasks;
    for (int64_t rank = 0; rank < size; ++rank) tasks.push_back(std::make_unique<ToyTask>(samples));
    results.assign(static_cast<size_t>(size), {});
    ThreadGroup(size).run([&](Workers& workers) {
      at::set_num_threads(1);
      const auto rank = static_cast<size_t>(workers.rank());
      RunFolder folder = RunFolder::create(scratch / fmt::format("{}{}", name, rank));
      results[rank] = train(*tasks[rank], config, folder, false, false, workers);
    });
    return tasks;
  }

  ScratchFolder scratch;
  std::vector<TrainResult> results;
};

void expect_same_tensors(ToyTask& a, ToyTask& b) {
  const std::vector<NamedTensor> left = a.tensors(), right = b.tensors();
  for (size_t i = 0; i < left.size(); ++i) EXPECT_TRUE(left[i].tensor.equal(right[i].tensor)) << left[i].name;
}

TEST_F(WorkersTest, AnyNumberOfThemMakesTheSameBits) {
  for (const int64_t samples : {150, 123, 121}) {  // the last batch has 30, 3 and 1 samples for 4 shards
    TrainConfig config = two_epochs(4);
    config.accumulate = samples == 123 ? 3 : 1;
    const auto one = trained(1, config, fmt::format("one{}-", samples), samples);
    const TrainResult single_process = results[0];
    for (const int64_t size : {2, 4}) {
      const auto several = trained(size, config, fmt::format("{}of{}-", samples, size), samples);
      for (const auto& task : several) expect_same_tensors(*one[0], *task);
      for (const TrainResult& result : results) EXPECT_TRUE(result.last == single_process.last);
    }
  }
}

/// Odd shards have no gradient of one parameter, and no shard has one of another.
class UnevenTask : public ToyTask {
 public:
  at::Tensor loss(const Batch& batch, uint64_t seed, uint64_t step) override {
    const bool even = seed == 0 || seed == shard_seed(0, 2);
    const at::Tensor bias = net->second_bias, norm = net->norm_weight;
    if (!even) net->second_bias = bias.detach();
    net->norm_weight = norm.detach();
    const at::Tensor out = ToyTask::loss(batch, seed, step);
    net->second_bias = bias;
    net->norm_weight = norm;
    return out;
  }
};

TEST_F(WorkersTest, GradientsAreAddedAlongTheTreeOfTheParts) {
  std::vector<int64_t> samples(23);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<int64_t>(5 * i);
  const auto parts_of = [&](const ToyTask& task, int64_t first, int64_t last) {
    std::vector<BatchPart> parts;  // two batches make one step; the second has one sample, in shard 3
    for (int64_t batch : {0, 1})
      for (int64_t shard = first; shard < last; ++shard) {
        const Share share{shard, 4};
        const int64_t size = batch == 0 ? 22 : 1, start = batch == 0 ? 0 : 22;
        const int64_t from = share.first(size), to = share.last(size);
        const auto own =
            std::span(samples).subspan(static_cast<size_t>(start + from), static_cast<size_t>(to - from));
        parts.push_back({batch, shard, own.empty() ? nullptr : task.load(own)});
      }
    return parts;
  };
  const std::vector<double> weights = {22.0 / 23, 1.0 / 23};
  std::vector<std::vector<at::Tensor>> of_part;  // gradients of each shard separately
  for (int64_t shard = 0; shard < 4; ++shard) {
    UnevenTask task;
    for (const BatchPart& part : parts_of(task, shard, shard + 1)) {
      if (!part.samples) continue;
      const auto batch = static_cast<size_t>(part.batch);
      const std::vector<double> all = {part.batch == 0 ? 22.0 : 1.0};
      (task.loss_share(*part.samples, shard_seed(0, shard), static_cast<uint64_t>(part.batch), all) *
       weights[batch])
          .backward();
    }
    of_part.emplace_back();
    for (const NamedTensor& one : task.trained()) of_part.back().push_back(one.tensor.grad());
  }
  for (const int64_t size : {1, 2, 4}) {
    ThreadGroup(size).run([&](Workers& group) {
      at::set_num_threads(1);
      Workers& workers = size == 1 ? single_process() : group;
      const Share share{workers.rank(), size};
      UnevenTask task;
      ShardedStep step(task, 4, 0, workers);
      for (int repeat = 0; repeat < 3; ++repeat) {  // the first step sets the order of messages
        for (const NamedTensor& one : task.trained()) one.tensor.mutable_grad().reset();
        step.backward(parts_of(task, share.first(4), share.last(4)), 0, weights);
        const std::vector<NamedTensor> trained = task.trained();
        for (size_t i = 0; i < trained.size(); ++i) {
          const auto zeros_if_none = [&](size_t part) {
            return of_part[part][i].defined() ? of_part[part][i] : at::zeros_like(trained[i].tensor);
          };
          const bool unused = trained[i].name == "norm_weight";
          ASSERT_EQ(trained[i].tensor.grad().defined(), !unused) << trained[i].name;
          if (unused) continue;
          EXPECT_TRUE(trained[i].tensor.grad().equal((zeros_if_none(0) + zeros_if_none(1)) +
                                                     (zeros_if_none(2) + zeros_if_none(3))))
              << trained[i].name << " of " << size;
        }
      }
    });
  }
}

TEST_F(WorkersTest, RankZeroAloneWritesAndEvaluates) {
  trained(2, two_epochs(2), "run");
  EXPECT_THAT(names_in(scratch / "run0"),
              testing::IsSupersetOf({"metrics.json", "metrics.jsonl", "checkpoints"}));
  EXPECT_THAT(names_in(scratch / "run1"), testing::IsEmpty());
  EXPECT_TRUE(results[0].to_be_evaluated());
  EXPECT_FALSE(results[1].to_be_evaluated());
  EXPECT_EQ(results[1].reason, StopReason::finished);
  EXPECT_EQ(results[1].steps, 8);
}

TEST_F(WorkersTest, ASignalThatOneSawStopsAll) {
  std::vector<std::unique_ptr<ToyTask>> tasks;
  for (int i = 0; i < 2; ++i) tasks.push_back(std::make_unique<ToyTask>());
  std::vector<TrainResult> stopped(2);
  ThreadGroup(2).run([&](Workers& workers) {
    const auto rank = static_cast<size_t>(workers.rank());
    RunFolder folder = RunFolder::create(scratch / fmt::format("run{}", rank));
    if (rank == 1)
      tasks[rank]->on_loss = [](uint64_t step) {
        if (step == 3) set_stop_signal(15);
      };
    stopped[rank] = train(*tasks[rank], two_epochs(2), folder, false, false, workers);
  });
  set_stop_signal(0);
  for (const TrainResult& result : stopped) {
    EXPECT_EQ(result.reason, StopReason::signal);
    EXPECT_EQ(result.signal, 15);
    EXPECT_EQ(result.steps, stopped[0].steps);
  }
  EXPECT_TRUE(std::filesystem::exists(scratch / fmt::format("run0/checkpoints/step_{}", stopped[0].steps)));
}

TEST_F(WorkersTest, ADivergingPartEndsAll) {
  std::vector<std::string> sentences(2);
  ThreadGroup(2).run([&](Workers& workers) {
    const auto rank = static_cast<size_t>(workers.rank());
    ToyTask task;
    RunFolder folder = RunFolder::create(scratch / fmt::format("run{}", rank));
    if (rank == 1)
      task.on_loss = [&](uint64_t step) {
        if (step == 2) task.net->second_bias.mutable_data_ptr<float>()[0] = INFINITY;
      };
    try {
      train(task, two_epochs(2), folder, false, false, workers);
    } catch (const Error& error) {
      sentences[rank] = error.what();
    }
  });
  EXPECT_THAT(sentences, testing::Each(testing::StartsWith("training diverged at step 3: the loss is inf")));
}

/// The sentences of two processes of which the second changes a weight by one ulp in the loss of `step`; 0:
/// before the training.
std::vector<std::string> sentences_of_drift(const std::filesystem::path& folder, uint64_t step) {
  std::vector<std::string> sentences(2);
  ThreadGroup(2).run([&](Workers& workers) {
    const auto rank = static_cast<size_t>(workers.rank());
    ToyTask task;
    const auto drift = [&] {
      float* bias = task.net->second_bias.mutable_data_ptr<float>();
      bias[0] = std::nextafter(bias[0], 1.0F);
    };
    if (rank == 1 && step == 0) drift();
    if (rank == 1)
      task.on_loss = [&](uint64_t now) {
        if (now == step) drift();
      };
    RunFolder run = RunFolder::create(folder / fmt::format("run{}", rank));
    sentences[rank] =
        error_of(ErrorKind::data, [&] { train(task, two_epochs(2), run, false, false, workers); });
  });
  return sentences;
}

TEST_F(WorkersTest, WeightsThatDriftApartEndTheTrainingBeforeTheyAreSaved) {
  EXPECT_THAT(sentences_of_drift(scratch / "drift", 2),
              testing::Each("the processes disagree: rank 1 has different weights at step 4 than rank 0"));
  EXPECT_FALSE(std::filesystem::exists(scratch / "drift/run0/checkpoints"));
}

TEST_F(WorkersTest, WeightsThatDifferBeforeTheFirstStepAreRefused) {
  EXPECT_THAT(sentences_of_drift(scratch / "start", 0),
              testing::Each("the processes disagree: rank 1 has different weights at step 0 than rank 0"));
}

TEST_F(WorkersTest, PartsOfABatchAddUpToItsGradient) {
  ToyTask task;
  task.dropout = 0;
  std::vector<int64_t> samples(7);
  for (size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<int64_t>(3 * i);
  const at::Tensor whole = task.loss(*task.load(samples), 5, 0);
  whole.backward();
  std::vector<at::Tensor> wanted;
  for (const NamedTensor& one : task.trained()) wanted.push_back(one.tensor.grad().clone());
  const at::Tensor moved = task.net->hidden_mean.clone();
  for (const int64_t shards : {2, 4, 8}) {  // one of 8 shards is empty
    task.net->hidden_mean.zero_();
    for (const NamedTensor& one : task.trained()) one.tensor.mutable_grad().reset();
    ShardedStep step(task, shards, 5, single_process());
    std::vector<BatchPart> parts;
    for (int64_t shard = 0; shard < shards; ++shard) {
      const Share share{shard, shards};
      const auto first = static_cast<size_t>(share.first(7)), last = static_cast<size_t>(share.last(7));
      parts.push_back(
          {0, shard, first == last ? nullptr : task.load(std::span(samples).subspan(first, last - first))});
    }
    const double loss = step.backward(parts, 0, std::vector<double>{1});
    EXPECT_NEAR(loss, whole.item<double>(), 1e-6 * loss);
    const std::vector<NamedTensor> trained = task.trained();
    for (size_t i = 0; i < trained.size(); ++i)
      EXPECT_TRUE(trained[i].tensor.grad().allclose(wanted[i], 1e-4, 1e-6)) << trained[i].name;
    // The mean of the shards' means equals the overall mean if each shard has at most one sample.
    EXPECT_EQ(task.net->hidden_mean.allclose(moved, 1e-4, 1e-6), shards == 8);
    EXPECT_GT(task.net->hidden_mean.abs().sum().item<float>(), 0);
  }
}

TEST(TreeSum, AddsNeighboursFirst) {
  // 2^24 + 1 is not a float: the result reveals the order of the sums.
  const std::vector<float> numbers = {16777216, 1, 1, 1};
  TreeSum tree;
  for (const float x : numbers) tree.add({at::tensor({x})});
  EXPECT_EQ(tree.take()[0].item<float>(),
            16777218.0f);  // (2^24 + 1) + (1 + 1); sequentially it would stay at 2^24
}

TEST(TreeSum, TakesUndefinedTensorsForZeros) {
  TreeSum tree;
  tree.add({at::tensor({-0.0f}), at::Tensor()});
  tree.add({at::Tensor(), at::Tensor()});
  const std::vector<at::Tensor> sums = tree.take();
  EXPECT_FALSE(std::signbit(sums[0].item<float>()));  // −0 + 0
  EXPECT_FALSE(sums[1].defined());
}

TEST(TreeSum, EndsWithAPartThatComesTensorByTensor) {
  for (const int64_t parts : {1, 2, 4, 8}) {
    const auto part = [](int64_t number) {  // rounded sums, and tensors missing in some or all parts
      const float x = 1.0f / static_cast<float>(3 + number);
      return std::vector<at::Tensor>{at::tensor({x, -0.0f, x * x}),
                                     number % 2 == 1 ? at::tensor({-0.0f}) : at::Tensor(),
                                     number % 2 == 0 ? at::tensor({x}) : at::Tensor(), at::Tensor()};
    };
    TreeSum whole, open;
    for (int64_t number = 0; number < parts; ++number) whole.add(part(number));
    for (int64_t number = 0; number < parts - 1; ++number) open.add(part(number));
    const std::vector<at::Tensor> wanted = whole.take();
    std::vector<at::Tensor> last = part(parts - 1);
    for (const size_t i : {2, 0, 3, 1}) {
      const at::Tensor sum = open.with_last(i, last[i]);
      ASSERT_EQ(sum.defined(), wanted[i].defined());
      if (!sum.defined()) continue;
      EXPECT_TRUE(sum.view(at::kInt).equal(wanted[i].view(at::kInt))) << parts << " " << i;
    }
  }
}

TEST(TreeSum, RefusesAnUnfinishedTree) {
  TreeSum tree;
  for (int i = 0; i < 3; ++i) tree.add({at::full({1}, i)});
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { tree.take(); }),
            "the number of parts must be a power of two");
  tree.add({at::full({1}, 3)});
  EXPECT_EQ(error_of(ErrorKind::internal, [&] { tree.with_last(0, at::full({1}, 4)); }),
            "the number of parts must be a power of two");
}

TEST(Shards, HaveSeedsOfTheirOwn) {
  EXPECT_EQ(shard_seed(7, 0), 7U);
  std::vector<uint64_t> seeds;
  for (const uint64_t seed : {7, 8})
    for (const int64_t shard : {0, 1, 2, 3}) seeds.push_back(shard_seed(seed, shard));
  std::sort(seeds.begin(), seeds.end());
  EXPECT_EQ(std::adjacent_find(seeds.begin(), seeds.end()), seeds.end());
}

TEST_F(WorkersTest, RefuseWhatCannotBeShared) {
  const auto refused = [&](TrainConfig config, int64_t size) {
    std::vector<std::string> sentences(static_cast<size_t>(size));
    ThreadGroup(size).run([&](Workers& workers) {
      const auto rank = static_cast<size_t>(workers.rank());
      ToyTask task;
      RunFolder folder = RunFolder::create(scratch / fmt::format("refused{}", rank), true);
      try {
        train(task, config, folder, false, false, workers);
      } catch (const Error& error) {
        sentences[rank] = error.what();
      }
    });
    return sentences;
  };
  EXPECT_THAT(refused(two_epochs(2), 4),
              testing::Each("train.shards = 2 must be at least the number of processes, 4"));
  EXPECT_THAT(refused(two_epochs(3), 1), testing::Each("train: shards must be a power of two, got 3"));
  EXPECT_THAT(refused(two_epochs(64), 1),
              testing::Each("train: shards = 64 must not exceed batch_size = 40"));
}

TEST(SingleProcess, IsRankZeroAndAgreesWithItself) {
  EXPECT_TRUE(single_process().is_rank_zero());
  EXPECT_EQ(single_process().size(), 1);
  EXPECT_EQ(single_process().all_reduce_max(-7), -7);
  EXPECT_EQ(&workers(), &single_process());
}

}  // namespace
}  // namespace modewise::train
