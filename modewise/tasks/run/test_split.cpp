#include "modewise/tasks/run/test_split.h"

#include <spdlog/spdlog.h>

#include <filesystem>

#include "modewise/core/error.h"
#include "modewise/core/escaped_text.h"
#include "modewise/core/file.h"
#include "modewise/core/folder.h"
#include "modewise/core/parse_json.h"

namespace modewise::tasks {

using Json = nlohmann::ordered_json;

bool has_finished(const train::RunFolder& run) {
  if (!std::filesystem::exists(run.file("metrics.json"))) return false;
  const Json metrics = run.read_metrics();
  return metrics.contains("test") || metrics.contains("test_read");
}

bool test_is_unread(const train::RunFolder& run) {
  return std::filesystem::exists(run.file("metrics.json")) && !run.read_metrics().value("test_read", true);
}

void warn_of_unread_test(const train::RunFolder& run, const char* reads) {
  if (test_is_unread(run))
    spdlog::warn(
        "{} was trained with --no-test, and {}: choose settings by validation, not by these results; the run "
        "stays as it is",
        run.path().string(), reads);
}

bool data_json_leaves_test_out(const train::RunFolder& run, const train::TrainConfig& config) {
  return !config.test && (!has_finished(run) || test_is_unread(run));
}

const char* evaluated_part(const Json& metrics) {
  return metrics.contains("test") ? "test" : "validation";
}

Json evaluated_metrics(const train::RunFolder& run) {
  require(has_finished(run), ErrorKind::no_input,
          "{0} has not finished: there are no results yet; modewise train --resume {1} finishes it",
          run.path().string(), command_word(run.path().string()));
  return run.read_metrics();
}

void write_test_figures(const train::RunFolder& run, const Json& figures, const std::string& data_hash) {
  const std::filesystem::path file = run.file("data.json");
  Json data = parse_json(read_file(file), file.string()), metrics = run.read_metrics();
  require(data.is_object(), ErrorKind::data, "{} is not a JSON object", file.string());
  data["hash"] = data_hash;
  if (const int64_t unread = data.value("unread_rows", int64_t{0}); unread > 0) {
    data["rows"] = data.value("rows", int64_t{0}) + unread;
    data.erase("unread_rows");
  }
  remove_stale_temporaries(
      run.path(), [](std::string_view name) { return name == "data.json" || name == "metrics.json"; });
  run.write_data(data);
  metrics.update(figures);
  metrics["test_read"] = true;
  run.write_metrics(metrics);
}

}  // namespace modewise::tasks
