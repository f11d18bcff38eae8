#include "modewise/models/labelled_series/shapelet_forest.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include "modewise/core/error.h"
#include "modewise/core/random.h"
#include "modewise/models/labelled_series/shapelet_distance.h"

namespace modewise::models {
namespace {

constexpr double kEqualGain = 1e-12;  // gains that differ by less are equal but for roundings

int64_t most_frequent(const std::vector<int64_t>& counts) {
  return std::max_element(counts.begin(), counts.end()) - counts.begin();
}

double entropy(const std::vector<int64_t>& counts, int64_t total) {
  double sum = 0;
  for (const int64_t count : counts)
    if (count > 0) {
      const double share = static_cast<double>(count) / static_cast<double>(total);
      sum -= share * std::log(share);
    }
  return sum;
}

/// One of `count` numbers from 0, by random word `index`.
int64_t pick(const RandomStream& stream, int64_t index, int64_t count) {
  return std::min(
      static_cast<int64_t>(stream.uniform(static_cast<uint64_t>(index)) * static_cast<double>(count)),
      count - 1);
}

}  // namespace

ShapeletForest::ShapeletForest(const SeriesModelConfig& config, const SeriesShape& shape,
                               nn::Initializer& init)
    : SeriesClassifier(shape), settings_(config.forest) {
  const at::Tensor drawn = (init.uniform({2}, 1) + 1) * 0x1p23;
  seed_ = static_cast<uint64_t>(drawn[0].item<double>()) | static_cast<uint64_t>(drawn[1].item<double>())
                                                               << 24;
  const int64_t trees = settings_.trees, nodes = std::max<int64_t>(2 * shape.training_cases - 1, 1);
  cases_ = register_buffer("cases", at::zeros({shape.training_cases, shape.variables, shape.length}));
  lengths_ = register_buffer("lengths", at::zeros({shape.training_cases}, at::kLong));
  shapelets_ = register_buffer("shapelets", at::zeros({trees, nodes, 4}, at::kLong));
  thresholds_ = register_buffer("thresholds", at::zeros({trees, nodes}, at::kDouble));
  children_ = register_buffer("children", at::zeros({trees, nodes}, at::kLong));
  classes_ = register_buffer("classes", at::zeros({trees, nodes}, at::kLong));
}

std::span<const float> ShapeletForest::stretch(const int64_t* shapelet) const {
  const float* values = cases_.const_data_ptr<float>() +
                        (shapelet[0] * shape().variables + shapelet[1]) * shape().length + shapelet[2];
  return {values, static_cast<size_t>(shapelet[3])};
}

ShapeletForest::Split ShapeletForest::best_split(const Node& node, int64_t tree,
                                                 const std::vector<int64_t>& labels) const {
  const RandomStream stream{seed_, RandomSite::splits, static_cast<uint64_t>(tree)};
  const int64_t* lengths = lengths_.const_data_ptr<int64_t>();
  std::map<int64_t, int64_t> repeats;
  for (const int64_t one : node.cases) ++repeats[one];
  const std::vector<std::pair<int64_t, int64_t>> distinct(repeats.begin(), repeats.end());
  const auto all = std::ssize(node.cases);
  std::vector<int64_t> whole(static_cast<size_t>(shape().classes), 0);
  for (const int64_t one : node.cases) ++whole[static_cast<size_t>(labels[static_cast<size_t>(one)])];
  const double before = entropy(whole, all);
  Split best;
  for (int64_t draw = 0; draw < settings_.shapelets; ++draw) {
    // The first words of the stream draw the tree's cases.
    const int64_t word = std::ssize(labels) + (node.number * settings_.shapelets + draw) * 4;
    Split split;
    int64_t* s = split.shapelet;
    s[0] = node.cases[static_cast<size_t>(pick(stream, word, all))];
    s[1] = pick(stream, word + 1, shape().variables);
    const int64_t steps = lengths[s[0]];
    const auto share = [&](double part) {
      return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(part * static_cast<double>(steps))), 1,
                                 steps);
    };
    const int64_t least = share(settings_.shortest);
    s[3] = least + pick(stream, word + 2, share(settings_.longest) - least + 1);
    s[2] = pick(stream, word + 3, steps - s[3] + 1);
    struct Place {
      double distance;
      int64_t label, count;
    };
    std::vector<Place> places(distinct.size());
    at::parallel_for(0, std::ssize(distinct), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto [one, count] = distinct[static_cast<size_t>(i)];
        const int64_t other[4] = {one, s[1], 0, lengths[one]};
        places[static_cast<size_t>(i)] = {shapelet_distance(stretch(s), stretch(other)),
                                          labels[static_cast<size_t>(one)], count};
      }
    });
    std::stable_sort(places.begin(), places.end(),
                     [](const Place& a, const Place& b) { return a.distance < b.distance; });
    std::vector<int64_t> left(whole.size(), 0), right = whole;
    int64_t count = 0;
    for (size_t i = 0; i + 1 < places.size(); ++i) {
      left[static_cast<size_t>(places[i].label)] += places[i].count;
      right[static_cast<size_t>(places[i].label)] -= places[i].count;
      count += places[i].count;
      split.gap = places[i + 1].distance - places[i].distance;
      if (split.gap <= kEqualGain) continue;
      const auto part = [&](int64_t of) { return static_cast<double>(of) / static_cast<double>(all); };
      split.gain =
          before - part(count) * entropy(left, count) - part(all - count) * entropy(right, all - count);
      split.threshold = (places[i].distance + places[i + 1].distance) / 2;
      const double more = split.gain - best.gain;
      if (more > kEqualGain || (more > -kEqualGain && split.gap > best.gap + kEqualGain)) best = split;
    }
  }
  return best;
}

void ShapeletForest::grow(int64_t tree, const std::vector<int64_t>& labels) {
  const RandomStream stream{seed_, RandomSite::splits, static_cast<uint64_t>(tree)};
  const int64_t* lengths = lengths_.const_data_ptr<int64_t>();
  int64_t* shapelets = shapelets_[tree].mutable_data_ptr<int64_t>();
  double* thresholds = thresholds_[tree].mutable_data_ptr<double>();
  int64_t* children = children_[tree].mutable_data_ptr<int64_t>();
  int64_t* classes = classes_[tree].mutable_data_ptr<int64_t>();
  const auto count = std::ssize(labels);
  std::deque<Node> waiting(1);
  for (int64_t i = 0; i < count; ++i) waiting.front().cases.push_back(pick(stream, i, count));
  int64_t made = 1;
  for (; !waiting.empty(); waiting.pop_front()) {
    const Node& node = waiting.front();
    std::vector<int64_t> counts(static_cast<size_t>(shape().classes), 0);
    for (const int64_t one : node.cases) ++counts[static_cast<size_t>(labels[static_cast<size_t>(one)])];
    classes[node.number] = most_frequent(counts);
    children[node.number] = 0;
    if (counts[static_cast<size_t>(classes[node.number])] == std::ssize(node.cases)) continue;
    const Split split = best_split(node, tree, labels);
    if (split.gap <= 0) continue;  // no shapelet tells its cases apart
    std::copy(std::begin(split.shapelet), std::end(split.shapelet), shapelets + node.number * 4);
    thresholds[node.number] = split.threshold;
    children[node.number] = made;
    Node near{made, {}}, far{made + 1, {}};
    made += 2;
    for (const int64_t one : node.cases) {
      const int64_t other[4] = {one, split.shapelet[1], 0, lengths[one]};
      const bool closer = shapelet_distance(stretch(split.shapelet), stretch(other)) <= split.threshold;
      (closer ? near : far).cases.push_back(one);
    }
    waiting.push_back(std::move(near));
    waiting.push_back(std::move(far));
  }
}

void ShapeletForest::remember(const ClassifierInput& cases, const at::Tensor& labels) {
  const at::NoGradGuard no_grad;
  cases_.copy_(cases.values);
  lengths_.copy_(cases.valid.defined() ? cases.valid.sum(-1) : at::zeros_like(lengths_) + shape().length);
  const at::Tensor numbers = labels.to(at::kLong).contiguous();
  const std::vector<int64_t> list(numbers.const_data_ptr<int64_t>(),
                                  numbers.const_data_ptr<int64_t>() + numbers.numel());
  for (int64_t tree = 0; tree < settings_.trees; ++tree) grow(tree, list);
}

int64_t ShapeletForest::vote(int64_t tree, const float* values, int64_t steps) const {
  const int64_t nodes = children_.size(1), at = tree * nodes;
  const int64_t* children = children_.const_data_ptr<int64_t>() + at;
  int64_t node = 0;
  while (children[node] > 0) {
    const int64_t* shapelet = shapelets_.const_data_ptr<int64_t>() + (at + node) * 4;
    const float* variable = values + shapelet[1] * shape().length;
    const double distance = shapelet_distance(stretch(shapelet), {variable, static_cast<size_t>(steps)});
    node = children[node] + (distance <= thresholds_.const_data_ptr<double>()[at + node] ? 0 : 1);
  }
  return classes_.const_data_ptr<int64_t>()[at + node];
}

at::Tensor ShapeletForest::forward(const ClassifierInput& input) {
  check(input);
  if (input.values.is_meta())
    return at::empty({input.values.size(0), shape().classes}, input.values.options());
  require(input.values.is_cpu(), ErrorKind::config, "shapelet-forest runs on the CPU, its input is on {}",
          input.values.device().str());
  const at::Tensor x = input.values.to(at::kFloat).contiguous();
  const at::Tensor lengths = input.valid.defined() ? input.valid.sum(-1) : at::Tensor();
  const int64_t batch = x.size(0), size = shape().variables * shape().length, trees = settings_.trees;
  at::Tensor votes = at::zeros({batch, shape().classes}, at::kDouble);
  double* counts = votes.mutable_data_ptr<double>();
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t steps = lengths.defined() ? lengths[i].item<int64_t>() : shape().length;
    std::vector<int64_t> named(static_cast<size_t>(trees));
    at::parallel_for(0, trees, 1, [&](int64_t begin, int64_t end) {
      for (int64_t tree = begin; tree < end; ++tree)
        named[static_cast<size_t>(tree)] = vote(tree, x.const_data_ptr<float>() + i * size, steps);
    });
    for (const int64_t one : named) counts[i * shape().classes + one] += 1;
  }
  const auto classes = static_cast<double>(shape().classes);
  return at::log((votes + 1 / classes) / static_cast<double>(trees + 1)).to(input.values.scalar_type());
}

}  // namespace modewise::models
