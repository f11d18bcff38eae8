#include "modewise/data/labelled_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace modewise::data {
namespace {

/// 40 patients with 1, 2, 3, 1, … samples of one class each.
LabelledSamples forty_patients() {
  LabelledSamples set("volume", "volumes");
  set.classes = {"ill", "well"};
  for (int patient = 0; patient < 40; ++patient)
    for (int i = 0; i <= patient % 3; ++i) {
      set.labels.push_back(patient % 2);
      set.names.push_back(std::to_string(set.names.size()));
      set.groups.push_back("p" + std::to_string(patient));
    }
  return set;
}

std::set<std::string> groups_of(const LabelledSamples& set, const std::vector<int64_t>& samples) {
  std::set<std::string> out;
  for (const int64_t i : samples) out.insert(set.groups[static_cast<size_t>(i)]);
  return out;
}

void expect_whole_groups(const LabelledSamples& set, size_t train, size_t validation, size_t test) {
  EXPECT_EQ(groups_of(set, set.train).size(), train);
  EXPECT_EQ(groups_of(set, set.validation).size(), validation);
  EXPECT_EQ(groups_of(set, set.test).size(), test);
  std::set<std::string> all;
  for (const auto* list : {&set.train, &set.validation, &set.test}) {
    EXPECT_TRUE(std::is_sorted(list->begin(), list->end()));
    all.merge(groups_of(set, *list));
  }
  EXPECT_EQ(all.size(), train + validation + test);  // none is in two splits
  EXPECT_EQ(set.train.size() + set.validation.size() + set.test.size(), set.labels.size());
}

TEST(LabelledSamples, OfAGroupStayInOneSplit) {
  LabelledSamples set = forty_patients();
  split_by_class(set, {0.5, 0.25, 0.25}, 1);
  expect_whole_groups(set, 20, 10, 10);
  EXPECT_THAT(set.notes.back(),
              testing::StartsWith("split by class with seed 1: 20 training, 10 validation, 10 test "
                                  "groups; volumes "));
  const std::vector<int64_t> test = set.test, validation = set.validation;
  deal_validation(set, 3);
  expect_whole_groups(set, 20, 10, 10);
  EXPECT_EQ(set.test, test);
  EXPECT_NE(set.validation, validation);
  take_validation(set, 0.25, 1);
  EXPECT_EQ(groups_of(set, set.train).size(), 14U);  // round(0.25 × 10) of each class
}

TEST(LabelledSamples, WithoutAGroupAreAlone) {
  LabelledSamples set("volume", "volumes");
  set.classes = {"a", "b"};
  for (int i = 0; i < 20; ++i) {
    set.labels.push_back(i % 2);
    set.names.push_back(std::to_string(i));
    set.groups.emplace_back();
  }
  split_by_class(set, {0.5, 0, 0.5}, 1);
  EXPECT_EQ(set.train.size(), 10U);
  EXPECT_THAT(set.class_counts(set.train), testing::ElementsAre(5, 5));
}

TEST(LabelledSamples, AreLeftOutOfEveryList) {
  LabelledSamples set("image", "images");
  set.labels = {0, 1, 0, 1};
  set.names = {"a", "b", "c", "d"};
  set.groups = {"p", "q", "r", "s"};
  set.train = {0, 2};
  set.validation = {1};
  set.test = {3};
  EXPECT_THAT(leave_out(set, {false, true, true, false}), testing::ElementsAre(0, 3));
  EXPECT_THAT(set.names, testing::ElementsAre("a", "d"));
  EXPECT_THAT(set.groups, testing::ElementsAre("p", "s"));
  EXPECT_THAT(set.train, testing::ElementsAre(0));
  EXPECT_TRUE(set.validation.empty());
  EXPECT_THAT(set.test, testing::ElementsAre(1));
}

}  // namespace
}  // namespace modewise::data
