#include "modewise/tasks/run/rank_tracking.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <map>
#include <numeric>

#include "modewise/core/error.h"

namespace modewise::tasks {

void RankTracker::add(train::Metrics& metrics, const std::vector<analysis::LayerRanks>& layers,
                      const std::string& split) {
  if (layers.empty() && !warned_) {
    spdlog::warn("train.track = stable_rank records nothing: this model has no attention matrices");
    warned_ = true;
  }
  std::map<std::string, std::vector<double>> heads;
  const auto add = [&](const std::string& name, const std::vector<double>& values) {
    heads[name].insert(heads[name].end(), values.begin(), values.end());
  };
  for (const analysis::LayerRanks& layer : layers) {
    for (size_t i = 0; i < layer.modes.size(); ++i)
      add(fmt::format("mode{}", layer.modes[i]), layer.by_mode[i]);
    add("product", layer.product);
    add("sum", layer.sum);
    add("full", layer.full);
  }
  for (const auto& [name, values] : heads)
    if (!values.empty())
      metrics.set(fmt::format("rank_{}{}", split, name),
                  std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()));
}

void check_rank_tracking(Run& run, const std::string& file) {
  const RunSettings settings = run.settings();
  if (settings.rankless.empty() || !settings.train.tracks("stable_rank")) return;
  const std::string reason =
      fmt::format("train.track = stable_rank has no effect for the task '{}': it records no stable ranks",
                  settings.rankless);
  require(run.has_folder(), ErrorKind::config,
          "{}: {}; remove it (modewise decompose analyses a finished run)", file.empty() ? "options" : file,
          reason);
  spdlog::warn("{}", reason);
}

}  // namespace modewise::tasks
