#include "modewise/tasks/run/run_documents.h"

#include <cctype>
#include <filesystem>

#include "modewise/core/file.h"

namespace modewise::tasks {
namespace {

namespace fs = std::filesystem;

/// Where the data of the run's training were; "" if it is not known.
std::string source_of(const fs::path& run) {
  std::error_code error;
  if (!fs::is_regular_file(run / "data.json", error)) return "";
  const auto json = nlohmann::json::parse(read_file(run / "data.json"), nullptr, false);
  return json.is_object() && json.contains("source") && json["source"].is_string()
             ? json["source"].get<std::string>()
             : "";
}

/// Whether a message names a setting of data, "data.resample", without a word on training.
bool names_data_setting(const std::string& message) {
  if (message.find("train") != std::string::npos) return false;
  for (size_t at = message.find("data."); at != std::string::npos; at = message.find("data.", at + 1))
    if (at + 5 < message.size() && std::islower(static_cast<unsigned char>(message[at + 5])) != 0 &&
        (at == 0 || message[at - 1] == ' ' || message[at - 1] == '(') &&
        message.compare(at, 9, "data.json") != 0)
      return true;
  return false;
}

}  // namespace

Error with_advice(const std::string& path, const Error& error) {
  const std::string message = error.what();
  const bool of_data = error.kind() == ErrorKind::data || error.kind() == ErrorKind::config;
  if (of_data && names_data_setting(message))
    return {error.kind(),
            message + "; data.… are set for a new training only: adapt the data to the settings of " + path};
  if (error.kind() != ErrorKind::no_input) return error;
  const std::string source = source_of(path);
  if (source.empty() || fs::exists(source) || message.find(source) == std::string::npos) return error;
  return {error.kind(), message + ": if the data of " + path + " have moved, name them with --data"};
}

}  // namespace modewise::tasks
