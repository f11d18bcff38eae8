#include <cmath>

#include "modewise/sweep/search.h"
#include "modewise/sweep/search_files.h"

namespace modewise::sweep {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json SearchRequest::to_json() const {
  Json all = Json::array();
  for (const SearchCandidate& one : candidates)
    all.push_back({{"name", one.name}, {"settings", one.settings}, {"fitted", one.fitted}});
  return {{"task", task},
          {"config", config},
          {"data", data},
          {"settings", settings},
          {"seed", seed},
          {"metric",
           {{"path", metric.path},
            {"name", metric.name},
            {"best", metric.best},
            {"decimals", metric.decimals},
            {"factor", metric.factor}}},
          {"budget_seconds", budget},
          {"jobs", jobs},
          {"threads", threads},
          {"steps_setting", steps_setting},
          {"epochs_key", epochs_key},
          {"last_settings", last_settings},
          {"ensemble", ensemble},
          {"splits", splits},
          {"least_share", min_share},
          {"refit", refit},
          {"candidates", all}};
}

SearchRequest SearchRequest::from_json(const nlohmann::json& json, const std::string& source) {
  const auto metric = member<nlohmann::json>(json, "metric", source);
  SearchRequest out;
  out.task = member<std::string>(json, "task", source);
  out.config = member<std::string>(json, "config", source);
  out.data = member<std::string>(json, "data", source);
  out.settings = member<std::vector<std::string>>(json, "settings", source);
  out.seed = member<int64_t>(json, "seed", source);
  out.metric = {member<std::string>(metric, "path", source), member<std::string>(metric, "name", source),
                member<std::string>(metric, "best", source), member<int64_t>(metric, "decimals", source),
                member<double>(metric, "factor", source)};
  out.metric.validate(ErrorKind::data, source);
  out.budget = member<double>(json, "budget_seconds", source);
  out.jobs = member<int64_t>(json, "jobs", source);
  out.threads = member<int64_t>(json, "threads", source);
  require(out.budget > 0 && std::isfinite(out.budget) && out.jobs > 0 && out.threads > 0, ErrorKind::data,
          "{}: budget_seconds, jobs and threads must be positive, got {}, {} and {}", source, out.budget,
          out.jobs, out.threads);
  const bool earlier = !json.contains("steps_setting");  // all tasks then had the same keys
  out.steps_setting =
      earlier ? "train.max_steps={steps}" : member<std::string>(json, "steps_setting", source);
  out.epochs_key = earlier ? "train.epochs" : member<std::string>(json, "epochs_key", source);
  out.last_settings = earlier ? std::vector<std::string>{"output.report=false"}
                              : member<std::vector<std::string>>(json, "last_settings", source);
  out.ensemble = member<std::vector<std::string>>(json, "ensemble", source);
  out.splits = member<std::vector<std::string>>(json, "splits", source);
  out.min_share = member<double>(json, "least_share", source);
  out.refit = member<std::vector<std::string>>(json, "refit", source);
  const auto all = member<nlohmann::json>(json, "candidates", source);
  for (const nlohmann::json& one : all)
    out.candidates.push_back({member<std::string>(one, "name", source),
                              member<std::vector<std::string>>(one, "settings", source),
                              member<bool>(one, "fitted", source)});
  return out;
}

SearchRequest read_search(const fs::path& out) {
  const fs::path file = request_file(out);
  return SearchRequest::from_json(read_json(file), file.string());
}

}  // namespace modewise::sweep
