#pragma once
// Error handling for JSON files of a run folder: manifest.json, data.json, metrics.json, metrics.jsonl.

#include <nlohmann/json.hpp>
#include <string>

#include "modewise/core/error.h"

namespace modewise::tasks {

/// Calls `use`, which reads JSON files of the run `path`, and returns its result. Missing values and wrong
/// types become a data error that names the run.
template <class Use>
auto reading_run(const std::string& path, const Use& use) {
  try {
    return use();
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: a JSON file of this run has unexpected contents: {}", path, error.what());
  }
}

}  // namespace modewise::tasks
