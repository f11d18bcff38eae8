#include "modewise/tasks/rank_tracking.h"

#include <fmt/format.h>

#include <map>
#include <numeric>

namespace modewise::tasks {

void add_stable_ranks(train::Metrics& metrics, const std::vector<analysis::LayerRanks>& layers) {
  std::map<std::string, std::vector<double>> heads;
  const auto add = [&](const std::string& name, const std::vector<double>& values) {
    heads[name].insert(heads[name].end(), values.begin(), values.end());
  };
  for (const analysis::LayerRanks& layer : layers) {
    for (size_t i = 0; i < layer.modes.size(); ++i)
      add(fmt::format("rank_mode{}", layer.modes[i]), layer.by_mode[i]);
    add("rank_product", layer.product);
    add("rank_sum", layer.sum);
    add("rank_full", layer.full);
  }
  for (const auto& [name, values] : heads)
    if (!values.empty())
      metrics.set(name,
                  std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()));
}

}  // namespace modewise::tasks
