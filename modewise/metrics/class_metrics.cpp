#include "modewise/metrics/class_metrics.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "modewise/core/error.h"
#include "modewise/metrics/agreement.h"
#include "modewise/metrics/json_number.h"

namespace modewise::metrics {
namespace {

std::vector<size_t> by_score(std::span<const double> scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] < scores[b]; });
  return order;
}

/// One-vs-rest AUC of class k.
double class_against_rest(const ScoreTable& table, int64_t k) {
  const auto n = static_cast<size_t>(table.samples());
  std::vector<double> column(n);
  const auto positive = std::make_unique<bool[]>(n);
  for (size_t i = 0; i < n; ++i) {
    column[i] = table.score(static_cast<int64_t>(i), k);
    positive[i] = table.labels[i] == k;
  }
  return area_under_curve(column, {positive.get(), n});
}

}  // namespace

void add_arrays(const ScoreTable& table, const std::string& split, std::map<std::string, io::Array>& arrays) {
  arrays[split + "_scores"] =
      io::make_array({table.samples(), table.classes}, std::span<const double>(table.scores));
  arrays[split + "_labels"] = io::make_array({table.samples()}, std::span<const int64_t>(table.labels));
}

ScoreTable table_of(const std::map<std::string, io::Array>& arrays, const std::string& split,
                    const std::string& file) {
  const auto find = [&](const std::string& name) -> const io::Array& {
    const auto found = arrays.find(name);
    require(found != arrays.end(), ErrorKind::data, "{}: missing array {}", file, name);
    return found->second;
  };
  const io::Array &scores = find(split + "_scores"), &labels = find(split + "_labels");
  require(scores.shape.size() == 2 && scores.shape[1] >= 2 && labels.shape == std::vector{scores.shape[0]},
          ErrorKind::data, "{}: {}_scores must be [n, K] and {}_labels [n], got [{}] and [{}]", file, split,
          split, fmt::join(scores.shape, ", "), fmt::join(labels.shape, ", "));
  ScoreTable table{scores.shape[1], io::to_doubles(scores), {}};
  for (const double label : io::to_doubles(labels)) {
    require(label >= 0 && label < static_cast<double>(table.classes), ErrorKind::data,
            "{}: {}_labels holds {}, but there are {} classes", file, split, label, table.classes);
    table.labels.push_back(static_cast<int64_t>(label));
  }
  return table;
}

double area_under_curve(std::span<const double> scores, std::span<const bool> positive) {
  require(scores.size() == positive.size(), ErrorKind::internal, "area_under_curve: {} scores, {} labels",
          scores.size(), positive.size());
  for (size_t i = 0; i < scores.size(); ++i)
    require(!std::isnan(scores[i]), ErrorKind::data, "score {} is not a number", i);
  const std::vector<size_t> order = by_score(scores);
  int64_t positives = 0, negatives = 0, twice_won = 0;
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    int64_t tied_positives = 0, tied_negatives = 0;
    for (; end < order.size() && scores[order[end]] == scores[order[begin]]; ++end)
      ++(positive[order[end]] ? tied_positives : tied_negatives);
    twice_won += tied_positives * (2 * negatives + tied_negatives);
    positives += tied_positives;
    negatives += tied_negatives;
    begin = end;
  }
  if (positives == 0 || negatives == 0) return std::nan("");
  return static_cast<double>(twice_won) /
         (2.0 * static_cast<double>(positives) * static_cast<double>(negatives));
}

double medmnist_auc(const ScoreTable& table) {
  if (table.classes <= 2) return class_against_rest(table, table.classes - 1);
  double sum = 0;
  for (int64_t k = 0; k < table.classes; ++k) sum += class_against_rest(table, k);
  return sum / static_cast<double>(table.classes);
}

double defined_auc(const ScoreTable& table) {
  if (table.classes <= 2) return medmnist_auc(table);
  double sum = 0;
  int64_t count = 0;
  for (int64_t k = 0; k < table.classes; ++k) {
    const double auc = class_against_rest(table, k);
    if (std::isnan(auc)) continue;
    sum += auc;
    ++count;
  }
  return count == 0 ? std::nan("") : sum / static_cast<double>(count);
}

int64_t predicted_class(const ScoreTable& table, int64_t sample) {
  if (table.classes <= 2) return table.score(sample, table.classes - 1) > 0.5 ? 1 : 0;
  int64_t best = 0;
  for (int64_t k = 1; k < table.classes; ++k)
    if (table.score(sample, k) > table.score(sample, best)) best = k;
  return best;
}

double medmnist_accuracy(const ScoreTable& table) {
  int64_t right = 0;
  for (int64_t i = 0; i < table.samples(); ++i)
    right += predicted_class(table, i) == table.labels[static_cast<size_t>(i)];
  return static_cast<double>(right) / static_cast<double>(table.samples());
}

double log_loss(const ScoreTable& table) {
  double loss = 0;
  for (int64_t i = 0; i < table.samples(); ++i)
    loss -= std::log(std::max(table.score(i, table.labels[static_cast<size_t>(i)]), 1e-300));
  return loss / static_cast<double>(std::max<int64_t>(table.samples(), 1));
}

ClassMetrics class_metrics(const ScoreTable& table) {
  const auto classes = static_cast<size_t>(table.classes);
  ClassMetrics out;
  out.samples = table.samples();
  out.auc = medmnist_auc(table);
  out.accuracy = medmnist_accuracy(table);
  out.counts.assign(classes, 0);
  out.confusion.assign(classes * classes, 0);
  out.loss = log_loss(table);
  for (int64_t i = 0; i < out.samples; ++i) {
    const auto label = static_cast<size_t>(table.labels[static_cast<size_t>(i)]);
    ++out.counts[label];
    ++out.confusion[label * classes + static_cast<size_t>(predicted_class(table, i))];
  }
  if (out.samples > 0)
    out.majority_accuracy =
        static_cast<double>(std::ranges::max(out.counts)) / static_cast<double>(out.samples);
  double recalls = 0, f1s = 0;
  int64_t occurring = 0, counted = 0;
  for (size_t k = 0; k < classes; ++k) {
    out.class_auc.push_back(class_against_rest(table, static_cast<int64_t>(k)));
    int64_t predicted = 0;
    for (size_t j = 0; j < classes; ++j) predicted += out.confusion[j * classes + k];
    const auto right = static_cast<double>(out.confusion[k * classes + k]);
    out.recall.push_back(out.counts[k] > 0 ? right / static_cast<double>(out.counts[k]) : std::nan(""));
    out.precision.push_back(predicted > 0 ? right / static_cast<double>(predicted) : std::nan(""));
    out.f1.push_back(std::nan(""));
    if (out.counts[k] + predicted > 0) {
      out.f1.back() = f1(out.confusion, table.classes, static_cast<int64_t>(k));
      f1s += out.f1.back();
      ++counted;
    }
    if (out.counts[k] == 0) continue;
    recalls += out.recall.back();
    ++occurring;
  }
  out.balanced_accuracy = occurring > 0 ? recalls / static_cast<double>(occurring) : std::nan("");
  out.macro_f1 = counted > 0 ? f1s / static_cast<double>(counted) : std::nan("");
  return out;
}

nlohmann::ordered_json to_json(const ClassMetrics& metrics, const std::string& split,
                               const std::vector<std::string>& classes) {
  nlohmann::ordered_json json = {{"split", split},
                                 {"samples", metrics.samples},
                                 {"auc", finite_or_null(metrics.auc)},
                                 {"accuracy", finite_or_null(metrics.accuracy)},
                                 {"majority_accuracy", metrics.majority_accuracy},
                                 {"balanced_accuracy", finite_or_null(metrics.balanced_accuracy)},
                                 {"macro_f1", finite_or_null(metrics.macro_f1)},
                                 {"loss", finite_or_null(metrics.loss)},
                                 {"classes", nlohmann::ordered_json::array()},
                                 {"confusion", nlohmann::ordered_json::array()}};
  for (size_t k = 0; k < classes.size(); ++k) {
    json["classes"].push_back({{"name", classes[k]},
                               {"samples", metrics.counts[k]},
                               {"auc", finite_or_null(metrics.class_auc[k])},
                               {"recall", finite_or_null(metrics.recall[k])},
                               {"precision", finite_or_null(metrics.precision[k])},
                               {"f1", finite_or_null(metrics.f1[k])}});
    const auto row = metrics.confusion.begin() + static_cast<std::ptrdiff_t>(k * classes.size());
    json["confusion"].push_back(std::vector<int64_t>(row, row + std::ssize(classes)));
  }
  return json;
}

RocCurve roc_curve(std::span<const double> scores, std::span<const bool> positive) {
  const std::vector<size_t> order = by_score(scores);
  RocCurve curve{{0}, {0}};
  double positives = 0, negatives = 0;
  for (size_t end = order.size(); end > 0;) {
    size_t begin = end;
    for (; begin > 0 && scores[order[begin - 1]] == scores[order[end - 1]]; --begin)
      ++(positive[order[begin - 1]] ? positives : negatives);
    curve.false_positive.push_back(negatives);
    curve.true_positive.push_back(positives);
    end = begin;
  }
  for (double& value : curve.false_positive) value /= std::max(negatives, 1.0);
  for (double& value : curve.true_positive) value /= std::max(positives, 1.0);
  return curve;
}

}  // namespace modewise::metrics
