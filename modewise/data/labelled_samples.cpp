#include "modewise/data/labelled_samples.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace modewise::data {

std::vector<int64_t> LabelledSamples::split(const std::string& name) const {
  if (name == "train") return train;
  if (name == "validation") return validation;
  if (name == "test") return test;
  std::vector<int64_t> all(labels.size());
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

std::vector<int64_t> LabelledSamples::class_counts(std::span<const int64_t> samples) const {
  std::vector<int64_t> counts(classes.size(), 0);
  for (const int64_t i : samples)
    if (const int64_t label = labels[static_cast<size_t>(i)]; label >= 0)
      ++counts[static_cast<size_t>(label)];
  return counts;
}

std::string LabelledSamples::called(int64_t sample) const {
  const std::string& name = names[static_cast<size_t>(sample)];
  const bool number = std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c); });
  return number ? one + " " + name : name;
}

void leave_test_out(LabelledSamples& set, std::vector<at::Tensor>& samples) {
  std::vector<int64_t> place(set.labels.size(), 0);
  for (const int64_t i : set.test) place[static_cast<size_t>(i)] = -1;
  int64_t left = 0;
  for (size_t i = 0; i < place.size(); ++i) {
    if (place[i] < 0) continue;
    const auto to = static_cast<size_t>(place[i] = left++);
    if (to == i) continue;
    samples[to] = std::move(samples[i]);
    set.labels[to] = set.labels[i];
    set.names[to] = std::move(set.names[i]);
  }
  samples.resize(static_cast<size_t>(left));
  set.labels.resize(static_cast<size_t>(left));
  set.names.resize(static_cast<size_t>(left));
  set.test.clear();
  for (auto* list : {&set.train, &set.validation})
    for (int64_t& i : *list) i = place[static_cast<size_t>(i)];
}

}  // namespace modewise::data
