#pragma once
// What a command gives.

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "modewise/core/escaped_text.h"

namespace modewise::tasks {

/// JSON as it is printed, its texts escaped.
inline std::string json_text(const nlohmann::ordered_json& json) {
  return escape_json_text(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

/// The document for --json, and what is printed without it; "" prints nothing.
struct Result {
  /// Of a process that does not lead.
  Result() = default;
  Result(nlohmann::ordered_json document, std::string printed)
      : json(std::move(document)), text(std::move(printed)) {}
  /// The document in both cases.
  explicit Result(nlohmann::ordered_json document) : json(std::move(document)), text(json_text(json)) {}

  nlohmann::ordered_json json;
  std::string text;
};

}  // namespace modewise::tasks
