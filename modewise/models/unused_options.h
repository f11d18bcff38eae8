#pragma once
// Options that were changed although the chosen model does not have them: a mistake worth a sentence.

#include <string>
#include <string_view>
#include <vector>

#include "modewise/core/fields.h"

namespace modewise::models {

/// Whether model `name` has the option `path`.
using HasOption = bool (*)(std::string_view name, std::string_view path);

/// Throws a config error for the first of `fields` that model `model` does not have and whose value is not
/// that of `defaults`, naming those of `models` that have it. `source` opens the message.
void check_options_are_used(const Fields& fields, const Fields& defaults, const std::string& model,
                            const std::vector<std::string>& models, HasOption has_option,
                            const std::string& source);

}  // namespace modewise::models
