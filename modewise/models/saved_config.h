#pragma once
// Configs that runs have saved. A saved config names every key there was; one that is younger than the run
// has the value that acted before there was a key, whatever the presets of today set.

#include <string>
#include <string_view>

#include "modewise/core/fields.h"

namespace modewise::models {

/// Reads the text over the current values as Fields::load_toml does, and then sets the younger keys of its
/// models.
void load_saved_toml(Fields& fields, std::string_view text, const std::string& source);
/// The same for a file.
void load_saved_file(Fields& fields, const std::string& path);

}  // namespace modewise::models
