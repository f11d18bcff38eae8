#pragma once
// JSON files of a run folder, which may hold anything: manifest.json, data.json, metrics.json, metrics.jsonl.

#include <nlohmann/json.hpp>
#include <string>

#include "modewise/core/error.h"

namespace modewise::tasks {

/// What `use` returns, which reads JSON files of the run `path`. A value that they lack or hold in another
/// type is a data error that names the run.
template <class Use>
auto reading_run(const std::string& path, const Use& use) {
  try {
    return use();
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: a JSON file of this run does not hold what modewise writes there: {}", path,
         error.what());
  }
}

}  // namespace modewise::tasks
