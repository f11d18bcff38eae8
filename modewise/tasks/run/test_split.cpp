#include "modewise/tasks/run/test_split.h"

#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/parse_json.h"

namespace modewise::tasks {

using Json = nlohmann::ordered_json;

bool test_is_unread(const train::RunFolder& run) {
  return std::filesystem::exists(run.file("metrics.json")) && !run.read_metrics().value("test_read", true);
}

const char* evaluated_part(const Json& metrics) {
  return metrics.contains("test") ? "test" : "validation";
}

Json evaluated_metrics(const train::RunFolder& run) {
  Json metrics = run.read_metrics();
  require(metrics.contains("test") || metrics.contains("test_read"), ErrorKind::no_input,
          "{} has not finished: there are no results yet", run.path().string());
  return metrics;
}

void write_test_figures(const train::RunFolder& run, const Json& figures, const std::string& data_hash) {
  const std::filesystem::path file = run.file("data.json");
  Json data = parse_json(read_file(file), file.string()), metrics = run.read_metrics();
  require(data.is_object(), ErrorKind::data, "{} is not a JSON object", file.string());
  data["hash"] = data_hash;
  remove_stale_temporaries(
      run.path(), [](std::string_view name) { return name == "data.json" || name == "metrics.json"; });
  run.write_data(data);
  metrics.update(figures);
  metrics["test_read"] = true;
  run.write_metrics(metrics);
}

}  // namespace modewise::tasks
