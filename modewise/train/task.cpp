#include "modewise/train/task.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "modewise/core/error.h"

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
  fail(ErrorKind::internal, "there is no metric '{}' among {}", name, fmt::join(names, ", "));
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

Metrics evaluate(Task& task, Workers& workers) {
  at::Tensor sums = task.sums({workers.rank(), workers.size()});
  workers.add(sums);
  return task.metrics_of(sums);
}

}  // namespace modewise::train
