#include "modewise/train/loop/task.h"

#include <ATen/TensorOperators.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "modewise/core/error.h"
#include "modewise/train/distributed/tree_sum.h"

namespace modewise::train {

void Metrics::set(std::string_view name, double value) {
  const auto it =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.first == name; });
  if (it == entries_.end())
    entries_.emplace_back(name, value);
  else
    it->second = value;
}

std::optional<double> Metrics::find(std::string_view name) const {
  for (const Entry& entry : entries_)
    if (entry.first == name) return entry.second;
  return std::nullopt;
}

double Metrics::at(std::string_view name) const {
  if (const auto value = find(name)) return *value;
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.first);
  fail(ErrorKind::internal, "unknown metric '{}'; known: {}", name, fmt::join(names, ", "));
}

nlohmann::ordered_json to_json(const Metrics& metrics) {
  auto object = nlohmann::ordered_json::object();
  for (const auto& [name, value] : metrics)
    object[name] = std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  return object;
}

Metrics metrics_from_json(const nlohmann::ordered_json& object) {
  Metrics metrics;
  for (const auto& [name, value] : object.items()) {
    if (value.is_null())
      metrics.set(name, std::numeric_limits<double>::quiet_NaN());
    else if (value.is_number())
      metrics.set(name, value.get<double>());
  }
  return metrics;
}

double Criterion::value(const Metrics& metrics) const {
  const double value = metrics.at(metric);
  const bool counts = undefined && std::isnan(value) && std::isfinite(metrics.at(between_equals));
  return counts ? *undefined : value;
}

at::Tensor Task::loss_share(const Batch& part, uint64_t seed, uint64_t step, std::span<const double> all) {
  const std::vector<double> own = loss_counts(part);
  require(own.size() == 1 && all.size() == 1, ErrorKind::internal,
          "loss_share needs an override: the loss is not a plain mean");
  return loss(part, seed, step) * (all[0] > 0 ? own[0] / all[0] : 0);
}

Metrics evaluate(Task& task, int64_t shards, Workers& workers) {
  const Share own{workers.rank(), workers.size()};
  TreeSum tree;
  for (int64_t shard = own.first(shards); shard < own.last(shards); ++shard)
    tree.add({task.sums({shard, shards})});
  at::Tensor sums = tree.take().front();
  workers.all_reduce_sum(sums);
  return task.metrics_of(sums);
}

}  // namespace modewise::train
