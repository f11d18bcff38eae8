#include "modewise/models/series_classification/shapelet_forest.h"

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

namespace modewise::models {
namespace {

constexpr double kEqualGain = 1e-12;  // gains that differ by less count as equal
constexpr int64_t kTogether = 32;     // samples predicted together

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

/// Uniform integer in [0, count), from random word `index`.
int64_t pick(const RandomStream& stream, int64_t index, int64_t count) {
  return std::min(
      static_cast<int64_t>(stream.uniform(static_cast<uint64_t>(index)) * static_cast<double>(count)),
      count - 1);
}

}  // namespace

ShapeletForest::ShapeletForest(const SeriesModelConfig& config, const SeriesShape& shape,
                               nn::Initializer& init)
    : SeriesClassifier(shape), settings_(config.shapelet_forest) {
  const at::Tensor drawn = (init.uniform({2}, 1) + 1) * 0x1p23;
  seed_ = static_cast<uint64_t>(drawn[0].item<double>()) | static_cast<uint64_t>(drawn[1].item<double>())
                                                               << 24;
  const int64_t trees = settings_.trees, nodes = std::max<int64_t>(2 * shape.training_samples - 1, 1);
  samples_ = register_buffer("cases", at::zeros({shape.training_samples, shape.variables, shape.length}));
  lengths_ = register_buffer("lengths", at::zeros({shape.training_samples}, at::kLong));
  shapelets_ = register_buffer("shapelets", at::zeros({trees, nodes, 4}, at::kLong));
  thresholds_ = register_buffer("thresholds", at::zeros({trees, nodes}, at::kDouble));
  children_ = register_buffer("children", at::zeros({trees, nodes}, at::kLong));
  classes_ = register_buffer("classes", at::zeros({trees, nodes}, at::kLong));
}

std::span<const float> ShapeletForest::stretch(const int64_t* shapelet) const {
  const float* values = samples_.const_data_ptr<float>() +
                        (shapelet[0] * shape().variables + shapelet[1]) * shape().length + shapelet[2];
  return {values, static_cast<size_t>(shapelet[3])};
}

int64_t ShapeletForest::transform_for(int64_t shapelet) const {
  return transform_steps(static_cast<size_t>(shapelet), static_cast<size_t>(shape().length));
}

std::vector<ShapeletForest::Shapelet> ShapeletForest::drawn_shapelets(const Node& node,
                                                                      const RandomStream& stream) const {
  const int64_t* lengths = lengths_.const_data_ptr<int64_t>();
  std::vector<Shapelet> out;
  for (int64_t draw = 0; draw < settings_.shapelets; ++draw) {
    // The first words of the stream draw the bootstrap sample.
    const int64_t word = lengths_.size(0) + (node.number * settings_.shapelets + draw) * 4;
    const int64_t one = node.samples[static_cast<size_t>(pick(stream, word, std::ssize(node.samples)))],
                  variable = pick(stream, word + 1, shape().variables), steps = lengths[one];
    const auto share = [&](double part) {
      return std::clamp<int64_t>(static_cast<int64_t>(std::ceil(part * static_cast<double>(steps))), 1,
                                 steps);
    };
    const int64_t minimum = share(settings_.shortest);
    const int64_t length = minimum + pick(stream, word + 2, share(settings_.longest) - minimum + 1);
    const int64_t record[4] = {one, variable, pick(stream, word + 3, steps - length + 1), length};
    out.push_back({{one, variable, record[2], length}, {stretch(record), transform_for(length)}});
  }
  return out;
}

ShapeletForest::Distances ShapeletForest::distances_of(const std::vector<Shapelet>& shapelets,
                                                       const std::vector<int64_t>& samples) const {
  const int64_t* lengths = lengths_.const_data_ptr<int64_t>();
  const int64_t transform = series_transform();
  Distances out(shapelets.size(), std::vector<double>(samples.size()));
  at::parallel_for(0, std::ssize(samples), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      std::map<int64_t, SearchedSeries> variables;
      for (size_t s = 0; s < shapelets.size(); ++s) {
        const int64_t variable = shapelets[s].record[1],
                      whole[4] = {samples[i], variable, 0, lengths[samples[i]]};
        const auto series = variables.try_emplace(variable, stretch(whole), transform).first;
        out[s][i] = shapelets[s].search.distance(series->second);
      }
    }
  });
  return out;
}

ShapeletForest::Split ShapeletForest::best_split(const Node& node, int64_t tree,
                                                 const std::vector<int64_t>& labels) const {
  std::map<int64_t, int64_t> repeats;
  for (const int64_t one : node.samples) ++repeats[one];
  std::vector<int64_t> distinct;
  for (const auto& [one, count] : repeats) distinct.push_back(one);
  const auto label_of = [&](int64_t one) { return static_cast<size_t>(labels[static_cast<size_t>(one)]); };
  const auto all = std::ssize(node.samples);
  std::vector<int64_t> whole(static_cast<size_t>(shape().classes), 0);
  for (const int64_t one : node.samples) ++whole[label_of(one)];
  const double before = entropy(whole, all);
  const auto shapelets = drawn_shapelets(node, {seed_, RandomSite::splits, static_cast<uint64_t>(tree)});
  const Distances distances = distances_of(shapelets, distinct);
  Split best;
  size_t best_draw = 0;
  for (size_t draw = 0; draw < shapelets.size(); ++draw) {
    std::vector<std::pair<double, int64_t>> places;  // distance, sample
    for (size_t i = 0; i < distinct.size(); ++i) places.emplace_back(distances[draw][i], distinct[i]);
    std::sort(places.begin(), places.end());
    std::vector<int64_t> left(whole.size(), 0), right = whole;
    int64_t count = 0;
    for (size_t i = 0; i + 1 < places.size(); ++i) {
      const int64_t one = places[i].second;
      left[label_of(one)] += repeats[one];
      right[label_of(one)] -= repeats[one];
      count += repeats[one];
      const double gap = places[i + 1].first - places[i].first;
      if (gap <= kEqualGain) continue;
      const auto part = [&](int64_t of) { return static_cast<double>(of) / static_cast<double>(all); };
      const double gain = before - part(count) * entropy(left, count) -
                          part(all - count) * entropy(right, all - count),
                   more = gain - best.gain;
      if (more <= kEqualGain && (more <= -kEqualGain || gap <= best.gap + kEqualGain)) continue;
      best.threshold = (places[i].first + places[i + 1].first) / 2, best.gain = gain, best.gap = gap;
      best_draw = draw;
    }
  }
  std::copy_n(shapelets[best_draw].record, 4, best.shapelet);
  best.near.resize(labels.size());
  for (size_t i = 0; i < distinct.size(); ++i)
    best.near[static_cast<size_t>(distinct[i])] = distances[best_draw][i] <= best.threshold;
  return best;
}

void ShapeletForest::grow(int64_t tree, const std::vector<int64_t>& labels) {
  const RandomStream stream{seed_, RandomSite::splits, static_cast<uint64_t>(tree)};
  int64_t* shapelets = shapelets_[tree].mutable_data_ptr<int64_t>();
  double* thresholds = thresholds_[tree].mutable_data_ptr<double>();
  int64_t* children = children_[tree].mutable_data_ptr<int64_t>();
  int64_t* classes = classes_[tree].mutable_data_ptr<int64_t>();
  const auto count = std::ssize(labels);
  std::deque<Node> waiting(1);
  for (int64_t i = 0; i < count; ++i) waiting.front().samples.push_back(pick(stream, i, count));
  int64_t made = 1;
  for (; !waiting.empty(); waiting.pop_front()) {
    const Node& node = waiting.front();
    std::vector<int64_t> counts(static_cast<size_t>(shape().classes), 0);
    for (const int64_t one : node.samples) ++counts[static_cast<size_t>(labels[static_cast<size_t>(one)])];
    classes[node.number] = most_frequent(counts);
    children[node.number] = 0;
    if (counts[static_cast<size_t>(classes[node.number])] == std::ssize(node.samples)) continue;
    const Split split = best_split(node, tree, labels);
    if (split.gap <= 0) continue;  // no shapelet separates its samples
    std::copy(std::begin(split.shapelet), std::end(split.shapelet), shapelets + node.number * 4);
    thresholds[node.number] = split.threshold;
    children[node.number] = made;
    Node near{made, {}}, far{made + 1, {}};
    made += 2;
    for (const int64_t one : node.samples)
      (split.near[static_cast<size_t>(one)] ? near : far).samples.push_back(one);
    waiting.push_back(std::move(near));
    waiting.push_back(std::move(far));
  }
}

void ShapeletForest::remember(const ClassifierInput& samples, const at::Tensor& labels) {
  const at::NoGradGuard no_grad;
  samples_.copy_(checked(samples).values);
  lengths_.copy_(samples.valid.defined() ? samples.valid.sum(-1) : at::zeros_like(lengths_) + shape().length);
  const at::Tensor numbers = labels.to(at::kLong).contiguous();
  const std::vector<int64_t> list(numbers.const_data_ptr<int64_t>(),
                                  numbers.const_data_ptr<int64_t>() + numbers.numel());
  for (int64_t tree = 0; tree < settings_.trees; ++tree) grow(tree, list);
}

std::vector<SearchedSeries> ShapeletForest::searched(const at::Tensor& values, int64_t steps) const {
  std::vector<SearchedSeries> out;
  for (int64_t variable = 0; variable < shape().variables; ++variable)
    out.emplace_back(
        std::span(values.const_data_ptr<float>() + variable * shape().length, static_cast<size_t>(steps)),
        series_transform());
  return out;
}

std::vector<int64_t> ShapeletForest::votes_of(int64_t tree,
                                              const std::vector<std::vector<SearchedSeries>>& samples) const {
  const int64_t nodes = children_.size(1), root = tree * nodes;
  const int64_t* children = children_.const_data_ptr<int64_t>() + root;
  std::vector<int64_t> at(samples.size(), 0), out(samples.size());
  // Children have larger indices than their parent.
  for (int64_t node = 0; node < nodes; ++node) {
    if (std::find(at.begin(), at.end(), node) == at.end()) continue;
    if (children[node] == 0) {
      for (size_t i = 0; i < at.size(); ++i)
        if (at[i] == node) out[i] = classes_.const_data_ptr<int64_t>()[root + node];
      continue;
    }
    const int64_t* record = shapelets_.const_data_ptr<int64_t>() + (root + node) * 4;
    const double threshold = thresholds_.const_data_ptr<double>()[root + node];
    const SearchedShapelet shapelet(stretch(record), transform_for(record[3]));
    for (size_t i = 0; i < at.size(); ++i)
      if (at[i] == node) {
        const bool near = shapelet.distance(samples[i][static_cast<size_t>(record[1])]) <= threshold;
        at[i] = children[node] + (near ? 0 : 1);
      }
  }
  return out;
}

at::Tensor ShapeletForest::forward(const ClassifierInput& given) {
  const ClassifierInput input = checked(given);
  if (input.values.is_meta())
    return at::empty({input.values.size(0), shape().classes}, input.values.options());
  require(input.values.is_cpu(), ErrorKind::config, "shapelet-forest runs on the CPU, but the input is on {}",
          input.values.device().str());
  const at::Tensor x = input.values.to(at::kFloat).contiguous();
  const at::Tensor lengths = input.valid.defined() ? input.valid.sum(-1) : at::Tensor();
  const int64_t* steps = input.valid.defined() ? lengths.const_data_ptr<int64_t>() : nullptr;
  const int64_t batch = x.size(0), trees = settings_.trees;
  at::Tensor votes = at::zeros({batch, shape().classes}, at::kDouble);
  double* counts = votes.mutable_data_ptr<double>();
  for (int64_t first = 0; first < batch; first += kTogether) {
    std::vector<std::vector<SearchedSeries>> samples(static_cast<size_t>(std::min(kTogether, batch - first)));
    at::parallel_for(0, std::ssize(samples), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        samples[static_cast<size_t>(i)] = searched(x[first + i], steps ? steps[first + i] : shape().length);
    });
    std::vector<std::vector<int64_t>> named(static_cast<size_t>(trees));
    at::parallel_for(0, trees, 1, [&](int64_t begin, int64_t end) {
      for (int64_t tree = begin; tree < end; ++tree)
        named[static_cast<size_t>(tree)] = votes_of(tree, samples);
    });
    for (const auto& of_tree : named)
      for (size_t i = 0; i < samples.size(); ++i)
        counts[(first + static_cast<int64_t>(i)) * shape().classes + of_tree[i]] += 1;
  }
  const auto classes = static_cast<double>(shape().classes);
  return at::log((votes + 1 / classes) / static_cast<double>(trees + 1)).to(input.values.scalar_type());
}

}  // namespace modewise::models
