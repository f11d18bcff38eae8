#pragma once
// Aliases: names of earlier versions (tasks, commands, options, config keys and values, JSON keys) that still
// work. aliases.cpp lists them; docs/renames.md shows them to users. The first use of one in a process is
// logged as a warning, later ones are not.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace modewise {

/// The current name of a task: "volume_classification" for "classify". Other names come back as they are, as
/// they do from the next functions. Never logged: manifests hold these names, users do not.
std::string current_task(const std::string& name);

/// The current key of a config for which `exists` holds: "model.layers" for "model.blocks"; "" if there is
/// none.
std::string current_key(const std::string& key, const std::function<bool(const std::string&)>& exists);
/// Whether a key of an earlier version lies in the group, "pictures" or "model.known".
bool is_renamed_group(const std::string& group);

/// The current value of a config key: "std" for "deviation" of model.window.scale. Values among `allowed`
/// are current.
std::string current_value(const std::string& key, const std::string& value,
                          const std::vector<std::string>& allowed);

/// The current name of a type of attention: "stt" for "tensor", "summary" for "causal". Never logged:
/// operators are called with these names.
std::string current_attention(const std::string& name);

/// For aliases that depend on the model: logs that `old_name` is called `name` now.
void warn_of_alias(std::string_view old_name, std::string_view name);

/// A command line with the current names of its commands and options.
std::vector<std::string> current_command_line(std::vector<std::string> arguments);

/// The member `key` of a JSON object, under its current or its earlier name. Throws as Json::at() does.
const nlohmann::json& aliased_member(const nlohmann::json& object, const std::string& key);
const nlohmann::ordered_json& aliased_member(const nlohmann::ordered_json& object, const std::string& key);

}  // namespace modewise
