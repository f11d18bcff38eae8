#pragma once
// Result of a command.

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "modewise/core/escaped_text.h"

namespace modewise::tasks {

/// JSON text for printing, with escaped strings.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return escape_json_text(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

/// Document for --json, and the text printed without it; "": nothing.
struct Result {
  /// Empty result of ranks other than 0.
  Result() = default;
  Result(nlohmann::ordered_json document, std::string printed)
      : json(std::move(document)), text(std::move(printed)) {}
  /// Prints the document in both cases.
  explicit Result(nlohmann::ordered_json document) : json(std::move(document)), text(json_text(json)) {}

  nlohmann::ordered_json json;
  std::string text;
};

}  // namespace modewise::tasks
