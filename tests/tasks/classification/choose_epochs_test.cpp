#include "modewise/tasks/classification/choose_epochs.h"

#include <gtest/gtest.h>

namespace modewise::tasks {
namespace {

train::TrainConfig chosen(int64_t samples, int64_t usual, int64_t batch = 32, int64_t epochs = -1,
                          int64_t patience = 6) {
  train::TrainConfig train;
  train.epochs = epochs;
  train.batch_size = batch;
  train.patience = patience;
  choose_epochs(train, samples, usual);
  return train;
}

TEST(ChooseEpochs, LeavesWhatWasGiven) {
  for (const int64_t epochs : {0, 1, 7}) EXPECT_EQ(chosen(30, 40, 32, epochs).epochs, epochs);
  EXPECT_EQ(chosen(30, 40, 32, 7).patience, 6);
}

TEST(ChooseEpochs, TakesTheUsualNumberWhereStepsAreMany) {
  EXPECT_EQ(chosen(400, 40).epochs, 40);  // 13 steps each
  EXPECT_EQ(chosen(384, 40).epochs, 42);  // 12 steps each: 500 / 12 rounded up
  EXPECT_EQ(chosen(1188, 40).patience, 6);
}

TEST(ChooseEpochs, GivesFewSamplesMoreOfThem) {
  EXPECT_EQ(chosen(21, 40).epochs, 500);  // one step each
  EXPECT_EQ(chosen(1, 40).epochs, 500);
  EXPECT_EQ(chosen(96, 40).epochs, 167);  // three
  EXPECT_EQ(chosen(96, 40).patience, 6);
  EXPECT_EQ(chosen(96, 40, 32, -1, -1).patience, 20 * 167 / 40);
  EXPECT_EQ(chosen(96, 40, 32, 7, -1).patience, 20);
  EXPECT_EQ(chosen(96, 40, 32, -1, 0).patience, 0);
  EXPECT_EQ(chosen(33, 100, 16).epochs, 167);  // the last batch is not full
}

TEST(ChooseEpochs, CountsWhatMakesAStep) {
  train::TrainConfig train;
  train.epochs = -1;
  train.batch_size = 8;
  train.accumulate = 2;
  train.drop_last = true;
  choose_epochs(train, 79, 10);  // nine batches of 8, five steps
  EXPECT_EQ(train.epochs, 100);
}

}  // namespace
}  // namespace modewise::tasks
