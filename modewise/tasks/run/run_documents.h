#pragma once
// Errors of commands on a run folder: unexpected contents of its JSON files (manifest.json, data.json,
// metrics.json, metrics.jsonl), and advice on its data.

#include <nlohmann/json.hpp>
#include <string>

#include "modewise/core/error.h"

namespace modewise::tasks {

/// The error with advice, if it has none: where moved data are named, and when settings of data are made.
Error with_advice(const std::string& path, const Error& error);

/// Calls `use`, which reads JSON files of the run `path`, and returns its result. Missing values and wrong
/// types become a data error that names the run; other errors get advice.
template <class Use>
auto reading_run(const std::string& path, const Use& use) {
  try {
    return use();
  } catch (const Error& error) {
    throw with_advice(path, error);
  } catch (const nlohmann::json::exception& error) {
    fail(ErrorKind::data, "{}: a JSON file of this run has unexpected contents: {}", path, error.what());
  }
}

}  // namespace modewise::tasks
