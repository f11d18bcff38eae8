#pragma once
// Saved configs of runs. A saved config contains every key of its time; a key added later gets the value in
// effect before it existed, independent of current presets.

#include <string>
#include <string_view>

#include "modewise/core/fields.h"

namespace modewise::models {

/// Loads the text over the current values as Fields::load_toml, then sets later keys of its models.
void load_saved_toml(Fields& fields, std::string_view text, const std::string& source);
/// The same for a file.
void load_saved_file(Fields& fields, const std::string& path);

}  // namespace modewise::models
